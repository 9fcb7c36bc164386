import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  both,
  cohort,
  column,
  derive,
  type Given,
  type GivenRow,
  invasive,
  perStay,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('APS III', () => {
  const scores = async (name: string, source: string, cases: readonly GivenRow[], table = 'apsiii') =>
    column(
      await derive(database, table, {
        ...cohort(cases.length),
        [`mimiciv_derived.${source}`]: perStay(cases),
      }),
      name,
    );

  test('bands at their limits', async () => {
    const bands = [
      [
        'hr_score',
        'first_day_vitalsign',
        'heart_rate',
        [39, 40, 49, 50, 99, 100, 109, 110, 119, 120, 139, 140, 154, 155],
        [8, 5, 5, 0, 0, 1, 1, 5, 5, 7, 7, 13, 13, 17],
      ],
      [
        'mbp_score',
        'first_day_vitalsign',
        'mbp',
        [39, 40, 59, 60, 69, 70, 79, 80, 99, 100, 119, 120, 129, 130, 139, 140],
        [23, 15, 15, 7, 7, 6, 6, 0, 0, 4, 4, 7, 7, 9, 9, 10],
      ],
      [
        'temp_score',
        'first_day_vitalsign',
        'temperature',
        [32.99, 33, 33.49, 33.5, 33.99, 34, 34.99, 35, 35.99, 36, 39.99, 40],
        [20, 16, 16, 13, 13, 8, 8, 2, 2, 0, 0, 4],
      ],
      [
        'resp_rate_score',
        'first_day_vitalsign',
        'resp_rate',
        [5, 6, 11, 12, 13, 14, 24, 25, 34, 35, 39, 40, 49, 50],
        [17, 8, 8, 7, 7, 0, 0, 6, 6, 9, 9, 11, 11, 18],
      ],
      ['hematocrit_score', 'first_day_lab', 'hematocrit', [40.9, 41, 49.9, 50], [3, 0, 0, 3]],
      ['wbc_score', 'first_day_lab', 'wbc', [0.9, 1, 2.9, 3, 19.9, 20, 24.9, 25], [19, 5, 5, 0, 0, 1, 1, 5]],
      [
        'creatinine_score',
        'first_day_lab',
        'creatinine',
        [0.4, 0.5, 1.4, 1.5, 1.94, 1.95],
        [3, 0, 0, 4, 4, 7],
      ],
      ['bun_score', 'first_day_lab', 'bun', [16.9, 17, 19, 20, 39, 40, 79, 80], [0, 2, 2, 7, 7, 11, 11, 12]],
      ['sodium_score', 'first_day_lab', 'sodium', [119, 120, 134, 135, 154, 155], [3, 2, 2, 0, 0, 4]],
      ['albumin_score', 'first_day_lab', 'albumin', [1.9, 2, 2.4, 2.5, 4.4, 4.5], [11, 6, 6, 0, 0, 4]],
      [
        'bilirubin_score',
        'first_day_lab',
        'bilirubin_total',
        [1.9, 2, 2.9, 3, 4.9, 5, 7.9, 8],
        [0, 5, 5, 6, 6, 8, 8, 16],
      ],
      [
        'glucose_score',
        'first_day_lab',
        'glucose',
        [39, 40, 59, 60, 199, 200, 349, 350],
        [8, 9, 9, 0, 0, 3, 3, 5],
      ],
    ] as const;
    for (const [name, source, sign, values, expected] of bands) {
      expect(await scores(name, source, both(sign, [...values, null])), name).toEqual([...expected, null]);
      expect(await scores(name, source, both(sign, [...values, null]), 'apsiii-24h'), name).toEqual([
        ...expected,
        0,
      ]);
    }
  });

  test('the value farther from the midpoint decides, at equal distance the higher score', async () => {
    const heart = (heart_rate_min: number, heart_rate_max: number) => ({ heart_rate_min, heart_rate_max });
    expect(
      await scores('hr_score', 'first_day_vitalsign', [
        heart(45, 106), // 30 below 75 against 31 above: the maximum, 1
        heart(45, 104), // 30 against 29: the minimum, 5
        heart(45, 105), // 30 each: the larger of 5 and 1
        heart(30, 120), // 45 each: the larger of 8 and 7
      ]),
    ).toEqual([1, 5, 5, 8]);
    const sodium = (sodium_min: number, sodium_max: number) => ({ sodium_min, sodium_max });
    // 145.5 - 134 = 11.5 = 157 - 145.5: the larger of 2 and 4
    expect(await scores('sodium_score', 'first_day_lab', [sodium(134, 157)])).toEqual([4]);
    // the midpoint of temperature is 38.0: 2.5 below against 2.4 above
    expect(
      await scores('temp_score', 'first_day_vitalsign', [{ temperature_min: 35.5, temperature_max: 40.4 }]),
    ).toEqual([2]);
  });

  test('bilirubin and urea go by the maximum', async () => {
    expect(
      await scores('bilirubin_score', 'first_day_lab', [
        { bilirubin_total_min: 0.1, bilirubin_total_max: 3 },
      ]),
    ).toEqual([6]);
    expect(await scores('bun_score', 'first_day_lab', [{ bun_min: 90, bun_max: 17 }])).toEqual([2]);
  });

  test('glucose pools laboratory and bedside', async () => {
    const [row] = await database.concept('apsiii', {
      ...cohort(1),
      'mimiciv_derived.first_day_lab': perStay([{ glucose_min: 100, glucose_max: 150 }]),
      'mimiciv_derived.first_day_vitalsign': perStay([{ glucose_min: 90, glucose_max: 400 }]),
    });
    expect(row!.glucose_score).toBe(5);
  });

  test('a ventilated stay scores 0 for any respiratory rate below 14', async () => {
    const rate = async (resp_rate: number, start: string, end: string) =>
      (
        await database.concept('apsiii', {
          ...cohort(1),
          'mimiciv_derived.first_day_vitalsign': perStay(both('resp_rate', [resp_rate])),
          ...invasive(start, end),
        })
      )[0]!.resp_rate_score;
    expect(await rate(5, '1:00', '2:00')).toBe(0);
    expect(await rate(13.9, '24:00', '30:00')).toBe(0); // starts exactly at the end of the day
    expect(await rate(5, '-5:00', '0:00')).toBe(0); // ends exactly at ICU admission
    expect(await rate(5, '-5:00', '40:00')).toBe(0); // spans the day
    expect(await rate(5, '24:00:01', '30:00')).toBe(17);
    expect(await rate(25, '1:00', '2:00')).toBe(6);
  });

  test('acute renal failure needs creatinine 1.5, urine below 410 and no advanced kidney disease on record', async () => {
    const creatinine = async (
      creatinine_max: number,
      urineoutput: number,
      codes: readonly (readonly [number, string])[],
    ) =>
      (
        await database.concept('apsiii', {
          ...cohort(1),
          'mimiciv_derived.first_day_lab': perStay([{ creatinine_min: 0.6, creatinine_max }]),
          'mimiciv_derived.first_day_urine_output': perStay([{ urineoutput }]),
          'mimiciv_hosp.diagnoses_icd': codes.map(([icd_version, icd_code]) => ({
            hadm_id: 10,
            icd_version,
            icd_code,
          })),
        })
      )[0]!.creatinine_score;
    const pneumonia = [9, '486'] as const;
    expect(await creatinine(1.5, 409, [pneumonia])).toBe(10);
    expect(await creatinine(1.5, 410, [pneumonia])).toBe(4);
    expect(await creatinine(1.49, 409, [pneumonia])).toBe(0);
    expect(await creatinine(1.5, 409, [pneumonia, [9, '5854']])).toBe(4);
    expect(await creatinine(1.5, 409, [pneumonia, [10, 'N186']])).toBe(4);
    expect(await creatinine(1.5, 409, [pneumonia, [9, '5853']])).toBe(10);
    expect(await creatinine(1.5, 409, [])).toBe(4); // without any diagnosis it is never acute
  });

  test('urine output', async () => {
    const values = [399, 400, 599, 600, 899, 900, 1499, 1500, 1999, 2000, 3999, 4000, null];
    expect(
      await scores(
        'uo_score',
        'first_day_urine_output',
        values.map((urineoutput) => ({ urineoutput })),
      ),
    ).toEqual([15, 8, 8, 7, 7, 5, 5, 4, 4, 0, 0, 1, null]);
  });

  test('Glasgow Coma Scale grid', async () => {
    const grid = [
      // eyes, verbal, motor, unable, score
      [1, 1, 2, 0, 48],
      [1, 1, 3, 0, 33],
      [1, 1, 6, 0, 16],
      [1, 3, 2, 0, 29],
      [1, 2, 4, 0, 24],
      [1, 2, 5, 0, null],
      [1, 4, 6, 0, null],
      [2, 1, 1, 0, 29],
      [2, 1, 4, 0, 24],
      [4, 1, 5, 0, 15],
      [4, 2, 5, 0, 13],
      [4, 3, 6, 0, 10],
      [4, 4, 4, 0, 13],
      [4, 4, 5, 0, 8],
      [4, 4, 6, 0, 3],
      [4, 5, 5, 0, 3],
      [4, 5, 6, 0, 0],
      [1, 1, 1, 1, 0], // intubated first of all
      [4, 0, 6, 0, null],
      [null, 5, 6, 0, null],
    ] as const;
    expect(
      await scores(
        'gcs_score',
        'first_day_gcs',
        grid.map(([gcs_eyes, gcs_verbal, gcs_motor, gcs_unable]) => ({
          gcs_eyes,
          gcs_verbal,
          gcs_motor,
          gcs_unable,
        })),
      ),
    ).toEqual(grid.map(([, , , , score]) => score));
  });

  describe('blood gases', () => {
    const gas = (time: string, values: GivenRow): GivenRow => ({
      subject_id: 1,
      hadm_id: 10,
      charttime: after(time),
      specimen: 'ART.',
      ...values,
    });
    const withGases = async (gases: readonly GivenRow[], given: Given = {}, table = 'apsiii') =>
      (await derive(database, table, { ...cohort(1), 'mimiciv_derived.bg': gases, ...given }))[0]!;

    test('PaO2: the highest unventilated one below 50 % oxygen; it outranks any gradient', async () => {
      const scored = async (po2: number, changes: GivenRow = {}) =>
        (await withGases([gas('1:00', { po2, ...changes })])).pao2_aado2_score;
      expect(await scored(49)).toBe(15);
      expect(await scored(50)).toBe(5);
      expect(await scored(70)).toBe(2);
      expect(await scored(80)).toBe(0);
      expect(await scored(49, { fio2: 50 })).toBeNull();
      expect(await scored(49, { fio2: 49, fio2_chartevents: 60 })).toBe(15);
      expect(await scored(49, { fio2_chartevents: 60 })).toBeNull();
      expect(await scored(49, { specimen: 'VEN.' })).toBeNull();
      const best = await withGases([gas('1:00', { po2: 45 }), gas('2:00', { po2: 75 })]);
      expect(best.pao2_aado2_score).toBe(2);
    });

    test('gradient: the highest on the ventilator from 50 % oxygen on', async () => {
      const scored = async (aado2: number, changes: GivenRow = {}, time = '1:00') =>
        (await withGases([gas(time, { aado2, fio2: 50, ...changes })], invasive('0:00', '2:00')))
          .pao2_aado2_score;
      const values = [99, 100, 249, 250, 349, 350, 499, 500];
      const expected = [0, 7, 7, 9, 9, 11, 11, 14];
      for (const [index, value] of values.entries()) expect(await scored(value)).toBe(expected[index]);
      expect(await scored(500, { fio2: 49 })).toBeNull();
      expect(await scored(500, { fio2: null })).toBeNull();
      expect(await scored(500, {}, '2:00')).toBe(14); // end of the episode included
      expect(await scored(500, {}, '2:00:01')).toBeNull();
    });

    test('acid-base: each pH band with its PaCO2 limits, the worst gas of the stay', async () => {
      const grid = [
        [7.19, 49.9, 12],
        [7.19, 50, 4],
        [7.2, 29, 9],
        [7.29, 30, 6],
        [7.29, 40, 3],
        [7.29, 50, 2],
        [7.3, 29, 9],
        [7.34, 30, 0],
        [7.34, 45, 1],
        [7.35, 29, 5],
        [7.44, 30, 0],
        [7.44, 45, 1],
        [7.45, 29, 5],
        [7.45, 30, 0],
        [7.49, 35, 2],
        [7.49, 45, 12],
        [7.5, 39, 3],
        [7.59, 40, 12],
        [7.6, 24, 0],
        [7.6, 25, 3],
        [7.6, 40, 12],
      ] as const;
      for (const [ph, pco2, expected] of grid) {
        expect((await withGases([gas('1:00', { ph, pco2 })])).acidbase_score, `${ph} ${pco2}`).toBe(expected);
      }
      const worst = await withGases([gas('1:00', { ph: 7.4, pco2: 40 }), gas('2:00', { ph: 7.1, pco2: 60 })]);
      expect(worst.acidbase_score).toBe(4);
      expect((await withGases([gas('1:00', { ph: 7.1 })])).acidbase_score).toBeNull();
    });

    test('the concept takes gases of the whole stay, the reference those of the first day', async () => {
      const at = (time: string, table: string) =>
        withGases([gas(time, { ph: 7.1, pco2: 40 })], {}, table).then((row) => row.acidbase_score);
      expect(await at('71:59:59', 'apsiii')).toBe(12);
      expect(await at('72:00', 'apsiii')).toBeNull(); // discharge is not in the stay
      expect(await at('0:00', 'apsiii')).toBe(12);
      expect(await at('-0:00:01', 'apsiii')).toBeNull();
      expect(await at('23:59:59', 'apsiii-24h')).toBe(12);
      expect(await at('24:00', 'apsiii-24h')).toBe(0);
    });
  });

  test('the total adds the components; its mortality follows the published line', async () => {
    const [row] = await database.concept('apsiii', {
      ...cohort(1),
      'mimiciv_derived.first_day_vitalsign': perStay([
        { heart_rate_min: 120, heart_rate_max: 120, mbp_min: 60, mbp_max: 60 },
      ]),
    });
    expect(row!.apsiii).toBe(14); // 7 + 7
    expect(row!.apsiii_prob).toBeCloseTo(1 / (1 + Math.exp(4.436 - 0.04726 * 14)), 12);
  });
});
