import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, column, columns, type GivenRow, icuAdmission, icuStay, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const prescription = (drug: string | null, changes: GivenRow = {}): GivenRow => ({
  subject_id: 1,
  hadm_id: 10,
  drug,
  drug_type: 'MAIN',
  route: 'IV',
  starttime: after('1:00'),
  stoptime: after('24:00'),
  ...changes,
});
const prescribed = (table: string, ...prescriptions: readonly GivenRow[]) =>
  database.concept(table, {
    'mimiciv_hosp.prescriptions': prescriptions,
    'mimiciv_icu.icustays': [icuStay()],
  });

describe('prescriptions', () => {
  test('ACE inhibitors and NSAIDs are found by part of the name, whatever its case; nothing is deduplicated', async () => {
    const acei = await prescribed(
      'acei',
      prescription('Lisinopril'),
      prescription('Lisinopril'),
      prescription('ENALAPRILAT'),
      prescription('Losartan'),
      prescription(null),
    );
    expect(column(acei, 'acei')).toEqual(['ENALAPRILAT', 'Lisinopril', 'Lisinopril']);
    const nsaid = await prescribed(
      'nsaid',
      prescription('Aspirin EC', { route: 'PO' }),
      prescription('Ketorolac'),
      prescription('Diclofenac 0.1% Ophth Soln', { route: 'OD' }),
    );
    expect(column(nsaid, 'nsaid')).toEqual(['Aspirin EC', 'Diclofenac 0.1% Ophth Soln']);
  });

  test('antibiotics: eye, ear and skin forms and missing routes are left out', async () => {
    const rows = await prescribed(
      'antibiotic',
      prescription('Vancomycin'),
      prescription('Vancomycin', { route: 'OU' }),
      prescription('Vancomycin', { route: 'ou' }), // routes are compared exactly, and "ou" holds neither eye nor ear
      prescription('Vancomycin', { route: 'LEFT EYE' }),
      prescription('Vancomycin', { route: null }),
      prescription('Erythromycin 0.5% Ophth Oint', { route: 'PO' }),
      prescription('Clindamycin Gel', { route: 'PO' }),
      prescription('Mupirocin Nasal', { route: 'NU' }),
      prescription('Ertapenem'), // not in the list
    );
    expect(
      columns(rows, 'antibiotic', 'route')
        .map((row) => row.join(' '))
        .sort(),
    ).toEqual(['Mupirocin Nasal NU', 'Vancomycin IV', 'Vancomycin ou']);
  });

  test('a BASE row counts only if another row has the same drug and route', async () => {
    expect(await prescribed('antibiotic', prescription('Vancomycin', { drug_type: 'BASE' }))).toEqual([]);
    const rows = await prescribed(
      'antibiotic',
      prescription('Vancomycin', { drug_type: 'BASE', hadm_id: 11 }),
      prescription('Vancomycin', { subject_id: 2, hadm_id: 20 }),
    );
    expect(column(rows, 'hadm_id').map(Number).sort()).toEqual([11, 20]);
  });

  test('an antibiotic belongs to the ICU stay in which it starts: admission included, discharge not', async () => {
    const stayAt = async (starttime: string | null) =>
      (await prescribed('antibiotic', prescription('Cefepime', { starttime })))[0]!.stay_id;
    expect(await stayAt(icuAdmission)).toBe(100);
    expect(await stayAt(after('-0:00:01'))).toBeNull();
    expect(await stayAt(after('71:59:59'))).toBe(100);
    expect(await stayAt(after('72:00'))).toBeNull();
    expect(await stayAt(null)).toBeNull();
  });
});

const infusion = (itemid: number, rate: number | null, changes: GivenRow = {}): GivenRow => ({
  subject_id: 1,
  hadm_id: 10,
  stay_id: 100,
  itemid,
  rate,
  amount: 4,
  orderid: 7,
  linkorderid: 8,
  starttime: after('0:00'),
  endtime: after('1:00'),
  ...changes,
});
const infused = (table: string, ...inputevents: readonly GivenRow[]) =>
  database.concept(table, { 'mimiciv_icu.inputevents': inputevents });

