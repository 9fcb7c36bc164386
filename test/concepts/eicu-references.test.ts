import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columns, type Given, type GivenRow, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open('eicu');
});
afterAll(() => database[Symbol.asyncDispose]());

const patient = (changes: GivenRow = {}): GivenRow => ({
  patientunitstayid: 1,
  uniquepid: 'p-1',
  patienthealthsystemstayid: 11,
  ...changes,
});
type Charting = readonly [offset: number, label: string, name: string, value: string | null];
const charting = (category: string, rows: readonly Charting[]): readonly GivenRow[] =>
  rows.map(
    ([nursingchartoffset, nursingchartcelltypevallabel, nursingchartcelltypevalname, nursingchartvalue]) => ({
      patientunitstayid: 1,
      nursingchartoffset,
      nursingchartcelltypecat: category,
      nursingchartcelltypevallabel,
      nursingchartcelltypevalname,
      nursingchartvalue,
    }),
  );
const coma = 'Glasgow coma score';

describe('eICU: lowest Glasgow Coma Scale', () => {
  const gcs = async (...rows: readonly Charting[]) =>
    columns(
      await database.reference('gcs', {
        'eicu_crd.patient': [patient()],
        'eicu_crd.nursecharting': charting('Scores', rows),
      }),
      'gcs_min',
      'gcs_motor',
      'gcs_verbal',
      'gcs_eyes',
    )[0];

  test('a stay without charting counts as normal', async () => {
    expect(await gcs()).toEqual(['15.000', '6.000', '5.000', '4.000']);
  });

  test('the window runs from 360 minutes before to 1440 minutes after, ends included', async () => {
    const total = (offset: number): Charting => [offset, coma, 'GCS Total', '7'];
    expect((await gcs(total(-361)))![0]).toBe('15.000');
    expect((await gcs(total(-360)))![0]).toBe('7.000');
    expect((await gcs(total(1440)))![0]).toBe('7.000');
    expect((await gcs(total(1441)))![0]).toBe('15.000');
  });

  test('a missing total is built from the components, missing ones normal', async () => {
    expect(await gcs([10, coma, 'Motor', '4'], [10, coma, 'Eyes', '2'])).toEqual([
      '11.000', // 2 + 4 + 5
      '4.000',
      '5.000',
      '2.000',
    ]);
  });

  test('totals must lie above 2 and below 16, judged after rounding to 3 decimals', async () => {
    const total = async (value: string) => (await gcs([10, coma, 'GCS Total', value]))![0];
    expect(await total('3')).toBe('3.000');
    expect(await total('2')).toBe('15.000');
    expect(await total('2.5')).toBe('2.500');
    expect(await total('16')).toBe('15.000');
    expect(await total('15.9994')).toBe('15.999');
    expect(await total('15.9996')).toBe('15.000'); // rounds to 16, out of range, rebuilt as normal
    expect(await total('Unable to score')).toBe('15.000');
  });

  test('the lowest of several totals at one time is taken before the range check', async () => {
    expect(
      (await gcs(
        [10, coma, 'GCS Total', '0'],
        [10, 'Score (Glasgow Coma Scale)', 'Value', '14'],
        [10, coma, 'Motor', '5'],
      ))![0],
    ).toBe('14.000'); // 0 is out of range, so 4 + 5 + 5
  });

  test('of equal totals the earliest charting gives the components', async () => {
    expect(
      await gcs(
        [20, coma, 'GCS Total', '9'],
        [20, coma, 'Motor', '1'],
        [10, coma, 'GCS Total', '9'],
        [10, coma, 'Motor', '5'],
        [5, coma, 'GCS Total', '12'],
      ),
    ).toEqual(['9.000', '5.000', '5.000', '4.000']);
  });

  test('other categories do not count', async () => {
    const rows = await database.reference('gcs', {
      'eicu_crd.patient': [patient()],
      'eicu_crd.nursecharting': charting('Vital Signs', [[10, coma, 'GCS Total', '3']]),
    });
    expect(rows[0]!.gcs_min).toBe('15.000');
  });
});

