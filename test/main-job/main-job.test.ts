import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import type { RunResult } from '../../src/runs/result.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { m4bench, m4benchKilledAfter, testData } from './cli.js';

/**
 * The main job as a user does it, through the command line: data in, a real coding agent in a real sandbox against a
 * scripted model, scored results out, two conditions compared. On the open demo where it is present, else on
 * generated data.
 */
const data = testData();
if (data === undefined)
  console.warn('The open demo is not present (M4BENCH_TEST_DATA): the main job runs on generated data.');
const dataset = data === undefined ? 'mimic-iv-synthetic' : 'mimic-iv-demo';
const tasks = ['mimic-charlson-raw', 'mimic-meld-24h', 'mimic-meld-24h-raw', 'mimic-sirs-24h-raw'];
const agentsFolder = join(packageRoot(), 'test', 'agents');
const providerKey = 'sk-key-of-the-scripted-provider';

const bubblewrap = await sandboxOf('bubblewrap').probe();
if (!bubblewrap.available) console.warn(`The main job is skipped: ${bubblewrap.detail}.`);
const codex = await agentNamed('codex', {
  environment: process.env,
  userHome: homedir(),
  agentsFolder,
}).probe();
if (!codex.available) console.warn(`The campaign with the real Codex CLI is skipped: ${codex.detail}.`);

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'm4bench-main-job-'));
  const prepared =
    data === undefined
      ? await m4bench(home, ['data', 'synthesize', 'mimic-iv', '--stays', '80', '--seed', 'main-job'])
      : await m4bench(home, [
          'data',
          'import',
          'mimic-iv-demo',
          '--from',
          join(data, 'data', 'mimic-iv-demo'),
          '--no-verify',
        ]);
  expect(prepared.stderr).not.toContain('error');
  expect(prepared.exitCode).toBe(0);
}, 120_000);

afterAll(() => rm(home, { recursive: true, force: true }));

const quickstartQuery = (task: string, name: string): string =>
  join(packageRoot(), 'benchmark', 'quickstart', task, `${name}.sql`);

/** Reads the instruction and the skill, plays the right query, and without a skill forgets one row. */
async function analystScenario(): Promise<Scenario> {
  const query = async (task: string): Promise<string> => readFile(quickstartQuery(task, 'skilled'), 'utf8');
  const heredoc = (name: string, text: string): string =>
    `cat > ${name}.sql <<'END_OF_QUERY'\n${text}\nEND_OF_QUERY\n`;
  const choose = [
    'name=meld',
    'grep -q charlson_comorbidity_index instruction.md && name=charlson',
    'grep -q heart_rate_score instruction.md && name=sirs',
    'duckdb ./database.duckdb -c ".read ./$name.sql"',
    "[ -d .codex/skills ] || sed -i '$d' output.csv",
    'wc -l output.csv',
  ].join('\n');
  return [
    { shell: 'cat instruction.md' },
    { shell: 'ls -R .codex/skills; cat .codex/skills/*/SKILL.md' },
    { shell: 'duckdb ./database.duckdb -c "show all tables"' },
    {
      shell: [
        heredoc('charlson', await query('mimic-charlson-raw')),
        heredoc('meld', await query('mimic-meld-24h-raw')),
        heredoc('sirs', await query('mimic-sirs-24h-raw')),
        choose,
      ].join(''),
    },
    { message: 'output.csv is written.' },
  ];
}

async function resultsOf(
  campaign: string,
): Promise<readonly { readonly folder: string; readonly result: RunResult }[]> {
  const runs = join(home, 'campaigns', campaign, 'runs');
  const names = (await readdir(runs)).sort();
  return Promise.all(
    names.map(async (name) => ({
      folder: join(runs, name),
      result: JSON.parse(await readFile(join(runs, name, 'result.json'), 'utf8')) as RunResult,
    })),
  );
}

