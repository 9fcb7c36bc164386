import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  chartedText,
  cohort,
  column,
  columns,
  derive,
  type Given,
  type GivenRow,
  icuAdmission,
  invasive,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('SAPS II', () => {
  const bySubject = new Set(['chemistry', 'complete_blood_count', 'enzyme']);
  const scores = async (name: string, source: string, cases: readonly GivenRow[], table = 'sapsii') =>
    column(
      await derive(database, table, {
        ...cohort(cases.length),
        [`mimiciv_derived.${source}`]: cases.map((row, index) => ({
          ...(source === 'urine_output' ? {} : { subject_id: index + 1 }),
          ...(bySubject.has(source) ? {} : { stay_id: 100 * (index + 1) }),
          charttime: after('1:00'),
          ...row,
        })),
      }),
      name,
    );
  const values = (name: string, list: readonly (number | null)[]) => list.map((value) => ({ [name]: value }));

  test('bands at their limits', async () => {
    const bands = [
      [
        'hr_score',
        'vitalsign',
        'heart_rate',
        [39, 40, 69, 70, 119, 120, 159, 160],
        [11, 2, 2, 0, 0, 4, 4, 7],
      ],
      ['sysbp_score', 'vitalsign', 'sbp', [69, 70, 99, 100, 199, 200], [13, 5, 5, 0, 0, 2]],
      ['temp_score', 'vitalsign', 'temperature', [38.99, 39], [0, 3]],
      ['uo_score', 'urine_output', 'urineoutput', [499, 500, 999, 1000], [11, 4, 4, 0]],
      ['bun_score', 'chemistry', 'bun', [27.9, 28, 83.9, 84], [0, 6, 6, 10]],
      ['wbc_score', 'complete_blood_count', 'wbc', [0.9, 1, 19.9, 20], [12, 0, 0, 3]],
      ['potassium_score', 'chemistry', 'potassium', [2.9, 3, 4.9, 5], [3, 0, 0, 3]],
      ['sodium_score', 'chemistry', 'sodium', [124, 125, 144, 145], [5, 0, 0, 1]],
      ['bicarbonate_score', 'chemistry', 'bicarbonate', [14.9, 15, 19.9, 20], [6, 3, 3, 0]],
      ['bilirubin_score', 'enzyme', 'bilirubin_total', [3.9, 4, 5.9, 6], [0, 4, 4, 9]],
      [
        'gcs_score',
        'gcs',
        'gcs',
        [3, 5, 6, 8, 9, 10, 11, 13, 14, 15, 2],
        [26, 26, 13, 13, 7, 7, 5, 5, 0, 0, null],
      ],
    ] as const;
    for (const [name, source, sign, list, expected] of bands) {
      expect(await scores(name, source, values(sign, list)), name).toEqual(expected);
      const shown = expected.map((score) => score ?? 0);
      expect(await scores(name, source, values(sign, list), 'sapsii-24h'), name).toEqual(shown);
    }
  });

  test('the window opens after ICU admission and closes exactly 24 hours later', async () => {
    const times = ['0:00', '0:00:01', '24:00', '24:00:01'];
    expect(
      await scores(
        'bun_score',
        'chemistry',
        times.map((time) => ({ charttime: after(time), bun: 90 })),
      ),
    ).toEqual([null, 10, 10, null]);
  });

  test('age bands by fractional age', async () => {
    const ages = [39.99, 40, 59.9, 60, 69.9, 70, 74.9, 75, 79.9, 80, 91, null];
    const rows = await database.concept('sapsii', {
      ...cohort(ages.length),
      'mimiciv_derived.age': ages.map((age, index) => ({ hadm_id: 10 * (index + 1), age })),
    });
    expect(column(rows, 'age_score')).toEqual([0, 7, 7, 12, 12, 15, 15, 16, 16, 18, 18, null]);
  });

  test('admission type: elective surgery 0, medical 6, other surgery 8, by the first service', async () => {
    const admission = async (
      admission_type: string | null,
      ...services: readonly (readonly [string | null, string])[]
    ) =>
      (
        await database.concept('sapsii', {
          ...cohort(1, { admission_type }),
          'mimiciv_hosp.services': services.map(([transfertime, curr_service]) => ({
            hadm_id: 10,
            transfertime,
            curr_service,
          })),
        })
      )[0]!.admissiontype_score;
    expect(await admission('ELECTIVE', [after('-5:00'), 'CSURG'])).toBe(0);
    expect(await admission('EW EMER.', [after('-5:00'), 'CSURG'])).toBe(8);
    expect(await admission('ELECTIVE', [after('-5:00'), 'MED'])).toBe(6);
    expect(await admission('ELECTIVE', [after('-5:00'), 'ORTHO'])).toBe(6); // no surgery here, unlike in OASIS
    expect(await admission('SURGICAL SAME DAY ADMISSION', [after('-5:00'), 'CSURG'])).toBe(8); // planned, but scored as unplanned
    expect(await admission('EW EMER.', [after('-5:00'), 'MED'], [after('-4:00'), 'SURG'])).toBe(6);
    expect(await admission('EW EMER.', [after('-5:00'), 'MED'], [null, 'SURG'])).toBe(8); // a missing time comes first
    expect(await admission(null, [after('-5:00'), 'SURG'])).toBe(6);
    expect(await admission('EW EMER.')).toBe(6);
  });

  test('comorbidity: the gravest of AIDS 17, hematologic 10, metastatic 9', async () => {
    const cases: readonly (readonly [number, string, number])[] = [
      [9, '042', 17],
      [9, '0449', 17],
      [10, 'B22', 17],
      [10, 'B23', 0],
      [9, '20000', 10],
      [9, '20239', 0],
      [9, '2386', 10],
      [9, '20382', 10],
      [9, '20383', 0],
      [10, 'C9590', 10],
      [10, 'C80', 0],
      [10, 'C800', 9],
      [9, '1960', 9],
      [9, '196', 0],
      [9, '199', 9],
      [9, '20973', 9],
      [9, '78951', 9],
      [10, 'C797', 9],
    ];
    const rows = await database.concept('sapsii', {
      ...cohort(cases.length),
      'mimiciv_hosp.diagnoses_icd': cases.map(([icd_version, icd_code], index) => ({
        hadm_id: 10 * (index + 1),
        icd_version,
        icd_code,
      })),
    });
    expect(column(rows, 'comorbidity_score').map((score, index) => [cases[index]![1], score])).toEqual(
      cases.map(([, code, score]) => [code, score]),
    );
    const [three] = await database.concept('sapsii', {
      ...cohort(1),
      'mimiciv_hosp.diagnoses_icd': ['042', '20000', '1960'].map((icd_code) => ({
        hadm_id: 10,
        icd_version: 9,
        icd_code,
      })),
    });
    expect(three!.comorbidity_score).toBe(17);
  });

  test('oxygenation counts on the ventilator or a mask only, start of the episode not included', async () => {
    const oxygenation = async (ratio: number, time: string, given: Given) =>
      (
        await database.concept('sapsii', {
          ...cohort(1),
          'mimiciv_derived.bg': [
            { subject_id: 1, charttime: after(time), specimen: 'ART.', pao2fio2ratio: ratio },
          ],
          ...given,
        })
      )[0]!.pao2fio2_score;
    const ventilator = invasive('2:00', '4:00');
    expect(await oxygenation(99.9, '3:00', ventilator)).toBe(11);
    expect(await oxygenation(100, '3:00', ventilator)).toBe(9);
    expect(await oxygenation(200, '3:00', ventilator)).toBe(6);
    expect(await oxygenation(100, '2:00', ventilator)).toBeNull();
    expect(await oxygenation(100, '4:00', ventilator)).toBe(9);
    expect(await oxygenation(100, '4:00:01', ventilator)).toBeNull();
    // a mask charted at 10:00 counts after 9:00 up to 14:00
    const mask = (text: string, time = '10:00') => ({
      'mimiciv_icu.chartevents': [chartedText(226732, after(time), text)],
    });
    expect(await oxygenation(100, '9:00', mask('CPAP mask '))).toBeNull();
    expect(await oxygenation(100, '9:00:01', mask('CPAP mask '))).toBe(9);
    expect(await oxygenation(100, '14:00', mask('Bipap'))).toBe(9);
    expect(await oxygenation(100, '14:00:01', mask('CPAP mask '))).toBeNull();
    expect(await oxygenation(100, '11:00', mask('CPAP'))).toBeNull(); // "cpap mask" is asked for, unlike in LODS
    expect(await oxygenation(100, '24:00', mask('CPAP mask ', '23:00'))).toBe(9);
  });

  test('two readings of a stay: low and high limits are looked at in order', async () => {
    const rows = await database.concept('sapsii', {
      ...cohort(1),
      'mimiciv_derived.vitalsign': [
        { subject_id: 1, stay_id: 100, charttime: after('1:00'), heart_rate: 39, sbp: 201 },
        { subject_id: 1, stay_id: 999, charttime: after('2:00'), heart_rate: 170, sbp: 99 }, // another stay of the patient
      ],
    });
    expect(columns(rows, 'hr_score', 'sysbp_score', 'starttime', 'endtime')).toEqual([
      [11, 5, icuAdmission, after('24:00')],
    ]);
  });

  test('the total and its mortality', async () => {
    const [row] = await database.concept('sapsii', cohort(1));
    expect(row!.sapsii).toBe(6); // medical admission alone
    expect(row!.sapsii_prob).toBeCloseTo(1 / (1 + Math.exp(7.7631 - 0.0737 * 6 - 0.9971 * Math.log(7))), 12);
  });
});
