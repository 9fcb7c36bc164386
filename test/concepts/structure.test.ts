import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Concept, loadConcepts } from '../../src/concepts/concept.js';
import { type ConceptGraph, conceptGraph, descendants, withDependencies } from '../../src/concepts/graph.js';
import { databaseKinds, loadSourceSchema } from '../../src/datasets/source-schema.js';
import { describeQuery } from '../../src/duck/parquet.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { parseSelect, relationsRead } from '../../src/duck/syntax-tree.js';
import { loadReferenceQueries, type ReferenceQuery } from '../../src/references/reference.js';

/** Level and relations read of every concept, from the dependency table of the specification. */
const dependencies: Readonly<Record<string, readonly [level: number, base: string, derived: string]>> = {
  icustay_times: [0, 'icu.icustays icu.chartevents', ''],
  icustay_hourly: [1, '', 'icustay_times'],
  weight_durations: [0, 'icu.icustays icu.chartevents', ''],
  urine_output: [0, 'icu.outputevents', ''],
  kdigo_uo: [1, 'icu.icustays', 'urine_output weight_durations'],
  age: [0, 'hosp.admissions hosp.patients', ''],
  icustay_detail: [0, 'icu.icustays hosp.admissions hosp.patients', ''],
  bg: [0, 'hosp.labevents icu.chartevents', ''],
  blood_differential: [0, 'hosp.labevents', ''],
  cardiac_marker: [0, 'hosp.labevents', ''],
  chemistry: [0, 'hosp.labevents', ''],
  coagulation: [0, 'hosp.labevents', ''],
  complete_blood_count: [0, 'hosp.labevents', ''],
  creatinine_baseline: [1, 'hosp.patients hosp.diagnoses_icd', 'age chemistry'],
  enzyme: [0, 'hosp.labevents', ''],
  gcs: [0, 'icu.chartevents', ''],
  height: [0, 'icu.chartevents', ''],
  icp: [0, 'icu.chartevents', ''],
  inflammation: [0, 'hosp.labevents', ''],
  oxygen_delivery: [0, 'icu.chartevents', ''],
  rhythm: [0, 'icu.chartevents', ''],
  urine_output_rate: [1, 'icu.icustays icu.chartevents', 'urine_output weight_durations'],
  ventilator_setting: [0, 'icu.chartevents', ''],
  vitalsign: [0, 'icu.chartevents', ''],
  charlson: [1, 'hosp.admissions hosp.diagnoses_icd', 'age'],
  acei: [0, 'hosp.prescriptions', ''],
  antibiotic: [0, 'hosp.prescriptions icu.icustays', ''],
  dobutamine: [0, 'icu.inputevents', ''],
  dopamine: [0, 'icu.inputevents', ''],
  epinephrine: [0, 'icu.inputevents', ''],
  milrinone: [0, 'icu.inputevents', ''],
  neuroblock: [0, 'icu.inputevents', ''],
  norepinephrine: [0, 'icu.inputevents', ''],
  nsaid: [0, 'hosp.prescriptions', ''],
  phenylephrine: [0, 'icu.inputevents', ''],
  vasopressin: [0, 'icu.inputevents', ''],
  crrt: [0, 'icu.chartevents', ''],
  invasive_line: [0, 'icu.procedureevents icu.d_items', ''],
  rrt: [0, 'icu.chartevents icu.inputevents icu.procedureevents', ''],
  ventilation: [1, '', 'oxygen_delivery ventilator_setting'],
  first_day_bg: [1, 'icu.icustays', 'bg'],
  first_day_bg_art: [1, 'icu.icustays', 'bg'],
  first_day_gcs: [1, 'icu.icustays', 'gcs'],
  first_day_height: [1, 'icu.icustays', 'height'],
  first_day_lab: [1, 'icu.icustays', 'blood_differential chemistry coagulation complete_blood_count enzyme'],
  first_day_rrt: [1, 'icu.icustays', 'rrt'],
  first_day_urine_output: [1, 'icu.icustays', 'urine_output'],
  first_day_vitalsign: [1, 'icu.icustays', 'vitalsign'],
  first_day_weight: [1, 'icu.icustays', 'weight_durations'],
  kdigo_creatinine: [0, 'icu.icustays hosp.labevents', ''],
  meld: [2, 'icu.icustays', 'first_day_lab first_day_rrt'],
  apsiii: [
    2,
    'icu.icustays hosp.admissions hosp.patients hosp.diagnoses_icd',
    'bg first_day_gcs first_day_lab first_day_urine_output first_day_vitalsign ventilation',
  ],
  lods: [
    2,
    'icu.icustays icu.chartevents hosp.admissions hosp.patients',
    'bg first_day_gcs first_day_lab first_day_urine_output first_day_vitalsign ventilation',
  ],
  oasis: [
    2,
    'icu.icustays hosp.admissions hosp.patients hosp.services',
    'age first_day_gcs first_day_urine_output first_day_vitalsign ventilation',
  ],
  sapsii: [
    2,
    'icu.icustays icu.chartevents hosp.admissions hosp.diagnoses_icd hosp.services',
    'age bg chemistry complete_blood_count enzyme gcs urine_output ventilation vitalsign',
  ],
  sirs: [2, 'icu.icustays', 'first_day_bg_art first_day_lab first_day_vitalsign'],
  sofa: [
    2,
    'icu.icustays',
    'bg chemistry complete_blood_count dobutamine dopamine enzyme epinephrine gcs icustay_hourly norepinephrine urine_output_rate ventilation vitalsign',
  ],
  suspicion_of_infection: [1, 'hosp.microbiologyevents', 'antibiotic'],
  kdigo_stages: [2, 'icu.icustays', 'crrt kdigo_creatinine kdigo_uo'],
  first_day_sofa: [
    2,
    'icu.icustays',
    'bg dobutamine dopamine epinephrine first_day_gcs first_day_lab first_day_urine_output first_day_vitalsign norepinephrine ventilation',
  ],
  sepsis3: [3, '', 'sofa suspicion_of_infection'],
  vasoactive_agent: [
    1,
    '',
    'dobutamine dopamine epinephrine milrinone norepinephrine phenylephrine vasopressin',
  ],
  norepinephrine_equivalent_dose: [2, '', 'vasoactive_agent'],
};

