import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Dataset, parquetPath } from '../../src/datasets/dataset.js';
import { DuckSession } from '../../src/duck/session.js';
import { createParquetViews } from '../../src/duck/views.js';
import { nativeCatalog } from '../../src/schemas/catalog.js';
import { buildLake, type SchemaLake } from '../../src/schemas/lake.js';
import { presentationOf, transformedSchemas } from '../../src/schemas/presentation.js';
import { SqlTranslator } from '../../src/schemas/sql-translator.js';
import { homeAt } from '../../src/support/home.js';
import { handMadeDataset } from './hand-made-dataset.js';

/** Queries that every construct of interest occurs in; each must give the same rows on both schemas. */
const carried: Readonly<Record<string, string>> = {
  'a plain column list': 'select subject_id, gender from mimiciv_hosp.patients',
  'a star, in native order': 'select * from mimiciv_icu.icustays',
  'a star over a join with USING':
    'select * from mimiciv_hosp.patients join mimiciv_hosp.admissions using (subject_id)',
  'a natural join': 'select * from mimiciv_hosp.patients natural join mimiciv_hosp.admissions',
  'a star with EXCLUDE and REPLACE':
    'select * exclude (anchor_year_group) replace (anchor_age + 1 as anchor_age) from mimiciv_hosp.patients',
  'stars of one side':
    'select p.*, a.hadm_id from mimiciv_hosp.patients p left join mimiciv_hosp.admissions a on a.subject_id = p.subject_id',
  'tables qualified by name and by schema':
    'select icustays.stay_id, mimiciv_hosp.admissions.hadm_id from mimiciv_icu.icustays join mimiciv_hosp.admissions on mimiciv_icu.icustays.hadm_id = admissions.hadm_id',
  'an alias that shadows a column':
    "select stay_id, max(valuenum) as charttime from mimiciv_icu.chartevents where charttime < timestamp '2152-03-01' group by stay_id order by charttime",
  'an alias used further on in the same list':
    'select anchor_age as age, age + 1 as next_age from mimiciv_hosp.patients',
  'a common table expression called like a table':
    'with patients as (select subject_id, dod as gender from mimiciv_hosp.patients) select patients.gender, patients.subject_id from patients',
  'columns named in the head of a common table expression':
    'with stays (who, subject_id) as (select subject_id, stay_id from mimiciv_icu.icustays) select who, subject_id from stays where subject_id > 101',
  'columns of a table renamed by position': 'select a, b from mimiciv_icu.icustays as t(a, b)',
  'a correlated sub-query':
    'select stay_id, (select count(*) from mimiciv_icu.chartevents c where c.stay_id = i.stay_id and charttime between intime and outtime) as n from mimiciv_icu.icustays i',
  'EXISTS and IN with sub-queries':
    'select subject_id from mimiciv_hosp.patients where subject_id in (select subject_id from mimiciv_hosp.admissions) and not exists (select 1 from mimiciv_icu.icustays where icustays.subject_id = patients.subject_id)',
  'set operations':
    'select subject_id, hadm_id from mimiciv_hosp.admissions union all select subject_id, stay_id from mimiciv_icu.icustays order by hadm_id, subject_id',
  'a set operation that keeps the names of its first part':
    'with ids as (select hadm_id as id from mimiciv_hosp.admissions except select hadm_id from mimiciv_icu.icustays) select id from ids',
  'window functions with a named window':
    'select stay_id, charttime, lag(valuenum) over w as before, row_number() over (partition by stay_id, itemid order by charttime desc) as n from mimiciv_icu.chartevents window w as (partition by stay_id, itemid order by charttime)',
  QUALIFY:
    'select stay_id, charttime from mimiciv_icu.chartevents qualify row_number() over (partition by stay_id order by charttime, itemid) = 1',
  'HAVING and GROUP BY ALL':
    'select itemid, count(*) as n from mimiciv_icu.chartevents group by all having count(*) > 1 order by all',
  'DISTINCT ON':
    'select distinct on (subject_id) subject_id, stay_id from mimiciv_icu.icustays order by subject_id, stay_id desc',
  'VALUES with names that are columns too':
    "select c.stay_id, items.label from mimiciv_icu.chartevents c join (values (220045, 'pulse'), (220210, 'breaths')) as items(itemid, label) on c.itemid = items.itemid",
  'a lateral table function':
    'select stay_id, day from mimiciv_icu.icustays, generate_series(0, cast(los as bigint)) as days(day)',
  'a recursive query':
    'with recursive hours(stay_id, hr) as (select stay_id, 0 from mimiciv_icu.icustays union all select stay_id, hr + 1 from hours where hr < 2) select * from hours',
  'functions of lists and lambdas':
    'select stay_id, list_transform(list(valuenum order by charttime), valuenum -> valuenum * 2) as doubled from mimiciv_icu.chartevents group by stay_id',
  'struct fields':
    "select stay_id, (max({'valuenum': valuenum, 'at': charttime})).valuenum as top from mimiciv_icu.chartevents group by stay_id",
  'table names as values':
    "select label from mimiciv_icu.d_items where linksto in ('chartevents', 'outputevents') and linksto <> 'inputevents'",
  'a filtered aggregate and a CASE over codes':
    'select stay_id, count(*) filter (where warning = 1) as warned, sum(case when itemid = 220045 then 1 else 0 end) as pulses from mimiciv_icu.chartevents group by stay_id',
  'literals that look like names':
    "select 'stay_id' as stay_id, 'mimiciv_icu.icustays' as source from mimiciv_icu.icustays",
  'names in capitals': 'select STAY_ID, Los from MIMICIV_ICU.ICUSTAYS where Icustays.LOS > 2',
  'both halves of a union merge':
    'select l.valuenum as lab, c.valuenum as charted from mimiciv_hosp.labevents l join mimiciv_icu.chartevents c on c.subject_id = l.subject_id',
  'all three tables of the join merge at once':
    'select patients.gender, admissions.admission_type, icustays.los from mimiciv_icu.icustays join mimiciv_hosp.admissions on icustays.hadm_id = admissions.hadm_id join mimiciv_hosp.patients on admissions.subject_id = patients.subject_id',
  'counting patients': 'select count(*) as n, count(dod) as dead from mimiciv_hosp.patients',
  'whole doubles and decimals':
    'select 2.0::double * valuenum + 1e9 as x, 0.10 as y from mimiciv_icu.chartevents',
};

