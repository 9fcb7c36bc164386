import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agentNamed } from '../../src/agents/agents.js';
import { withGatewayTimes } from '../../src/agents/gateway-times.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { solvingScenario } from '../model-server/solving-scenario.js';

import manifest from './package.json' with { type: 'json' };
import {
  bubblewrap,
  type Played,
  type PlayOptions,
  PROVIDER_KEY,
  RIGHT_OUTPUT,
  RIGHT_SQL,
  type Route,
  routeOf,
  SandboxedRuns,
  sandboxSettings,
} from './sandboxed-run.js';

/** What differs between the CLIs; the tests below are the same for all. */
export interface CliFacts {
  readonly name: string;
  /** Null for the agent that is part of the benchmark. */
  readonly packageName: keyof typeof manifest.dependencies | null;
  /** Tools that it declares, all of them local. */
  readonly tools: readonly string[];
  /** Requests beside the model's that it makes and the gateway answers itself. */
  readonly refused: number;
  /** Its API states how many of the tokens were reasoning. */
  readonly statesReasoning: boolean;
  /** Its trace tells of a command when it begins, and not when it has ended. */
  readonly tracesRunningCommands: boolean;
  /** A model name with characters that mean something elsewhere, or null where the API has no place for one. */
  readonly oddModel: string | null;
}

/** Plays a scenario with one CLI in bubblewrap behind the gateway. */
export type Play = (
  scenario: Scenario,
  options?: PlayOptions & { readonly route?: Route },
) => Promise<Played & { readonly server: ModelServer }>;

/**
 * The checks that every CLI passes: what it is asked, sees, runs and writes, what is counted, and how its failures
 * are booked. `more` adds tests of this CLI alone. Skipped, with a message, where the CLI or bubblewrap is missing.
 */
export async function testCli(cli: CliFacts, more: (play: Play) => void = () => {}): Promise<void> {
  const agent = agentNamed(cli.name, sandboxSettings);
  const availability = await agent.probe();
  const missing = [availability, await bubblewrap.probe()].filter(({ available }) => !available);
  for (const { detail } of missing) console.warn(`Tests of ${cli.name} are skipped: ${detail}.`);
  let runs: SandboxedRuns;
  const play: Play = async (scenario, { route = routeOf(cli.name), ...options } = {}) => {
    // A scenario goes by the model, or where none is asked for by the key that the gateway put in.
    const model = options.model === null ? PROVIDER_KEY : (options.model ?? 'scripted');
    await using server = await ModelServer.start({ scenarios: { [model]: scenario } });
    return { ...(await runs.play(agent, route, server, options)), server };
  };

  describe.skipIf(missing.length > 0)(`${cli.name} in bubblewrap, through the gateway`, () => {
    beforeAll(async () => {
      runs = await SandboxedRuns.create();
    });
    afterAll(() => runs[Symbol.asyncDispose]());

    test.skipIf(cli.packageName === null)('is the version that the lock file pins', () => {
      expect(availability.version).toBe(manifest.dependencies[cli.packageName!]);
    });
    testSolving(cli, agent, play);
    testConfinement(play);
    testFailures(cli, play);
    more(play);
  });
}

/** How long the run took that solved the task. */
let solvingSeconds = 10;