/** Key columns of every MIMIC-IV reference, from the overview of the specification. */
const referenceKeys: Readonly<Record<string, string>> = {
  'apsiii-24h': 'stay_id',
  charlson: 'hadm_id',
  'creatinine-baseline': 'hadm_id',
  'gcs-24h': 'stay_id',
  'kdigo-48h': 'stay_id',
  'meld-24h': 'stay_id',
  'oasis-24h': 'stay_id',
  'sapsii-24h': 'stay_id',
  sepsis3: 'stay_id',
  'sirs-24h': 'stay_id',
  'sofa-24h': 'stay_id',
  'suspicion-infection': 'subject_id, ab_id',
  'urine-output-rate': 'stay_id, charttime',
  'vasopressor-equivalents': 'stay_id, starttime',
  ventilation: 'stay_id, ventilation_seq',
};

let session: DuckSession;
let concepts: readonly Concept[];
let graph: ConceptGraph;
let references: readonly ReferenceQuery[];

beforeAll(async () => {
  session = await DuckSession.open({ threads: 1 });
  for (const kind of databaseKinds) {
    const source = await loadSourceSchema(kind);
    for (const schema of source.schemas) await session.run(`create schema ${schema}`);
    for (const { schema, name, columns } of source.tables) {
      const list = columns.map((column) => `${column.name} ${column.type}`).join(', ');
      await session.run(`create table ${schema}.${name} (${list})`);
    }
  }
  concepts = await loadConcepts();
  graph = await conceptGraph(session, concepts);
  await session.run('create schema mimiciv_derived');
  for (const { concept } of graph.values()) {
    await session.run(`create table mimiciv_derived.${concept.table} as ${concept.sql.query}\nlimit 0`);
  }
  references = [...(await loadReferenceQueries('mimic-iv')), ...(await loadReferenceQueries('eicu'))];
});
afterAll(() => session[Symbol.asyncDispose]());

