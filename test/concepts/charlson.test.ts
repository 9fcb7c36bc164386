import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

type Code = readonly [version: number | null, code: string];

/** One admission per list of codes, all aged 50 unless stated. */
async function charlson(admissions: readonly (readonly Code[])[], age: number | null = 50) {
  return database.concept('charlson', {
    'mimiciv_hosp.admissions': admissions.map((_, index) => ({ subject_id: 1, hadm_id: index + 1 })),
    'mimiciv_hosp.diagnoses_icd': admissions.flatMap((codes, index) =>
      codes.map(([icd_version, icd_code]) => ({ subject_id: 1, hadm_id: index + 1, icd_version, icd_code })),
    ),
    'mimiciv_derived.age': admissions.map((_, index) => ({ subject_id: 1, hadm_id: index + 1, age })),
  });
}

/** Names of the flags that each code sets, alone in an admission. */
async function flagsOf(codes: readonly Code[]): Promise<readonly string[]> {
  const rows = await charlson(codes.map((code) => [code]));
  return rows.map((row) =>
    Object.entries(row)
      .filter(
        ([name, value]) =>
          value === 1 && !['hadm_id', 'subject_id', 'charlson_comorbidity_index'].includes(name),
      )
      .map(([name]) => name)
      .sort()
      .join('+'),
  );
}

describe('code lists', () => {
  test('ICD-9 prefixes of 3, 4 and 5 characters', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['41001', 'myocardial_infarct'],
      ['412', 'myocardial_infarct'],
      ['4109', 'myocardial_infarct'],
      ['4139', ''],
      ['4254', 'congestive_heart_failure'],
      ['4259', 'congestive_heart_failure'],
      ['425', ''], // the range of four characters does not take the bare three
      ['4253', ''],
      ['39891', 'congestive_heart_failure'],
      ['3989', ''],
      ['4373', 'cerebrovascular_disease+peripheral_vascular_disease'],
      ['443', ''],
      ['4431', 'peripheral_vascular_disease'],
      ['36234', 'cerebrovascular_disease'],
      ['29410', 'dementia'],
      ['505', 'chronic_pulmonary_disease'],
      ['506', ''],
      ['7148', 'rheumatic_disease'],
      ['53400', 'peptic_ulcer_disease'],
      ['07022', 'mild_liver_disease'],
      ['0702', ''],
      ['25000', 'diabetes_without_cc'],
      ['25040', 'diabetes_with_cc'],
      ['250', ''],
      ['3449', 'paraplegia'],
      ['3448', ''],
      ['5837', 'renal_disease'],
      ['583', ''],
      ['40301', 'renal_disease'],
      ['40201', 'congestive_heart_failure'],
      ['40403', 'congestive_heart_failure+renal_disease'],
      ['40402', 'renal_disease'],
      ['40401', 'congestive_heart_failure'],
      ['40413', 'congestive_heart_failure+renal_disease'],
      ['4560', 'severe_liver_disease'],
      ['5722', 'severe_liver_disease'],
      ['5728', 'severe_liver_disease'],
      ['572', ''],
      ['1990', 'metastatic_solid_tumor'],
      ['196', 'metastatic_solid_tumor'],
      ['042', 'aids'],
    ];
    const flags = await flagsOf(cases.map(([code]) => [9, code]));
    expect(flags.map((flag, index) => `${cases[index]![0]} ${flag}`)).toEqual(
      cases.map(([code, flag]) => `${code} ${flag}`),
    );
  });

  test('string ranges of cancers', async () => {
    const cases: readonly (readonly [number, string, string])[] = [
      [9, '140', 'malignant_cancer'],
      [9, '1729', 'malignant_cancer'],
      [9, '1730', ''], // skin, in no range
      [9, '174', ''], // below 1740
      [9, '1740', 'malignant_cancer'],
      [9, '185', 'malignant_cancer'], // a bare three-digit code inside 1740..1958
      [9, '1958', 'malignant_cancer'],
      [9, '1959', ''],
      [9, '20500', 'malignant_cancer'],
      [9, '209', ''],
      [9, '2386', 'malignant_cancer'],
      [10, 'C4A0', 'malignant_cancer'], // a letter sorts after every digit, so C4A lies in C45..C58
      [10, 'C7A00', ''],
      [10, 'C44', ''],
      [10, 'C27', ''],
      [10, 'C26', 'malignant_cancer'],
      [10, 'C7951', 'metastatic_solid_tumor'],
      [10, 'C800', 'metastatic_solid_tumor'],
      [10, 'C97', 'malignant_cancer'],
    ];
    const flags = await flagsOf(cases.map(([version, code]) => [version, code]));
    expect(flags.map((flag, index) => `${cases[index]![1]} ${flag}`)).toEqual(
      cases.map(([, code, flag]) => `${code} ${flag}`),
    );
  });

  test('ICD-10 prefixes', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['I214', 'myocardial_infarct'],
      ['I252', 'myocardial_infarct'],
      ['I251', ''],
      ['I110', 'congestive_heart_failure'],
      ['I130', 'congestive_heart_failure'],
      ['I132', 'congestive_heart_failure'],
      ['I131', 'renal_disease'],
      ['I120', 'renal_disease'],
      ['I129', ''],
      ['I739', 'peripheral_vascular_disease'],
      ['I69354', 'cerebrovascular_disease'],
      ['F0390', 'dementia'],
      ['J47', 'chronic_pulmonary_disease'],
      ['J4A', ''],
      ['J48', ''],
      ['M069', 'rheumatic_disease'],
      ['K254', 'peptic_ulcer_disease'],
      ['B182', 'mild_liver_disease'],
      ['K7030', 'mild_liver_disease'],
      ['K704', 'severe_liver_disease'],
      ['K766', 'severe_liver_disease'],
      ['E119', 'diabetes_without_cc'],
      ['E1165', 'diabetes_without_cc'],
      ['E1122', 'diabetes_with_cc'],
      ['G8190', 'paraplegia'],
      ['N186', 'renal_disease'],
      ['Z992', 'renal_disease'],
      ['B20', 'aids'],
      ['B23', ''],
      ['b20', ''], // compared byte by byte
    ];
    const flags = await flagsOf(cases.map(([code]) => [10, code]));
    expect(flags.map((flag, index) => `${cases[index]![0]} ${flag}`)).toEqual(
      cases.map(([code, flag]) => `${code} ${flag}`),
    );
  });

  test('a code is tried in its own version only', async () => {
    expect(
      await flagsOf([
        [10, '41001'],
        [9, 'I214'],
        [null, '41001'],
        [11, 'I214'],
      ]),
    ).toEqual(['', '', '', '']);
  });
});

