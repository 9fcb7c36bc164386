import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Dataset, openDataset } from '../../src/datasets/dataset.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { DuckSession } from '../../src/duck/session.js';
import { evaluateOutput } from '../../src/evaluation/evaluate.js';
import { exportHarbor } from '../../src/export/export-harbor.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { silentProgress } from '../../src/support/progress.js';
import { findTask } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';

/** `task.toml` of Harbor's task format 1.1, as its documentation and its public models describe it. */
const taskToml = z.strictObject({
  schema_version: z.literal('1.1'),
  task: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/),
    description: z.string(),
    authors: z.array(z.strictObject({ name: z.string(), email: z.string().optional() })),
    keywords: z.array(z.string()),
  }),
  metadata: z.record(z.string(), z.unknown()),
  verifier: z.strictObject({ timeout_sec: z.number().positive() }),
  agent: z.strictObject({ timeout_sec: z.number().positive() }),
  environment: z.strictObject({
    build_timeout_sec: z.number().positive(),
    cpus: z.number().int().positive(),
    memory_mb: z.number().int().positive(),
    storage_mb: z.number().int().positive(),
    skills_dir: z.string().startsWith('/').optional(),
  }),
});

let root: string;
let home: Home;
let dataset: Dataset;
let folder: string;

const exportTo = async (
  out: string,
  more: { condition?: string; withData?: boolean; dataset?: Dataset } = {},
) =>
  exportHarbor({
    home,
    tasks: [await findTask('mimic-meld-24h-raw')],
    datasetFor: async () => more.dataset ?? dataset,
    condition: more.condition ?? 'with-skill',
    protocol: await loadProtocol('m4bench-1'),
    folder: out,
    withData: more.withData ?? false,
    progress: silentProgress,
  });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-harbor-test-'));
  home = homeAt(join(root, 'home'));
  await synthesizeDataset(home, { kind: 'mimic-iv', stays: 20, seed: '1' });
  dataset = await openDataset(home, 'mimic-iv-synthetic');
  folder = join(root, 'harbor');
  await exportTo(folder);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const file = (path: string): Promise<string> => readFile(join(folder, 'mimic-meld-24h-raw', path), 'utf8');

describe('a task in the format of Harbor', () => {
  test('has the folder that Harbor expects', async () => {
    const names = (await readdir(join(folder, 'mimic-meld-24h-raw'))).sort();
    expect(names).toEqual(['environment', 'instruction.md', 'solution', 'task.toml', 'tests']);
    expect(taskToml.safeParse(parse(await file('task.toml'))).error).toBeUndefined();
    for (const script of ['tests/test.sh', 'solution/solve.sh']) {
      const mode = (await stat(join(folder, 'mimic-meld-24h-raw', script))).mode;
      expect(mode & 0o111, script).not.toBe(0);
      const checked = await execa('bash', ['-n', join(folder, 'mimic-meld-24h-raw', script)], {
        reject: false,
      });
      expect(checked.stderr).toBe('');
    }
    expect(await file('tests/test.sh')).toContain('/logs/verifier/reward.json');
    expect(await file('environment/Dockerfile')).toMatch(/^FROM /m);
  });

  test('gives the agent the allowed relations and the skill, and neither reference nor removed concepts', async () => {
    const views = await file('environment/views.sql');
    expect(views).toContain('create view "mimiciv_hosp"."labevents"');
    expect(views).not.toContain('mimiciv_derived"."meld"');
    expect(await readdir(join(folder, 'mimic-meld-24h-raw', 'environment', 'skills'))).toEqual([
      'meld-score',
    ]);
    const given = await readdir(join(folder, 'mimic-meld-24h-raw', 'environment'), { recursive: true });
    expect(given.filter((name) => /reference|answer/.test(name))).toEqual([]);
    expect(given).toContain('data/mimiciv_icu/icustays.parquet');
  });

  test('has a database that its script builds', async () => {
    // The script itself is Python; its SQL is what matters, on the folder that the image would have.
    await using session = await DuckSession.open();
    const data = join(folder, 'mimic-meld-24h-raw', 'environment', 'data');
    await session.run((await file('environment/views.sql')).replaceAll('/opt/m4bench/data', data));
    const { stays } = await session.row('select count(*) as stays from mimiciv_icu.icustays');
    expect(Number(stays)).toBe(dataset.tables.find(({ table }) => table === 'icustays')!.rows);
  });

  test('has a solution that scores 1', async () => {
    const task = await findTask('mimic-meld-24h-raw');
    const { evaluation } = await evaluateOutput({
      task,
      dataset: dataset.name,
      outputPath: join(folder, 'mimic-meld-24h-raw', 'solution', 'answer.csv'),
      referencePath: join(folder, 'mimic-meld-24h-raw', 'tests', 'reference.parquet'),
    });
    expect(evaluation).toMatchObject({ reward: 1, strictPass: true });
  });

  test('of credentialed data leaves data, reference and solution out unless asked', async () => {
    const credentialed = { ...dataset, class: 'credentialed' as const };
    const out = join(root, 'without');
    const exported = await exportTo(out, { dataset: credentialed });
    expect(exported.tasks).toEqual([{ name: 'mimic-meld-24h-raw', hasData: false }]);
    const names = await readdir(out, { recursive: true });
    expect(names.filter((name) => /parquet|answer|solution/.test(name))).toEqual([]);
    expect(await readFile(join(out, 'README.md'), 'utf8')).toContain('credentialed');
    await exportTo(join(root, 'with'), { dataset: credentialed, withData: true });
    expect(existsSync(join(root, 'with', 'mimic-meld-24h-raw', 'tests', 'reference.parquet'))).toBe(true);
  });

  test('is never written over something, and leaves nothing behind when it fails', async () => {
    await expect(exportTo(folder)).rejects.toMatchObject({ code: 'EXPORT_EXISTS' });
    const out = join(root, 'nowhere');
    await expect(exportTo(out, { condition: 'unheard-of' })).rejects.toThrow();
    expect((await readdir(root)).filter((name) => name.startsWith('.m4bench-harbor-'))).toEqual([]);
    expect(existsSync(out)).toBe(false);
  });
});
