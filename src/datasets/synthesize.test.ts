import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { createParquetViews } from '../duck/views.js';
import { type Home, homeAt } from '../support/home.js';
import { type Dataset, parquetPath } from './dataset.js';
import { loadSourceSchema } from './source-schema.js';
import { synthesizeDataset } from './synthesize.js';

let root: string;
let home: Home;
let mimic: Dataset;
let eicu: Dataset;
let session: DuckSession;

const generate = (kind: string, stays: number, seed: string, threads = 2, at: Home = home) =>
  synthesizeDataset(at, { kind, stays, seed, threads, replace: true });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-synthesize-'));
  home = homeAt(root);
  mimic = await generate('mimic-iv', 300, 'a');
  eicu = await generate('eicu', 100, 'a');
  session = await DuckSession.open({ threads: 2 });
  for (const dataset of [mimic, eicu]) {
    await createParquetViews(
      session,
      dataset.tables.map(({ schema, table }) => ({
        schema,
        table,
        path: parquetPath(dataset, schema, table),
      })),
    );
  }
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const count = async (sql: string): Promise<number> =>
  Number((await session.row(`select (${sql})::varchar as n`)).n);

describe('a synthetic dataset', () => {
  test('has every table of its kind with the declared columns and types, empty or not', async () => {
    for (const dataset of [mimic, eicu]) {
      const schema = await loadSourceSchema(dataset.kind);
      expect(dataset.tables).toHaveLength(31);
      for (const table of schema.tables) {
        const made = dataset.tables.find(
          (entry) => entry.table === table.name && entry.schema === table.schema,
        );
        expect(made?.columns).toEqual(table.columns.map(({ name, type }) => ({ name, type })));
      }
    }
  });

  test('says that it is synthetic and leaves no other file behind', async () => {
    expect(mimic).toMatchObject({ class: 'synthetic', release: 'synthetic', verified: true });
    expect(mimic.notice).toContain('SYNTHETIC');
    expect((await readdir(home.datasets)).sort()).toEqual(['eicu-synthetic', 'mimic-iv-synthetic']);
    expect((await readdir(mimic.folder)).sort()).toEqual(['dataset.json', 'mimiciv_hosp', 'mimiciv_icu']);
  });

  test('is the same for the same seed, byte for byte, whatever the number of threads; another seed gives another', async () => {
    const elsewhere = homeAt(join(root, 'elsewhere'));
    const again = await generate('mimic-iv', 60, 'x', 1, elsewhere);
    const first = await generate('mimic-iv', 60, 'x', 2, elsewhere);
    const hashes = (dataset: Dataset) =>
      dataset.tables.map((table) => [table.table, table.contentHash, table.fileSha256]);
    expect(hashes(again)).toEqual(hashes(first));
    const other = await generate('mimic-iv', 60, 'y', 2, elsewhere);
    expect(other.contentHash).not.toBe(first.contentHash);
  });

  test('uses identifiers that no release has: real MIMIC-IV and eICU ids have at most eight digits', async () => {
    expect(await count('select min(subject_id) from mimiciv_hosp.patients')).toBeGreaterThan(900_000_000);
    expect(await count('select min(hadm_id) from mimiciv_hosp.admissions')).toBeGreaterThan(900_000_000);
    expect(await count('select min(stay_id) from mimiciv_icu.icustays')).toBeGreaterThan(900_000_000);
    expect(await count('select min(patientunitstayid) from eicu_crd.patient')).toBeGreaterThan(900_000_000);
    expect(await count("select count(*) from eicu_crd.patient where uniquepid not like 'SYN-%'")).toBe(0);
  });

  test('keeps primary keys unique and foreign keys resolved', async () => {
    for (const dataset of [mimic, eicu]) {
      for (const table of (await loadSourceSchema(dataset.kind)).tables) {
        if (table.primaryKey.length === 0) continue;
        const key = table.primaryKey.join(', ');
        const doubles = `select count(*) from (select ${key} from ${table.schema}.${table.name} group by all having count(*) > 1)`;
        expect([table.name, await count(doubles)]).toEqual([table.name, 0]);
      }
    }
    const orphans = (child: string, column: string, parent: string) =>
      count(
        `select count(*) from ${child} c where ${column} is not null and not exists (from ${parent} p where p.${column} = c.${column})`,
      );
    expect(await orphans('mimiciv_icu.icustays', 'hadm_id', 'mimiciv_hosp.admissions')).toBe(0);
    expect(await orphans('mimiciv_hosp.admissions', 'subject_id', 'mimiciv_hosp.patients')).toBe(0);
    for (const events of ['chartevents', 'inputevents', 'outputevents', 'procedureevents']) {
      expect([events, await orphans(`mimiciv_icu.${events}`, 'stay_id', 'mimiciv_icu.icustays')]).toEqual([
        events,
        0,
      ]);
      expect([events, await orphans(`mimiciv_icu.${events}`, 'itemid', 'mimiciv_icu.d_items')]).toEqual([
        events,
        0,
      ]);
    }
    expect(await orphans('mimiciv_hosp.labevents', 'itemid', 'mimiciv_hosp.d_labitems')).toBe(0);
    expect(await orphans('mimiciv_hosp.labevents', 'subject_id', 'mimiciv_hosp.patients')).toBe(0);
    expect(await orphans('mimiciv_hosp.diagnoses_icd', 'icd_code', 'mimiciv_hosp.d_icd_diagnoses')).toBe(0);
    expect(await orphans('eicu_crd.nursecharting', 'patientunitstayid', 'eicu_crd.patient')).toBe(0);
  });
});