/** Every file below a folder, as one string of bytes. */
async function allBytes(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

describe.skipIf(!bubblewrap.available)('the main job', () => {
  describe.skipIf(!codex.available)(
    'a campaign of 4 tasks, 2 conditions and 2 trials through the real Codex CLI',
    () => {
      let server: ModelServer;
      const campaign = [
        'campaign',
        'run',
        'codex-night',
        '--agent',
        'codex',
        '--model',
        'scripted',
        '--trials',
        '2',
        '--dataset',
        dataset,
        '--task',
        tasks.join(','),
        '--timeout',
        '120',
      ];
      const environment = (): Record<string, string> => ({
        OPENAI_API_KEY: providerKey,
        OPENAI_BASE_URL: `${server.baseUrl}/v1`,
        M4BENCH_AGENTS_DIR: agentsFolder,
      });

      beforeAll(async () => {
        server = await ModelServer.start({ scenarios: { scripted: await analystScenario() } });
      });
      afterAll(() => server[Symbol.asyncDispose]());

      test('gives 16 results: the right SQL scores 1.0, one forgotten row scores less', async () => {
        const call = await m4bench(home, campaign, environment());
        expect(call.stderr).not.toContain('error');
        expect(call.exitCode).toBe(0);
        const all = await resultsOf('codex-night');
        expect(all).toHaveLength(16);
        for (const { result, folder } of all) {
          expect(result.status).toBe('judged');
          expect(result.failureReason).toBeNull();
          if (result.cell.condition === 'with-skill') {
            expect(result.reward).toBe(1);
            expect(result.evaluation?.strictPass).toBe(true);
            expect(result.skill.placed).toHaveLength(1);
            expect(result.skill.offered).toEqual(result.skill.placed);
            expect(result.skill.opened).toEqual(result.skill.placed);
          } else {
            const rows = result.evaluation!.truthRows;
            // One of n reference rows is missing, so every column matches (n - 1) / n at most.
            expect(result.reward).toBeLessThanOrEqual((rows - 1) / rows + 1e-8);
            expect(result.reward).toBeGreaterThan(0.9);
            expect(result.evaluation?.missingKeys).toBe(1);
            expect(result.skill.placed).toEqual([]);
          }
          expect(result.tokens?.input).toBeGreaterThan(0);
          expect(result.tokens).toMatchObject({
            ...result.agentTokens,
            cacheWrite: result.tokens!.cacheWrite,
          });
          const attempt = join(folder, 'attempts', '1');
          for (const file of [
            'attempt.json',
            'instruction.md',
            'output.csv',
            'trace.jsonl',
            'gateway.jsonl',
            'evaluation.json',
          ]) {
            expect(existsSync(join(attempt, file)), file).toBe(true);
          }
          expect(result.publishable).toBe(false);
          expect(result.reasons.join()).toContain('not a pinned root file system');
        }
        const unverified = all.every(({ result }) =>
          result.reasons.some((reason) => reason.includes('unverified')),
        );
        expect(unverified).toBe(data !== undefined);
      }, 300_000);

      test('calling it again keeps every result and makes no run', async () => {
        const before = server.exchanges.length;
        const call = await m4bench(home, [...campaign, '--json'], environment());
        expect(call.exitCode).toBe(0);
        expect(JSON.parse(call.stdout)).toMatchObject({ ran: 0, kept: 16, unjudged: 0 });
        expect(server.exchanges.length).toBe(before);
      }, 60_000);

      test('the comparison says that the skill helps on every task', async () => {
        const call = await m4bench(home, ['analyze', 'codex-night', '--json']);
        const report = await readFile(
          join(home, 'campaigns', 'codex-night', 'analysis', 'report.md'),
          'utf8',
        );
        expect(report.includes('UNVERIFIED')).toBe(data !== undefined);
        const { tables } = JSON.parse(call.stdout) as {
          tables: Record<string, { rows: Record<string, number>[] }>;
        };
        const [effect] = tables['skill-effect']!.rows;
        expect(effect).toMatchObject({ tasks: 4, withSkill: 1, positiveTasks: 4 });
        const deltas = tables['skill-deltas']!.rows.map((row) => row.delta!);
        expect(effect!.delta).toBeCloseTo(deltas.reduce((sum, delta) => sum + delta, 0) / 4, 12);
        expect(effect!.low).toBeGreaterThanOrEqual(Math.min(...deltas) - 1e-12);
        expect(effect!.high).toBeLessThanOrEqual(Math.max(...deltas) + 1e-12);
      }, 60_000);

      test('no file of the campaign holds the provider key, and example rows are private', async () => {
        expect(await allBytes(join(home, 'campaigns', 'codex-night'))).not.toContain(providerKey);
        for (const { folder } of await resultsOf('codex-night')) {
          const mode = (await stat(join(folder, 'attempts', '1', 'evaluation.private.json'))).mode & 0o777;
          expect(mode).toBe(0o600);
        }
      });
    },
  );

  test('the agent that is handed the answer scores 1.0 and is never publishable', async () => {
    const call = await m4bench(home, [
      'run',
      'mimic-meld-24h',
      '--agent',
      'reference',
      '--dataset',
      dataset,
      '--json',
    ]);
    const result = JSON.parse(call.stdout) as RunResult;
    expect(result).toMatchObject({ reward: 1, rewardRobust: 1, publishable: false });
    expect(result.reasons).toContain('the agent was handed the answer');
  }, 60_000);

  test('a transformed schema shows codes only, and the same reference judges it', async () => {
    const words = [
      'run',
      'mimic-sirs-24h-raw',
      '--agent',
      'reference',
      '--schema',
      'obfuscated',
      '--dataset',
      dataset,
    ];
    const result = JSON.parse((await m4bench(home, [...words, '--json'])).stdout) as RunResult;
    expect(result).toMatchObject({ reward: 1, cell: { schema: 'obfuscated' } });
    const attempt = join(home, 'campaigns', 'adhoc', 'runs', result.runId, 'attempts', '1');
    const instruction = await readFile(join(attempt, 'instruction.md'), 'utf8');
    expect(instruction).not.toMatch(/mimiciv_|chartevents|labevents/);
  }, 120_000);

  test('an agent that writes nothing scores 0 as its own failure', async () => {
    const call = await m4bench(home, [
      'run',
      'mimic-meld-24h',
      '--agent',
      'empty',
      '--dataset',
      dataset,
      '--json',
    ]);
    expect(JSON.parse(call.stdout)).toMatchObject({
      reward: 0,
      failureClass: 'agent',
      failureReason: 'no output.csv',
      status: 'judged',
    });
  }, 60_000);

  test('a person plays a query in either sandbox and gets the same score', async () => {
    const query = [
      'run',
      'mimic-sirs-24h-raw',
      '--agent',
      'sql',
      '--sql',
      quickstartQuery('{task}', 'naive'),
      '--dataset',
      dataset,
      '--json',
    ];
    const isolated = JSON.parse((await m4bench(home, query)).stdout) as RunResult;
    const plain = JSON.parse(
      (await m4bench(home, [...query, '--sandbox', 'process', '--trial', '2'])).stdout,
    ) as RunResult;
    expect(isolated.reward).toBeGreaterThan(0);
    expect(isolated.reward).toBeLessThan(1);
    expect(plain.reward).toBe(isolated.reward);
    expect(plain.reasons).toContain('the sandbox does not isolate');
  }, 60_000);

  test('the same run again is refused without --again, and counted on with it', async () => {
    const words = ['run', 'mimic-meld-24h', '--agent', 'empty', '--dataset', dataset];
    const refused = await m4bench(home, words);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('RUN_EXISTS');
    const again = await m4bench(home, [...words, '--again', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ trial: 2 });
  }, 60_000);

  test('a campaign that is killed again and again ends with every run once', async () => {
    const words = [
      'campaign',
      'run',
      'killed',
      '--agent',
      'sql',
      '--sql',
      quickstartQuery('{task}', 'skilled'),
      '--dataset',
      dataset,
      '--task',
      'mimic-meld-24h-raw,mimic-sirs-24h-raw',
      '--trials',
      '3',
    ];
    let kills = 0;
    // Start-up takes a second or more, so these instants fall into preparation, runs and the writing of results.
    for (const milliseconds of [1200, 2500, 3500, 4500, 6000]) {
      if (await m4benchKilledAfter(home, words, milliseconds)) kills += 1;
    }
    expect(kills).toBeGreaterThan(0);
    const call = await m4bench(home, [...words, '--json']);
    expect(call.exitCode).toBe(0);
    const outcome = JSON.parse(call.stdout) as { ran: number; kept: number; results: RunResult[] };
    expect(outcome.ran + outcome.kept).toBe(12);
    const all = await resultsOf('killed');
    expect(all).toHaveLength(12);
    expect(new Set(all.map(({ result }) => result.runId)).size).toBe(12);
    expect(all.every(({ result }) => result.reward === 1 && result.attempts.length === 1)).toBe(true);
    const left = await readdir(join(home, 'campaigns', 'killed'), { recursive: true });
    expect(left.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }, 180_000);
});
