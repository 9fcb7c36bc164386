import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  charted,
  column,
  columns,
  type GivenRow,
  icuAdmission,
  lab,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const at = icuAdmission;
const panel = (table: string, ...labevents: readonly GivenRow[]) =>
  database.concept(table, { 'mimiciv_hosp.labevents': labevents });

describe('specimen panels', () => {
  test('a result above its limit is dropped, not clipped, and the specimen keeps its row', async () => {
    const limits = [
      [50862, 10, 'albumin'],
      [50930, 10, 'globulin'],
      [50976, 20, 'total_protein'],
      [50868, 10000, 'aniongap'],
      [50882, 10000, 'bicarbonate'],
      [51006, 300, 'bun'],
      [50893, 10000, 'calcium'],
      [50902, 10000, 'chloride'],
      [50912, 150, 'creatinine'],
      [50931, 10000, 'glucose'],
      [50983, 200, 'sodium'],
      [50971, 30, 'potassium'],
    ] as const;
    for (const [item, limit, name] of limits) {
      const rows = await panel(
        'chemistry',
        lab(item, limit, { specimen_id: 1 }),
        lab(item, limit + 0.1, { specimen_id: 2 }),
      );
      expect(column(rows, name), name).toEqual([limit, null]);
    }
  });

  test('of repeated results of a specimen the largest within the limit counts', async () => {
    const rows = await panel('chemistry', lab(50912, 1.2), lab(50912, 1.4), lab(50912, 151));
    expect(column(rows, 'creatinine')).toEqual([1.4]);
  });

  test('patient, admission and time of a specimen are the largest of its rows', async () => {
    const rows = await panel(
      'chemistry',
      lab(50912, 1.2, { hadm_id: null }),
      lab(50983, 140, { hadm_id: 11, charttime: after('1:00') }),
      lab(50971, 4, { hadm_id: 10 }),
      lab(50971, 4, { specimen_id: 2, hadm_id: null }),
    );
    expect(columns(rows, 'specimen_id', 'hadm_id', 'charttime')).toEqual([
      [1, 11, after('1:00')],
      [2, null, at],
    ]);
  });

  test('zero is a value only where it can be: anion gap, cardiac markers, coagulation, differential', async () => {
    expect(await panel('chemistry', lab(50912, 0))).toEqual([]);
    expect(column(await panel('chemistry', lab(50868, -2)), 'aniongap')).toEqual([-2]);
    expect(await panel('complete_blood_count', lab(51265, 0))).toEqual([]);
    expect(await panel('enzyme', lab(50911, 0))).toEqual([]);
    expect(await panel('inflammation', lab(50889, 0))).toEqual([]);
    expect(column(await panel('cardiac_marker', lab(50911, 0)), 'ck_mb')).toEqual([0]);
    expect(column(await panel('coagulation', lab(51237, -1)), 'inr')).toEqual([-1]);
    expect(column(await panel('blood_differential', lab(51144, 0)), 'bands')).toEqual([0]);
    expect(await panel('blood_differential', lab(51144, -0.1))).toEqual([]);
  });

  test('a text-only result does not count', async () => {
    const text = { value: 'NEG' };
    for (const [table, item] of [
      ['chemistry', 50868],
      ['cardiac_marker', 51003],
      ['coagulation', 51237],
      ['blood_differential', 51301],
    ] as const) {
      expect(await panel(table, lab(item, null, text)), table).toEqual([]);
    }
  });

  test('the white cell count of the blood count is item 51301 only, that of the differential any of three', async () => {
    const events = [lab(51301, 9), lab(51300, 11), lab(51755, 10)];
    expect(column(await panel('complete_blood_count', ...events), 'wbc')).toEqual([9]);
    expect(column(await panel('blood_differential', ...events), 'wbc')).toEqual([11]);
  });
});

