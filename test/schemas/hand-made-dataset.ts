import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Dataset,
  type DatasetTable,
  datasetContentHash,
  datasetSchemaVersion,
  openDataset,
  parquetPath,
} from '../../src/datasets/dataset.js';
import { loadSourceSchema } from '../../src/datasets/source-schema.js';
import { engineVersion } from '../../src/duck/engine.js';
import { writeParquet } from '../../src/duck/parquet.js';
import { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { writeJsonAtomic } from '../../src/support/files.js';
import type { Home } from '../../src/support/home.js';

type Value = string | number | null;
type Rows = Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>;

/**
 * Three patients worked out by hand. Patient 1 has one admission with two ICU stays, patient 2 an admission without
 * one, patient 3 no admission. So `encounters` has 2 + 1 (+ 1 when lossless) rows; `observations` 4 + 3, `flows` 2 + 1,
 * `item_reference` 4 + 2.
 */
export const handMadeRows: Rows = {
  'mimiciv_hosp.patients': [
    {
      subject_id: 1,
      gender: 'F',
      anchor_age: 60,
      anchor_year: 2150,
      anchor_year_group: '2011 - 2013',
      dod: '2151-03-01',
    },
    {
      subject_id: 2,
      gender: 'M',
      anchor_age: 45,
      anchor_year: 2140,
      anchor_year_group: '2008 - 2010',
      dod: null,
    },
    {
      subject_id: 3,
      gender: 'F',
      anchor_age: 70,
      anchor_year: 2130,
      anchor_year_group: '2008 - 2010',
      dod: null,
    },
  ],
  'mimiciv_hosp.admissions': [
    {
      subject_id: 1,
      hadm_id: 11,
      admittime: '2152-02-28 08:00',
      dischtime: '2152-03-09 12:00',
      admission_type: 'URGENT',
      hospital_expire_flag: 0,
    },
    {
      subject_id: 2,
      hadm_id: 21,
      admittime: '2140-05-01 10:00',
      dischtime: '2140-05-03 10:00',
      admission_type: 'ELECTIVE',
      hospital_expire_flag: 0,
    },
  ],
  'mimiciv_icu.icustays': [
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      first_careunit: 'Medical Intensive Care Unit (MICU)',
      last_careunit: 'Medical Intensive Care Unit (MICU)',
      intime: '2152-02-28 10:00',
      outtime: '2152-03-02 10:00',
      los: 3,
    },
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 102,
      first_careunit: 'Surgical Intensive Care Unit (SICU)',
      last_careunit: 'Surgical Intensive Care Unit (SICU)',
      intime: '2152-03-05 10:00',
      outtime: '2152-03-07 10:00',
      los: 2,
    },
  ],
  'mimiciv_icu.chartevents': [
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      caregiver_id: 7,
      charttime: '2152-02-28 11:00',
      storetime: '2152-02-28 11:05',
      itemid: 220045,
      value: '88',
      valuenum: 88,
      valueuom: 'bpm',
      warning: 0,
    },
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      caregiver_id: 7,
      charttime: '2152-02-29 11:00',
      storetime: '2152-02-29 11:05',
      itemid: 220045,
      value: '104',
      valuenum: 104,
      valueuom: 'bpm',
      warning: 1,
    },
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      caregiver_id: 8,
      charttime: '2152-02-28 11:00',
      storetime: '2152-02-28 11:05',
      itemid: 220210,
      value: '24',
      valuenum: 24,
      valueuom: 'insp/min',
      warning: 0,
    },
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 102,
      caregiver_id: 8,
      charttime: '2152-03-05 11:00',
      storetime: '2152-03-05 11:05',
      itemid: 220045,
      value: '71',
      valuenum: 71,
      valueuom: 'bpm',
      warning: 0,
    },
  ],
  'mimiciv_hosp.labevents': [
    {
      labevent_id: 1,
      subject_id: 1,
      hadm_id: 11,
      specimen_id: 900,
      itemid: 50912,
      charttime: '2152-02-28 12:00',
      storetime: '2152-02-28 13:00',
      value: '1.4',
      valuenum: 1.4,
      valueuom: 'mg/dL',
      ref_range_lower: 0.4,
      ref_range_upper: 1.1,
      flag: 'abnormal',
      priority: 'STAT',
    },
    {
      labevent_id: 2,
      subject_id: 1,
      hadm_id: 11,
      specimen_id: 901,
      itemid: 50983,
      charttime: '2152-02-28 12:00',
      storetime: '2152-02-28 13:00',
      value: '138',
      valuenum: 138,
      valueuom: 'mEq/L',
      ref_range_lower: 133,
      ref_range_upper: 145,
      flag: null,
      priority: 'STAT',
    },
    {
      labevent_id: 3,
      subject_id: 2,
      hadm_id: null,
      specimen_id: 902,
      itemid: 50912,
      charttime: '2140-05-01 12:00',
      storetime: '2140-05-01 13:00',
      value: '0.9',
      valuenum: 0.9,
      valueuom: 'mg/dL',
      ref_range_lower: 0.5,
      ref_range_upper: 1.2,
      flag: null,
      priority: 'ROUTINE',
    },
  ],
  'mimiciv_icu.inputevents': [
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      starttime: '2152-02-28 11:00',
      endtime: '2152-02-28 13:00',
      itemid: 221906,
      amount: 0.5,
      amountuom: 'mg',
      rate: 0.05,
      rateuom: 'mcg/kg/min',
      orderid: 1,
      linkorderid: 1,
      patientweight: 80,
      statusdescription: 'FinishedRunning',
    },
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      starttime: '2152-02-28 13:00',
      endtime: '2152-02-28 14:00',
      itemid: 221906,
      amount: 0.5,
      amountuom: 'mg',
      rate: 0.1,
      rateuom: 'mcg/kg/min',
      orderid: 2,
      linkorderid: 1,
      patientweight: 80,
      statusdescription: 'ChangeDose/Rate',
    },
  ],
  'mimiciv_icu.outputevents': [
    {
      subject_id: 1,
      hadm_id: 11,
      stay_id: 101,
      charttime: '2152-02-28 15:00',
      storetime: '2152-02-28 15:05',
      itemid: 226559,
      value: 250,
      valueuom: 'mL',
    },
  ],
  'mimiciv_icu.d_items': [
    {
      itemid: 220045,
      label: 'Heart Rate',
      abbreviation: 'HR',
      linksto: 'chartevents',
      category: 'Routine Vital Signs',
      unitname: 'bpm',
    },
    {
      itemid: 220210,
      label: 'Respiratory Rate',
      abbreviation: 'RR',
      linksto: 'chartevents',
      category: 'Respiratory',
      unitname: 'insp/min',
    },
    {
      itemid: 221906,
      label: 'Norepinephrine',
      abbreviation: 'Norepinephrine',
      linksto: 'inputevents',
      category: 'Medications',
      unitname: 'mg',
    },
    {
      itemid: 226559,
      label: 'Foley',
      abbreviation: 'Foley',
      linksto: 'outputevents',
      category: 'Output',
      unitname: 'mL',
    },
  ],
  'mimiciv_hosp.d_labitems': [
    { itemid: 50912, label: 'Creatinine', fluid: 'Blood', category: 'Chemistry' },
    { itemid: 50983, label: 'Sodium', fluid: 'Blood', category: 'Chemistry' },
  ],
  'mimiciv_hosp.diagnoses_icd': [
    { subject_id: 1, hadm_id: 11, seq_num: 1, icd_code: 'I500', icd_version: 10 },
    { subject_id: 2, hadm_id: 21, seq_num: 1, icd_code: '41001', icd_version: 9 },
  ],
  'mimiciv_hosp.d_icd_diagnoses': [
    { icd_code: '41001', icd_version: 9, long_title: 'Acute myocardial infarction of anterolateral wall' },
    { icd_code: '50912', icd_version: 9, long_title: 'A code that is written like an item id' },
  ],
  'mimiciv_hosp.services': [
    { subject_id: 1, hadm_id: 11, transfertime: '2152-02-28 08:00', prev_service: null, curr_service: 'MED' },
  ],
};

