import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { buildReferences } from '../../src/references/build.js';
import { homeAt } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';

/** Every value that the rules of a score allow, written down from the publications that the references cite. */
const classes: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  'mimic-iv/apsiii-24h': {
    hr_score: [0, 1, 5, 7, 8, 13, 17],
    mbp_score: [0, 4, 6, 7, 9, 10, 15, 23],
    temp_score: [0, 2, 4, 8, 13, 16, 20],
    resp_rate_score: [0, 6, 7, 8, 9, 11, 17, 18],
    pao2_aado2_score: [0, 2, 5, 7, 9, 11, 14, 15],
    hematocrit_score: [0, 3],
    wbc_score: [0, 1, 5, 19],
    creatinine_score: [0, 3, 4, 7, 10],
    uo_score: [0, 1, 4, 5, 7, 8, 15],
    bun_score: [0, 2, 7, 11, 12],
    sodium_score: [0, 2, 3, 4],
    albumin_score: [0, 4, 6, 11],
    bilirubin_score: [0, 5, 6, 8, 16],
    glucose_score: [0, 3, 5, 8, 9],
    acidbase_score: [0, 1, 2, 3, 4, 5, 6, 9, 12],
    gcs_score: [0, 3, 8, 10, 13, 15, 16, 24, 29, 33, 48],
  },
  'mimic-iv/oasis-24h': {
    preiculos_score: [0, 1, 2, 3, 5],
    age_score: [0, 3, 6, 7, 9],
    gcs_score: [0, 3, 4, 10],
    heart_rate_score: [0, 1, 3, 4, 6],
    mbp_score: [0, 2, 3, 4],
    resp_rate_score: [0, 1, 6, 9, 10],
    temp_score: [0, 2, 3, 4, 6],
    urineoutput_score: [0, 1, 5, 8, 10],
    mechvent_score: [0, 9],
    electivesurgery_score: [0, 6],
  },
  'mimic-iv/sapsii-24h': {
    age_score: [0, 7, 12, 15, 16, 18],
    hr_score: [0, 2, 4, 7, 11],
    sysbp_score: [0, 2, 5, 13],
    temp_score: [0, 3],
    pao2fio2_score: [0, 6, 9, 11],
    uo_score: [0, 4, 11],
    bun_score: [0, 6, 10],
    wbc_score: [0, 3, 12],
    potassium_score: [0, 3],
    sodium_score: [0, 1, 5],
    bicarbonate_score: [0, 3, 6],
    bilirubin_score: [0, 4, 9],
    gcs_score: [0, 5, 7, 13, 26],
    comorbidity_score: [0, 9, 10, 17],
    admissiontype_score: [0, 6, 8],
  },
  'mimic-iv/sofa-24h': organs(),
  // Sepsis-3 is a table of the stays that have it.
  'mimic-iv/sepsis3': { ...organs(), sepsis3: [1] },
  'mimic-iv/sirs-24h': {
    sirs: [0, 1, 2, 3, 4],
    temp_score: [0, 1],
    heart_rate_score: [0, 1],
    resp_score: [0, 1],
    wbc_score: [0, 1],
  },
  'mimic-iv/kdigo-48h': {
    aki_stage: [0, 1, 2, 3],
    aki_stage_creat: [0, 1, 2, 3],
    aki_stage_uo: [0, 1, 2, 3],
    aki_stage_crrt: [0, 3],
  },
  'mimic-iv/gcs-24h': {
    gcs_min: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    gcs_motor: [1, 2, 3, 4, 5, 6],
    // 0 is a tube
    gcs_verbal: [0, 1, 2, 3, 4, 5],
    gcs_eyes: [1, 2, 3, 4],
  },
  'mimic-iv/charlson': {
    age_score: [0, 1, 2, 3, 4],
    ...Object.fromEntries(
      [
        'myocardial_infarct',
        'congestive_heart_failure',
        'peripheral_vascular_disease',
        'cerebrovascular_disease',
        'dementia',
        'chronic_pulmonary_disease',
        'rheumatic_disease',
        'peptic_ulcer_disease',
        'mild_liver_disease',
        'diabetes_without_cc',
        'diabetes_with_cc',
        'paraplegia',
        'renal_disease',
        'malignant_cancer',
        'severe_liver_disease',
        'metastatic_solid_tumor',
        'aids',
      ].map((group) => [group, [0, 1]]),
    ),
  },
  'mimic-iv/creatinine-baseline': { ckd: [0, 1] },
  'mimic-iv/suspicion-infection': { suspected_infection: [0, 1], positive_culture: [0, 1] },
  'eicu/gcs': { gcs_motor: [1, 2, 3, 4, 5, 6], gcs_verbal: [1, 2, 3, 4, 5], gcs_eyes: [1, 2, 3, 4] },
  'eicu/oasis': {
    preiculos_score: [0, 1, 2, 3, 5],
    age_score: [0, 3, 6, 7, 9],
    gcs_score: [0, 3, 4, 10],
    heart_rate_score: [0, 1, 3, 4, 6],
    mbp_score: [0, 2, 3, 4],
    resp_rate_score: [0, 1, 6, 9, 10],
    temp_score: [0, 2, 3, 4, 6],
    urineoutput_score: [0, 1, 5, 8, 10],
    mechvent_score: [0, 9],
    electivesurgery_score: [0, 6],
  },
};

