import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, charted, chartedText, column, columns, icuAdmission, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const at = icuAdmission;
const vitalsign = (...chartevents: readonly ReturnType<typeof charted>[]) =>
  database.concept('vitalsign', { 'mimiciv_icu.chartevents': chartevents });

describe('vital signs', () => {
  test('limits are strict, except that a saturation of exactly 100 counts', async () => {
    // item, value on the limit, value inside, column
    const limits = [
      [220045, 300, 299.9, 'heart_rate'],
      [220045, 0, 0.1, 'heart_rate'],
      [220179, 400, 399, 'sbp'],
      [220180, 300, 299, 'dbp'],
      [220052, 300, 299, 'mbp'],
      [220210, 70, 69, 'resp_rate'],
      [224690, 0, 1, 'resp_rate'],
      [220277, 100.1, 100, 'spo2'],
      [220277, 0, 1, 'spo2'],
      [225664, 0, 999999, 'glucose'],
    ] as const;
    for (const [item, outside, inside, name] of limits) {
      const rows = await vitalsign(charted(item, at, outside), charted(item, after('1:00'), inside));
      expect(column(rows, name), `${name} ${outside}`).toEqual([null, inside]);
    }
  });

  test('all accepted readings of one time are averaged, invasive and non-invasive together', async () => {
    const [row] = await vitalsign(
      charted(220179, at, 120), // non-invasive
      charted(220050, at, 130), // arterial
      charted(225309, at, 155), // ART
      charted(220179, at, 400), // not accepted
      charted(220210, at, 18),
      charted(224690, at, 21),
    );
    expect(row!.sbp).toBe(135); // (120 + 130 + 155) / 3
    expect(row!.sbp_ni).toBe(120);
    expect(row!.resp_rate).toBe(19.5); // (18 + 21) / 2
    expect(row!.dbp).toBeNull();
  });

  test('Fahrenheit becomes Celsius; the mean is rounded to 3 and then to 2 decimals', async () => {
    const rows = await vitalsign(
      charted(223761, at, 98.6), // (98.6 - 32) / 1.8 = 37.0
      charted(223762, after('1:00'), 36.6649), // to 36.665, then to 36.67 (rounded once it would be 36.66)
      charted(223761, after('2:00'), 70), // not above 70
      charted(223761, after('3:00'), 120), // not below 120
      charted(223762, after('4:00'), 10),
      charted(223762, after('5:00'), 50),
      charted(223761, after('6:00'), 100.4), // 38.0
      charted(223762, after('6:00'), 39), // mean of 38 and 39
      charted(223761, after('7:00'), 37.2), // Celsius charted as Fahrenheit is dropped
    );
    expect(column(rows, 'temperature')).toEqual(['37.00', '36.67', null, null, null, null, '38.50', null]);
  });

  test('a time whose readings were all rejected keeps its row; entries outside an ICU stay do not', async () => {
    const rows = await vitalsign(
      charted(220045, at, 999),
      charted(220045, after('1:00'), 80, { stay_id: null }),
      charted(220046, after('2:00'), 120), // an alarm limit, not a vital sign
    );
    expect(columns(rows, 'charttime', 'heart_rate')).toEqual([[at, null]]);
  });

  test('the temperature site is the last text in byte order', async () => {
    const [row] = await vitalsign(chartedText(224642, at, 'Oral'), chartedText(224642, at, 'Axillary'));
    expect(row!.temperature_site).toBe('Oral');
  });
});

const gcs = (...chartevents: readonly ReturnType<typeof charted>[]) =>
  database.concept('gcs', { 'mimiciv_icu.chartevents': chartevents });
const [verbal, motor, eyes] = [223900, 223901, 220739];