/** Writes the rows as a dataset of kind MIMIC-IV, with the other tables of the release empty. */
export async function handMadeDataset(home: Home, rows: Rows = handMadeRows): Promise<Dataset> {
  const source = await loadSourceSchema('mimic-iv');
  const name = 'mimic-iv-hand-made';
  const folder = join(home.datasets, name);
  await mkdir(folder, { recursive: true });
  await using session = await DuckSession.open({ threads: 1 });
  const tables: DatasetTable[] = [];
  for (const { schema, name: table, columns } of source.tables) {
    const stated = rows[`${schema}.${table}`] ?? [];
    const empty = `select ${columns.map(({ name: column, type }) => `cast(null as ${type}) as ${identifier(column)}`).join(', ')} where false`;
    const lines = stated.map((row) => {
      const cells = columns.map(({ name: column, type }) => {
        const value = row[column] ?? null;
        return `cast(${value === null ? 'null' : literal(String(value))} as ${type}) as ${identifier(column)}`;
      });
      return `select ${cells.join(', ')}`;
    });
    const written = await writeParquet(
      session,
      [empty, ...lines].join(' union all '),
      parquetPath({ folder }, schema, table),
      { keepOrder: true },
    );
    tables.push({
      schema,
      table,
      rows: written.rows,
      columns: [...written.columns],
      sortedBy: [],
      fileBytes: 0,
      fileSha256: written.fileSha256,
      contentHash: written.contentHash,
      source: null,
    });
  }
  await writeJsonAtomic(join(folder, 'dataset.json'), {
    schemaVersion: datasetSchemaVersion,
    name,
    kind: 'mimic-iv',
    class: 'synthetic',
    release: 'hand-made',
    verified: true,
    verifiedBy: ['generated'],
    unverifiedReasons: [],
    notice: 'SYNTHETIC: three patients made up for tests.',
    tables,
    contentHash: datasetContentHash(tables),
    engineVersion,
    options: {},
  });
  return openDataset(home, name);
}

/** Rows of a table with more or other ones. */
export function withRows(
  table: string,
  change: (rows: readonly Readonly<Record<string, Value>>[]) => readonly Readonly<Record<string, Value>>[],
): Rows {
  return { ...handMadeRows, [table]: change(handMadeRows[table] ?? []) };
}
