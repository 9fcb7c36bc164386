import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  both,
  cohort,
  column,
  columns,
  derive,
  type GivenRow,
  icuAdmission,
  icuStay,
  invasive,
  perStay,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('OASIS', () => {
  const scores = async (name: string, source: string, cases: readonly GivenRow[], table = 'oasis') =>
    column(
      await derive(database, table, {
        ...cohort(cases.length),
        [`mimiciv_derived.${source}`]: perStay(cases),
      }),
      name,
    );

  test('time before the ICU in fractional minutes: 10.2, 297, 1440, 18708', async () => {
    const seconds = [-60, 611, 612, 17_819, 17_820, 86_399, 86_400, 1_122_479, 1_122_480];
    const rows = [];
    for (const before of seconds) {
      const admittime = new Date(Date.parse(`${icuAdmission.replace(' ', 'T')}Z`) - 1000 * before)
        .toISOString()
        .slice(0, 19);
      rows.push((await database.concept('oasis', cohort(1, { admittime })))[0]!.preiculos_score);
    }
    expect(rows).toEqual([5, 5, 3, 3, 0, 0, 2, 2, 1]);
  });

  test('age: 24, 53, 77, 89, 90; between 89 and 90 no band fits', async () => {
    const ages = [23.9, 24, 53, 53.4, 77, 77.4, 89, 89.5, 90, 91, null];
    const rows = await database.concept('oasis', {
      ...cohort(ages.length),
      'mimiciv_derived.age': ages.map((age, index) => ({ hadm_id: 10 * (index + 1), age })),
    });
    expect(column(rows, 'age_score')).toEqual([0, 3, 3, 6, 6, 9, 9, 0, 7, 7, null]);
  });

  test('bands at their limits', async () => {
    const bands = [
      [
        'gcs_score',
        'first_day_gcs',
        [7, 8, 13, 14, 15, null].map((gcs_min) => ({ gcs_min })),
        [10, 4, 4, 3, 0, null],
      ],
      [
        'heart_rate_score',
        'first_day_vitalsign',
        both('heart_rate', [32, 33, 88, 89, 106, 106.5, 107, 125, 125.1]),
        [4, 0, 0, 1, 1, 0, 3, 3, 6],
      ],
      [
        'mbp_score',
        'first_day_vitalsign',
        both('mbp', [20.64, 20.65, 50.9, 51, 61.32, 61.33, 143.44, 143.45]),
        [4, 3, 3, 2, 2, 0, 0, 3],
      ],
      [
        'resp_rate_score',
        'first_day_vitalsign',
        both('resp_rate', [5, 6, 12, 13, 22, 22.5, 30, 31, 44, 45]),
        [10, 1, 1, 0, 0, 1, 1, 6, 6, 9],
      ],
      [
        'temp_score',
        'first_day_vitalsign',
        both('temperature', [33.21, 33.22, 35.93, 35.94, 36.39, 36.4, 36.88, 36.89, 39.88, 39.89]),
        [3, 4, 4, 2, 2, 0, 0, 2, 2, 6],
      ],
      [
        'urineoutput_score',
        'first_day_urine_output',
        [671, 671.09, 1426.99, 1427, 2544.14, 2545, 6896.8, 6896.9, null].map((urineoutput) => ({
          urineoutput,
        })),
        [10, 5, 5, 1, 1, 0, 0, 8, null],
      ],
    ] as const;
    for (const [name, source, cases, expected] of bands) {
      expect(await scores(name, source, cases), name).toEqual(expected);
      expect(await scores(name, source, cases, 'oasis-24h'), name).toEqual(
        expected.map((score) => score ?? 0),
      );
    }
  });

  test('the reported value is the one whose rule fired, else the mean of minimum and maximum', async () => {
    const rows = await database.concept('oasis', {
      ...cohort(2),
      'mimiciv_derived.first_day_vitalsign': perStay([
        {
          heart_rate_min: 30,
          heart_rate_max: 110,
          mbp_min: 60,
          mbp_max: 150,
          temperature_min: 36.5,
          temperature_max: 36.8,
        },
        { heart_rate_min: 60, heart_rate_max: 80, resp_rate_min: 14, resp_rate_max: 20 },
      ]),
    });
    expect(columns(rows, 'heartrate', 'meanbp', 'resprate', 'temp')).toEqual([
      [30, 150, null, 36.65],
      [70, null, 17, null],
    ]);
  });

  test('surgery: any service by 24 hours, orthopaedics included; elective only as ELECTIVE', async () => {
    const elective = async (
      admission_type: string | null,
      ...services: readonly (readonly [string, string])[]
    ) =>
      columns(
        await database.concept('oasis', {
          ...cohort(1, { admission_type }),
          'mimiciv_hosp.services': services.map(([time, curr_service]) => ({
            hadm_id: 10,
            transfertime: after(time),
            curr_service,
          })),
        }),
        'electivesurgery',
        'electivesurgery_score',
      )[0];
    expect(await elective('ELECTIVE', ['-90:00', 'ORTHO'])).toEqual([1, 0]);
    expect(await elective('ELECTIVE', ['23:59:59', 'TSURG'])).toEqual([1, 0]);
    expect(await elective('ELECTIVE', ['24:00', 'TSURG'])).toEqual([0, 6]);
    expect(await elective('ELECTIVE', ['-90:00', 'MED'], ['1:00', 'SURG'])).toEqual([1, 0]);
    expect(await elective('SURGICAL SAME DAY ADMISSION', ['-1:00', 'SURG'])).toEqual([0, 6]);
    expect(await elective(null, ['-1:00', 'SURG'])).toEqual([null, null]);
    const [reference] = await database.reference('oasis-24h', cohort(1, { admission_type: null }));
    expect(reference!.electivesurgery_score).toBe(0);
  });

  test('ventilation on the first day', async () => {
    const ventilated = async (start: string, end: string) =>
      (await database.concept('oasis', { ...cohort(1), ...invasive(start, end) }))[0]!.mechvent_score;
    expect(await ventilated('24:00', '30:00')).toBe(9);
    expect(await ventilated('24:00:01', '30:00')).toBe(0);
    expect(await ventilated('-3:00', '0:00')).toBe(9);
    expect(await ventilated('-3:00', '-0:00:01')).toBe(0);
    expect(await ventilated('-3:00', '48:00')).toBe(9);
  });

  test('the total and its mortality', async () => {
    const [row] = await database.concept('oasis', cohort(1));
    expect(row!.oasis).toBe(11); // no time before the ICU 5, no elective surgery 6
    expect(row!.oasis_prob).toBeCloseTo(1 / (1 + Math.exp(6.1746 - 0.1275 * 11)), 12);
  });

  test('a stay without a patient has no score', async () => {
    expect(await database.concept('oasis', { 'mimiciv_icu.icustays': [icuStay()] })).toEqual([]);
  });
});
