import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  charted,
  chartedText,
  column,
  columns,
  type GivenRow,
  icuStay,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const output = (itemid: number, time: string, value: number | null, changes: GivenRow = {}): GivenRow => ({
  subject_id: 1,
  hadm_id: 10,
  stay_id: 100,
  itemid,
  charttime: after(time),
  value,
  ...changes,
});

describe('urine output', () => {
  const volumes = async (...outputevents: readonly GivenRow[]) =>
    column(
      await database.concept('urine_output', { 'mimiciv_icu.outputevents': outputevents }),
      'urineoutput',
    );

  test('irrigant going in is subtracted, a negative entry of it is not turned round', async () => {
    expect(await volumes(output(227488, '1:00', 300), output(227489, '1:00', 450))).toEqual([150]);
    expect(await volumes(output(227488, '1:00', 300))).toEqual([-300]);
    expect(await volumes(output(227488, '1:00', -300))).toEqual([-300]);
    expect(await volumes(output(227488, '1:00', 0))).toEqual([0]);
  });

  test('all routes of one time add up; other drains are no urine', async () => {
    expect(
      await volumes(
        output(226559, '1:00', 100), // Foley
        output(226564, '1:00', 20), // right nephrostomy
        output(226560, '2:00', 200), // void
        output(226588, '1:00', 500), // chest tube
      ),
    ).toEqual([120, 200]);
  });
});

const urine = (...records: readonly (readonly [time: string, volume: number])[]): readonly GivenRow[] =>
  records.map(([time, urineoutput]) => ({ stay_id: 100, charttime: after(time), urineoutput }));
const weight = (kilograms: number, start = '-2:00', end = '99:00'): GivenRow => ({
  stay_id: 100,
  starttime: after(start),
  endtime: after(end),
  weight: kilograms,
  weight_type: 'admit',
});

describe('urine output rate', () => {
  const rates = (
    records: readonly GivenRow[],
    weights: readonly GivenRow[] = [weight(100)],
    heartRates: readonly GivenRow[] = [charted(220045, after('0:00'), 80)],
  ) =>
    database.concept('urine_output_rate', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_icu.chartevents': heartRates,
      'mimiciv_derived.urine_output': records,
      'mimiciv_derived.weight_durations': weights,
    });

  test('the 6-hour window reaches back exactly 5 hours', async () => {
    const rows = await rates(urine(['1:00', 100], ['3:00', 200], ['6:00', 400], ['8:00:01', 800]));
    // at 6:00 the record of 1:00 is 5 h old and in: 100 + 200 + 400; they cover 1 + 2 + 3 h
    // at 8:00:01 the record of 3:00 is 1 s too old: 400 + 800 over 3 + 2.00028 h
    expect(columns(rows, 'urineoutput_6hr', 'uo_tm_6hr')).toEqual([
      [100, '1.00'],
      [300, '3.00'],
      [700, '6.00'],
      [1200, '5.00'],
    ]);
    // 700 / 100 kg / 6 h = 1.1666…; at 8:00:01 the records cover less than 6 h
    expect(column(rows, 'uo_mlkghr_6hr')).toEqual([null, null, '1.167', null]);
  });

  test('the 12- and 24-hour windows reach back 11 and 23 hours', async () => {
    const rows = await rates(urine(['1:00', 100], ['12:00', 200], ['24:00', 400]));
    // at 12:00: 100 + 200 over 12 h, 300 / 100 / 12 = 0.25; at 24:00: 700 over 24 h
    expect(columns(rows, 'urineoutput_12hr', 'uo_mlkghr_12hr', 'urineoutput_24hr', 'uo_mlkghr_24hr')).toEqual(
      [
        [100, null, 100, null],
        [300, '0.250', 300, null],
        [400, '0.333', 700, '0.292'], // 12:00 is 12 h old; 400 / 100 / 12; 700 / 100 / 24 = 0.29166…
      ],
    );
  });

  test('the first record counts from the first heart rate, also if that is later', async () => {
    const rows = await rates(urine(['1:00', 100]), [weight(100)], [charted(220045, after('2:30'), null)]);
    expect(column(rows, 'uo_tm_6hr')).toEqual(['-1.50']);
  });

  test('without a heart rate within a month of the stay there is no row', async () => {
    const stay = urine(['1:00', 100]);
    expect(await rates(stay, [weight(100)], [])).toEqual([]);
    // one calendar month before 2 January is 2 December, not included
    expect(await rates(stay, [weight(100)], [charted(220045, '2149-12-02 00:00:00', 80)])).toEqual([]);
    expect(await rates(stay, [weight(100)], [charted(220045, '2149-12-02 00:00:01', 80)])).toHaveLength(1);
  });

  test('a weight holds after its start up to and including its end, and only above zero', async () => {
    const weights = [weight(80, '-2:00', '1:00'), weight(90, '1:00', '2:00'), weight(0, '2:00', '99:00')];
    const rows = await rates(urine(['1:00', 100], ['1:00:01', 100], ['3:00', 100]), weights);
    expect(column(rows, 'weight')).toEqual([80, 90, null]);
  });

  test('a missing weight leaves the rates missing', async () => {
    const rows = await rates(urine(['1:00', 100], ['6:00', 200]), []);
    expect(columns(rows, 'weight', 'uo_tm_6hr', 'uo_mlkghr_6hr').at(-1)).toEqual([null, '6.00', null]);
  });
});