/** Text columns with a known set of values. */
const labels: Readonly<Record<string, readonly string[]>> = {
  'mimic-iv/ventilation.ventilation_status': [
    'HFNC',
    'InvasiveVent',
    'NonInvasiveVent',
    'None',
    'SupplementalOxygen',
    'Tracheostomy',
  ],
  'mimic-iv/creatinine-baseline.gender': ['F', 'M'],
};

function organs(): Readonly<Record<string, readonly number[]>> {
  const systems = ['respiration', 'coagulation', 'liver', 'cardiovascular', 'cns', 'renal'];
  return Object.fromEntries(systems.map((system) => [system, [0, 1, 2, 3, 4]]));
}

let root: string;
let session: DuckSession;
/** Path of each reference, by database and key. */
const paths = new Map<string, string>();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-coverage-'));
  const home = homeAt(root);
  for (const kind of ['mimic-iv', 'eicu'] as const) {
    const dataset = await synthesizeDataset(home, { kind, stays: 300, seed: 'coverage', threads: 2 });
    const references = await buildReferences(home, dataset, { threads: 2 });
    for (const { key, parquetPath } of references) paths.set(`${kind}/${key}`, parquetPath);
  }
  session = await DuckSession.open({ threads: 1 });
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

/** Distinct values of a column, as text, numbers without trailing zeros. */
async function valuesOf(reference: string, column: string): Promise<readonly string[]> {
  const rows = await session.rows(
    `select distinct cast(${identifier(column)} as varchar) as value
     from read_parquet(${literal(paths.get(reference)!)}) where ${identifier(column)} is not null`,
  );
  return rows.map((row) => String(row.value).replace(/\.0+$/, ''));
}

describe('300 synthetic stays of each database', () => {
  test('every scored column of all 28 tasks takes all its values, or three where they cannot be listed', async () => {
    const tasks = await loadTasks();
    expect(tasks).toHaveLength(28);
    const lacking: string[] = [];
    const seen = new Set<string>();
    for (const task of tasks) {
      const reference = `${task.database}/${task.reference}`;
      for (const column of task.contract.scoredColumns) {
        if (seen.has(`${reference}.${column}`)) continue;
        seen.add(`${reference}.${column}`);
        const found = await valuesOf(reference, column);
        const wanted = classes[reference]?.[column]?.map(String) ?? labels[`${reference}.${column}`];
        const missing = wanted?.filter((value) => !found.includes(value)) ?? [];
        if (missing.length > 0) lacking.push(`${reference}.${column} never is ${missing.join(', ')}`);
        if (wanted === undefined && found.length < 3)
          lacking.push(`${reference}.${column} is only ${found.join(', ')}`);
      }
    }
    expect(lacking).toEqual([]);
  });

  test('no listed column takes a value beyond the list, so the lists are complete', async () => {
    const beyond: string[] = [];
    for (const [reference, columns] of Object.entries(classes)) {
      for (const [column, wanted] of Object.entries(columns)) {
        const others = (await valuesOf(reference, column)).filter((value) => !wanted.includes(Number(value)));
        if (others.length > 0) beyond.push(`${reference}.${column} is ${others.join(', ')}`);
      }
    }
    expect(beyond).toEqual([]);
  });
});