/** Constructs that cannot be carried with certainty: refused, never guessed. */
const refused: Readonly<Record<string, readonly [string, string]>> = {
  'a table without its schema': ['select subject_id from patients', 'DuckDB refuses it on the native schema'],
  'columns picked by a pattern': [
    "select columns('sub.*') from mimiciv_hosp.patients",
    'picks columns by a pattern',
  ],
  'union by name': [
    'select subject_id, hadm_id from mimiciv_hosp.admissions union by name select subject_id from mimiciv_hosp.patients',
    'by column name',
  ],
  'USING between a column and an alias': [
    'select n from mimiciv_icu.icustays join (select stay_id + 0 as stay_id, 1 as n from mimiciv_icu.icustays) using (stay_id)',
    'meets a database column on one side',
  ],
  'the row number of a table': ['select rowid, stay_id from mimiciv_icu.icustays', 'rowid'],
  'text functions over table names': [
    'select upper(linksto) as x from mimiciv_icu.d_items',
    'computes with the text of linksto',
  ],
  'sorting by table names': ['select label from mimiciv_icu.d_items order by linksto', 'sorts by a text'],
  'an integer beyond what is exact': [
    'select 9007199254740993 as n from mimiciv_icu.icustays',
    'beyond 2^53',
  ],
  'a column that does not exist': [
    'select nonsense from mimiciv_icu.icustays',
    'DuckDB refuses it on the native schema',
  ],
};

let root: string;
let dataset: Dataset;
const lakes = new Map<string, SchemaLake>();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-translate-'));
  const home = homeAt(root);
  dataset = await handMadeDataset(home);
  const catalog = await nativeCatalog(dataset);
  const relations = dataset.tables.map(({ schema, table }) => `${schema}.${table}`);
  for (const schema of transformedSchemas) {
    const presentation = presentationOf({ schema, protocol: { schemaNames: 'seeded', merges: 'lossless' } });
    lakes.set(schema, await buildLake({ home, dataset, catalog, presentation, relations }));
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function bothSchemas(lake: SchemaLake): Promise<DuckSession> {
  const session = await DuckSession.open({ threads: 1 });
  await createParquetViews(
    session,
    dataset.tables.map(({ schema, table }) => ({ schema, table, path: parquetPath(dataset, schema, table) })),
  );
  await createParquetViews(
    session,
    lake.tables.map(({ plan, path }) => ({ schema: plan.schema, table: plan.table, path })),
  );
  return session;
}

describe.each(transformedSchemas)('a query carried to the %s schema', (schema) => {
  let session: DuckSession;
  let translator: SqlTranslator;
  beforeAll(async () => {
    session = await bothSchemas(lakes.get(schema)!);
    translator = await SqlTranslator.open(lakes.get(schema)!);
  });
  afterAll(async () => {
    await translator[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
  });

  test.each(Object.entries(carried))('gives the same rows: %s', async (_name, sql) => {
    const translated = await translator.translate(sql, 'query');
    const sorted = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
    const native = sorted(await session.rows(sql));
    expect(native.length).toBeGreaterThan(0);
    expect(sorted(await session.rows(translated.sql))).toEqual(native);
  });

  test.each(Object.entries(refused))('is refused: %s', async (_name, [sql, reason]) => {
    await expect(translator.translate(sql, 'query')).rejects.toMatchObject({
      code: 'SQL_NOT_TRANSLATABLE',
      message: expect.stringContaining(reason),
    });
  });

  test('has no native name but those of its output columns and its own aliases', async () => {
    const { sql } = await translator.translate(
      'with latest as (select stay_id, max(charttime) as seen from mimiciv_icu.chartevents group by stay_id) select hadm_id, seen from latest join mimiciv_icu.icustays using (stay_id) where los > 1',
      'query',
    );
    const words = new Set(sql.match(/[a-z_]{3,}/g));
    for (const name of [
      'stay_id',
      'charttime',
      'chartevents',
      'icustays',
      'mimiciv_icu',
      'los',
      'subject_id',
    ]) {
      expect([...words]).not.toContain(name);
    }
    for (const name of ['hadm_id', 'seen', 'latest']) expect([...words]).toContain(name);
  });
});
