import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  chartedText,
  column,
  columns,
  type Given,
  type GivenRow,
  icuStay,
  icuStays,
  perStay,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('SIRS', () => {
  const scores = async (name: string, source: string, cases: readonly GivenRow[]) =>
    column(
      await database.concept('sirs', {
        'mimiciv_icu.icustays': icuStays(cases.length),
        [`mimiciv_derived.${source}`]: perStay(cases),
      }),
      name,
    );

  test('temperature below 36.0 or above 38.0', async () => {
    const range = (temperature_min: number | null, temperature_max: number | null) => ({
      temperature_min,
      temperature_max,
    });
    expect(
      await scores('temp_score', 'first_day_vitalsign', [
        range(36, 38),
        range(35.99, 37),
        range(37, 38.01),
        range(null, null),
      ]),
    ).toEqual([0, 1, 1, null]);
  });

  test('heart rate above 90, respiratory rate above 20', async () => {
    expect(
      await scores(
        'heart_rate_score',
        'first_day_vitalsign',
        [90, 90.1, null].map((heart_rate_max) => ({ heart_rate_max })),
      ),
    ).toEqual([0, 1, null]);
    expect(
      await scores(
        'resp_score',
        'first_day_vitalsign',
        [20, 20.5, null].map((resp_rate_max) => ({ resp_rate_max })),
      ),
    ).toEqual([0, 1, null]);
  });

  test('arterial PaCO2 below 32 counts as a respiratory sign', async () => {
    expect(
      await scores(
        'resp_score',
        'first_day_bg_art',
        [32, 31.9, null].map((pco2_min) => ({ pco2_min })),
      ),
    ).toEqual([0, 1, null]);
  });

  test('white cells below 4 or above 12, or more than 10 % bands', async () => {
    const white = (wbc_min: number | null, wbc_max: number | null, bands_max: number | null = null) => ({
      wbc_min,
      wbc_max,
      bands_max,
    });
    expect(
      await scores('wbc_score', 'first_day_lab', [
        white(4, 12),
        white(3.9, 5),
        white(5, 12.1),
        white(5, 6, 10),
        white(5, 6, 10.5),
        white(null, null, 5),
        white(null, null),
      ]),
    ).toEqual([0, 1, 1, 0, 1, 0, null]);
  });

  test('the sum takes missing signs as 0; the reference shows them as 0', async () => {
    const given = {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.first_day_vitalsign': perStay([{ heart_rate_max: 120 }]),
    };
    const names = ['sirs', 'temp_score', 'heart_rate_score', 'resp_score', 'wbc_score'];
    expect(columns(await database.concept('sirs', given), ...names)).toEqual([[1, null, 1, null, null]]);
    expect(columns(await database.reference('sirs-24h', given), ...names)).toEqual([[1, 0, 1, 0, 0]]);
  });
});

