import { describe, expect, test } from 'vitest';
import type { Agent, AgentRequest } from '../../src/agents/agent.js';
import { agentNamed } from '../../src/agents/agents.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { HostFolder, settings, skillFiles } from './host-run.js';
import manifest from './package.json' with { type: 'json' };

const codex: Agent = agentNamed('codex', settings);
const availability = await codex.probe();
if (!availability.available) console.warn(`Codex tests are skipped: ${availability.detail}.`);

/** The placeholder key, which a scenario may be named by: for runs that ask for no model. */
const KEY = 'not-a-key';

function request(folder: HostFolder, server: ModelServer, more: Partial<AgentRequest> = {}): AgentRequest {
  return {
    effort: 'auto',
    instruction: 'Read instruction.md and do what it says.',
    workPath: folder.work,
    gatewayUrl: server.baseUrl,
    ...more,
  };
}

interface Body {
  readonly model: string;
  readonly reasoning: { readonly effort?: string };
  readonly tools?: readonly { readonly type: string; readonly name?: string }[];
  readonly input: readonly unknown[];
}

/** Runs Codex on the host against one scenario. */
async function play(
  scenario: Scenario,
  options: {
    files?: Readonly<Record<string, string>>;
    more?: Partial<AgentRequest>;
    extra?: string[];
    /** Ask for no model, so that the CLI takes its own default. */
    isDefaultModel?: boolean;
  } = {},
) {
  await using folder = await HostFolder.create(options.files);
  await using server = await ModelServer.start({ scenarios: { scripted: scenario, [KEY]: scenario } });
  const launch = await codex.launch(
    request(folder, server, { ...(options.isDefaultModel ? {} : { model: 'scripted' }), ...options.more }),
  );
  const ended = await folder.run(launch, options.extra);
  const bodies = server.exchanges.map((exchange) => exchange.body as Body);
  return {
    ...ended,
    bodies,
    exchanges: server.exchanges,
    usage: server.statedUsage('scripted'),
    reading: await codex.readTrace(folder.trace),
    output: await folder.readWork('output.csv').catch(() => undefined),
  };
}