describe('single infusions', () => {
  test('a rate of zero, a missing rate and repeated rows stay', async () => {
    for (const [table, item] of [
      ['dobutamine', 221653],
      ['dopamine', 221662],
      ['epinephrine', 221289],
      ['milrinone', 221986],
    ] as const) {
      const rows = await infused(
        table,
        infusion(item, 0),
        infusion(item, null),
        infusion(item, 0),
        infusion(1, 5),
      );
      expect(
        columns(rows, 'vaso_rate', 'vaso_amount', 'linkorderid')
          .map((row) => row.join(' '))
          .sort(),
        table,
      ).toEqual([' 4 8', '0 4 8', '0 4 8']);
    }
  });

  test('norepinephrine in mg/kg/min is multiplied by 1000, unless the weight is exactly 1', async () => {
    const rateOf = async (rateuom: string | null, patientweight: number | null) =>
      (await infused('norepinephrine', infusion(221906, 0.25, { rateuom, patientweight })))[0]!.vaso_rate;
    expect(await rateOf('mg/kg/min', 80)).toBe(250);
    expect(await rateOf('mg/kg/min', 1)).toBe(0.25);
    expect(await rateOf('mg/kg/min', null)).toBe(250);
    expect(await rateOf('mcg/kg/min', 80)).toBe(0.25);
    expect(await rateOf(null, 80)).toBe(0.25);
  });

  test('phenylephrine in mcg/min is divided by the weight; a missing weight gives no rate', async () => {
    const rateOf = async (rateuom: string | null, patientweight: number | null) =>
      (await infused('phenylephrine', infusion(221749, 40, { rateuom, patientweight })))[0]!.vaso_rate;
    expect(await rateOf('mcg/min', 80)).toBe(0.5);
    expect(await rateOf('mcg/min', null)).toBeNull();
    expect(await rateOf('mcg/kg/min', 80)).toBe(40);
    expect(await rateOf(null, null)).toBe(40);
  });

  test('vasopressin in units/min becomes units/hour', async () => {
    const rateOf = async (rateuom: string | null) =>
      (await infused('vasopressin', infusion(222315, 2, { rateuom })))[0]!.vaso_rate;
    expect(await rateOf('units/min')).toBe(120);
    expect(await rateOf('units/hour')).toBe(2);
    expect(await rateOf(null)).toBe(2);
  });

  test('neuromuscular blockers need a rate, also zero, and carry the order', async () => {
    const rows = await infused(
      'neuroblock',
      infusion(222062, 0),
      infusion(221555, 3),
      infusion(221555, null),
    );
    expect(
      columns(rows, 'orderid', 'drug_rate')
        .map((row) => row.join(' '))
        .sort(),
    ).toEqual(['7 0', '7 3']);
  });
});

