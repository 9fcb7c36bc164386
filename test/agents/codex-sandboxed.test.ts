import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { DuckSession } from '../../src/duck/session.js';
import { Gateway } from '../../src/gateway/gateway.js';
import type { GatewayExchange } from '../../src/gateway/gateway-types.js';
import type { CommandOutcome, WorkFile } from '../../src/sandboxes/sandbox.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { solvingScenario } from '../model-server/solving-scenario.js';
import { settings, skillFiles } from './host-run.js';

const codex = agentNamed('codex', settings);
const bubblewrap = sandboxOf('bubblewrap');
const missing = [await codex.probe(), await bubblewrap.probe()].filter((state) => !state.available);
for (const { detail } of missing) console.warn(`Sandboxed Codex tests are skipped: ${detail}.`);

/** Stands where a real provider key would; no agent may ever see it. */
const PROVIDER_KEY = 'sk-scripted-provider-key';
const RIGHT_SQL =
  "copy (select stay_id, sirs from mimiciv_icu.icustays order by stay_id) to './output.csv' (format csv, header);";
const SOLVE = solvingScenario({ skillFolder: codex.skillFolder, sql: RIGHT_SQL });

describe.skipIf(missing.length > 0)('the Codex CLI in bubblewrap, through the gateway', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-sandboxed-'));
    await using session = await DuckSession.open({ path: join(folder, 'task.duckdb') });
    await session.run('create schema mimiciv_icu');
    await session.run(
      'create table mimiciv_icu.icustays as select * from (values (2, 1), (1, 3)) t(stay_id, sirs)',
    );
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function workFiles(): Promise<WorkFile[]> {
    return [
      { path: 'database.duckdb', content: { copyOf: join(folder, 'task.duckdb') } },
      { path: 'instruction.md', content: { text: 'Write SIRS of each stay to output.csv.' } },
      ...Object.entries(skillFiles(codex.skillFolder)).map(([path, text]) => ({ path, content: { text } })),
    ];
  }

  interface Played {
    readonly outcome: CommandOutcome;
    readonly stderr: string;
    readonly output: string | undefined;
    readonly exchanges: readonly GatewayExchange[];
    readonly summary: ReturnType<Gateway['summary']>;
    readonly commandTexts: string;
    readonly trace: Awaited<ReturnType<typeof codex.readTrace>>;
  }

  async function play(server: ModelServer, model: string | undefined, timeoutSeconds = 60): Promise<Played> {
    const run = await mkdtemp(join(folder, 'run-'));
    const path = (name: string): string => join(run, name);
    await using gateway = await Gateway.start({
      logPath: path('gateway.jsonl'),
      providers: [
        {
          name: 'openai',
          baseUrl: server.baseUrl,
          apiKey: PROVIDER_KEY,
          keyHeader: 'authorization-bearer',
          protocols: ['openai-responses'],
        },
      ],
      skills: [
        {
          name: 'sirs-score',
          description: 'How SIRS is computed here, marker-of-the-description.',
          bodyProbe: 'Four criteria, marker-of-the-body.',
        },
      ],
    });
    const launchAt = (workPath: string, gatewayUrl: string | undefined) =>
      codex.launch({
        ...(model === undefined ? {} : { model }),
        effort: 'auto',
        instruction: 'Read instruction.md.',
        workPath,
        gatewayUrl,
      });
    await using sandbox = await bubblewrap.prepare({
      inputs: (await launchAt('/work', 'http://127.0.0.1')).inputs,
      workFiles: await workFiles(),
      gatewaySocket: gateway.socketPath,
      limits: {
        timeoutSeconds,
        memoryBytes: 2 * 1024 ** 3,
        processes: 200,
        workBytes: 256 * 1024 ** 2,
        streamBytes: 16 * 1024 ** 2,
      },
    });
    const launch = await launchAt(sandbox.workPath, sandbox.gatewayUrl);
    const outcome = await sandbox.execute({
      command: launch.command,
      environment: launch.environment,
      ...(launch.stdin === undefined ? {} : { stdin: launch.stdin }),
      stdoutPath: path('trace.jsonl'),
      stderrPath: path('stderr.txt'),
    });
    await sandbox.copyOut(run, { only: ['output.csv'], maxFileBytes: 1e6, maxTotalBytes: 1e6 });
    return {
      outcome,
      stderr: await readFile(path('stderr.txt'), 'utf8'),
      output: await readFile(path('output.csv'), 'utf8').catch(() => undefined),
      exchanges: (await readFile(path('gateway.jsonl'), 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as GatewayExchange),
      summary: gateway.summary(),
      commandTexts: await readFile(path('trace.jsonl'), 'utf8'),
      trace: await codex.readTrace(path('trace.jsonl')),
    };
  }

  test('reads the instruction and the skill, queries the database and writes the answer', async () => {
    await using server = await ModelServer.start({ scenarios: { right: SOLVE } });
    const played = await play(server, 'right');
    expect(played.stderr).not.toContain('error');
    expect(played.outcome).toMatchObject({ exitCode: 0, endedBy: null });
    expect(played.output).toBe('stay_id,sirs\n1,3\n2,1\n');
    expect(played.commandTexts).toContain('icustays');
    expect(played.summary).toMatchObject({
      requests: 5,
      failed: 0,
      refused: 0,
      models: ['right'],
      hostedToolsRemoved: [],
      skillsOffered: ['sirs-score'],
      skillsOpened: ['sirs-score'],
    });
    // What server, gateway and CLI count is the same: steps 0 to 4 of `usageOfStep`.
    const stated = { input: 6000, cachedInput: 100, output: 260, reasoning: 35 };
    expect(server.statedUsage('right')).toEqual(stated);
    expect(played.summary.tokens).toMatchObject(stated);
    expect(played.trace.tokens).toMatchObject(stated);
  });

  test('the default model, which takes its tools as a script, works just so', async () => {
    // Without a model name the scenario goes by the key, which the gateway put in.
    await using server = await ModelServer.start({ scenarios: { [PROVIDER_KEY]: SOLVE } });
    const played = await play(server, undefined);
    expect(played.outcome).toMatchObject({ exitCode: 0, endedBy: null });
    expect(played.output).toBe('stay_id,sirs\n1,3\n2,1\n');
    expect(played.summary).toMatchObject({ skillsOffered: ['sirs-score'], skillsOpened: ['sirs-score'] });
    expect(played.trace.commands).toHaveLength(4);
  });

  test('two runs side by side do not mix', async () => {
    const say = (text: string): Scenario => [
      { shell: `echo ${text} > output.csv; sleep 0.2` },
      { message: text },
    ];
    await using server = await ModelServer.start({ scenarios: { one: say('first'), two: say('second') } });
    const played = await Promise.all([play(server, 'one'), play(server, 'two'), play(server, 'one')]);
    expect(played.map(({ output }) => output)).toEqual(['first\n', 'second\n', 'first\n']);
  });

  test('sees neither a provider key nor a network, and reaches the gateway only', async () => {
    const probes = [
      'env | sort',
      'cat /proc/net/dev | tail -n +3 | cut -d: -f1',
      `ls ${packageRoot()} 2>&1`,
      '(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1',
    ];
    await using server = await ModelServer.start({
      scenarios: { curious: [...probes.map((shell) => ({ shell })), { message: 'Nothing.' }] },
    });
    const played = await play(server, 'curious');
    expect(played.outcome.exitCode).toBe(0);
    expect(played.commandTexts).toContain('not-a-key');
    expect(played.commandTexts).not.toContain(PROVIDER_KEY);
    const items = played.commandTexts
      .split('\n')
      .filter((line) => line.includes('"item.completed"') && line.includes('command_execution'))
      .map((line) => (JSON.parse(line) as { item: { aggregated_output: string } }).item.aggregated_output);
    expect(items).toHaveLength(probes.length);
    expect(items[1]?.trim()).toBe('lo');
    expect(items[2]).toContain('No such file or directory');
    expect(items[3]).toMatch(/unreachable|denied|not permitted/i);
    expect(
      server.exchanges.every((exchange) => exchange.headers.authorization === `Bearer ${PROVIDER_KEY}`),
    ).toBe(true);
    expect([...new Set(played.exchanges.map((exchange) => exchange.path))]).toEqual(['/openai/v1/responses']);
  });

  test('a run that is cut at its time limit leaves a readable trace', async () => {
    await using server = await ModelServer.start({
      scenarios: { slow: [{ shell: 'echo x > output.csv' }, { shell: 'sleep 300' }] },
    });
    const played = await play(server, 'slow', 4);
    expect(played.outcome.endedBy).toBe('time');
    expect(played.trace.commands.at(-1)).toContain('sleep 300');
    expect(played.trace.tokens).toBeUndefined();
    expect(played.summary.tokens.input).toBe(2100);
  });

  test('a model that is overloaded to the end is told apart by the gateway', async () => {
    await using server = await ModelServer.start({ scenarios: { limited: [{ fail: 429 }] } });
    const played = await play(server, 'limited');
    expect(played.outcome.exitCode).toBe(1);
    expect(played.summary).toMatchObject({ requests: 1, failed: 1 });
    expect(played.exchanges[0]).toMatchObject({ status: 429, failure: 'upstream-status' });
  });
});