describe('differential', () => {
  test('absolute counts are imputed from percentages of the white cells and have 3 decimals', async () => {
    // 8.05 x 0.1 % = 0.00805, to 0.008; 8.05 x 45 % = 3.6225, half away from zero: 3.623
    const rows = await panel('blood_differential', lab(51301, 8.05), lab(51146, 0.1), lab(51256, 45));
    expect(columns(rows, 'basophils_abs', 'neutrophils_abs', 'lymphocytes_abs')).toEqual([
      ['0.008', '3.623', null],
    ]);
  });

  test('a measured absolute count wins, and counts per microlitre are divided by 1000', async () => {
    const rows = await panel(
      'blood_differential',
      lab(51301, 10),
      lab(51244, 20), // lymphocytes 20 % would be 2.0
      lab(51133, 1.5),
      lab(52769, 1700), // 1.7, the larger
      lab(51199, 250), // eosinophils 0.25
    );
    expect(columns(rows, 'lymphocytes_abs', 'eosinophils_abs', 'lymphocytes')).toEqual([
      ['1.700', '0.250', 20],
    ]);
  });

  test('nothing is imputed without a white cell count or when all percentages are 0', async () => {
    const without = await panel('blood_differential', lab(51146, 2), lab(51256, 50));
    expect(columns(without, 'basophils_abs', 'neutrophils_abs')).toEqual([[null, null]]);
    const zero = await panel('blood_differential', lab(51301, 8), lab(51146, 0), lab(51256, 0));
    expect(columns(zero, 'basophils_abs', 'neutrophils_abs')).toEqual([[null, null]]);
    // one percentage above 0 is enough for the others
    const one = await panel('blood_differential', lab(51301, 8), lab(51146, 0), lab(51256, 50));
    expect(columns(one, 'basophils_abs', 'neutrophils_abs')).toEqual([['0.000', '4.000']]);
  });
});

describe('blood gases', () => {
  const gas = (labevents: readonly GivenRow[], chartevents: readonly GivenRow[] = []) =>
    database.concept('bg', { 'mimiciv_hosp.labevents': labevents, 'mimiciv_icu.chartevents': chartevents });
  const [po2, pco2, fio2, chartedFio2] = [50821, 50818, 50816, 223835];

  test('the laboratory FiO2 may be a percentage above 20 or a fraction above 0.2', async () => {
    const given = [20, 20.1, 100, 100.1, 0.2, 0.21, 1, 1.1, 0];
    for (const [index, value] of given.entries()) {
      const [row] = await gas([lab(po2, 80), lab(fio2, value)]);
      expect(row!.fio2, String(value)).toBe([null, 20.1, 100, null, null, 21, 100, null, null][index]);
    }
  });

  test('the charted FiO2 keeps exactly 20 and drops 0.2', async () => {
    const given = [20, 19.9, 0.2, 0.21, 1, 1.5, 100, 101];
    for (const [index, value] of given.entries()) {
      const [row] = await gas([lab(po2, 80)], [charted(chartedFio2, at, value)]);
      expect(row!.fio2_chartevents, String(value)).toBe([20, null, null, 21, 100, null, 100, null][index]);
    }
  });

  test('the latest charted FiO2 of the last 4 hours is used, both ends included, of any stay of the patient', async () => {
    const used = async (...chartevents: readonly GivenRow[]) =>
      (await gas([lab(po2, 80, { charttime: at })], chartevents))[0]!.fio2_chartevents;
    expect(await used(charted(chartedFio2, after('-4:00'), 40))).toBe(40);
    expect(await used(charted(chartedFio2, after('-4:00:01'), 40))).toBeNull();
    expect(
      await used(charted(chartedFio2, after('0:00'), 50), charted(chartedFio2, after('-1:00'), 40)),
    ).toBe(50);
    expect(await used(charted(chartedFio2, after('0:00:01'), 40))).toBeNull();
    expect(await used(charted(chartedFio2, after('-1:00'), 40, { stay_id: 999 }))).toBe(40);
    expect(await used(charted(chartedFio2, after('-1:00'), 40, { subject_id: 2 }))).toBeNull();
    // an unusable later entry does not hide a usable earlier one
    expect(
      await used(charted(chartedFio2, after('-2:00'), 40), charted(chartedFio2, after('-1:00'), 5)),
    ).toBe(40);
  });

  test('ratio and gradient: laboratory FiO2 first, then the charted one, else missing', async () => {
    const [laboratory] = await gas(
      [lab(po2, 80), lab(pco2, 40), lab(fio2, 50)],
      [charted(chartedFio2, at, 40)],
    );
    // 100 x 80 / 50; 0.5 x (760 - 47) - 40 / 0.8 - 80 = 356.5 - 50 - 80
    expect(columns([laboratory!], 'pao2fio2ratio', 'aado2_calc')).toEqual([[160, 226.5]]);
    const [bedside] = await gas([lab(po2, 80), lab(pco2, 40)], [charted(chartedFio2, at, 40)]);
    // 100 x 80 / 40; 0.4 x 713 - 50 - 80
    expect(bedside!.pao2fio2ratio).toBe(200);
    expect(bedside!.aado2_calc).toBeCloseTo(155.2, 9);
    const [none] = await gas([lab(po2, 80), lab(pco2, 40)]);
    expect(columns([none!], 'pao2fio2ratio', 'aado2_calc')).toEqual([[null, null]]);
    const [noPco2] = await gas([lab(po2, 80), lab(fio2, 50)]);
    expect(columns([noPco2!], 'pao2fio2ratio', 'aado2_calc')).toEqual([[160, null]]);
  });

  test('only specimens with a PO2 count, and of two at one time the lower specimen number stays', async () => {
    const rows = await gas([
      lab(50813, 4, { specimen_id: 1 }), // lactate alone
      lab(po2, 45, { specimen_id: 3 }),
      lab(52033, null, { specimen_id: 3, value: 'VEN.' }),
      lab(po2, 90, { specimen_id: 2 }),
      lab(52033, null, { specimen_id: 2, value: 'ART.' }),
      lab(50813, 2, { specimen_id: 2 }),
    ]);
    expect(columns(rows, 'specimen', 'po2', 'lactate')).toEqual([['ART.', 90, 2]]);
  });

  test('a saturation or hematocrit above 100 and a lactate or glucose above 10000 are dropped', async () => {
    const rows = await gas([
      lab(po2, 80),
      lab(50817, 100.1),
      lab(50810, 101),
      lab(50813, 10001),
      lab(50809, 10000),
    ]);
    expect(columns(rows, 'so2', 'hematocrit', 'lactate', 'glucose')).toEqual([[null, null, null, 10000]]);
  });
});

