import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, column, columns, type GivenRow, icuStay, icuStays, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const edges = ['-6:00:01', '-6:00', '24:00', '24:00:01'];

describe('the window of the first day: 6 hours before to 24 hours after ICU admission, ends included', () => {
  const cases = [
    ['first_day_vitalsign', 'vitalsign', 'heart_rate', 'heart_rate'],
    ['first_day_lab', 'chemistry', 'creatinine', 'creatinine'],
    ['first_day_lab', 'complete_blood_count', 'platelet', 'platelets'],
    ['first_day_lab', 'blood_differential', 'bands', 'bands'],
    ['first_day_lab', 'coagulation', 'inr', 'inr'],
    ['first_day_lab', 'enzyme', 'bilirubin_total', 'bilirubin_total'],
    ['first_day_bg', 'bg', 'po2', 'po2'],
  ] as const;
  for (const [table, source, from, stem] of cases) {
    test(`${table} from ${source}`, async () => {
      const rows = await database.concept(table, {
        'mimiciv_icu.icustays': [icuStay({ outtime: after('3:00') })], // the stay's end does not cut the window
        [`mimiciv_derived.${source}`]: edges.map((time, index) => ({
          subject_id: 1,
          charttime: after(time),
          [from]: 10 + index,
          ...(source === 'vitalsign' ? { stay_id: 100 } : {}),
        })),
      });
      expect(columns(rows, `${stem}_min`, `${stem}_max`)).toEqual([[11, 12]]);
    });
  }

  test('first_day_gcs', async () => {
    const rows = await database.concept('first_day_gcs', {
      'mimiciv_icu.icustays': icuStays(4),
      'mimiciv_derived.gcs': edges.map((time, index) => ({
        subject_id: index + 1,
        stay_id: 100 * (index + 1),
        charttime: after(time),
        gcs: 8,
      })),
    });
    expect(column(rows, 'gcs_min')).toEqual([null, 8, 8, null]);
  });

  test('first_day_height and first_day_rrt', async () => {
    const height = await database.concept('first_day_height', {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.height': edges.map((time, index) => ({
        subject_id: 1,
        stay_id: 100,
        charttime: after(time),
        height: 170 + index,
      })),
    });
    expect(column(height, 'height')).toEqual(['171.50']); // (171 + 172) / 2
    const rrt = await database.concept('first_day_rrt', {
      'mimiciv_icu.icustays': icuStays(4),
      'mimiciv_derived.rrt': edges.map((time, index) => ({
        stay_id: 100 * (index + 1),
        charttime: after(time),
        dialysis_present: 1,
        dialysis_active: 0,
      })),
    });
    expect(columns(rrt, 'dialysis_present', 'dialysis_active')).toEqual([
      [null, null],
      [1, 0],
      [1, 0],
      [null, null],
    ]);
  });
});

test('urine output of the first day starts at ICU admission, not 6 hours before', async () => {
  const rows = await database.concept('first_day_urine_output', {
    'mimiciv_icu.icustays': [icuStay(), icuStay({ stay_id: 200 })],
    'mimiciv_derived.urine_output': ['-0:00:01', '0:00', '24:00', '24:00:01'].map((time, index) => ({
      stay_id: 100,
      charttime: after(time),
      urineoutput: 10 ** index,
    })),
  });
  expect(column(rows, 'urineoutput')).toEqual([110, null]);
});

test('vital signs and GCS go by stay; laboratory values and gases by patient', async () => {
  const elsewhere = { subject_id: 1, charttime: after('1:00') };
  const first = async (table: string, source: string, row: GivenRow, name: string) =>
    column(
      await database.concept(table, {
        'mimiciv_icu.icustays': [icuStay()],
        [`mimiciv_derived.${source}`]: [{ ...elsewhere, ...row }],
      }),
      name,
    );
  expect(
    await first('first_day_vitalsign', 'vitalsign', { stay_id: 999, heart_rate: 80 }, 'heart_rate_min'),
  ).toEqual([null]);
  expect(await first('first_day_gcs', 'gcs', { stay_id: 999, gcs: 3 }, 'gcs_min')).toEqual([null]);
  expect(await first('first_day_lab', 'chemistry', { hadm_id: 999, sodium: 140 }, 'sodium_min')).toEqual([
    140,
  ]);
  expect(await first('first_day_bg', 'bg', { hadm_id: 999, ph: 7.4 }, 'ph_max')).toEqual([7.4]);
});

