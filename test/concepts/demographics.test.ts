import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, charted, column, columns, icuAdmission, icuStay, person, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('age', () => {
  const age = async (patient: Record<string, number | null>, admittime: string | null) => {
    const rows = await database.concept('age', {
      'mimiciv_hosp.patients': [{ subject_id: 1, ...patient }],
      'mimiciv_hosp.admissions': [{ subject_id: 1, hadm_id: 10, admittime }],
    });
    return rows[0]!.age as number | null;
  };

  test('is the anchor age plus years of 365.242 days since 1 January of the anchor year', async () => {
    expect(await age({ anchor_age: 50, anchor_year: 2150 }, '2150-01-01 00:00:00')).toBe(50);
    // 365 days of 2150 are 365 / 365.242 of a year
    expect(await age({ anchor_age: 50, anchor_year: 2150 }, '2151-01-01 00:00:00')).toBeCloseTo(
      50 + 365 / 365.242,
      12,
    );
  });

  test('is below the anchor age for an earlier admission', async () => {
    expect(await age({ anchor_age: 50, anchor_year: 2150 }, '2149-12-31 00:00:00')).toBeCloseTo(
      50 - 1 / 365.242,
      12,
    );
  });

  test('has no cap: the anchor age 91, which stands for over 89, goes on counting', async () => {
    expect(await age({ anchor_age: 91, anchor_year: 2150 }, '2153-01-01 00:00:00')).toBeCloseTo(
      91 + (3 * 365 + 1) / 365.242, // 2152 is a leap year
      12,
    );
  });

  test('is missing when a part of it is, and an admission without a patient has no row', async () => {
    expect(await age({ anchor_age: null, anchor_year: 2150 }, '2150-01-01 00:00:00')).toBeNull();
    expect(await age({ anchor_age: 50, anchor_year: 2150 }, null)).toBeNull();
    const rows = await database.concept('age', {
      'mimiciv_hosp.admissions': [{ subject_id: 1, hadm_id: 10, admittime: icuAdmission }],
    });
    expect(rows).toEqual([]);
  });
});

describe('ICU stay summary', () => {
  test('lengths of stay are elapsed days; that of the ICU is rounded to 3 and then to 2 decimals', async () => {
    const rows = await database.concept('icustay_detail', {
      'mimiciv_icu.icustays': [icuStay({ outtime: after('24:06:58') })],
      'mimiciv_hosp.admissions': [
        { subject_id: 1, hadm_id: 10, admittime: '2150-01-01 12:00:00', dischtime: '2150-01-08 00:00:00' },
      ],
      'mimiciv_hosp.patients': [{ subject_id: 1, anchor_age: 60, anchor_year: 2150 }],
    });
    // 86,818 s / 86,400 s = 1.004838 d, to 1.005, then to 1.01 (rounded once it would be 1.00)
    expect(columns(rows, 'los_icu', 'los_hospital')).toEqual([['1.01', 6.5]]);
    // half a day after 1 January
    expect(rows[0]!.admission_age).toBeCloseTo(60 + 0.5 / 365.242, 12);
  });

  test('hospital stays are ranked among those with an ICU stay, ICU stays within their admission', async () => {
    const rows = await database.concept('icustay_detail', {
      'mimiciv_hosp.patients': [{ subject_id: 1, anchor_age: 60, anchor_year: 2150 }],
      'mimiciv_hosp.admissions': [
        { subject_id: 1, hadm_id: 9, admittime: '2149-06-01 00:00:00' }, // ward only
        { subject_id: 1, hadm_id: 10, admittime: '2150-01-01 00:00:00' },
        { subject_id: 1, hadm_id: 11, admittime: '2150-03-01 00:00:00' },
      ],
      'mimiciv_icu.icustays': [
        icuStay({ stay_id: 101, intime: '2150-01-05 00:00:00' }),
        icuStay({ stay_id: 100, intime: '2150-01-02 00:00:00' }),
        icuStay({ stay_id: 110, hadm_id: 11, intime: '2150-03-02 00:00:00' }),
      ],
    });
    expect(
      columns(rows, 'stay_id', 'hospstay_seq', 'first_hosp_stay', 'icustay_seq', 'first_icu_stay'),
    ).toEqual([
      [100, 1, true, 1, true],
      [101, 1, true, 2, false],
      [110, 2, false, 1, true],
    ]);
  });
});