describe('eICU: OASIS', () => {
  const score = async (name: string, given: Given, changes: GivenRow = {}) =>
    (await database.reference('oasis', { 'eicu_crd.patient': [patient(changes)], ...given }))[0]![name];
  const vital = (label: string, name: string, ...values: readonly string[]): Given => ({
    'eicu_crd.nursecharting': charting(
      'Vital Signs',
      values.map((value, index) => [10 + index, label, name, value] as const),
    ),
  });

  test('time before the ICU, in minutes before unit admission', async () => {
    const offsets = [30, -10, -11, -296, -297, -1440, -1441, -18708, -18709, null];
    const scores = [];
    for (const hospitaladmitoffset of offsets)
      scores.push(await score('preiculos_score', {}, { hospitaladmitoffset }));
    expect(scores).toEqual([5, 5, 3, 3, 0, 0, 2, 2, 1, 0]);
  });

  test('age: over 89 counts as 91; text that is no number scores 0', async () => {
    const ages = ['23', '24', '53', '54', '77', '78', '89', '> 89', null, '', '45.5', '>89'];
    const scores = [];
    for (const age of ages) scores.push(await score('age_score', {}, { age }));
    expect(scores).toEqual([0, 3, 3, 6, 6, 9, 9, 7, 0, 0, 3, 0]);
  });

  test('the first day starts after unit admission: offset 0 is not in, 1440 is', async () => {
    const heart = (offset: number): Given => ({
      'eicu_crd.nursecharting': charting('Vital Signs', [[offset, 'Heart Rate', 'Heart Rate', '130']]),
    });
    expect(await score('heart_rate_score', heart(0))).toBe(0);
    expect(await score('heart_rate_score', heart(1))).toBe(6);
    expect(await score('heart_rate_score', heart(1440))).toBe(6);
    expect(await score('heart_rate_score', heart(1441))).toBe(0);
  });

  test('low values are looked at first, so a high one may not count; out-of-range values are dropped', async () => {
    const heart = (...values: readonly string[]) =>
      score('heart_rate_score', vital('Heart Rate', 'Heart Rate', ...values));
    expect(await heart('32', '130')).toBe(4);
    expect(await heart('33', '88')).toBe(0);
    expect(await heart('88.5')).toBe(0); // a gap between the bands
    expect(await heart('89')).toBe(1);
    expect(await heart('107')).toBe(3);
    expect(await heart('225')).toBe(6);
    expect(await heart('226')).toBe(0);
    expect(await heart('24', '90')).toBe(1);
    const breathing = (...values: readonly string[]) =>
      score('resp_rate_score', vital('Respiratory Rate', 'Respiratory Rate', ...values));
    expect(await breathing('14', '50')).toBe(0); // the minimum is normal
    expect(await breathing('5')).toBe(10);
    expect(await breathing('12', '50')).toBe(1);
    expect(await breathing('23', '44')).toBe(6);
    expect(await breathing('23', '45')).toBe(9);
    expect(await breathing('0', '45')).toBe(9); // 0 is left out of the minimum, which is then 45
    expect(await breathing('0')).toBe(0);
  });

  test('temperature in Celsius only', async () => {
    const temperature = (name: string, ...values: readonly string[]) =>
      score('temp_score', vital('Temperature', name, ...values));
    expect(await temperature('Temperature (C)', '33.21')).toBe(3);
    expect(await temperature('Temperature (C)', '34', '40.5')).toBe(4);
    expect(await temperature('Temperature (C)', '36.39')).toBe(2);
    expect(await temperature('Temperature (C)', '36.5', '36.88')).toBe(0);
    expect(await temperature('Temperature (C)', '36.5', '39.88')).toBe(2);
    expect(await temperature('Temperature (C)', '36.5', '39.89')).toBe(6);
    expect(await temperature('Temperature (F)', '95')).toBe(0);
  });

  test('invasive pressure decides before non-invasive', async () => {
    const both = (invasive: string | null, cuff: string | null): Given => ({
      'eicu_crd.nursecharting': [
        ...charting(
          'Vital Signs',
          invasive === null ? [] : [[10, 'Invasive BP', 'Invasive BP Mean', invasive]],
        ),
        ...charting(
          'Vital Signs',
          cuff === null ? [] : [[10, 'Non-Invasive BP', 'Non-Invasive BP Mean', cuff]],
        ),
      ],
    });
    expect(await score('mbp_score', both('20.64', '100'))).toBe(4);
    expect(await score('mbp_score', both('80', '40'))).toBe(0);
    expect(await score('mbp_score', both('50.995', '20'))).toBe(4); // rounds to 50.995, in a gap: the cuff decides
    expect(await score('mbp_score', both(null, '50.99'))).toBe(3);
    expect(await score('mbp_score', both(null, '51'))).toBe(2);
    expect(await score('mbp_score', both(null, '143.45'))).toBe(3);
    expect(await score('mbp_score', both('251', '61.33'))).toBe(0);
  });

  test('coma scale: nurse charting first, else the physical exam with one or two characters at the end', async () => {
    const path = 'notes/Progress Notes/Physical Exam/Physical Exam/Neurologic/GCS/';
    const exam = (physicalexampath: string, physicalexamvalue: string): Given => ({
      'eicu_crd.physicalexam': [
        { patientunitstayid: 1, physicalexamoffset: 10, physicalexampath, physicalexamvalue },
      ],
    });
    expect(await score('gcs_score', exam(`${path}7`, '7'))).toBe(10);
    expect(await score('gcs_score', exam(`${path}13`, '13'))).toBe(4);
    expect(await score('gcs_score', exam(`${path}14`, '14'))).toBe(3);
    expect(await score('gcs_score', exam(`${path}score`, '3'))).toBe(0);
    expect(await score('gcs_score', exam(`${path}99`, '2'))).toBe(10); // no range check there
    const nurse = { 'eicu_crd.nursecharting': charting('Scores', [[10, coma, 'GCS Total', '15']]) };
    expect(await score('gcs_score', { ...exam(`${path}7`, '7'), ...nurse })).toBe(0);
  });

  test('urine: the sum of urine cells, else the APACHE value if positive', async () => {
    const prefix = 'flowsheet|Flowsheet Cell Labels|I&O|Output (ml)|';
    const cell = (label: string, volume: number): GivenRow => ({
      patientunitstayid: 1,
      intakeoutputoffset: 10,
      cellpath: prefix + label,
      cellvaluenumeric: volume,
    });
    const urine = (cells: readonly GivenRow[], apache: number | null = null) =>
      score('urineoutput_score', {
        'eicu_crd.intakeoutput': cells,
        'eicu_crd.apacheapsvar': apache === null ? [] : [{ patientunitstayid: 1, urine: apache }],
      });
    expect(await urine([cell('Urine', 670)])).toBe(10);
    expect(await urine([cell('Urine', 671)])).toBe(5);
    expect(await urine([cell('Urine', 1000), cell('Urine Output (mL)-x', 427)])).toBe(1);
    expect(await urine([cell('urine', 2544)])).toBe(0);
    expect(await urine([cell('URINE', 6897)])).toBe(8);
    expect(await urine([cell('Foley Catheter Output', 7000)])).toBe(8);
    expect(await urine([cell('foley from OR', 7000)])).toBe(0); // no urine cell, so no value at all
    expect(await urine([cell('Chest tube', 7000)])).toBe(0);
    expect(await urine([cell('OutputX Urinary Catheter', 100)])).toBe(10);
    expect(await urine([], 500)).toBe(10);
    expect(await urine([], -1)).toBe(0);
    expect(await urine([cell('Urine', 0)], 3000)).toBe(10); // a sum of 0 is a value
  });

  test('ventilation and elective surgery', async () => {
    const one = { patientunitstayid: 1 };
    expect(await score('mechvent_score', {})).toBe(0);
    expect(await score('mechvent_score', { 'eicu_crd.apacheapsvar': [{ ...one, intubated: 1 }] })).toBe(9);
    expect(
      await score('mechvent_score', { 'eicu_crd.apacheapsvar': [{ ...one, intubated: 0, vent: 1 }] }),
    ).toBe(0);
    expect(await score('mechvent_score', { 'eicu_crd.apachepredvar': [{ ...one, oobintubday1: 1 }] })).toBe(
      9,
    );
    const airway = (respcarestatusoffset: number, airwaytype: string | null): Given => ({
      'eicu_crd.respiratorycare': [{ ...one, respcarestatusoffset, airwaytype }],
    });
    expect(await score('mechvent_score', airway(1440, 'Oral ETT'))).toBe(9);
    expect(await score('mechvent_score', airway(0, 'Oral ETT'))).toBe(0);
    expect(await score('mechvent_score', airway(10, null))).toBe(0);

    const surgery = (electivesurgery: number | null, unitadmitsource: string | null) =>
      score(
        'electivesurgery_score',
        { 'eicu_crd.apachepredvar': [{ ...one, electivesurgery }] },
        { unitadmitsource },
      );
    expect(await surgery(1, 'Operating Room')).toBe(0);
    expect(await surgery(1, 'Emergency Department')).toBe(6);
    expect(await surgery(1, null)).toBe(0);
    expect(await surgery(0, 'Operating Room')).toBe(6);
    expect(await surgery(null, 'Operating Room')).toBe(6);
    expect(await score('electivesurgery_score', {}, { unitadmitsource: 'Operating Room' })).toBe(6);
  });

  test('the total adds the ten components', async () => {
    // nothing known: only elective surgery scores
    expect(await score('oasis', {})).toBe(6);
    expect(await score('oasis', {}, { age: '> 89', hospitaladmitoffset: 0 })).toBe(18); // 6 + 7 + 5
  });
});