describe.skipIf(!availability.available)('the Codex CLI against the scripted model', () => {
  test('is the version that the lock file pins', () => {
    expect(availability.version).toBe(manifest.dependencies['@openai/codex']);
  });

  test('runs the commands of the model in the work folder, and its trace states what the server stated', async () => {
    const played = await play(
      [
        { shell: 'cat instruction.md', message: 'I read the task.' },
        { shell: 'printf "stay_id,sirs\\n1,2\\n" > output.csv' },
        { shell: 'exit 3' },
        { message: 'Done.' },
      ],
      { files: { 'instruction.md': 'marker-of-the-instruction' } },
    );
    expect(played.exitCode).toBe(0);
    expect(played.output).toBe('stay_id,sirs\n1,2\n');
    expect(JSON.stringify(played.bodies[1]?.input)).toContain('marker-of-the-instruction');
    expect(played.reading.commands).toEqual([
      'cat instruction.md',
      expect.stringContaining('output.csv'),
      'exit 3',
    ]);
    // Steps 0 to 3 of `usageOfStep`.
    expect(played.usage).toEqual({ input: 4600, cachedInput: 60, output: 206, reasoning: 26 });
    expect(played.reading.tokens).toEqual({
      input: 4600,
      cachedInput: 60,
      cacheWrite: 0,
      output: 206,
      reasoning: 26,
    });
    expect(played.reading.turns).toBe(4);
  });

  test('offers the placed skill and no other, and opens it when the model reads the file', async () => {
    const played = await play([{ shell: 'cat .codex/skills/sirs-score/SKILL.md' }, { message: 'Done.' }], {
      files: skillFiles(codex.skillFolder),
    });
    const first = JSON.stringify(played.bodies[0]?.input);
    expect(first).toContain('sirs-score: How SIRS is computed here, marker-of-the-description.');
    expect(first).not.toContain('marker-of-the-body');
    expect(JSON.stringify(played.bodies[1]?.input)).toContain('marker-of-the-body');
    expect(first.match(/\(file: [^)]*SKILL\.md\)/g)).toHaveLength(1);
  });

  test('without a skill the request speaks of none', async () => {
    const played = await play([{ message: 'Done.' }]);
    expect(JSON.stringify(played.bodies[0]?.input)).not.toContain('SKILL.md)');
  });

  test('declares local tools only', async () => {
    const played = await play([{ message: 'Done.' }]);
    expect(played.bodies[0]?.tools?.map((tool) => tool.name ?? tool.type)).toEqual([
      'exec_command',
      'write_stdin',
      'request_user_input',
      'view_image',
    ]);
  });

  test('drives a model that takes tools as a script, with the default model and its skill', async () => {
    const played = await play([{ shell: 'echo a,b > output.csv' }, { message: 'Done.' }], {
      files: skillFiles(codex.skillFolder),
      more: { effort: 'default' },
      isDefaultModel: true,
    });
    expect(played.exitCode).toBe(0);
    expect(played.output).toBe('a,b\n');
    expect(played.bodies[0]?.tools).toBeUndefined();
    const first = JSON.stringify(played.bodies[0]?.input);
    expect(first).toContain('marker-of-the-description');
    for (const absent of ['web_search', 'spawn_agent', 'image_gen'])
      expect(first).not.toContain(`"${absent}`);
    expect(played.reading.commands).toEqual(['echo a,b > output.csv']);
  });

  test.each([
    ['auto', 'medium'],
    ['minimal', 'minimal'],
    ['xhigh', 'xhigh'],
    ['max', 'max'],
    ['default', undefined],
  ] as const)('effort %s is sent as %s', async (effort, sent) => {
    const played = await play([{ message: 'Done.' }], { more: { effort } });
    expect(played.bodies[0]?.reasoning.effort).toBe(sent);
  });

  test('asks the route of another provider when told so', async () => {
    const played = await play([{ message: 'Done.' }], { more: { provider: 'local' } });
    expect(played.exchanges.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /local/v1/responses',
    ]);
  });

  test('knows every setting that it is given', async () => {
    const played = await play([{ message: 'Done.' }], { extra: ['--strict-config'] });
    expect(played.stderr).not.toContain('unknown');
    expect(played.exitCode).toBe(0);
  });

  test('passes on an instruction longer than one argument may be', async () => {
    const instruction = `${'All columns are described here.\n'.repeat(8_000)}end-marker`;
    const played = await play([{ message: 'Done.' }], { more: { instruction } });
    expect(instruction.length).toBeGreaterThan(128 * 1024);
    expect(JSON.stringify(played.bodies[0]?.input)).toContain('end-marker');
  });

  test('waits for a command that runs longer than one tool call', async () => {
    const played = await play([{ shell: 'sleep 31; echo x > output.csv' }, { message: 'Done.' }]);
    expect(played.output).toBe('x\n');
    expect(played.reading.tokens?.input).toBe(played.usage.input);
  });

  test('tries again after an overload, a rate limit that names a delay and a broken stream', async () => {
    const played = await play([
      { fail: 503 },
      { fail: 429, retryAfterSeconds: 1 },
      { disconnect: true },
      { message: 'Done.' },
    ]);
    expect(played.exitCode).toBe(0);
    expect(played.exchanges.map((exchange) => exchange.status)).toEqual([503, 429, 200, 200]);
    expect(played.reading.errors.filter((error) => error.startsWith('Reconnecting'))).not.toHaveLength(0);
  });

  test('gives up at a rate limit without a delay, and the trace says so', async () => {
    const played = await play([{ fail: 429 }, { fail: 429 }, { message: 'Done.' }]);
    expect(played.exitCode).toBe(1);
    expect(played.reading.errors.at(-1)).toContain('429');
    expect(played.reading.tokens).toBeUndefined();
  });
});