describe('index', () => {
  const index = async (age: number | null, ...codes: readonly Code[]) =>
    (await charlson([codes], age))[0]!.charlson_comorbidity_index;

  test('age points change above 50, 60, 70 and 80 years, by fractional age', async () => {
    const ages = [50, 50.3, 60, 60.1, 70, 70.1, 80, 80.1, 91, null];
    const points = [];
    for (const age of ages) points.push((await charlson([[]], age))[0]!.age_score);
    // an unknown age falls into the last class
    expect(points).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 4]);
  });

  test('weights are 1, 2, 3 and 6', async () => {
    expect(await index(50, [9, '410'])).toBe(1);
    expect(await index(50, [9, '342'])).toBe(2); // paraplegia
    expect(await index(50, [9, '585'])).toBe(2); // renal
    expect(await index(50, [9, '4560'])).toBe(3); // severe liver
    expect(await index(50, [9, '042'])).toBe(6); // aids
    expect(await index(50, [9, '140'])).toBe(2); // cancer
    expect(await index(50, [9, '196'])).toBe(6); // metastatic
    expect(await index(75, [9, '410'], [9, '412'], [9, '428'])).toBe(5); // age 3 + infarct once + heart failure
  });

  test('the graver of two grades counts in the index; both stay flagged', async () => {
    const [row] = await charlson([
      [
        [9, '571'], // mild liver 1
        [9, '4560'], // severe liver 3
        [10, 'E119'], // diabetes 1
        [10, 'E1122'], // with complications 2
        [9, '140'], // cancer 2
        [9, '196'], // metastatic 6
      ],
    ]);
    expect(row).toMatchObject({
      mild_liver_disease: 1,
      severe_liver_disease: 1,
      diabetes_without_cc: 1,
      diabetes_with_cc: 1,
      malignant_cancer: 1,
      metastatic_solid_tumor: 1,
      charlson_comorbidity_index: 11, // 3 + 2 + 6
    });
  });

  test('an admission without diagnoses has all flags 0; without an age its index is missing', async () => {
    const [empty] = await charlson([[]]);
    expect(empty).toMatchObject({ charlson_comorbidity_index: 0, dementia: 0, aids: 0 });
    const [ageless] = await database.concept('charlson', {
      'mimiciv_hosp.admissions': [{ subject_id: 1, hadm_id: 1 }],
      'mimiciv_hosp.diagnoses_icd': [{ hadm_id: 1, icd_version: 9, icd_code: '410' }],
    });
    expect(ageless).toMatchObject({
      age_score: null,
      myocardial_infarct: 1,
      charlson_comorbidity_index: null,
    });
  });

  test('the reference is the concept', async () => {
    const given = {
      'mimiciv_hosp.admissions': [{ subject_id: 1, hadm_id: 1 }],
      'mimiciv_hosp.diagnoses_icd': [{ hadm_id: 1, icd_version: 9, icd_code: '410' }],
      'mimiciv_derived.age': [{ subject_id: 1, hadm_id: 1, age: 65 }],
    };
    expect(await database.reference('charlson', given)).toEqual(await database.concept('charlson', given));
  });
});