describe('vasoactive timeline', () => {
  const given = (drug: string, rate: number | null, start: string, end: string, stay_id = 100) => ({
    drug,
    row: { stay_id, vaso_rate: rate, starttime: after(start), endtime: after(end) },
  });
  const rowsOf = (...records: readonly ReturnType<typeof given>[]) => {
    const tables: Record<string, GivenRow[]> = {};
    for (const name of [
      'dobutamine',
      'dopamine',
      'epinephrine',
      'milrinone',
      'norepinephrine',
      'phenylephrine',
      'vasopressin',
    ]) {
      tables[`mimiciv_derived.${name}`] = records.filter(({ drug }) => drug === name).map(({ row }) => row);
    }
    return tables;
  };
  const timeline = async (...records: readonly ReturnType<typeof given>[]) =>
    columns(
      await database.concept('vasoactive_agent', rowsOf(...records)),
      'starttime',
      'endtime',
      'norepinephrine',
      'vasopressin',
    );

  test('is cut at every start and end, and a piece without a drug stays', async () => {
    expect(
      await timeline(
        given('norepinephrine', 0.1, '0:00', '4:00'),
        given('vasopressin', 2.4, '2:00', '3:00'),
        given('norepinephrine', 0.2, '6:00', '7:00'),
      ),
    ).toEqual([
      [after('0:00'), after('2:00'), 0.1, null],
      [after('2:00'), after('3:00'), 0.1, 2.4],
      [after('3:00'), after('4:00'), 0.1, null],
      [after('4:00'), after('6:00'), null, null],
      [after('6:00'), after('7:00'), 0.2, null],
    ]);
  });

  test('overlapping records of one drug repeat the piece, and rates are not added', async () => {
    expect(
      await timeline(
        given('norepinephrine', 0.1, '0:00', '2:00'),
        given('norepinephrine', 0.3, '1:00', '2:00'),
      ),
    ).toEqual([
      [after('0:00'), after('1:00'), 0.1, null],
      [after('1:00'), after('2:00'), 0.1, null],
      [after('1:00'), after('2:00'), 0.3, null],
    ]);
  });

  test('records of zero length cut the timeline but fill no piece; a stay stands alone', async () => {
    expect(
      await timeline(
        given('norepinephrine', 9, '1:00', '1:00'),
        given('vasopressin', 2.4, '0:00', '2:00'),
        given('norepinephrine', 0.5, '0:30', '0:40', 200),
      ),
    ).toEqual([
      [after('0:00'), after('1:00'), null, 2.4],
      [after('1:00'), after('2:00'), null, 2.4],
      [after('0:30'), after('0:40'), 0.5, null],
    ]);
  });

  const dose = async (rates: Readonly<Record<string, number | null>>) =>
    column(
      await database.concept('norepinephrine_equivalent_dose', {
        'mimiciv_derived.vasoactive_agent': [
          { stay_id: 100, starttime: after('0:00'), endtime: after('1:00'), ...rates },
        ],
      }),
      'norepinephrine_equivalent_dose',
    );

  test('the equivalent dose weighs each vasopressor and has 3 decimals', async () => {
    // 0.1 + 0.05 + 1 / 10 + 5 / 100 + 2.4 x 2.5 / 60 = 0.1 + 0.05 + 0.1 + 0.05 + 0.1
    expect(
      await dose({ norepinephrine: 0.1, epinephrine: 0.05, phenylephrine: 1, dopamine: 5, vasopressin: 2.4 }),
    ).toEqual(['0.400']);
    expect(await dose({ norepinephrine: 0.0004 })).toEqual(['0.000']);
    expect(await dose({ norepinephrine: 0.0005 })).toEqual(['0.001']);
    expect(await dose({ norepinephrine: 0 })).toEqual(['0.000']);
  });

  test('dobutamine and milrinone alone have no equivalent dose', async () => {
    expect(await dose({ dobutamine: 5, milrinone: 0.3 })).toEqual([]);
    expect(await dose({ dobutamine: 5, dopamine: 10 })).toEqual(['0.100']);
  });

  test('the reference keeps one row per piece, with the largest dose', async () => {
    const rows = await database.reference('vasopressor-equivalents', {
      'mimiciv_derived.vasoactive_agent': [
        { stay_id: 100, starttime: after('0:00'), endtime: after('1:00'), norepinephrine: 0.1 },
        { stay_id: 100, starttime: after('0:00'), endtime: after('1:00'), norepinephrine: 0.3 },
        { stay_id: 100, starttime: after('1:00'), endtime: after('2:00'), dobutamine: 5 },
      ],
    });
    expect(columns(rows, 'starttime', 'norepinephrine_equivalent_dose')).toEqual([[after('0:00'), '0.300']]);
  });
});

test('invasive lines take harmonised names of type and site, and stay as often as charted', async () => {
  const line = (itemid: number, location: string | null) => ({
    stay_id: 100,
    itemid,
    location,
    starttime: after('0:00'),
    endtime: after('5:00'),
  });
  const rows = await database.concept('invasive_line', {
    'mimiciv_icu.d_items': [
      { itemid: 225752, label: 'Arterial Line' },
      { itemid: 224264, label: 'PICC Line' },
      { itemid: 225205, label: 'RIC' },
      { itemid: 999999, label: 'Arterial Line' },
    ],
    'mimiciv_icu.procedureevents': [
      line(225752, 'Left Brachial.'),
      line(225752, 'Left Brachial.'),
      line(224264, 'Right Antecub'),
      line(225205, null),
      line(999999, 'Left Axilla'),
      line(224560, 'Left Femoral'), // its label is not in d_items
    ],
  });
  expect(
    columns(rows, 'line_type', 'line_site')
      .map((row) => row.join(' / '))
      .sort(),
  ).toEqual(['Arterial / Left Brachial', 'Arterial / Left Brachial', 'PICC / Right Antecube', 'RIC / ']);
});
