import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { type Home, homeAt } from '../support/home.js';
import { type Dataset, openDataset, parquetPath } from './dataset.js';
import { loadSourceSchema } from './source-schema.js';
import { synthesizeDataset } from './synthesize.js';
import { verifyDataset } from './verify.js';

let root: string;
let home: Home;
let made: Dataset;
let table: string;
let intact: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-verify-'));
  home = homeAt(root);
  made = await synthesizeDataset(home, { kind: 'eicu', stays: 5, seed: 'v', threads: 1 });
  table = parquetPath(made, 'eicu_crd', 'patient');
  intact = join(root, 'patient.intact');
  await copyFile(table, intact);
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(() => copyFile(intact, table));

const faultsOf = async (dataset: Dataset = made): Promise<readonly string[]> => {
  const verification = await verifyDataset(dataset, { threads: 1 });
  const faults = [
    ...verification.faults,
    ...verification.tables.flatMap((entry) => entry.faults.map((fault) => `${entry.table}: ${fault}`)),
  ];
  expect(verification.isSound).toBe(faults.length === 0);
  return faults;
};

/** The dataset with its patient table described otherwise. */
const described = (change: Partial<Dataset['tables'][number]>): Dataset => ({
  ...made,
  tables: made.tables.map((entry) => (entry.table === 'patient' ? { ...entry, ...change } : entry)),
});

async function rewritten(select: string, rest = ''): Promise<void> {
  await using session = await DuckSession.open({ threads: 1 });
  await session.run(
    `copy (${select} from read_parquet(${literal(intact)}) ${rest}) to ${literal(table)} (format parquet)`,
  );
}

describe('a dataset on disk', () => {
  test('as it was written is sound', async () => {
    expect(await faultsOf()).toEqual([]);
  });

  test('a changed value, a lost row and another file with the same rows are told apart', async () => {
    await rewritten("select * replace ('M' as gender)");
    expect(await faultsOf()).toEqual([
      'patient: the file was changed since it was written; its rows or columns are others',
    ]);
    await rewritten('select *', 'limit 4');
    expect(await faultsOf()).toEqual([
      'patient: the file was changed since it was written; it has 4 rows instead of 5',
    ]);
    await rewritten('select *');
    expect(await faultsOf()).toEqual([
      'patient: the file was changed since it was written; its rows are the same',
    ]);
  });

  test('a damaged file is told, not thrown', async () => {
    await appendFile(table, 'x');
    expect((await faultsOf())[0]).toMatch(/^patient: the file was changed .* and cannot be read/);
    await rm(table);
    expect(await faultsOf()).toEqual(['patient: the file is missing']);
  });

  test('a manifest that was changed is told', async () => {
    expect(await faultsOf(described({ rows: 6 }))).toEqual([
      'patient: dataset.json says 6 rows, the file has 5',
    ]);
    expect(await faultsOf({ ...made, contentHash: 'other' })).toEqual([
      'dataset.json was changed: its content hash is not that of its tables',
    ]);
  });

  test('a file that the manifest does not know is told', async () => {
    const stray = join(made.folder, 'eicu_crd', 'extra.parquet');
    await copyFile(intact, stray);
    expect(await faultsOf()).toEqual(['eicu_crd/extra.parquet is not in dataset.json']);
    await rm(stray);
  });

  test('is held against the row counts and checksums of its release, unless the differences were accepted', async () => {
    const source = { file: 'patient.csv.gz', bytes: 1, sha256: 'a'.repeat(64) };
    const asDemo: Dataset = { ...described({ source }), release: 'demo-2.0.1' };
    const schema = await loadSourceSchema('eicu');
    const published = schema.tables.find(({ name }) => name === 'patient')!.rowCounts['demo-2.0.1'];
    expect(published).toBe(2520);
    const { tables } = await verifyDataset(asDemo, { threads: 1 });
    expect(tables.find((entry) => entry.table === 'patient')).toMatchObject({
      publishedRows: 2520,
      hasPublishedSource: false,
      faults: [
        '5 rows, the release has 2,520',
        'was read from a file whose SHA-256 is not the published one',
      ],
    });
    const accepted = { ...asDemo, verified: false, unverifiedReasons: ['accepted'] };
    const verification = await verifyDataset(accepted, { threads: 1 });
    expect(verification).toMatchObject({ isSound: true, accepted: ['accepted'] });
  });
});

test('a lake of another format is refused with what to do', async () => {
  const path = join(made.folder, 'dataset.json');
  const manifest = JSON.parse(await readFile(path, 'utf8'));
  for (const [version, remedy] of [
    [1, /again with --replace/],
    [99, /newer/],
  ] as const) {
    await writeFile(path, JSON.stringify({ ...manifest, schemaVersion: version }));
    await expect(openDataset(home, made.name)).rejects.toMatchObject({
      code: 'DATASET_VERSION',
      remedy: expect.stringMatching(remedy),
    });
  }
  await writeFile(path, JSON.stringify(manifest));
});
