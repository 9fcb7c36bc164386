import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, column, columns, type GivenRow, icuStay, lab, person, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const urine = (...records: readonly (readonly [time: string, volume: number])[]): readonly GivenRow[] =>
  records.map(([time, urineoutput]) => ({ stay_id: 100, charttime: after(time), urineoutput }));
const weight = (kilograms: number, start = '-2:00', end = '99:00'): GivenRow => ({
  stay_id: 100,
  starttime: after(start),
  endtime: after(end),
  weight: kilograms,
  weight_type: 'admit',
});

describe('KDIGO urine output', () => {
  const rates = (records: readonly GivenRow[], weights: readonly GivenRow[] = [weight(100)]) =>
    database.concept('kdigo_uo', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.urine_output': records,
      'mimiciv_derived.weight_durations': weights,
    });

  test('the windows are full: 6 hours back is in, a second more is not; the first record covers 1 hour', async () => {
    const rows = await rates(urine(['1:00', 100], ['7:00', 200], ['13:00:01', 400]));
    // at 7:00: 100 + 200 over 1 + 6 h; at 13:00:01 the record of 7:00 is 6 h and 1 s old
    expect(columns(rows, 'urineoutput_6hr', 'uo_tm_6hr')).toEqual([
      [100, 1],
      [300, 7],
      [400, 6 + 1 / 3600],
    ]);
    // 300 / 100 / 7 = 0.42857…, 400 / 100 / 6.00028 = 0.66664
    expect(column(rows, 'uo_rt_6hr')).toEqual([null, '0.429', '0.667']);
  });

  test('the 6-hour rate needs records that cover 6 but less than 12 hours', async () => {
    const rows = await rates(urine(['1:00', 100], ['2:00', 100], ['14:00', 100]));
    // the record of 14:00 alone covers 12 h
    expect(columns(rows, 'uo_tm_6hr', 'uo_rt_6hr', 'uo_tm_12hr', 'uo_rt_12hr').at(-1)).toEqual([
      12,
      null,
      13,
      '0.154', // 100 + 100 (2:00 is exactly 12 h old) over 1 + 12 h: 200 / 100 / 13
    ]);
  });

  test('a weight holds from its start up to but not including its end; a weight of zero gives no rate', async () => {
    const weights = [weight(80, '-2:00', '1:00'), weight(90, '1:00', '7:00'), weight(0, '7:00', '99:00')];
    const rows = await rates(urine(['1:00', 100], ['7:00', 200]), weights);
    expect(columns(rows, 'weight', 'uo_rt_6hr')).toEqual([
      [90, null],
      [0, null],
    ]);
  });
});

describe('KDIGO creatinine', () => {
  const creatinine = (time: string, value: number | null, changes: GivenRow = {}): GivenRow =>
    lab(50912, value, { charttime: after(time), ...changes });
  const lows = async (...labevents: readonly GivenRow[]) =>
    columns(
      await database.concept('kdigo_creatinine', {
        'mimiciv_icu.icustays': [icuStay({ outtime: after('240:00') })],
        'mimiciv_hosp.labevents': labevents,
      }),
      'creat',
      'creat_low_past_48hr',
      'creat_low_past_7day',
    );

  test('the lows are strictly earlier, 48 hours and 7 days back included', async () => {
    expect(
      await lows(
        creatinine('0:00', 1),
        creatinine('48:00', 2),
        creatinine('48:00:01', 3),
        creatinine('168:00', 4),
        creatinine('168:00:01', 5),
      ),
    ).toEqual([
      [1, null, null],
      [2, 1, 1],
      [3, 2, 1],
      [4, null, 1],
      [5, 4, 2],
    ]);
  });

  test('values of one time are averaged, those above 150 and outside the stay are left out', async () => {
    expect(
      await lows(
        creatinine('-168:00', 0.9), // exactly 7 days before admission
        creatinine('-168:00:01', 0.5),
        creatinine('240:00', 1.5), // at discharge
        creatinine('240:00:01', 9),
        creatinine('10:00', 1, { specimen_id: 2, hadm_id: null }),
        creatinine('10:00', 2, { specimen_id: 3 }),
        creatinine('11:00', 150.1),
        creatinine('12:00', 150),
      ),
    ).toEqual([
      [0.9, null, null],
      [1.5, null, null], // (1 + 2) / 2 at 10:00; the value before is 178 h old
      [150, 1.5, 1.5],
      [1.5, null, null], // the value before is 228 h old
    ]);
  });

  test('a stay without creatinine keeps one empty row', async () => {
    expect(await lows()).toEqual([[null, null, null]]);
  });
});