function testSolving(cli: CliFacts, agent: Agent, play: Play): void {
  test('reads the instruction and the skill, queries the database and writes the answer', async () => {
    const played = await play(solvingScenario({ skillFolder: agent.skillFolder, sql: RIGHT_SQL }));
    expect(played.outcome).toMatchObject({ exitCode: 0, endedBy: null });
    solvingSeconds = played.outcome.seconds;
    expect(played.output).toBe(RIGHT_OUTPUT);
    expect(played.verdict).toEqual({ class: 'judged', reason: null });
    expect(played.summary).toMatchObject({
      requests: 5 + cli.refused,
      refused: cli.refused,
      failed: 0,
      models: ['scripted'],
      hostedToolsRemoved: [],
      hostedToolCalls: [],
      skillsOffered: ['sirs-score'],
      skillsOpened: ['sirs-score'],
    });
    const [first] = played.exchanges.filter(({ tokens }) => tokens !== null);
    expect(first).toMatchObject({ skillsOffered: ['sirs-score'], skillsOpened: [] });
    // Steps 0 to 4 of `usageOfStep`: what server, gateway and CLI count is the same.
    const stated = { input: 6000, cachedInput: 100, output: 260 };
    expect(played.server.statedUsage('scripted')).toEqual({ ...stated, reasoning: 35 });
    expect(played.summary.tokens).toEqual({
      ...stated,
      cacheWrite: 0,
      reasoning: cli.statesReasoning ? 35 : 0,
    });
    expect(played.trace.tokens).toMatchObject(stated);
    expect(played.transcript.turns).toHaveLength(5);
    expect(played.trace.commands[0]).toBe('cat instruction.md');
    expect(played.transcript.turns[2]?.calls[0]?.output).toContain('icustays');
    const timed = withGatewayTimes(played.transcript, played.exchanges);
    expect(timed.turns.map(({ tokens }) => tokens?.input)).toEqual([1000, 1100, 1200, 1300, 1400]);
  });

  test('passes on an instruction longer than one argument may be, to a model of any name', async () => {
    const model = cli.oddModel ?? 'scripted';
    const instruction = `${'All columns are described here.\n'.repeat(8_000)}@nobody /exit $HOME \`id\` end-marker`;
    const { server, output, summary } = await play([{ shell: 'echo x > output.csv' }, { message: 'Done.' }], {
      model,
      request: { instruction },
    });
    expect(instruction.length).toBeGreaterThan(128 * 1024);
    expect(JSON.stringify(server.exchanges.map(({ body }) => body))).toContain('$HOME `id` end-marker');
    expect(output).toBe('x\n');
    expect(summary.models).toEqual([model]);
  });
}

function testConfinement(play: Play): void {
  test('sees neither a provider key nor a network, and reaches the gateway only', async () => {
    const probes = [
      'env | sort',
      'cat /proc/net/dev | tail -n +3 | cut -d: -f1',
      `ls ${packageRoot()} 2>&1`,
      '(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1',
    ];
    const played = await play([...probes.map((shell) => ({ shell })), { message: 'Nothing.' }]);
    const outputs = played.transcript.turns.flatMap(({ calls }) => calls.map(({ output }) => output ?? ''));
    expect(outputs).toHaveLength(probes.length);
    expect(outputs[0]).toContain('HOME=/home/agent');
    expect(outputs[1]).toMatch(/\blo\b/);
    expect(outputs[1]).not.toMatch(/\b(eth|ens|wlan)/);
    expect(outputs[2]).toContain('No such file or directory');
    expect(outputs[3]).toMatch(/unreachable|denied|not permitted/i);
    expect(played.traceText).not.toContain(PROVIDER_KEY);
    expect(played.server.exchanges.every(({ headers }) => holdsKey(headers))).toBe(true);
  });
}

