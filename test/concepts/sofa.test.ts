import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  column,
  columns,
  type DerivedRow,
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

type SofaTable = 'first_day_sofa' | 'sofa-24h';
const firstDay = (table: SofaTable, given: Given): Promise<readonly DerivedRow[]> =>
  table === 'sofa-24h' ? database.reference(table, given) : database.concept(table, given);

for (const table of ['first_day_sofa', 'sofa-24h'] as const) {
  // Missing components stay missing in the concept and are 0 in the reference.
  const missing = table === 'sofa-24h' ? 0 : null;

  describe(`first-day SOFA, ${table}`, () => {
    const scoresOf = async (name: string, source: string, cases: readonly GivenRow[]) =>
      column(
        await firstDay(table, {
          'mimiciv_icu.icustays': icuStays(cases.length),
          [`mimiciv_derived.${source}`]: perStay(cases),
        }),
        name,
      );

    test('platelets below 150, 100, 50, 20', async () => {
      const values = [150, 149.9, 100, 99.9, 50, 49.9, 20, 19.9, null];
      expect(
        await scoresOf(
          'coagulation',
          'first_day_lab',
          values.map((platelets_min) => ({ platelets_min })),
        ),
      ).toEqual([0, 1, 1, 2, 2, 3, 3, 4, missing]);
    });

    test('bilirubin from 1.2, 2.0, 6.0, 12.0', async () => {
      const values = [1.19, 1.2, 1.99, 2, 5.99, 6, 11.99, 12, null];
      expect(
        await scoresOf(
          'liver',
          'first_day_lab',
          values.map((bilirubin_total_max) => ({ bilirubin_total_max })),
        ),
      ).toEqual([0, 1, 1, 2, 2, 3, 3, 4, missing]);
    });

    test('Glasgow Coma Scale', async () => {
      const values = [15, 14, 13, 12, 10, 9, 6, 5, 3, null];
      expect(
        await scoresOf(
          'cns',
          'first_day_gcs',
          values.map((gcs_min) => ({ gcs_min })),
        ),
      ).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, missing]);
    });

    test('creatinine from 1.2, 2.0, 3.5, 5.0', async () => {
      const values = [1.19, 1.2, 1.99, 2, 3.49, 3.5, 4.99, 5, null];
      expect(
        await scoresOf(
          'renal',
          'first_day_lab',
          values.map((creatinine_max) => ({ creatinine_max })),
        ),
      ).toEqual([0, 1, 1, 2, 2, 3, 3, 4, missing]);
    });

    test('urine output below 500 and 200', async () => {
      const values = [500, 499, 200, 199, -10];
      expect(
        await scoresOf(
          'renal',
          'first_day_urine_output',
          values.map((urineoutput) => ({ urineoutput })),
        ),
      ).toEqual([0, 3, 3, 4, 4]);
    });

    test('mean pressure below 70', async () => {
      const values = [70, 69.9, null];
      expect(
        await scoresOf(
          'cardiovascular',
          'first_day_vitalsign',
          values.map((mbp_min) => ({ mbp_min })),
        ),
      ).toEqual([0, 1, missing]);
    });

    test('vasopressors by rate, whose infusion starts in the window', async () => {
      const cardiovascular = async (drug: string, vaso_rate: number | null, starttime = after('1:00')) =>
        (
          await firstDay(table, {
            'mimiciv_icu.icustays': [icuStay()],
            [`mimiciv_derived.${drug}`]: [{ stay_id: 100, vaso_rate, starttime, endtime: after('30:00') }],
          })
        )[0]!.cardiovascular;
      expect(await cardiovascular('norepinephrine', 0.1)).toBe(3);
      expect(await cardiovascular('norepinephrine', 0.101)).toBe(4);
      expect(await cardiovascular('epinephrine', 0.1)).toBe(3);
      expect(await cardiovascular('epinephrine', 0.101)).toBe(4);
      expect(await cardiovascular('dopamine', 5)).toBe(2);
      expect(await cardiovascular('dopamine', 5.1)).toBe(3);
      expect(await cardiovascular('dopamine', 15)).toBe(3);
      expect(await cardiovascular('dopamine', 15.1)).toBe(4);
      expect(await cardiovascular('dobutamine', 0.1)).toBe(2);
      expect(await cardiovascular('dobutamine', 0)).toBe(0);
      // the concept takes any charted rate, the reference asks for more than 0
      expect(await cardiovascular('norepinephrine', 0)).toBe(table === 'sofa-24h' ? 0 : 3);
      expect(await cardiovascular('norepinephrine', null)).toBe(missing);
      expect(await cardiovascular('norepinephrine', 1, after('-6:00'))).toBe(4);
      expect(await cardiovascular('norepinephrine', 1, after('-6:00:01'))).toBe(missing);
      expect(await cardiovascular('norepinephrine', 1, after('24:00'))).toBe(4);
      expect(await cardiovascular('norepinephrine', 1, after('24:00:01'))).toBe(missing);
    });

    test('oxygenation: 3 and 4 points only on the ventilator, which alone gives none from 200 on', async () => {
      const respiration = async (ratio: number, gasTime: string, specimen = 'ART.') =>
        (
          await firstDay(table, {
            'mimiciv_icu.icustays': [icuStay()],
            'mimiciv_derived.ventilation': [
              {
                stay_id: 100,
                starttime: after('10:00'),
                endtime: after('12:00'),
                ventilation_status: 'InvasiveVent',
              },
              {
                stay_id: 100,
                starttime: after('1:00'),
                endtime: after('2:00'),
                ventilation_status: 'NonInvasiveVent',
              },
            ],
            'mimiciv_derived.bg': [
              { subject_id: 1, charttime: after(gasTime), specimen, pao2fio2ratio: ratio },
            ],
          })
        )[0]!.respiration;
      expect(await respiration(99.9, '10:00')).toBe(4); // episode ends included
      expect(await respiration(100, '12:00')).toBe(3);
      expect(await respiration(199.9, '11:00')).toBe(3);
      expect(await respiration(200, '11:00')).toBe(0);
      expect(await respiration(99.9, '12:00:01')).toBe(2);
      expect(await respiration(99.9, '1:30')).toBe(2); // a mask is not invasive ventilation
      expect(await respiration(299.9, '1:30')).toBe(2);
      expect(await respiration(300, '1:30')).toBe(1);
      expect(await respiration(400, '1:30')).toBe(0);
      expect(await respiration(99.9, '-6:00:01')).toBe(missing);
      // the concept takes any specimen, the reference only arterial ones
      expect(await respiration(250, '1:30', 'VEN.')).toBe(table === 'sofa-24h' ? 0 : 2);
    });

    test('the total adds what is there', async () => {
      const [row] = await firstDay(table, {
        'mimiciv_icu.icustays': [icuStay()],
        'mimiciv_derived.first_day_lab': [
          { subject_id: 1, stay_id: 100, platelets_min: 90, creatinine_max: 2 },
        ],
        'mimiciv_derived.first_day_gcs': [{ subject_id: 1, stay_id: 100, gcs_min: 9 }],
      });
      expect(row!.sofa).toBe(7); // 2 + 2 + 3
    });
  });
}