const words = (text: string): readonly string[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .sort();

describe('dependency graph', () => {
  test('reads exactly the relations of the specification', () => {
    const read = Object.fromEntries(
      [...graph.values()].map((node) => [
        node.concept.table,
        {
          level: node.level,
          base: node.baseRelations
            .map(({ schema, table }) => `${schema.replace('mimiciv_', '')}.${table}`)
            .sort(),
          derived: node.derivedTables,
        },
      ]),
    );
    const specified = Object.fromEntries(
      Object.entries(dependencies).map(([table, [level, base, derived]]) => [
        table,
        { level, base: words(base), derived: words(derived) },
      ]),
    );
    expect(read).toEqual(specified);
  });

  test('has 35, 17, 10 and 1 tables on its levels', () => {
    const counts = [0, 0, 0, 0];
    for (const node of graph.values()) counts[node.level]! += 1;
    expect(counts).toEqual([35, 17, 10, 1]);
  });

  test('every table comes after all that it reads, in the nine categories', () => {
    const seen = new Set<string>();
    for (const node of graph.values()) {
      for (const table of node.derivedTables) expect(seen).toContain(table);
      seen.add(node.concept.table);
    }
    expect([...new Set(concepts.map((concept) => concept.category))].sort()).toEqual([
      'comorbidity',
      'demographics',
      'firstday',
      'measurement',
      'medication',
      'organfailure',
      'score',
      'sepsis',
      'treatment',
    ]);
  });

  test('what a table needs and what follows from it', () => {
    expect(withDependencies(graph, ['meld']).map((node) => node.concept.table)).toEqual([
      'blood_differential',
      'chemistry',
      'coagulation',
      'complete_blood_count',
      'enzyme',
      'rrt',
      'first_day_lab',
      'first_day_rrt',
      'meld',
    ]);
    expect(descendants(graph, ['vasopressin'])).toEqual([
      'norepinephrine_equivalent_dose',
      'vasoactive_agent',
    ]);
    expect(() => withDependencies(graph, ['no_such_table'])).toThrow('There is no concept no_such_table.');
  });

  test('a circle and an unknown table are errors that name the files', async () => {
    const [first] = concepts;
    const reading = (table: string, from: string): Concept => ({
      ...first!,
      table,
      sql: { ...first!.sql, query: `select * from mimiciv_derived.${from}` },
    });
    await expect(conceptGraph(session, [reading('a', 'b'), reading('b', 'a')])).rejects.toThrow(
      'a -> b -> a',
    );
    await expect(conceptGraph(session, [reading('a', 'nowhere')])).rejects.toThrow(
      'Concept a reads mimiciv_derived.nowhere, which no SQL file defines.',
    );
  });
});

describe('headers', () => {
  test('sources are the relations of the syntax tree', async () => {
    for (const { sql } of [...concepts, ...references]) {
      const read = await relationsRead(session, sql.query, sql.path);
      expect([...sql.header.sources].sort(), sql.path).toEqual(
        read.map(({ schema, table }) => `${schema}.${table}`).sort(),
      );
    }
  });

  test('keys are columns of the result, and every convention and tie is stated', async () => {
    for (const { sql } of [...concepts, ...references]) {
      const columns = (await describeQuery(session, sql.query)).map((column) => column.name);
      expect(sql.header.keys.length, sql.path).toBeGreaterThan(0);
      for (const key of sql.header.keys) expect(columns, `${sql.path}: ${key}`).toContain(key);
      expect(new Set(columns).size, sql.path).toBe(columns.length);
      expect(sql.text, sql.path).toMatch(/^-- conventions:/m);
      expect(sql.text, sql.path).toMatch(/^-- ties: \S/m);
      expect(sql.header.title.length, sql.path).toBeGreaterThan(3);
      expect(sql.header.grain, sql.path).toMatch(/^(one|no|at most)/);
    }
  });

  test('references have the keys of the specification and name their deviations', () => {
    const mimic = references.filter((reference) => reference.database === 'mimic-iv');
    expect(Object.fromEntries(mimic.map(({ key, sql }) => [key, sql.header.keys.join(', ')]))).toEqual(
      referenceKeys,
    );
    expect(references.filter((reference) => reference.database === 'eicu').map(({ key }) => key)).toEqual([
      'gcs',
      'oasis',
    ]);
    for (const { sql } of references) expect(sql.text, sql.path).toMatch(/^-- deviations:/m);
  });
});

describe('queries', () => {
  test('each is one bare SELECT that comes back from the syntax tree unchanged in meaning', async () => {
    for (const { sql } of [...concepts, ...references]) {
      await parseSelect(session, sql.query, sql.path);
      const { text } = await session.row(
        `select json_deserialize_sql(json_serialize_sql(${literal(sql.query)})) as text`,
      );
      expect(await describeQuery(session, String(text)), sql.path).toEqual(
        await describeQuery(session, sql.query),
      );
    }
  });

  test('the optimizer that breaks first-row queries is off in every session, also in forks and on files', async () => {
    const setting = async (open: DuckSession): Promise<unknown> =>
      (await open.row(`select current_setting('disabled_optimizers') as value`)).value;
    expect(await setting(session)).toBe('top_n_window_elimination');
    await using fork = await session.fork();
    expect(await setting(fork)).toBe('top_n_window_elimination');
  });
});
