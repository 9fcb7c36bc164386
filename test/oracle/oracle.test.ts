import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parquetPath } from '../../src/datasets/dataset.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { homeAt } from '../../src/support/home.js';
import { compareWithOracle, loadExceptions, loadOracle } from './compare.js';
import { hasOracle, type OracleResult, runOracle, testDataFolder } from './run-oracle.js';

const folder = testDataFolder();
const isPresent = hasOracle(folder);
if (!isPresent)
  console.warn(
    `Skipped: no demos with expected results in ${folder}; set M4BENCH_TEST_DATA to their folder.`,
  );

describe.skipIf(!isPresent)('expected results of the open demos', () => {
  let root: string;
  let session: DuckSession;
  const results = new Map<string, OracleResult>();

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'm4bench-oracle-'));
    session = await DuckSession.open({ threads: 2 });
    for (const name of ['mimic-iv-demo', 'eicu-demo'] as const) {
      results.set(name, await runOracle(homeAt(root), name));
    }
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });

  test('all 63 concepts and 17 references are equal but for listed ties', () => {
    const all = [...results.values()].flatMap((result) => result.comparisons);
    expect(all.filter(({ difference }) => difference !== undefined)).toEqual([]);
    expect(all.filter(({ file }) => file.startsWith('derived/'))).toHaveLength(63);
    expect(all.filter(({ file }) => file.startsWith('references/'))).toHaveLength(17);
  });

  test('no exception is listed that is not needed', async () => {
    const all = [...results.values()].flatMap((result) => result.comparisons);
    expect(all.filter(({ needless }) => needless > 0)).toEqual([]);
    const used = all.filter(({ excepted }) => excepted > 0).map(({ file }) => file);
    expect(used.sort()).toEqual((await loadExceptions()).map(({ file }) => file).sort());
  });

  /** Folder of the imported demo, and a file of the oracle as a relation. */
  const derived = (table: string): string =>
    `read_parquet(${literal(parquetPath(results.get('mimic-iv-demo')!.dataset, 'mimiciv_derived', table))})`;
  const expected = (file: string): string =>
    `read_csv(${literal(join(folder, 'oracle', 'mimic-iv-demo', `${file}.csv.gz`))}, allow_quoted_nulls = false)`;

  test('every excepted GCS of the oracle is another charting of the same stay, day and total', async () => {
    const stays = (await loadExceptions()).find(({ file }) => file === 'derived/first_day_gcs')!.keys
      .stay_id!;
    const icustays = parquetPath(results.get('mimic-iv-demo')!.dataset, 'mimiciv_icu', 'icustays');
    const row = await session.row(`select count(distinct oracle.stay_id)::integer as ties
      from ${expected('derived/first_day_gcs')} oracle
      inner join read_parquet(${literal(icustays)}) icustays on icustays.stay_id = oracle.stay_id
      inner join ${derived('gcs')} gcs on gcs.stay_id = oracle.stay_id
        and gcs.charttime between icustays.intime - interval '6 hours' and icustays.intime + interval '1 day'
        and gcs.gcs = oracle.gcs_min
        and gcs.gcs_motor is not distinct from oracle.gcs_motor
        and gcs.gcs_verbal is not distinct from oracle.gcs_verbal
        and gcs.gcs_eyes is not distinct from oracle.gcs_eyes
        and gcs.gcs_unable = oracle.gcs_unable
      where oracle.stay_id in (${stays.join(', ')})`);
    expect(row.ties).toBe(stays.length);
  });

  test('every excepted culture of the oracle is another one of the same patient, date and time', async () => {
    const cultures = parquetPath(results.get('mimic-iv-demo')!.dataset, 'mimiciv_hosp', 'microbiologyevents');
    const row = await session.row(`with differing as (
        select * from ${expected('derived/suspicion_of_infection')}
        except
        select subject_id, stay_id, hadm_id, ab_id, antibiotic, antibiotic_time, suspected_infection,
          suspected_infection_time, culture_time, specimen, positive_culture
        from ${derived('suspicion_of_infection')}
      )
      select count(*)::integer as rows, count(*) filter (exists (
          select 1 from read_parquet(${literal(cultures)}) culture
          where culture.subject_id = differing.subject_id
            and coalesce(culture.charttime, culture.chartdate) = differing.culture_time
            and culture.spec_type_desc = differing.specimen
        ))::integer as ties
      from differing`);
    expect(row).toEqual({ rows: 28, ties: 28 });
  });

  describe('the comparison notices', () => {
    const compare = async (query: string) => {
      const path = join(root, 'changed.parquet');
      await session.run(`copy (${query}) to ${literal(path)} (format parquet)`);
      const oracleFolder = join(folder, 'oracle', 'mimic-iv-demo');
      const oracle = await loadOracle(oracleFolder);
      return compareWithOracle(session, {
        oracleFolder,
        oracle,
        file: 'derived/icp',
        parquetPath: path,
        exceptions: [],
      });
    };
    const changedIcp = (icp: string): string =>
      `select * replace (case when row_number() over (order by charttime) = 5 then ${icp} else icp end as icp)
       from ${derived('icp')}`;

    test('nothing in rows of another order, nor a difference below 1e-9', async () => {
      expect((await compare(`from ${derived('icp')} order by icp desc`)).difference).toBeUndefined();
      expect((await compare(changedIcp('icp * (1 + 5e-10)'))).difference).toBeUndefined();
    });

    test('a difference above 1e-9, a missing value, a missing, a repeated and a swapped row', async () => {
      expect((await compare(changedIcp('icp * (1 + 2e-9)'))).difference).toContain('1 missing, 1 too many');
      expect((await compare(changedIcp('null'))).difference).toContain('1 missing, 1 too many');
      expect((await compare(`from ${derived('icp')} limit 302`)).difference).toContain(
        '302 rows for 303, 1 missing',
      );
      const repeated = `from ${derived('icp')} union all (from ${derived('icp')} limit 1)`;
      expect((await compare(repeated)).difference).toContain('304 rows for 303, 0 missing, 1 too many');
      const swapped = `select * replace (charttime + interval '1 second' as charttime) from ${derived('icp')}`;
      expect((await compare(swapped)).difference).toContain('303 missing, 303 too many');
    });

    test('another type and another column', async () => {
      expect(
        (await compare(`select * replace (icp::decimal(18, 3) as icp) from ${derived('icp')}`)).difference,
      ).toContain('got subject_id integer, stay_id integer, charttime TIMESTAMP, icp DECIMAL(18,3)');
      expect((await compare(`select * exclude (icp) from ${derived('icp')}`)).difference).toContain(
        'columns:',
      );
    });
  });
});