describe('hourly SOFA', () => {
  const start = '2150-01-02 00:00:00';
  /** Hours -24 to `last` of stay 100; hour 0 ends at 01:00. */
  const hours = (last: number): readonly GivenRow[] =>
    Array.from({ length: last + 25 }, (_, index) => ({
      stay_id: 100,
      hr: index - 24,
      endtime: after(`${index - 23 < 0 ? '-' : ''}${Math.abs(index - 23)}:00`, start),
    }));
  const sofa = (given: Given, last = 30) =>
    database.concept('sofa', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.icustay_hourly': hours(last),
      ...given,
    });

  test('an hour holds what lies after its start, up to and including its end; only hours from 0 are shown', async () => {
    const rows = await sofa({
      'mimiciv_derived.gcs': [
        { stay_id: 100, charttime: after('1:00'), gcs: 10 }, // closes hour 0
        { stay_id: 100, charttime: after('1:00:01'), gcs: 6 }, // opens hour 1
      ],
    });
    expect(columns(rows.slice(0, 3), 'hr', 'starttime', 'endtime', 'gcs_min', 'cns')).toEqual([
      [0, after('0:00'), after('1:00'), 10, 2],
      [1, after('1:00'), after('2:00'), 6, 3],
      [2, after('2:00'), after('3:00'), null, null],
    ]);
  });

  test('a component lasts for 24 hourly rows, and hours before admission count', async () => {
    const rows = await sofa({
      'mimiciv_derived.gcs': [
        { stay_id: 100, charttime: after('-22:00'), gcs: 9 }, // hour -23: 23 rows before hour 0
        { stay_id: 100, charttime: after('3:30'), gcs: 14 }, // hour 3
      ],
    });
    const trailing = column(rows, 'cns_24hours');
    expect(trailing.slice(0, 5)).toEqual([3, 0, 0, 1, 1]);
    // hour 3 is in the frame of hours 3 to 26
    expect(trailing.slice(25, 29)).toEqual([1, 1, 0, 0]);
    expect(column(rows, 'sofa_24hours').slice(0, 5)).toEqual([3, 0, 0, 1, 1]);
  });

  test('on the ventilator 300 and 400 count too, unlike in the first-day score', async () => {
    const gas = (ratio: number) => ({
      'mimiciv_derived.ventilation': [
        {
          stay_id: 100,
          starttime: after('0:00'),
          endtime: after('9:00'),
          ventilation_status: 'InvasiveVent',
        },
      ],
      'mimiciv_derived.bg': [
        { subject_id: 1, charttime: after('0:30'), specimen: 'ART.', pao2fio2ratio: ratio },
      ],
    });
    const scores = [];
    for (const ratio of [99.9, 100, 200, 299.9, 300, 399.9, 400]) {
      scores.push((await sofa(gas(ratio)))[0]!.respiration);
    }
    expect(scores).toEqual([4, 3, 2, 2, 1, 1, 0]);
    const [venous] = await sofa({
      'mimiciv_derived.bg': [
        { subject_id: 1, charttime: after('0:30'), specimen: 'VEN.', pao2fio2ratio: 50 },
      ],
    });
    expect(venous!.respiration).toBeNull();
  });

  test('an infusion counts in the hours whose end it covers: start not included, stop included', async () => {
    const rate = async (from: string, to: string) =>
      column(
        await sofa({
          'mimiciv_derived.norepinephrine': [
            { stay_id: 100, vaso_rate: 0, starttime: after(from), endtime: after(to) },
          ],
        }),
        'cardiovascular',
      ).slice(0, 4);
    expect(await rate('0:30', '3:00')).toEqual([3, 3, 3, null]); // a rate of 0 scores 3
    expect(await rate('1:00', '3:00')).toEqual([null, 3, 3, null]);
    expect(await rate('0:10', '0:50')).toEqual([null, null, null, null]);
  });

  test('urine output is scaled to 24 hours when its records cover 22 to 30 hours', async () => {
    const renal = async (uo_tm_24hr: number, urineoutput_24hr: number) =>
      columns(
        await sofa({
          'mimiciv_derived.urine_output_rate': [
            { stay_id: 100, charttime: after('0:30'), urineoutput_24hr, uo_tm_24hr },
          ],
        }),
        'uo_24hr',
        'renal',
      )[0];
    expect(await renal(22, 440)).toEqual([480, 3]); // 440 / 22 x 24
    expect(await renal(30, 240)).toEqual([192, 4]); // 240 / 30 x 24
    expect(await renal(21.99, 440)).toEqual([null, null]);
    expect(await renal(30.01, 240)).toEqual([null, null]);
    expect(await renal(24, 500)).toEqual([500, 0]);
  });

  test('laboratory values need the admission, vital signs the stay', async () => {
    const lab = { subject_id: 1, charttime: after('0:30') };
    const [row] = await sofa({
      'mimiciv_derived.chemistry': [
        { ...lab, hadm_id: null, creatinine: 9 },
        { ...lab, hadm_id: 10, creatinine: 1.2 },
      ],
      'mimiciv_derived.enzyme': [{ ...lab, hadm_id: 10, bilirubin_total: 6 }],
      'mimiciv_derived.complete_blood_count': [{ ...lab, hadm_id: 11, platelet: 10 }],
      'mimiciv_derived.vitalsign': [{ ...lab, stay_id: 101, mbp: 50 }],
    });
    expect(columns([row!], 'renal', 'liver', 'coagulation', 'cardiovascular', 'sofa_24hours')).toEqual([
      [1, 3, null, null, 4],
    ]);
  });
});