describe('Glasgow Coma Scale', () => {
  test('three charted components add up', async () => {
    const rows = await gcs(charted(verbal, at, 4), charted(motor, at, 5), charted(eyes, at, 3));
    expect(columns(rows, 'gcs', 'gcs_motor', 'gcs_verbal', 'gcs_eyes', 'gcs_unable')).toEqual([
      [12, 5, 4, 3, 0],
    ]);
  });

  test('an intubated patient counts as 15, and the verbal component is 0', async () => {
    const rows = await gcs(
      charted(verbal, at, 1, { value: 'No Response-ETT' }),
      charted(motor, at, 1),
      charted(eyes, at, 1),
    );
    expect(columns(rows, 'gcs', 'gcs_motor', 'gcs_verbal', 'gcs_eyes', 'gcs_unable')).toEqual([
      [15, 1, 0, 1, 1],
    ]);
  });

  test('another verbal response at the same time wins over the tube, but the tube is still flagged', async () => {
    const rows = await gcs(
      charted(verbal, at, 1, { value: 'No Response-ETT' }),
      charted(verbal, at, 2, { value: 'Incomp sounds' }),
      charted(motor, at, 3),
      charted(eyes, at, 1),
    );
    // 3 + 2 + 1
    expect(columns(rows, 'gcs', 'gcs_verbal', 'gcs_unable')).toEqual([[6, 2, 1]]);
  });

  test('a missing component is taken from the charting before it, less than 6 hours earlier', async () => {
    const rows = await gcs(
      charted(verbal, at, 3),
      charted(motor, at, 4),
      charted(eyes, at, 2),
      charted(eyes, after('5:59:59'), 1), // 4 + 3 + 1
      charted(eyes, after('11:59:59'), 1), // exactly 6 hours: nothing carried, 6 + 5 + 1
    );
    expect(column(rows, 'gcs')).toEqual([9, 8, 12]);
    expect(columns(rows, 'gcs_motor', 'gcs_verbal')).toEqual([
      [4, 3],
      [4, 3],
      [null, null],
    ]);
  });

  test('a component is carried one step only', async () => {
    const rows = await gcs(
      charted(verbal, at, 3),
      charted(motor, at, 4),
      charted(eyes, at, 2),
      charted(eyes, after('1:00'), 2), // motor and verbal from the charting before: 4 + 3 + 2
      charted(eyes, after('2:00'), 2), // the charting before has none: 6 + 5 + 2
    );
    expect(column(rows, 'gcs')).toEqual([9, 9, 13]);
  });

  test('after an intubated charting, a missing verbal score is 15 and a present one takes nothing over', async () => {
    const rows = await gcs(
      charted(verbal, at, 1, { value: 'No Response-ETT' }),
      charted(motor, at, 1),
      charted(eyes, at, 1),
      charted(motor, after('1:00'), 2), // still intubated: 15
      charted(verbal, after('2:00'), 4), // before it the verbal score is missing, not 0: motor 2 carried, 2 + 4 + 4
    );
    expect(columns(rows, 'gcs', 'gcs_motor', 'gcs_verbal', 'gcs_unable')).toEqual([
      [15, 1, 0, 1],
      [15, 2, 0, 0],
      [10, 2, 4, 0],
    ]);
    const extubated = await gcs(
      charted(verbal, at, 1, { value: 'No Response-ETT' }),
      charted(motor, at, 1),
      charted(eyes, at, 1),
      charted(verbal, after('1:00'), 4), // motor and eyes count as normal: 6 + 4 + 4, though 1 and 1 are reported
    );
    expect(columns(extubated, 'gcs', 'gcs_motor', 'gcs_eyes')).toEqual([
      [15, 1, 1],
      [14, 1, 1],
    ]);
  });

  test('nothing is carried from another stay', async () => {
    const rows = await gcs(
      charted(motor, at, 1),
      charted(eyes, after('1:00'), 3, { stay_id: 200 }), // 6 + 5 + 3
      charted(eyes, after('1:00'), 3, { stay_id: null }),
    );
    expect(column(rows, 'gcs')).toEqual([10, 14, 14]); // 1 + 5 + 4, then twice 14
  });
});

describe('height, intracranial pressure, rhythm', () => {
  const height = (...chartevents: readonly ReturnType<typeof charted>[]) =>
    database.concept('height', { 'mimiciv_icu.chartevents': chartevents });
  const [inches, centimetres] = [226707, 226730];

  test('inches are converted and rounded to 3 and then to 2 decimals; without a centimetre entry the keys are lost', async () => {
    // 66.1 in x 2.54 = 167.894 cm, to 167.89
    const rows = await height(charted(inches, at, 66.1));
    expect(columns(rows, 'subject_id', 'stay_id', 'charttime', 'height')).toEqual([
      [null, null, null, '167.89'],
    ]);
  });

  test('an entry in centimetres wins over inches of the same patient and time', async () => {
    const rows = await height(charted(inches, at, 60, { stay_id: 999 }), charted(centimetres, at, 170));
    expect(columns(rows, 'stay_id', 'height')).toEqual([[100, '170.00']]);
  });

  test('only heights strictly between 120 and 230 cm count, judged after rounding', async () => {
    const heights = [120, 120.004, 120.006, 229.99, 229.996, 230];
    const rows = await height(
      ...heights.map((value, index) => charted(centimetres, after(`${index}:00`), value)),
    );
    // 120.004 rounds to 120.00, 229.996 to 230.00
    expect(column(rows, 'height')).toEqual(['120.01', '229.99']);
  });

  test('an implausible height in centimetres is not replaced by the one in inches', async () => {
    expect(await height(charted(inches, at, 66), charted(centimetres, at, 17))).toEqual([]);
  });

  test('two entries of a kind at one time multiply', async () => {
    const rows = await height(
      charted(inches, at, 66),
      charted(inches, at, 67),
      charted(centimetres, at, 170),
    );
    expect(column(rows, 'height')).toEqual(['170.00', '170.00']);
  });

  test('intracranial pressure: strictly between 0 and 100, the higher of two monitors, rows kept without a value', async () => {
    const rows = await database.concept('icp', {
      'mimiciv_icu.chartevents': [
        charted(220765, at, 12),
        charted(227989, at, 15),
        charted(220765, after('1:00'), 0),
        charted(220765, after('2:00'), 100),
        charted(220765, after('3:00'), 99.5),
      ],
    });
    expect(column(rows, 'icp')).toEqual([15, null, null, 99.5]);
  });

  test('rhythm: the last text in byte order, over all stays of the patient, rows kept without a text', async () => {
    const rows = await database.concept('rhythm', {
      'mimiciv_icu.chartevents': [
        chartedText(220048, at, 'SR (Sinus Rhythm)'),
        chartedText(220048, at, 'AF (Atrial Fibrillation)', { stay_id: 200 }),
        chartedText(224650, after('1:00'), null),
        chartedText(224651, after('2:00'), 'Rare', { stay_id: null }),
      ],
    });
    expect(columns(rows, 'charttime', 'heart_rhythm', 'ectopy_type')).toEqual([
      [at, 'SR (Sinus Rhythm)', null],
      [after('1:00'), null, null],
    ]);
  });
});