describe('clinical sense of synthetic MIMIC-IV', () => {
  test('time runs forward: admission, unit, discharge, and charting inside the stay', async () => {
    const wrongTimes = `select count(*) from mimiciv_icu.icustays join mimiciv_hosp.admissions using (hadm_id)
      where not (admittime <= intime and intime < outtime and outtime <= dischtime + interval 1 minute)`;
    expect(await count(wrongTimes)).toBe(0);
    const overlapping = `select count(*) from mimiciv_icu.icustays a join mimiciv_icu.icustays b on a.subject_id = b.subject_id
      and a.stay_id < b.stay_id and a.intime < b.outtime and b.intime < a.outtime`;
    expect(await count(overlapping)).toBe(0);
    const outside = `select count(*) from mimiciv_icu.chartevents join mimiciv_icu.icustays using (stay_id)
      where charttime < intime - interval 1 hour or charttime > outtime + interval 1 hour`;
    expect(await count(outside)).toBe(0);
    expect(await count('select count(*) from mimiciv_icu.inputevents where endtime <= starttime')).toBe(0);
  });

  test('each breathing support, both temperature units, tube, dialysis and every specimen occur', async () => {
    const texts = async (itemid: number): Promise<readonly unknown[]> =>
      (
        await session.rows(
          `select distinct value from mimiciv_icu.chartevents where itemid = ${itemid} order by 1`,
        )
      ).map((row) => row.value);
    expect(await texts(226732)).toEqual(
      expect.arrayContaining([
        'Endotracheal tube',
        'Nasal cannula',
        'High flow nasal cannula',
        'None',
        'Bipap mask ',
      ]),
    );
    expect(await texts(223900)).toEqual(expect.arrayContaining(['No Response-ETT', 'Oriented', 'Confused']));
    expect((await texts(223761)).length).toBeGreaterThan(5);
    expect((await texts(223762)).length).toBeGreaterThan(5);
    expect((await texts(227290)).length).toBeGreaterThan(0);
    const specimens = await session.rows(
      'select distinct value from mimiciv_hosp.labevents where itemid = 52033 order by 1',
    );
    expect(specimens.map((row) => row.value)).toEqual(expect.arrayContaining(['ART.', 'VEN.', 'MIX.']));
  });

  test('there are patients over 89, coded as 91, and both versions of ICD', async () => {
    expect(
      await count(
        'select count(*) from mimiciv_hosp.patients where anchor_age between 90 and 200 and anchor_age <> 91',
      ),
    ).toBe(0);
    expect(await count('select count(*) from mimiciv_hosp.patients where anchor_age = 91')).toBeGreaterThan(
      0,
    );
    expect(await count('select count(distinct icd_version) from mimiciv_hosp.diagnoses_icd')).toBe(2);
  });

  test('sicker is sicker: patients who die have higher lactate and lower pressure', async () => {
    const byOutcome = (itemid: number, table: string) =>
      session.rows(`select hospital_expire_flag::int as died, median(valuenum) as middle from ${table}
        join mimiciv_hosp.admissions using (hadm_id) where itemid = ${itemid} group by 1 order by 1`);
    const [alive, dead] = await byOutcome(50813, 'mimiciv_hosp.labevents');
    expect(Number(dead!.middle)).toBeGreaterThan(Number(alive!.middle));
    const [high, low] = await byOutcome(220181, 'mimiciv_icu.chartevents');
    expect(Number(low!.middle)).toBeLessThan(Number(high!.middle));
  });
});

describe('wrong use', () => {
  test.each([
    [{ kind: 'mimic-iii' }, 'DATASET_KIND_UNKNOWN'],
    [{ kind: 'eicu', stays: 0 }, 'SYNTHESIZE_STAYS_INVALID'],
    [{ kind: 'eicu', stays: 1.5 }, 'SYNTHESIZE_STAYS_INVALID'],
    [{ kind: 'eicu', stays: 5 }, 'DATASET_EXISTS'],
  ])('%j is refused with %s', async (options, code) => {
    await expect(synthesizeDataset(home, options)).rejects.toMatchObject({ code });
  });

  test('one stay is enough', async () => {
    const single = await generate('mimic-iv', 1, '7', 1, homeAt(join(root, 'single')));
    expect(single.tables.find((table) => table.table === 'icustays')?.rows).toBe(1);
  });
});