describe('ICU times and hours', () => {
  test('entry and exit are the first and last heart rate, whatever its value and time', async () => {
    const rows = await database.concept('icustay_times', {
      'mimiciv_icu.icustays': [icuStay(), icuStay({ stay_id: 101 })],
      'mimiciv_icu.chartevents': [
        charted(220045, after('-3:00'), null),
        charted(220045, after('1:00'), 80),
        charted(220045, after('99:00'), 9999),
        charted(220179, after('-9:00'), 120), // not a heart rate
      ],
    });
    expect(columns(rows, 'stay_id', 'intime_hr', 'outtime_hr')).toEqual([
      [100, after('-3:00'), after('99:00')],
      [101, null, null],
    ]);
  });

  const hours = (intime_hr: string | null, outtime_hr: string | null) =>
    database.concept('icustay_hourly', {
      'mimiciv_derived.icustay_times': [{ ...person(1), intime_hr, outtime_hr }],
    });

  test('hour 0 ends on the next full hour; the last hour counts elapsed hours, rounded up', async () => {
    const short = await hours('2150-01-02 10:59:00', '2150-01-02 11:01:00');
    // 2 minutes elapsed round up to hour 1; hour 0 ends at 11:00
    expect(short).toHaveLength(26);
    expect(columns([short[0]!, short[24]!, short[25]!], 'hr', 'endtime')).toEqual([
      [-24, '2150-01-01 11:00:00'],
      [0, '2150-01-02 11:00:00'],
      [1, '2150-01-02 12:00:00'],
    ]);
    const long = await hours('2150-01-02 10:01:00', '2150-01-02 11:02:00');
    // 61 minutes: hour 2, which ends at 13:00, almost 2 hours after the last heart rate
    expect(columns([long.at(-1)!], 'hr', 'endtime')).toEqual([[2, '2150-01-02 13:00:00']]);
  });

  test('an entry exactly on the hour ends hour 0 itself; one heart rate gives 25 hours; none gives no row', async () => {
    const rows = await hours('2150-01-02 10:00:00', '2150-01-02 10:00:00');
    expect(rows).toHaveLength(25);
    expect(columns([rows.at(-1)!], 'hr', 'endtime')).toEqual([[0, '2150-01-02 10:00:00']]);
    expect(await hours(null, null)).toEqual([]);
  });
});

describe('weight periods', () => {
  const [admission, daily] = [226512, 224639];
  const periods = (...chartevents: readonly ReturnType<typeof charted>[]) =>
    database.concept('weight_durations', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_icu.chartevents': chartevents,
    });

  test('the first admission weight starts 2 hours before ICU admission, the last period ends 2 hours after discharge', async () => {
    const rows = await periods(charted(admission, after('5:00'), 80), charted(daily, after('30:00'), 82));
    expect(columns(rows, 'starttime', 'endtime', 'weight', 'weight_type')).toEqual([
      [after('-2:00'), after('30:00'), 80, 'admit'],
      [after('30:00'), after('74:00'), 82, 'daily'],
    ]);
  });

  test('without an admission weight the first daily weight is filled back to 2 hours before ICU admission', async () => {
    const rows = await periods(charted(daily, after('0:00:01'), 82));
    expect(columns(rows, 'starttime', 'endtime', 'weight', 'weight_type')).toEqual([
      [after('-2:00'), after('0:00:01'), 82, 'daily'],
      [after('0:00:01'), after('74:00'), 82, 'daily'],
    ]);
  });

  test('a first weight exactly at ICU admission is not filled back', async () => {
    const rows = await periods(charted(daily, after('0:00'), 82));
    expect(columns(rows, 'starttime', 'endtime')).toEqual([[after('0:00'), after('74:00')]]);
  });

  test('a second admission weight starts when it was charted', async () => {
    const rows = await periods(charted(admission, after('1:00'), 80), charted(admission, after('4:00'), 81));
    expect(columns(rows, 'starttime', 'endtime', 'weight')).toEqual([
      [after('-2:00'), after('4:00'), 80],
      [after('4:00'), after('74:00'), 81],
    ]);
  });

  test('two weights at one time: the admission weight first, then the lighter one', async () => {
    const rows = await periods(
      charted(admission, after('1:00'), 80),
      charted(daily, after('9:00'), 79),
      charted(admission, after('9:00'), 90),
      charted(daily, after('9:00'), 78),
    );
    expect(
      columns(rows, 'starttime', 'endtime', 'weight', 'weight_type')
        .map((row) => row.join(' '))
        .sort(),
    ).toEqual(
      [
        `${after('-2:00')} ${after('9:00')} 80 admit`,
        `${after('9:00')} ${after('9:00')} 90 admit`,
        `${after('9:00')} ${after('9:00')} 78 daily`,
        `${after('9:00')} ${after('74:00')} 79 daily`,
      ].sort(),
    );
  });

  test('missing, zero and negative weights are no weights; there is no upper limit', async () => {
    const rows = await periods(
      charted(admission, after('1:00'), 0),
      charted(daily, after('2:00'), null),
      charted(daily, after('3:00'), -70),
      charted(daily, after('-1:00'), 2000),
    );
    expect(columns(rows, 'starttime', 'weight')).toEqual([[after('-1:00'), 2000]]);
  });

  test('a stay without a weight has no period', async () => {
    expect(await periods()).toEqual([]);
  });

  test('the first day takes every period that starts by 24 hours, also the one filled back', async () => {
    const [row] = await database.concept('first_day_weight', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_icu.chartevents': [
        charted(daily, after('24:00'), 82), // filled back, and counted itself at exactly 24 hours
        charted(daily, after('24:00:01'), 99),
      ],
    });
    expect(columns([row!], 'weight_admit', 'weight', 'weight_min', 'weight_max')).toEqual([
      [null, 82, 82, 82],
    ]);
  });
});

test('an ICU stay at ICU admission: the fixture itself', () => {
  expect(after('0:00')).toBe(icuAdmission);
  expect(after('-6:00')).toBe('2150-01-01 18:00:00');
  expect(after('24:00:01')).toBe('2150-01-03 00:00:01');
  expect(column([{ a: 1 }, { a: 2 }], 'a')).toEqual([1, 2]);
});