describe('baseline creatinine', () => {
  const baseline = async (
    gender: string | null,
    age: number | null,
    creatinine: readonly number[],
    codes: readonly (readonly [number, string])[] = [],
  ) =>
    database.concept('creatinine_baseline', {
      'mimiciv_hosp.patients': [{ subject_id: 1, gender }],
      'mimiciv_hosp.diagnoses_icd': codes.map(([icd_version, icd_code]) => ({
        hadm_id: 10,
        icd_version,
        icd_code,
      })),
      'mimiciv_derived.age': [{ subject_id: 1, hadm_id: 10, age }],
      'mimiciv_derived.chemistry': creatinine.map((value, index) => ({
        subject_id: 1,
        hadm_id: 10,
        specimen_id: index,
        creatinine: value,
      })),
    });
  // MDRD solved for an eGFR of 75; factor 0.742 for women
  const estimate = (age: number, female: boolean): number =>
    (75 / 186 / age ** -0.203 / (female ? 0.742 : 1)) ** (-1 / 1.154);

  test('the lowest creatinine up to exactly 1.1 is the baseline, above it the estimate', async () => {
    const [low] = await baseline('M', 60, [1.4, 1.1]);
    expect(columns([low!], 'scr_min', 'scr_baseline')).toEqual([[1.1, 1.1]]);
    const [high] = await baseline('M', 60, [1.2]);
    expect(high!.scr_baseline).toBeCloseTo(estimate(60, false), 9);
    const [woman] = await baseline('F', 60, [1.2]);
    expect(woman!.scr_baseline).toBeCloseTo(estimate(60, true), 9);
    const [unknown] = await baseline(null, 60, [1.2]);
    expect(unknown!.scr_baseline).toBeCloseTo(estimate(60, false), 9);
  });

  test('with chronic kidney disease the lowest creatinine is the baseline, missing if there is none', async () => {
    for (const code of [[9, '5859'] as const, [10, 'N189'] as const]) {
      expect(columns(await baseline('M', 60, [3.5], [code]), 'ckd', 'scr_baseline')).toEqual([[1, 3.5]]);
      expect(columns(await baseline('M', 60, [], [code]), 'ckd', 'scr_baseline')).toEqual([[1, null]]);
    }
    const [none] = await baseline('M', 60, []);
    expect(none!.scr_baseline).toBeCloseTo(estimate(60, false), 9);
  });

  test('a code counts in its own version only', async () => {
    const codes = [
      [10, '5859'],
      [9, 'N189'],
      [9, '586'],
      [10, 'N19'],
    ] as const;
    for (const code of codes) expect(column(await baseline('M', 60, [3.5], [code]), 'ckd')).toEqual([0]);
  });

  test('adults only, by fractional age', async () => {
    expect(await baseline('M', 17.999, [1])).toEqual([]);
    expect(await baseline('M', 18, [1])).toHaveLength(1);
    expect(await baseline('M', null, [1])).toEqual([]);
  });
});
