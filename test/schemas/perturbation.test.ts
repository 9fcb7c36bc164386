import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Dataset, parquetPath } from '../../src/datasets/dataset.js';
import { DuckSession, type Row } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { buildReferences } from '../../src/references/build.js';
import { nativeCatalog } from '../../src/schemas/catalog.js';
import { codedColumn } from '../../src/schemas/dictionary.js';
import { proveEquivalence } from '../../src/schemas/equivalence.js';
import { buildLake, type SchemaLake } from '../../src/schemas/lake.js';
import { type Perturbation, perturbations, presentationOf } from '../../src/schemas/presentation.js';
import { presentedReference } from '../../src/schemas/presented-reference.js';
import { SqlTranslator } from '../../src/schemas/sql-translator.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { handMadeDataset } from './hand-made-dataset.js';

let root: string;
let home: Home;
let dataset: Dataset;
const lakes = new Map<string, SchemaLake>();
const derived = [
  'weight_durations',
  'gcs',
  'icustay_times',
  'age',
  'urine_output',
  'invasive_line',
  'vitalsign',
];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-perturb-'));
  home = homeAt(root);
  dataset = await handMadeDataset(home);
  const catalog = await nativeCatalog(dataset);
  const relations = [
    ...dataset.tables.map(({ schema, table }) => `${schema}.${table}`),
    ...derived.map((table) => `mimiciv_derived.${table}`),
  ];
  for (const perturb of [...perturbations.map((name) => [name]), [...perturbations]]) {
    const presentation = presentationOf({
      schema: 'restructured',
      protocol: { schemaNames: 'seeded', merges: 'lossless' },
      perturb,
    });
    lakes.set(perturb.join(), await buildLake({ home, dataset, catalog, presentation, relations }));
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

const lakeOf = (...perturb: Perturbation[]): SchemaLake => lakes.get(perturb.join())!;

async function rowsOf(sql: string): Promise<readonly Row[]> {
  await using session = await DuckSession.open({ threads: 1 });
  // Awaited here: the session must stay open until the rows are read.
  return await session.rows(sql);
}

/** A presented table under native column names. */
function presented(lake: SchemaLake, name: string, columns: readonly string[]): string {
  const { path } = lake.tables.find(({ plan }) => plan.name === name)!;
  const items = columns.map(
    (column) => `${identifier(codedColumn(lake.dictionary, column))} as ${identifier(column)}`,
  );
  return `(select ${items.join(', ')} from read_parquet(${literal(path)}))`;
}

function map(lake: SchemaLake, name: string): string {
  return `read_parquet(${literal(lake.maps.find(({ table }) => table === name)!.path)})`;
}

test.each([...perturbations.map((name) => [name]), [...perturbations]])(
  'the proof holds: %s',
  async (...perturb) => {
    const lake = lakeOf(...(perturb as Perturbation[]));
    const proof = await proveEquivalence({
      home,
      lake,
      references: ['gcs-24h', 'urine-output-rate'],
      concepts: derived,
    });
    expect(
      [...proof.tables, ...proof.concepts, ...proof.references].filter(({ isEqual }) => !isEqual),
    ).toEqual([]);
    expect(proof.isVerified).toBe(true);
    expect(proof.concepts).toHaveLength(derived.length);
  },
);

describe('items', () => {
  test('every id stands for exactly one other id', async () => {
    const [row] = await rowsOf(
      `select count(*) as n, count(distinct presented) as images, count(*) filter (where native = presented) as fixed,
         count(*) filter (where presented not in (select native from ${map(lakeOf('items'), 'items')})) as strangers
       from ${map(lakeOf('items'), 'items')}`,
    );
    // Six ids in the catalogues, no microbiology.
    expect(row).toEqual({ n: '6', images: '6', fixed: '0', strangers: '0' });
  });

  test('records follow their catalogue: the heart rate is found by its label, not by its id', async () => {
    const lake = lakeOf('items');
    const observations = presented(lake, 'mimiciv_icu.observations', ['itemid', 'valuenum']);
    const catalogue = presented(lake, 'mimiciv_icu.item_reference', ['itemid', 'label']);
    const values = await rowsOf(
      `select valuenum from ${observations} join ${catalogue} using (itemid) where label = 'Heart Rate' order by valuenum`,
    );
    expect(values.map(({ valuenum }) => valuenum)).toEqual([71, 88, 104]);
    const byMemory = await rowsOf(`select valuenum from ${observations} where itemid = 220045`);
    expect(byMemory.map(({ valuenum }) => valuenum)).not.toContain(88);
  });

  test('a carried query asks for the new ids', async () => {
    const lake = lakeOf('items');
    await using translator = await SqlTranslator.open(lake);
    const { sql } = await translator.translate(
      'select stay_id from mimiciv_icu.chartevents where itemid in (220045, 220210) and valuenum > 50',
      'query',
    );
    expect(sql).toContain(String(lake.values.numbers.get(220045)));
    expect(sql).toContain('> 50');
    expect(sql).not.toContain('220045, 220210');
  });

  test('knows which ids could be ICD codes', () => {
    expect([...lakeOf('items').ambiguousNumbers]).toEqual([50912]);
  });
});

describe('labels', () => {
  test('are worded differently one to one, and names of drugs stay', async () => {
    const rows = await rowsOf(
      `select native, presented from ${map(lakeOf('labels'), 'labels')} order by native`,
    );
    const words = new Map(rows.map(({ native, presented: other }) => [native, other]));
    expect(words.get('Heart Rate')).toBe('Cardiac Frequency');
    expect(words.get('Respiratory Rate')).toBe('Breathing Frequency');
    expect(words.get('Norepinephrine')).toBe('Norepinephrine');
    expect(new Set(words.values()).size).toBe(words.size);
  });

  test('a carried query compares with the new wording, and one that computes with it is refused', async () => {
    await using translator = await SqlTranslator.open(lakeOf('labels'));
    const { sql } = await translator.translate(
      "select itemid from mimiciv_icu.d_items where label in ('Heart Rate', 'Foley')",
      'query',
    );
    expect(sql).toContain("'Cardiac Frequency'");
    await expect(
      translator.translate("select itemid from mimiciv_icu.d_items where label like '%Rate%'", 'query'),
    ).rejects.toMatchObject({ code: 'SQL_NOT_TRANSLATABLE' });
  });
});

describe('dates', () => {
  test('every patient moves by whole four-year cycles that are not 0, and within its stretch', async () => {
    const rows = await rowsOf(
      `select subject_id, days from ${map(lakeOf('dates'), 'shift_of_patient')} order by 1`,
    );
    expect(rows.map(({ subject_id }) => subject_id)).toEqual(['1', '2', '3']);
    for (const { days } of rows) {
      expect(Number(days) % 1461).toBe(0);
      expect(Number(days)).not.toBe(0);
    }
  });

  test('days and months, leap days, spans and ages stay; years move with the anchor year', async () => {
    const lake = lakeOf('dates');
    const encounters = presented(lake, 'mimiciv_hosp.encounters', [
      'subject_id',
      'hadm_id',
      'stay_id',
      'admittime',
      'intime',
      'outtime',
      'anchor_year',
      'dod',
    ]);
    const native = (table: string): string =>
      `read_parquet(${literal(parquetPath(dataset, table.split('.')[0]!, table.split('.')[1]!))})`;
    const [row] = await rowsOf(
      `select strftime(e.admittime, '%m-%d %H:%M') as day, date_diff('hour', e.intime, e.outtime) as hours,
         year(e.admittime) - e.anchor_year = 2152 - 2150 as keeps_age, year(e.admittime) <> 2152 as moved,
         strftime(e.dod, '%m-%d') as died, date_diff('day', a.admittime, e.admittime) = date_diff('day', p.dod, e.dod) as together
       from ${encounters} e join ${native('mimiciv_hosp.admissions')} a using (hadm_id)
       join ${native('mimiciv_hosp.patients')} p on p.subject_id = e.subject_id where e.stay_id = 101`,
    );
    // The first stay runs from 28 February over 29 February to 2 March: 72 hours.
    expect(row).toEqual({
      day: '02-28 08:00',
      hours: '72',
      keeps_age: true,
      moved: true,
      died: '03-01',
      together: true,
    });
  });

  test('the reference moves with the patient, and others do not', async () => {
    const lake = lakeOf('dates');
    const [rates, gcs] = await buildReferences(home, dataset, { keys: ['urine-output-rate', 'gcs-24h'] });
    const moved = await presentedReference(lake, rates!);
    expect(moved.parquetPath).not.toBe(rates!.parquetPath);
    expect(moved.manifest.rows).toBe(rates!.manifest.rows);
    expect(await presentedReference(lake, rates!)).toEqual(moved);
    // No date among its columns.
    expect(await presentedReference(lake, gcs!)).toBe(gcs);
    expect(await presentedReference(lakeOf('items'), rates!)).toBe(rates);
  });
});