describe('LODS', () => {
  const cohort = (count: number): Given => ({
    'mimiciv_icu.icustays': icuStays(count),
    'mimiciv_hosp.admissions': Array.from({ length: count }, (_, index) => ({
      subject_id: index + 1,
      hadm_id: 10 * (index + 1),
    })),
    'mimiciv_hosp.patients': Array.from({ length: count }, (_, index) => ({ subject_id: index + 1 })),
  });
  const scores = async (name: string, source: string, cases: readonly GivenRow[]) =>
    column(
      await database.concept('lods', {
        ...cohort(cases.length),
        [`mimiciv_derived.${source}`]: perStay(cases),
      }),
      name,
    );

  test('neurologic', async () => {
    const values = [15, 14, 13, 9, 8, 6, 5, 3, 2, null];
    expect(
      await scores(
        'neurologic',
        'first_day_gcs',
        values.map((gcs_min) => ({ gcs_min })),
      ),
    ).toEqual([0, 0, 1, 1, 3, 3, 5, 5, null, null]);
  });

  test('cardiovascular', async () => {
    const signs = (heart_rate_min: number, heart_rate_max: number, sbp_min: number, sbp_max: number) => ({
      heart_rate_min,
      heart_rate_max,
      sbp_min,
      sbp_max,
    });
    expect(
      await scores('cardiovascular', 'first_day_vitalsign', [
        signs(30, 139, 90, 239),
        signs(29, 80, 120, 130),
        signs(60, 80, 39, 130),
        signs(60, 80, 40, 130),
        signs(60, 80, 69, 130),
        signs(60, 80, 70, 130),
        signs(60, 80, 120, 270),
        signs(60, 140, 120, 130),
        signs(60, 80, 120, 240),
      ]),
    ).toEqual([0, 5, 5, 3, 3, 1, 3, 1, 1]);
    expect(await scores('cardiovascular', 'first_day_vitalsign', [{}])).toEqual([null]);
  });

  test('hematologic and hepatic', async () => {
    const blood = (wbc: number, platelets_min: number) => ({ wbc_min: wbc, wbc_max: wbc, platelets_min });
    expect(
      await scores('hematologic', 'first_day_lab', [
        blood(2.5, 50),
        blood(0.9, 200),
        blood(1, 200),
        blood(2.4, 200),
        blood(5, 49),
        blood(50, 200),
        {},
      ]),
    ).toEqual([0, 3, 1, 1, 1, 1, null]);
    const liver = (bilirubin_total_max: number | null, pt_min: number | null, pt_max: number | null) => ({
      bilirubin_total_max,
      pt_min,
      pt_max,
    });
    expect(
      await scores('hepatic', 'first_day_lab', [
        liver(1.9, 3, 15),
        liver(2, 12, 12),
        liver(1, 12, 15.1),
        liver(1, 2.9, 12),
        liver(null, null, null),
      ]),
    ).toEqual([0, 1, 1, 1, null]);
  });

  test('renal needs all three inputs', async () => {
    const renal = async (urineoutput: number | null, bun_max: number | null, creatinine_max: number | null) =>
      (
        await database.concept('lods', {
          ...cohort(1),
          'mimiciv_derived.first_day_urine_output': perStay([{ urineoutput }]),
          'mimiciv_derived.first_day_lab': perStay([{ bun_max, creatinine_max }]),
        })
      )[0]!.renal;
    expect(await renal(1000, 7, 1)).toBe(0);
    expect(await renal(1000, 7.5, 1)).toBe(1);
    expect(await renal(1000, 7, 1.2)).toBe(1);
    expect(await renal(1000, 28, 1)).toBe(3);
    expect(await renal(1000, 7, 1.6)).toBe(3);
    expect(await renal(749, 7, 1)).toBe(3);
    expect(await renal(750, 7, 1)).toBe(0);
    expect(await renal(10000, 7, 1)).toBe(3);
    expect(await renal(499, 7, 1)).toBe(5);
    expect(await renal(1000, 56, 1)).toBe(5);
    expect(await renal(null, 80, 5)).toBeNull();
    expect(await renal(100, null, 5)).toBeNull();
    expect(await renal(100, 80, null)).toBeNull();
  });

  test('pulmonary: any gas of the whole stay on the ventilator or CPAP, 0 without support', async () => {
    const pulmonary = async (ratio: number, gasTime: string, given: Given) =>
      (
        await database.concept('lods', {
          ...cohort(1),
          'mimiciv_derived.bg': [
            { subject_id: 1, hadm_id: 10, charttime: after(gasTime), specimen: 'VEN.', pao2fio2ratio: ratio },
          ],
          ...given,
        })
      )[0]!.pulmonary;
    const ventilated = {
      'mimiciv_derived.ventilation': [
        {
          stay_id: 100,
          starttime: after('0:00'),
          endtime: after('80:00'),
          ventilation_status: 'InvasiveVent',
        },
      ],
    };
    expect(await pulmonary(149, '50:00', ventilated)).toBe(3);
    expect(await pulmonary(150, '50:00', ventilated)).toBe(1);
    expect(await pulmonary(149, '72:00', ventilated)).toBe(0); // at ICU discharge, not in the stay
    expect(await pulmonary(149, '50:00', {})).toBe(0);
    // charted once at 10:00, so from 9:00 to 14:00
    const mask = (text: string) => ({
      'mimiciv_icu.chartevents': [chartedText(226732, after('10:00'), text)],
    });
    expect(await pulmonary(149, '9:00', mask('CPAP mask '))).toBe(3);
    expect(await pulmonary(149, '14:00', mask('Bipap mask '))).toBe(3);
    expect(await pulmonary(149, '14:00:01', mask('CPAP mask '))).toBe(0);
    expect(await pulmonary(149, '12:00', mask('Bipap'))).toBe(0); // "bipap mask" is asked for
  });

  test('every ICU stay has a row, and missing organs count 0', async () => {
    const rows = await database.concept('lods', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.first_day_gcs': perStay([{ gcs_min: 3 }]),
    });
    expect(columns(rows, 'lods', 'neurologic')).toEqual([[0, null]]); // no admission, no patient
  });
});