describe('KDIGO stages', () => {
  const stages = (given: {
    readonly creatinine?: readonly (readonly [
      time: string,
      creat: number,
      low48: number | null,
      low7: number | null,
    ])[];
    readonly urine?: readonly GivenRow[];
    readonly crrt?: readonly (readonly [time: string, mode: string | null])[];
  }) =>
    database.concept('kdigo_stages', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.kdigo_creatinine': (given.creatinine ?? []).map(([time, creat, low48, low7]) => ({
        hadm_id: 10,
        stay_id: 100,
        charttime: after(time),
        creat,
        creat_low_past_48hr: low48,
        creat_low_past_7day: low7,
      })),
      'mimiciv_derived.kdigo_uo': given.urine ?? [],
      'mimiciv_derived.crrt': (given.crrt ?? []).map(([time, crrt_mode]) => ({
        stay_id: 100,
        charttime: after(time),
        crrt_mode,
      })),
    });

  test('creatinine stages at equality', async () => {
    const cases = [
      [3, 3, 1, 3], // 3 x the 7-day low
      [2.99, 2.99, 1, 2],
      [2, 2, 1, 2], // 2 x
      [1.5, 1.5, 1, 1], // 1.5 x
      [1.49, 1.49, 1, 0],
      [4, 3.7, 3.9, 3], // 4.0 and a 48-hour low of 3.7
      [4, 3.71, 3.9, 0], // less than 0.3 above 3.71
      [3.99, 3.6, 3.9, 1], // at least 0.3 above the 48-hour low, but below 4.0
      [1.4, 1.1, 1.1, 0], // 1.1 + 0.3 is 1.4000000000000001 in floating point
      [1.3, 1, 1.2, 1], // 1 + 0.3 is the double 1.3
      [1.8, null, null, 0],
    ] as const;
    const rows = await stages({
      creatinine: cases.map(
        ([creat, low48, low7], index) => [`${7 * index}:00`, creat, low48, low7] as const,
      ),
    });
    const expected = cases.map(([, , , stage]) => stage);
    expect(column(rows, 'aki_stage_creat')).toEqual(expected);
    expect(column(rows, 'aki_stage_smoothed')).toEqual(expected); // the rows are 7 h apart
  });

  test('urine stages at equality, exactly in 3 decimals', async () => {
    const low = { uo_rt_6hr: 0.4, uo_tm_6hr: 6 };
    const cases: readonly (readonly [GivenRow, number | null])[] = [
      [{ uo_rt_6hr: null, uo_rt_24hr: 0.1, uo_tm_24hr: 24 }, null],
      [low, 1],
      [{ ...low, uo_rt_6hr: 0.5 }, 0],
      [{ ...low, uo_rt_6hr: 0.499 }, 1],
      [{ ...low, uo_rt_12hr: 0.499, uo_tm_12hr: 12 }, 2],
      [{ ...low, uo_rt_12hr: 0.5, uo_tm_12hr: 12 }, 1],
      [{ ...low, uo_rt_12hr: 0.499, uo_tm_12hr: 11.9 }, 1],
      [{ ...low, uo_rt_12hr: 0, uo_tm_12hr: 12 }, 3],
      [{ ...low, uo_rt_24hr: 0.299, uo_tm_24hr: 24 }, 3],
      [{ ...low, uo_rt_24hr: 0.3, uo_tm_24hr: 24 }, 1],
      [{ ...low, uo_rt_24hr: 0.299, uo_tm_24hr: 23.9 }, 1],
    ];
    const rows = await stages({
      urine: cases.map(([rates], index) => ({
        stay_id: 100,
        charttime: after(`${7 * (index + 1)}:00`),
        ...rates,
      })),
    });
    expect(column(rows, 'aki_stage_uo')).toEqual(cases.map(([, stage]) => stage));
  });

  test('no urine stage up to exactly 6 hours after ICU admission', async () => {
    const rates = { uo_rt_6hr: 0.1, uo_tm_6hr: 6 };
    const rows = await stages({
      urine: ['6:00', '6:00:01'].map((time) => ({ stay_id: 100, charttime: after(time), ...rates })),
    });
    expect(column(rows, 'aki_stage_uo')).toEqual([0, 1]);
  });

  test('renal replacement with a mode is stage 3; the stage holds for 6 hours, end included', async () => {
    const rows = await stages({
      crrt: [
        ['10:00', 'CVVHDF'],
        ['10:30', null],
      ],
      creatinine: [
        ['16:00', 1, 1, 1],
        ['16:00:01', 1, 1, 1],
      ],
    });
    expect(columns(rows, 'charttime', 'aki_stage_crrt', 'aki_stage', 'aki_stage_smoothed')).toEqual([
      [after('10:00'), 3, 3, 3],
      [after('16:00'), null, 0, 3],
      [after('16:00:01'), null, 0, 0],
    ]);
  });

  test('smoothing goes by patient and by time since each stay began', async () => {
    const second = '2150-02-01 00:00:00';
    const rows = await database.concept('kdigo_stages', {
      'mimiciv_icu.icustays': [icuStay(), icuStay({ stay_id: 101, intime: second })],
      'mimiciv_derived.kdigo_creatinine': [
        { stay_id: 100, charttime: after('10:00'), creat: 3, creat_low_past_48hr: 1, creat_low_past_7day: 1 },
        {
          stay_id: 101,
          charttime: after('12:00', second),
          creat: 1,
          creat_low_past_48hr: 1,
          creat_low_past_7day: 1,
        },
      ],
    });
    expect(columns(rows, 'stay_id', 'aki_stage', 'aki_stage_smoothed')).toEqual([
      [100, 3, 3],
      [101, 0, 3], // 2 hours after the other stay's stage 3, on the clock of the stays
    ]);
  });

  test('every ICU stay has a row', async () => {
    const rows = await database.concept('kdigo_stages', { 'mimiciv_icu.icustays': [icuStay()] });
    expect(
      columns(rows, 'stay_id', 'charttime', 'aki_stage_creat', 'aki_stage', 'aki_stage_smoothed'),
    ).toEqual([[100, null, null, 0, 0]]);
  });

  test('the reference takes the maxima from admission to 48 hours, both ends included, missing as 0', async () => {
    const stage = (time: string, creat: number | null, uo: number | null, crrt: number | null): GivenRow => ({
      ...person(1),
      charttime: after(time),
      aki_stage_creat: creat,
      aki_stage_uo: uo,
      aki_stage_crrt: crrt,
      aki_stage: Math.max(creat ?? 0, uo ?? 0, crrt ?? 0),
      aki_stage_smoothed: 3,
    });
    const reference = async (...rows: readonly GivenRow[]) =>
      columns(
        await database.reference('kdigo-48h', {
          'mimiciv_icu.icustays': [icuStay()],
          'mimiciv_derived.kdigo_stages': rows,
        }),
        'aki_stage',
        'aki_stage_creat',
        'aki_stage_uo',
        'aki_stage_crrt',
      );
    expect(await reference(stage('-0:00:01', 3, 3, 3), stage('48:00:01', 3, 3, 3))).toEqual([[0, 0, 0, 0]]);
    expect(await reference(stage('0:00', 1, null, null), stage('48:00', null, 2, null))).toEqual([
      [2, 1, 2, 0],
    ]);
    expect(await reference(stage('1:00', 0, null, 3))).toEqual([[3, 0, 0, 3]]);
  });
});