test('means of vital signs are over charting times', async () => {
  const rows = await database.concept('first_day_vitalsign', {
    'mimiciv_icu.icustays': [icuStay()],
    'mimiciv_derived.vitalsign': [
      { subject_id: 1, stay_id: 100, charttime: after('1:00'), temperature: 36.5 },
      { subject_id: 1, stay_id: 100, charttime: after('2:00'), temperature: 37 },
      { subject_id: 1, stay_id: 100, charttime: after('3:00'), temperature: null, heart_rate: 70 },
    ],
  });
  expect(columns(rows, 'temperature_min', 'temperature_max', 'temperature_mean', 'heart_rate_mean')).toEqual([
    ['36.50', '37.00', 36.75, 70],
  ]);
});

test('arterial gases of the first day are those labelled exactly ART.', async () => {
  const specimens = ['ART.', 'VEN.', 'art.', 'ART', null];
  const rows = await database.concept('first_day_bg_art', {
    'mimiciv_icu.icustays': icuStays(specimens.length),
    'mimiciv_derived.bg': specimens.map((specimen, index) => ({
      subject_id: index + 1,
      charttime: after('1:00'),
      specimen,
      po2: 90,
    })),
  });
  expect(column(rows, 'po2_min')).toEqual([90, null, null, null, null]);
});

describe('lowest GCS of the first day', () => {
  const charting = (time: string, gcs: number, motor: number, changes: GivenRow = {}): GivenRow => ({
    subject_id: 1,
    stay_id: 100,
    charttime: after(time),
    gcs,
    gcs_motor: motor,
    gcs_verbal: 0,
    gcs_eyes: 1,
    gcs_unable: 0,
    ...changes,
  });

  test('the concept breaks a tie of totals by the latest charting, the reference by the earliest', async () => {
    const given = {
      'mimiciv_icu.icustays': [icuStay()],
      'mimiciv_derived.gcs': [charting('1:00', 9, 3), charting('2:00', 9, 4), charting('3:00', 14, 6)],
    };
    expect(columns(await database.concept('first_day_gcs', given), 'gcs_min', 'gcs_motor')).toEqual([[9, 4]]);
    expect(columns(await database.reference('gcs-24h', given), 'gcs_min', 'gcs_motor')).toEqual([[9, 3]]);
  });

  test('missing scores stay missing in the concept and are normal in the reference; a verbal 0 stays 0', async () => {
    const nothing = { 'mimiciv_icu.icustays': [icuStay()] };
    expect(columns(await database.concept('first_day_gcs', nothing), 'gcs_min', 'gcs_motor')).toEqual([
      [null, null],
    ]);
    const names = ['gcs_min', 'gcs_motor', 'gcs_verbal', 'gcs_eyes'];
    expect(columns(await database.reference('gcs-24h', nothing), ...names)).toEqual([[15, 6, 5, 4]]);
    const tube = { ...nothing, 'mimiciv_derived.gcs': [charting('1:00', 15, 1, { gcs_eyes: null })] };
    expect(columns(await database.reference('gcs-24h', tube), ...names)).toEqual([[15, 1, 0, 4]]);
  });
});

test('the mean height is rounded to 3 and then to 2 decimals', async () => {
  const rows = await database.concept('first_day_height', {
    'mimiciv_icu.icustays': [icuStay()],
    'mimiciv_derived.height': [170, 170.01, 170.01].map((height, index) => ({
      stay_id: 100,
      charttime: after(`${index}:00`),
      height,
    })),
  });
  expect(column(rows, 'height')).toEqual(['170.01']); // 170.00666…, to 170.007, to 170.01
});

test('kinds of dialysis are listed once each, sorted', async () => {
  const rows = await database.concept('first_day_rrt', {
    'mimiciv_icu.icustays': [icuStay()],
    'mimiciv_derived.rrt': ['SCUF', 'CRRT', null, 'CVVHDF', 'CRRT'].map((dialysis_type, index) => ({
      stay_id: 100,
      charttime: after('1:00'),
      dialysis_present: 1,
      dialysis_active: index === 3 ? 1 : 0,
      dialysis_type,
    })),
  });
  expect(columns(rows, 'dialysis_type', 'dialysis_active')).toEqual([['CRRT, CVVHDF, SCUF', 1]]);
});

test('absolute counts of the first day take their own names and 3 decimals', async () => {
  const rows = await database.concept('first_day_lab', {
    'mimiciv_icu.icustays': [icuStay()],
    'mimiciv_derived.blood_differential': [
      {
        subject_id: 1,
        charttime: after('1:00'),
        neutrophils_abs: 4.5,
        atypical_lymphocytes: 2,
        metamyelocytes: 1,
      },
    ],
  });
  expect(columns(rows, 'abs_neutrophils_max', 'atyps_max', 'metas_min')).toEqual([['4.500', 2, 1]]);
});
