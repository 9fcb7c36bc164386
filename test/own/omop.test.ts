import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import type { RunResult } from '../../src/runs/result.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { packageRoot } from '../../src/support/home.js';
import { m4bench } from '../main-job/cli.js';

/** A database of the user's own and a task on it, through the command line: examples/omop as docs/own-tasks.md has it. */
const example = join(packageRoot(), 'examples', 'omop');
const name = 'omop-creatinine-rise';
const bubblewrap = await sandboxOf('bubblewrap').probe();
if (!bubblewrap.available) console.warn(`Runs of own tasks use the sandbox process: ${bubblewrap.detail}.`);
const sandbox = ['--sandbox', bubblewrap.available ? 'bubblewrap' : 'process'];

let folder: string;
const call = async (...words: readonly string[]) => {
  const done = await m4bench(join(folder, 'home'), words);
  expect(done.stderr).not.toContain('error');
  expect(done.exitCode, done.stdout).toBe(0);
  return done.stdout;
};
const tasks = (): readonly string[] => ['--tasks', join(folder, 'tasks')];
const run = async (...words: readonly string[]): Promise<RunResult> =>
  JSON.parse(await call('run', name, ...tasks(), ...sandbox, '--json', ...words)) as RunResult;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-omop-'));
  await promisify(execFile)(process.execPath, [join(example, 'generate.mjs'), join(folder, 'data')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Record = Readonly<{ [column: string]: string }>;

async function records(table: string): Promise<readonly Record[]> {
  const [header, ...lines] = (await readFile(join(folder, 'data', `${table}.csv`), 'utf8'))
    .trim()
    .split('\n');
  const columns = header!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((field, i) => [columns[i]!, field])));
}

/** The task worked out a second time, from the text of the skill and without SQL. */
async function workedOut(): Promise<string> {
  const creatinine = (await records('measurement')).filter((row) => row.measurement_concept_id === '3016723');
  const rows = (await records('visit_occurrence'))
    .filter((visit) => visit.visit_concept_id === '9201')
    .map((visit) => {
      const values = creatinine
        .filter(
          (row) =>
            row.visit_occurrence_id === visit.visit_occurrence_id &&
            row.measurement_datetime! >= visit.visit_start_datetime! &&
            row.measurement_datetime! <= visit.visit_end_datetime!,
        )
        .sort((a, b) => (a.measurement_datetime! < b.measurement_datetime! ? -1 : 1))
        .map((row) => Number(row.value_as_number) / (row.unit_concept_id === '8749' ? 88.4 : 1));
      if (values.length === 0) return [visit.visit_occurrence_id, '', '', ''];
      const [first] = values as [number];
      const peak = Math.max(...values);
      const stage =
        peak >= 3 * first || (peak >= 4 && peak > first)
          ? 3
          : peak >= 2 * first
            ? 2
            : peak >= 1.5 * first || peak - first >= 0.3
              ? 1
              : 0;
      return [visit.visit_occurrence_id, first.toFixed(3), peak.toFixed(3), stage];
    });
  return `visit_occurrence_id,baseline,peak,stage\n${rows.map((row) => row.join(',')).join('\n')}\n`;
}

describe('a database and a task of the user', () => {
  test('are imported, written, linted, built, run and scored like shipped ones', async () => {
    const imported = JSON.parse(
      await call(
        'data',
        'import',
        'our-omop',
        '--schema',
        join(example, 'omop.toml'),
        '--from',
        join(folder, 'data'),
        '--json',
      ),
    );
    expect(imported).toMatchObject({ kind: 'omop', class: 'synthetic', release: '2026-01', verified: false });

    const written = JSON.parse(
      await call(
        ...['tasks', 'new', name, '--into', join(folder, 'tasks'), '--family', 'creatinine-rise'],
        ...['--title', 'Creatinine rise of inpatient visits', '--database', 'omop'],
        ...['--reference', join(example, 'creatinine-rise.sql'), '--keys', 'visit_occurrence_id'],
        ...['--grain', 'one row per inpatient visit', '--describe', 'Grade the rise of creatinine.'],
        ...['--tolerance', 'baseline=0.005,peak=0.005', '--removes', 'results.creatinine_rise'],
        ...['--skill', join(example, 'SKILL.md'), '--json'],
      ),
    );
    expect(written.contract.scoredColumns).toEqual(['baseline', 'peak', 'stage']);
    expect(await call('tasks', 'lint', ...tasks())).toBe('No findings.');

    await call('references', 'build', name, '--dataset', 'our-omop', ...tasks());
    const output = join(folder, 'output.csv');
    await writeFile(output, await workedOut());
    const evaluation = JSON.parse(await call('evaluate', name, output, ...tasks(), '--json')) as Evaluation;
    expect(evaluation).toMatchObject({ reward: 1, strictPass: true, outputRows: evaluation.truthRows });

    const right = await run('--agent', 'reference', '--condition', 'with-skill');
    expect(right).toMatchObject({
      reward: 1,
      dataset: { name: 'our-omop', class: 'synthetic', verified: false },
    });
    expect(right.skill.placed).toEqual(['creatinine-rise']);

    const naive = await run('--agent', 'sql', '--sql', join(example, 'naive.sql'));
    // A fifth of the visits is in micromoles, which the naive query takes for milligrams.
    expect(naive.reward).toBeGreaterThan(0.5);
    expect(naive.reward).toBeLessThan(1);
    expect(naive.evaluation?.keyF1).toBe(1);
  }, 300_000);

  test('what the task removes is absent from its database', async () => {
    const query = join(folder, 'peek.sql');
    await writeFile(
      query,
      "select string_agg(table_schema || '.' || table_name, ' ' order by 1) as baseline, 1 as visit_occurrence_id, 1 as peak, 1 as stage from information_schema.tables",
    );
    const peek = await run('--agent', 'sql', '--sql', query);
    const attempt = join(folder, 'home', 'campaigns', 'adhoc', 'runs', peek.runId, 'attempts', '1');
    const seen = await readFile(join(attempt, 'output.csv'), 'utf8');
    expect(seen).toContain('cdm.measurement cdm.person cdm.visit_occurrence,');
    expect(seen).not.toContain('results');
  }, 300_000);

  test('a campaign and its analysis take the own task', async () => {
    const options = [
      '--agent',
      'sql',
      '--sql',
      join(example, 'creatinine-rise.sql'),
      '--task',
      name,
      ...sandbox,
    ];
    const done = JSON.parse(await call('campaign', 'run', 'own', ...options, ...tasks(), '--json'));
    expect(done).toMatchObject({ ran: 2, unjudged: 0 });
    const analysis = JSON.parse(await call('analyze', 'own', '--json', ...tasks()));
    expect(JSON.stringify(analysis.tables)).toContain(name);
  }, 300_000);

  test('without a dataset of its kind the contract cannot be checked, and lint says so', async () => {
    const lint = await m4bench(join(folder, 'other-home'), ['tasks', 'lint', '--json', ...tasks()]);
    expect(JSON.parse(lint.stdout).findings).toMatchObject([{ rule: 'database-absent' }]);
    expect(lint.exitCode).toBe(1);
  }, 300_000);
});