describe('MELD', () => {
  const meld = async (inputs: GivenRow, dialysis: number | null = null) =>
    (
      await database.concept('meld', {
        'mimiciv_icu.icustays': [icuStay()],
        'mimiciv_derived.first_day_lab': perStay([inputs]),
        'mimiciv_derived.first_day_rrt': perStay([{ dialysis_present: dialysis }]),
      })
    )[0]!;

  test('without values the score is 6: only the constant 0.643 remains', async () => {
    // 0.643 to 0.6, times 10
    expect(await meld({})).toMatchObject({ meld_initial: '6.0', meld: 6, rrt: null });
  });

  test('values below 1 count as 1, creatinine above 4 and dialysis as 4', async () => {
    expect(await meld({ creatinine_max: 0.9, bilirubin_total_max: 0.9, inr_max: 0.9 })).toMatchObject({
      meld_initial: '6.0',
    });
    // 0.957 ln 4 = 1.326678; + 0.643 = 1.969678; to 1.970, to 2.0
    expect(await meld({ creatinine_max: 4.1 })).toMatchObject({ meld_initial: '20.0' });
    expect(await meld({ creatinine_max: 9 })).toMatchObject({ meld_initial: '20.0' });
    expect(await meld({ creatinine_max: 1 }, 1)).toMatchObject({ meld_initial: '20.0', rrt: 1 });
    expect(await meld({ creatinine_max: 1 }, 0)).toMatchObject({ meld_initial: '6.0', rrt: 0 });
  });

  test('each term, rounded to 3 and then to 1 decimal', async () => {
    // 0.957 ln 2 + 0.378 ln 3 + 1.120 ln 1.5 + 0.643
    //   = 0.663342 + 0.415275 + 0.454121 + 0.643 = 2.175738; to 2.176, to 2.2
    expect(await meld({ creatinine_max: 2, bilirubin_total_max: 3, inr_max: 1.5 })).toMatchObject({
      meld_initial: '22.0',
    });
  });

  test('sodium counts from 137 down to 125, only above an initial score of 11', async () => {
    const sick = { creatinine_max: 2, bilirubin_total_max: 3, inr_max: 1.5 };
    const withSodium = async (sodium_min: number) => (await meld({ ...sick, sodium_min })).meld as number;
    expect(await withSodium(137)).toBe(22);
    expect(await withSodium(138)).toBe(22);
    // 22 + 1.32 x 7 - 0.033 x 22 x 7 = 22 + 9.24 - 5.082
    expect(await withSodium(130)).toBeCloseTo(26.158, 9);
    // 12 at most: 22 + 15.84 - 8.712
    expect(await withSodium(125)).toBeCloseTo(29.128, 9);
    expect(await withSodium(110)).toBeCloseTo(29.128, 9);
    expect(await meld({ sodium_min: 110 })).toMatchObject({ meld: 6 });
    // creatinine 1.604: 0.957 x 0.472500 = 0.452182 + 0.643 = 1.095, to 1.1: exactly 11 is not above 11
    expect(await meld({ creatinine_max: 1.604, sodium_min: 125 })).toMatchObject({
      meld_initial: '11.0',
      meld: 11,
    });
  });

  test('the sum is capped at 4, that is 40', async () => {
    // 1.326678 + 0.378 ln 30 (1.285653) + 1.120 ln 4 (1.552650) + 0.643 = 4.807981
    expect(await meld({ creatinine_max: 5, bilirubin_total_max: 30, inr_max: 4 })).toMatchObject({
      meld_initial: '40.0',
      meld: 40,
    });
  });

  test('the reference keeps the score alone', async () => {
    const rows = await database.reference('meld-24h', { 'mimiciv_icu.icustays': [icuStay()] });
    expect(rows).toEqual([{ subject_id: 1, hadm_id: 10, stay_id: 100, meld: 6 }]);
  });
});