describe('renal replacement therapy', () => {
  test('CRRT states: the most active of one time wins, clots are graded, a missing text is no row', async () => {
    const state = (time: string, ...texts: readonly (string | null)[]) =>
      texts.map((text) => chartedText(224146, after(time), text));
    const rows = await database.concept('crrt', {
      'mimiciv_icu.chartevents': [
        ...state('0:00', 'Active', 'Recirculating', 'Clots Present'),
        ...state('1:00', 'Discontinued', 'No Clot Present', 'Clots Increasing'),
        ...state('2:00', 'Clotted'),
        ...state('3:00', null),
        charted(224144, after('4:00'), 200, { value: null }),
        charted(224144, after('5:00'), 200),
        charted(224144, after('5:00'), 150),
      ],
    });
    expect(columns(rows, 'system_active', 'clots', 'clots_increasing', 'clotted', 'blood_flow')).toEqual([
      [1, 1, null, null, null],
      [0, 0, 1, null, null],
      [null, null, null, 1, null],
      [null, null, null, null, 200],
    ]);
  });

  const rrt = async (given: {
    readonly chart?: readonly GivenRow[];
    readonly input?: readonly GivenRow[];
    readonly procedures?: readonly GivenRow[];
  }) =>
    columns(
      await database.concept('rrt', {
        'mimiciv_icu.chartevents': given.chart ?? [],
        'mimiciv_icu.inputevents': given.input ?? [],
        'mimiciv_icu.procedureevents': given.procedures ?? [],
      }),
      'charttime',
      'dialysis_present',
      'dialysis_active',
      'dialysis_type',
    );
  const span = (itemid: number, start: string, end: string, changes: GivenRow = {}): GivenRow => ({
    stay_id: 100,
    itemid,
    starttime: after(start),
    endtime: after(end),
    ...changes,
  });

  test('a chart entry tells whether therapy was active and of what kind', async () => {
    const rows = await rrt({
      chart: [
        chartedText(227290, after('0:00'), 'CVVHDF'),
        charted(226499, after('1:00'), 500), // hemodialysis output
        chartedText(225965, after('2:00'), 'In use'), // peritoneal catheter
        chartedText(225965, after('3:00'), 'Capped'),
        charted(226118, after('4:00'), 1), // catheter placed
        charted(224144, after('5:00'), 200, { value: null }),
      ],
    });
    expect(rows).toEqual([
      [after('0:00'), 1, 0, 'CVVHDF'],
      [after('1:00'), 1, 1, 'IHD'],
      [after('2:00'), 1, 1, 'Peritoneal'],
      [after('3:00'), 1, 0, 'Peritoneal'],
      [after('4:00'), 1, 0, null],
    ]);
  });

  test('a treatment range overrides the entries within it, both ends included; its start is an event itself', async () => {
    const rows = await rrt({
      chart: ['0:59:59', '1:00', '3:00'].map((time) => charted(226499, after(time), 1)),
      procedures: [span(224270, '1:00', '3:00', { value: 1 })], // dialysis catheter: present, not active
    });
    expect(rows).toEqual([
      [after('0:59:59'), 1, 1, 'IHD'],
      [after('1:00'), 1, 0, 'IHD'],
      [after('1:00'), 1, 0, null],
      [after('3:00'), 1, 0, 'IHD'],
    ]);
  });

  test('ranges need a positive amount or a value', async () => {
    expect(
      await rrt({
        input: [span(227536, '1:00', '2:00', { amount: 0 }), span(227525, '3:00', '4:00', { amount: 5 })],
        procedures: [
          span(225441, '5:00', '6:00', { value: null }),
          span(225955, '7:00', '8:00', { value: 0 }),
        ],
      }),
    ).toEqual([
      [after('3:00'), 1, 1, 'CRRT'],
      [after('7:00'), 1, 1, 'SCUF'],
    ]);
  });
});
