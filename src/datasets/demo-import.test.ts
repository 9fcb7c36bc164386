import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentHash } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { type Home, homeAt, packageRoot } from '../support/home.js';
import { type Dataset, parquetPath } from './dataset.js';
import { importDataset } from './import.js';
import { loadSourceSchema } from './source-schema.js';

const testData = join(process.env.M4BENCH_TEST_DATA ?? resolve(packageRoot(), '..', 'shared'), 'data');
const isPresent = existsSync(join(testData, 'mimic-iv-demo')) && existsSync(join(testData, 'eicu-demo'));
if (!isPresent)
  console.warn(`Skipped: no demo data in ${testData}; set M4BENCH_TEST_DATA to a folder with data/.`);

/** Tables of the test copies that are not the official files; their NOTICE.md says so. */
const rebuilt = { 'mimic-iv-demo': ['chartevents'], 'eicu-demo': ['lab', 'nursecharting', 'vitalperiodic'] };

describe.skipIf(!isPresent)('the open demos', () => {
  let root: string;
  let home: Home;
  const imported = new Map<string, Dataset>();
  const run = (name: string, threads: number) =>
    importDataset(home, { name, from: join(testData, name), verify: false, replace: true, threads });

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'm4bench-demo-'));
    home = homeAt(root);
    for (const name of Object.keys(rebuilt)) imported.set(name, await run(name, 2));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test.each(Object.entries(rebuilt))(
    '%s has the published row counts, but for what was rebuilt',
    async (name, tables) => {
      const dataset = imported.get(name)!;
      const schema = await loadSourceSchema(dataset.kind);
      expect(dataset.tables).toHaveLength(31);
      for (const { table, schema: database, rows } of dataset.tables) {
        if (tables.includes(table)) continue;
        const known = schema.tables.find((entry) => entry.name === table && entry.schema === database)!;
        expect([table, rows]).toEqual([table, known.rowCounts[dataset.release]]);
      }
      expect(dataset.verified).toBe(false);
      expect(dataset.class).toBe('open');
      for (const reason of dataset.unverifiedReasons) {
        expect(tables).toContain(
          reason.split(':')[0]!.replace(/^.*\//, '').replace('.csv.gz', '').toLowerCase(),
        );
      }
    },
  );

  test('the content hash is the same for another number of threads', async () => {
    const first = imported.get('mimic-iv-demo')!.contentHash;
    expect((await run('mimic-iv-demo', 1)).contentHash).toBe(first);
  });

  test('the stored hash is that of the stored rows, and null strings became NULL', async () => {
    const dataset = imported.get('mimic-iv-demo')!;
    await using session = await DuckSession.open({ threads: 1 });
    const path = parquetPath(dataset, 'mimiciv_hosp', 'labevents');
    const table = dataset.tables.find((entry) => entry.table === 'labevents')!;
    const hashed = await contentHash(session, `read_parquet(${literal(path)})`, table.columns);
    expect(hashed).toEqual({ rows: 107_727, contentHash: table.contentHash });
    // The source specification counts 6,823 values, 3,188 comments `___` and 2,161 units `N/A`; empty ones are NULL too.
    const nulls = await session.row(
      `select count(*) filter (where value in ('', '___', 'NA', 'N/A', 'NULL')) as v,
         count(*) filter (where value is null)::int >= 6823 as has_nulls from read_parquet(${literal(path)})`,
    );
    expect(nulls).toEqual({ v: '0', has_nulls: true });
  });

  test('large event tables are sorted so that a filter on itemid reads few row groups', async () => {
    const dataset = imported.get('mimic-iv-demo')!;
    await using session = await DuckSession.open({ threads: 1 });
    const path = literal(parquetPath(dataset, 'mimiciv_icu', 'chartevents'));
    const groups = await session.rows(
      `select stats_min_value::bigint as low, stats_max_value::bigint as high
       from parquet_metadata(${path}) where path_in_schema = 'itemid' order by row_group_id`,
    );
    expect(groups.length).toBeGreaterThan(1);
    const heartRate = groups.filter((group) => Number(group.low) <= 220045 && Number(group.high) >= 220045);
    expect(heartRate).toHaveLength(1);
  });
});