describe('Sepsis-3', () => {
  const infection = (changes: GivenRow): GivenRow => ({
    subject_id: 1,
    stay_id: 100,
    hadm_id: 10,
    ab_id: 1,
    antibiotic_time: after('50:00'),
    culture_time: after('49:00'),
    suspected_infection: 1,
    suspected_infection_time: after('49:00'),
    ...changes,
  });
  const hour = (endtime: string, sofa_24hours: number, stay_id = 100): GivenRow => ({
    stay_id,
    hr: 1,
    endtime: after(endtime),
    sofa_24hours,
    respiration_24hours: sofa_24hours,
    coagulation_24hours: 0,
    liver_24hours: 0,
    cardiovascular_24hours: 0,
    cns_24hours: 0,
    renal_24hours: 0,
  });
  const sepsis = (infections: readonly GivenRow[], hourly: readonly GivenRow[]) => ({
    'mimiciv_derived.suspicion_of_infection': infections,
    'mimiciv_derived.sofa': hourly,
  });

  test('a SOFA of 2 from 48 hours before to 24 hours after the suspected infection, ends included', async () => {
    const timeOf = async (...hourly: readonly GivenRow[]) =>
      column(await database.concept('sepsis3', sepsis([infection({})], hourly)), 'sofa_time');
    expect(await timeOf(hour('1:00', 2))).toEqual([after('1:00')]); // 49 - 48
    expect(await timeOf(hour('0:59', 2))).toEqual([]);
    expect(await timeOf(hour('73:00', 2))).toEqual([after('73:00')]); // 49 + 24
    expect(await timeOf(hour('73:01', 2))).toEqual([]);
    expect(await timeOf(hour('49:00', 1))).toEqual([]);
    expect(await timeOf(hour('60:00', 9), hour('50:00', 2))).toEqual([after('50:00')]); // the earliest, not the worst
  });

  test('the earliest infection is chosen first; one without a stay or a time never matches', async () => {
    const rows = await database.concept(
      'sepsis3',
      sepsis(
        [
          infection({ ab_id: 1, suspected_infection_time: after('80:00') }),
          infection({ ab_id: 2, suspected_infection_time: after('60:00'), culture_time: null }),
          infection({ ab_id: 3, stay_id: null, suspected_infection_time: after('1:00') }),
          infection({ ab_id: 4, suspected_infection_time: null }),
        ],
        [hour('40:00', 3), hour('13:00', 2)],
      ),
    );
    expect(
      columns(rows, 'suspected_infection_time', 'culture_time', 'sofa_time', 'sofa_score', 'sepsis3'),
    ).toEqual([[after('60:00'), null, after('13:00'), 2, true]]);
  });

  test('ties of the infection time go to the earlier antibiotic, then the earlier culture, missing first', async () => {
    const rows = await database.concept(
      'sepsis3',
      sepsis(
        [
          infection({ antibiotic_time: after('55:00') }),
          infection({ antibiotic_time: after('51:00'), culture_time: after('40:00') }),
          infection({ antibiotic_time: after('51:00'), culture_time: null }),
        ],
        [hour('49:00', 2)],
      ),
    );
    expect(columns(rows, 'antibiotic_time', 'culture_time')).toEqual([[after('51:00'), null]]);
  });

  test('the reference writes the flag as 1', async () => {
    const rows = await database.reference('sepsis3', sepsis([infection({})], [hour('50:00', 2)]));
    expect(columns(rows, 'stay_id', 'sofa_score', 'respiration', 'sepsis3')).toEqual([[100, 2, 2, 1]]);
  });
});