function testFailures(cli: CliFacts, play: Play): void {
  test('cut at its time limit is an agent failure, and leaves a readable trace', async () => {
    const played = await play([{ shell: 'echo x > output.csv' }, { shell: 'sleep 300' }], {
      // What the whole task took is enough for two requests, on a busy machine too.
      timeoutSeconds: 3 + Math.ceil(solvingSeconds * 1.5),
    });
    expect(played.outcome.endedBy).toBe('time');
    expect(played.verdict).toEqual({ class: 'agent', reason: 'time limit reached' });
    const running = cli.tracesRunningCommands ? ['sleep 300'] : [];
    expect(played.trace.commands).toEqual(['echo x > output.csv', ...running]);
    expect(played.trace.tokens).toBeUndefined();
    // Two replies; a CLI may ask once more while it is being ended.
    expect(played.summary.tokens.input).toBeGreaterThanOrEqual(2100);
  });

  test('whose model answers 429 twice waits and goes on', async () => {
    const played = await play([
      { fail: 429, retryAfterSeconds: 1 },
      { fail: 429, retryAfterSeconds: 1 },
      { shell: 'echo a,b > output.csv' },
      { message: 'Done.' },
    ]);
    expect(played.exchanges.filter(({ status }) => status === 429)).toHaveLength(2);
    expect(played.verdict).toEqual({ class: 'judged', reason: null });
    expect(played.output).toBe('a,b\n');
    // Steps 2 and 3; an answer that failed costs nothing.
    expect(played.summary.tokens.input).toBe(2500);
  });

  test('whose model refuses the request in the end has an infrastructure failure on record', async () => {
    const played = await play([
      { shell: 'ls' },
      ...Array.from({ length: 20 }, () => ({ fail: 403 }) as const),
    ]);
    expect(played.summary.lastServiceFailure).toMatchObject({ status: 403 });
    expect(played.output).toBeUndefined();
  });

  test('that crashes is an agent failure', async () => {
    const played = await play([
      { shell: 'sleep 1; kill -9 $PPID; sleep 5' },
      { message: 'Never said.' },
      { message: 'Never said.' },
    ]);
    expect(played.verdict.class).toBe('agent');
    expect(played.verdict.reason).toMatch(/signal SIGKILL|exit status/);
    expect(played.transcript.ending).toBe('unstated');
  });

  test('that writes no file is an agent failure; it declared local tools only and knew no skill', async () => {
    const { server, ...played } = await play([{ message: 'I did nothing.' }], { hasSkill: false });
    expect(played.outcome.exitCode).toBe(0);
    expect(played.verdict).toEqual({ class: 'agent', reason: 'no output.csv' });
    expect(played.transcript.finalText).toBe('I did nothing.');
    expect([...server.toolsOf('scripted')].sort()).toEqual([...cli.tools].sort());
    expect(played.summary).toMatchObject({ skillsOffered: [], hostedToolsRemoved: [] });
    // How CLIs list the skills that they know.
    expect(JSON.stringify(server.exchangesOf('scripted'))).not.toMatch(/<location>|SKILL\.md\)/);
  });
}

/** The gateway put the provider's key in, in whatever header the provider takes it. */
function holdsKey(headers: Readonly<Record<string, string>>): boolean {
  return Object.values(headers).some((value) => value === PROVIDER_KEY || value === `Bearer ${PROVIDER_KEY}`);
}

/** The providers other than the default one, each with the API that it speaks. */
export const OTHER_PROVIDERS: readonly Route[] = [
  { name: 'openai', keyHeader: 'authorization-bearer', protocols: ['openai-responses'] },
  { name: 'anthropic', keyHeader: 'x-api-key', protocols: ['anthropic-messages'] },
  { name: 'gemini', keyHeader: 'x-goog-api-key', protocols: ['gemini'] },
];

/** For agents that speak every provider's own API: a small task through each of them, and what is counted. */
export function testOtherProviders(play: Play): void {
  test.each(OTHER_PROVIDERS)('speaks the API of $name when it is sent there', async (route) => {
    const played = await play([{ shell: 'echo x > output.csv' }, { message: 'Done.' }], {
      route,
      request: { provider: route.name },
    });
    expect(played.output).toBe('x\n');
    expect(played.exchanges.map(({ protocol }) => protocol)).toEqual([
      route.protocols[0],
      route.protocols[0],
    ]);
    // Steps 0 and 1 of `usageOfStep`.
    const stated = { input: 2100, cachedInput: 10, output: 101 };
    expect(played.summary.tokens).toMatchObject(stated);
    expect(played.trace.tokens).toMatchObject(stated);
    expect(played.trace.commands).toEqual(['echo x > output.csv']);
  });
}
