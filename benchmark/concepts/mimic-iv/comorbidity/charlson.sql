-- title: Charlson comorbidity index
-- grain: one row per hospital admission
-- keys: hadm_id
-- sources: mimiciv_hosp.admissions, mimiciv_hosp.diagnoses_icd, mimiciv_derived.age
-- citation: Charlson 1987, Journal of Chronic Diseases; Charlson 1994, Journal of Clinical Epidemiology (age points); Quan 2005, Medical Care (code lists)
-- conventions:
--   - All billed diagnoses of the admission count alike, whatever their sequence; an admission without diagnoses has all flags 0.
--   - ICD-9 codes are compared with the ICD-9 lists only and ICD-10 codes with the ICD-10 lists only, on their first 3, 4 or 5 characters (the whole code where it is shorter), without a dot, upper and lower case distinct.
--   - A range of codes is a range of text, both ends included, not of numbers: 1740 to 1958 also takes 175, 179, 185 and 193, but not 174; C45 to C58 also takes C4A; C60 to C76 does not take C7A or C7B.
--   - ICD-9 173 (skin) and 1959 are in no cancer list; ICD-9 199 and ICD-10 C80 count as metastatic; ICD-10 B23 is not in the AIDS list.
--   - Some codes raise two flags, such as ICD-9 4373 (peripheral and cerebral vessels) and 40403, 40413 (heart and kidney).
--   - Flags do not exclude one another; only the index counts the graver of mild and severe liver disease, of diabetes without and with complications, and of cancer and metastatic cancer.
--   - Age points: 0 up to 50 years, 1 up to 60, 2 up to 70, 3 up to 80, otherwise 4; age is a fraction, so 50.3 years score 1. A missing age scores 4; without an age row the points and the index are missing.
-- ties: none
with code_lists (comorbidity, icd_version, prefix_length, codes) as (
  values
    ('myocardial_infarct', 9, 3, ['410', '412']),  -- acute, old myocardial infarction
    ('myocardial_infarct', 10, 3, ['I21', 'I22']),  -- acute, subsequent myocardial infarction
    ('myocardial_infarct', 10, 4, ['I252']),  -- old myocardial infarction
    ('congestive_heart_failure', 9, 3, ['428']),  -- heart failure
    ('congestive_heart_failure', 9, 5, [
      '39891',  -- rheumatic heart failure
      '40201', '40211', '40291',  -- hypertensive heart disease with heart failure
      '40401', '40403', '40411', '40413', '40491', '40493'  -- hypertensive heart and kidney disease with heart failure
    ]),
    ('congestive_heart_failure', 10, 3, ['I43', 'I50']),  -- cardiomyopathy in other diseases; heart failure
    ('congestive_heart_failure', 10, 4, [
      'I099', 'I110', 'I130', 'I132',  -- rheumatic and hypertensive heart disease with failure
      'I255', 'I420', 'I425', 'I426', 'I427', 'I428', 'I429',  -- ischaemic and other cardiomyopathy
      'P290'  -- neonatal cardiac failure
    ]),
    ('peripheral_vascular_disease', 9, 3, ['440', '441']),  -- atherosclerosis; aortic aneurysm and dissection
    ('peripheral_vascular_disease', 9, 4, [
      '0930', '4373', '4471',  -- syphilitic aortic aneurysm; unruptured cerebral aneurysm; stricture of artery
      '5571', '5579', 'V434'  -- chronic, unspecified intestinal vascular insufficiency; blood vessel replaced
    ]),
    ('peripheral_vascular_disease', 10, 3, ['I70', 'I71']),  -- atherosclerosis; aortic aneurysm and dissection
    ('peripheral_vascular_disease', 10, 4, [
      'I731', 'I738', 'I739', 'I771', 'I790', 'I792',  -- other peripheral vessels; stricture; aneurysm, angiopathy in other diseases
      'K551', 'K558', 'K559', 'Z958', 'Z959'  -- intestinal vascular disorders; vascular implants
    ]),
    ('cerebrovascular_disease', 9, 5, ['36234']),  -- transient arterial occlusion of retina
    ('cerebrovascular_disease', 10, 3, ['G45', 'G46']),  -- transient ischaemic attack; vascular syndromes of brain
    ('cerebrovascular_disease', 10, 4, ['H340']),  -- transient retinal artery occlusion
    ('dementia', 9, 3, ['290']),  -- dementias
    ('dementia', 9, 4, ['2941', '3312']),  -- dementia in other diseases; senile degeneration of brain
    ('dementia', 10, 3, ['F00', 'F01', 'F02', 'F03', 'G30']),  -- dementias; Alzheimer disease
    ('dementia', 10, 4, ['F051', 'G311']),  -- delirium on dementia; senile degeneration of brain
    ('chronic_pulmonary_disease', 9, 4, [
      '4168', '4169',  -- chronic pulmonary heart disease
      '5064', '5081', '5088'  -- chronic conditions due to fumes, radiation and other external agents
    ]),
    ('chronic_pulmonary_disease', 10, 4, [
      'I278', 'I279',  -- pulmonary heart disease
      'J684', 'J701', 'J703'  -- chronic conditions due to chemicals, radiation and drugs
    ]),
    ('rheumatic_disease', 9, 3, ['725']),  -- polymyalgia rheumatica
    ('rheumatic_disease', 9, 4, [
      '4465',  -- giant cell arteritis
      '7100', '7101', '7102', '7103', '7104',  -- diffuse diseases of connective tissue
      '7140', '7141', '7142', '7148'  -- rheumatoid arthritis
    ]),
    ('rheumatic_disease', 10, 3, ['M05', 'M06', 'M32', 'M33', 'M34']),  -- rheumatoid arthritis; lupus; dermatopolymyositis; sclerosis
    ('rheumatic_disease', 10, 4, ['M315', 'M351', 'M353', 'M360']),  -- giant cell arteritis; overlap syndromes; polymyalgia; paraneoplastic myositis
    ('peptic_ulcer_disease', 9, 3, ['531', '532', '533', '534']),  -- gastric, duodenal, peptic, gastrojejunal ulcer
    ('peptic_ulcer_disease', 10, 3, ['K25', 'K26', 'K27', 'K28']),  -- gastric, duodenal, peptic, gastrojejunal ulcer
    ('mild_liver_disease', 9, 3, ['570', '571']),  -- liver necrosis; chronic liver disease and cirrhosis
    ('mild_liver_disease', 9, 4, [
      '0706', '0709',  -- viral hepatitis, unspecified
      '5733', '5734', '5738', '5739', 'V427'  -- other disorders of liver; liver transplant
    ]),
    ('mild_liver_disease', 9, 5, ['07022', '07023', '07032', '07033', '07044', '07054']),  -- chronic hepatitis B and C
    ('mild_liver_disease', 10, 3, ['B18', 'K73', 'K74']),  -- chronic viral hepatitis; chronic hepatitis; fibrosis and cirrhosis
    ('mild_liver_disease', 10, 4, [
      'K700', 'K701', 'K702', 'K703', 'K709',  -- alcoholic liver disease
      'K713', 'K714', 'K715', 'K717',  -- toxic liver disease
      'K760', 'K762', 'K763', 'K764', 'K768', 'K769', 'Z944'  -- other diseases of liver; liver transplant
    ]),
    ('diabetes_without_cc', 9, 4, ['2500', '2501', '2502', '2503', '2508', '2509']),  -- diabetes, acute or unspecified complications
    ('diabetes_without_cc', 10, 4, [
      'E100', 'E101', 'E106', 'E108', 'E109',  -- type 1
      'E110', 'E111', 'E116', 'E118', 'E119',  -- type 2
      'E120', 'E121', 'E126', 'E128', 'E129',  -- malnutrition-related
      'E130', 'E131', 'E136', 'E138', 'E139',  -- other specified
      'E140', 'E141', 'E146', 'E148', 'E149'  -- unspecified
    ]),
    ('diabetes_with_cc', 9, 4, ['2504', '2505', '2506', '2507']),  -- renal, ophthalmic, neurological, circulatory complications
    ('diabetes_with_cc', 10, 4, [
      'E102', 'E103', 'E104', 'E105', 'E107',  -- type 1
      'E112', 'E113', 'E114', 'E115', 'E117',  -- type 2
      'E122', 'E123', 'E124', 'E125', 'E127',  -- malnutrition-related
      'E132', 'E133', 'E134', 'E135', 'E137',  -- other specified
      'E142', 'E143', 'E144', 'E145', 'E147'  -- unspecified
    ]),
    ('paraplegia', 9, 3, ['342', '343']),  -- hemiplegia; infantile cerebral palsy
    ('paraplegia', 9, 4, [
      '3341',  -- hereditary spastic paraplegia
      '3440', '3441', '3442', '3443', '3444', '3445', '3446', '3449'  -- other paralytic syndromes
    ]),
    ('paraplegia', 10, 3, ['G81', 'G82']),  -- hemiplegia; paraplegia and tetraplegia
    ('paraplegia', 10, 4, [
      'G041', 'G114', 'G801', 'G802',  -- tropical, hereditary spastic paraplegia; spastic cerebral palsy
      'G830', 'G831', 'G832', 'G833', 'G834', 'G839'  -- other paralytic syndromes
    ]),
    ('renal_disease', 9, 3, ['582', '585', '586', 'V56']),  -- chronic nephritis; chronic, unspecified kidney failure; dialysis care
    ('renal_disease', 9, 4, ['5880', 'V420', 'V451']),  -- renal osteodystrophy; kidney transplant; dialysis status
    ('renal_disease', 9, 5, [
      '40301', '40311', '40391',  -- hypertensive kidney disease, advanced
      '40402', '40403', '40412', '40413', '40492', '40493'  -- hypertensive heart and kidney disease, advanced
    ]),
    ('renal_disease', 10, 3, ['N18', 'N19']),  -- chronic, unspecified kidney failure
    ('renal_disease', 10, 4, [
      'I120', 'I131',  -- hypertensive kidney disease, heart and kidney disease with kidney failure
      'N032', 'N033', 'N034', 'N035', 'N036', 'N037',  -- chronic nephritic syndrome
      'N052', 'N053', 'N054', 'N055', 'N056', 'N057',  -- unspecified nephritic syndrome
      'N250', 'Z490', 'Z491', 'Z492', 'Z940', 'Z992'  -- renal osteodystrophy; dialysis; kidney transplant
    ]),
    ('malignant_cancer', 9, 4, ['2386']),  -- plasma cell neoplasm of uncertain behaviour
    ('malignant_cancer', 10, 3, ['C43', 'C88']),  -- melanoma of skin; immunoproliferative disease
    ('severe_liver_disease', 9, 4, ['4560', '4561', '4562']),  -- oesophageal varices
    ('severe_liver_disease', 10, 4, [
      'I850', 'I859', 'I864', 'I982',  -- oesophageal and gastric varices
      'K704', 'K711', 'K721', 'K729', 'K765', 'K766', 'K767'  -- hepatic failure, veno-occlusion, portal hypertension, hepatorenal
    ]),
    ('metastatic_solid_tumor', 9, 3, ['196', '197', '198', '199']),  -- secondary and unspecified site
    ('metastatic_solid_tumor', 10, 3, ['C77', 'C78', 'C79', 'C80']),  -- secondary and unspecified site
    ('aids', 9, 3, ['042', '043', '044']),  -- human immunodeficiency virus infection
    ('aids', 10, 3, ['B20', 'B21', 'B22', 'B24'])  -- human immunodeficiency virus disease
),
code_ranges (comorbidity, icd_version, prefix_length, first_code, last_code) as (
  values
    ('congestive_heart_failure', 9, 4, '4254', '4259'),  -- cardiomyopathies
    ('peripheral_vascular_disease', 9, 4, '4431', '4439'),  -- other peripheral vascular disease
    ('cerebrovascular_disease', 9, 3, '430', '438'),  -- haemorrhage, infarction and late effects
    ('cerebrovascular_disease', 10, 3, 'I60', 'I69'),  -- haemorrhage, infarction and sequelae
    ('chronic_pulmonary_disease', 9, 3, '490', '505'),  -- bronchitis, emphysema, asthma, pneumoconiosis
    ('chronic_pulmonary_disease', 10, 3, 'J40', 'J47'),  -- bronchitis, emphysema, asthma, bronchiectasis
    ('chronic_pulmonary_disease', 10, 3, 'J60', 'J67'),  -- pneumoconiosis and lung diseases of external agents
    ('renal_disease', 9, 4, '5830', '5837'),  -- nephritis not specified as acute or chronic
    ('malignant_cancer', 9, 3, '140', '172'),  -- lip to melanoma
    ('malignant_cancer', 9, 4, '1740', '1958'),  -- breast to other and ill-defined sites
    ('malignant_cancer', 9, 3, '200', '208'),  -- lymphoma and leukaemia
    ('malignant_cancer', 10, 3, 'C00', 'C26'),  -- lip, mouth, digestive organs
    ('malignant_cancer', 10, 3, 'C30', 'C34'),  -- respiratory organs
    ('malignant_cancer', 10, 3, 'C37', 'C41'),  -- thorax, bone
    ('malignant_cancer', 10, 3, 'C45', 'C58'),  -- soft tissue, breast, female genital organs
    ('malignant_cancer', 10, 3, 'C60', 'C76'),  -- male genital organs to ill-defined sites
    ('malignant_cancer', 10, 3, 'C81', 'C85'),  -- lymphoma
    ('malignant_cancer', 10, 3, 'C90', 'C97'),  -- myeloma, leukaemia, multiple sites
    ('severe_liver_disease', 9, 4, '5722', '5728')  -- hepatic coma, portal hypertension, hepatorenal syndrome
),
listed_codes as (
  select comorbidity, icd_version, prefix_length, unnest(codes) as first_code, first_code as last_code
  from code_lists
  union all
  select comorbidity, icd_version, prefix_length, first_code, last_code
  from code_ranges
),
billed_codes as (
  select distinct icd_version, icd_code
  from mimiciv_hosp.diagnoses_icd
),
comorbidity_codes as (
  select distinct
    billed_codes.icd_version,
    billed_codes.icd_code,
    listed_codes.comorbidity
  from billed_codes
  inner join listed_codes
    on billed_codes.icd_version = listed_codes.icd_version
    and substr(billed_codes.icd_code, 1, listed_codes.prefix_length)
      between listed_codes.first_code and listed_codes.last_code
),
admission_flags as (
  select
    diagnoses_icd.hadm_id,
    max(case when comorbidity = 'myocardial_infarct' then 1 else 0 end) as myocardial_infarct,
    max(case when comorbidity = 'congestive_heart_failure' then 1 else 0 end) as congestive_heart_failure,
    max(case when comorbidity = 'peripheral_vascular_disease' then 1 else 0 end) as peripheral_vascular_disease,
    max(case when comorbidity = 'cerebrovascular_disease' then 1 else 0 end) as cerebrovascular_disease,
    max(case when comorbidity = 'dementia' then 1 else 0 end) as dementia,
    max(case when comorbidity = 'chronic_pulmonary_disease' then 1 else 0 end) as chronic_pulmonary_disease,
    max(case when comorbidity = 'rheumatic_disease' then 1 else 0 end) as rheumatic_disease,
    max(case when comorbidity = 'peptic_ulcer_disease' then 1 else 0 end) as peptic_ulcer_disease,
    max(case when comorbidity = 'mild_liver_disease' then 1 else 0 end) as mild_liver_disease,
    max(case when comorbidity = 'diabetes_without_cc' then 1 else 0 end) as diabetes_without_cc,
    max(case when comorbidity = 'diabetes_with_cc' then 1 else 0 end) as diabetes_with_cc,
    max(case when comorbidity = 'paraplegia' then 1 else 0 end) as paraplegia,
    max(case when comorbidity = 'renal_disease' then 1 else 0 end) as renal_disease,
    max(case when comorbidity = 'malignant_cancer' then 1 else 0 end) as malignant_cancer,
    max(case when comorbidity = 'severe_liver_disease' then 1 else 0 end) as severe_liver_disease,
    max(case when comorbidity = 'metastatic_solid_tumor' then 1 else 0 end) as metastatic_solid_tumor,
    max(case when comorbidity = 'aids' then 1 else 0 end) as aids
  from mimiciv_hosp.diagnoses_icd
  inner join comorbidity_codes
    on diagnoses_icd.icd_version = comorbidity_codes.icd_version
    and diagnoses_icd.icd_code = comorbidity_codes.icd_code
  group by diagnoses_icd.hadm_id
),
admission_scores as (
  select
    admissions.subject_id,
    admissions.hadm_id,
    case
      when age.hadm_id is null then null
      when age.age <= 50 then 0
      when age.age <= 60 then 1
      when age.age <= 70 then 2
      when age.age <= 80 then 3
      else 4
    end as age_score,
    coalesce(myocardial_infarct, 0) as myocardial_infarct,
    coalesce(congestive_heart_failure, 0) as congestive_heart_failure,
    coalesce(peripheral_vascular_disease, 0) as peripheral_vascular_disease,
    coalesce(cerebrovascular_disease, 0) as cerebrovascular_disease,
    coalesce(dementia, 0) as dementia,
    coalesce(chronic_pulmonary_disease, 0) as chronic_pulmonary_disease,
    coalesce(rheumatic_disease, 0) as rheumatic_disease,
    coalesce(peptic_ulcer_disease, 0) as peptic_ulcer_disease,
    coalesce(mild_liver_disease, 0) as mild_liver_disease,
    coalesce(diabetes_without_cc, 0) as diabetes_without_cc,
    coalesce(diabetes_with_cc, 0) as diabetes_with_cc,
    coalesce(paraplegia, 0) as paraplegia,
    coalesce(renal_disease, 0) as renal_disease,
    coalesce(malignant_cancer, 0) as malignant_cancer,
    coalesce(severe_liver_disease, 0) as severe_liver_disease,
    coalesce(metastatic_solid_tumor, 0) as metastatic_solid_tumor,
    coalesce(aids, 0) as aids
  from mimiciv_hosp.admissions
  left join admission_flags
    on admissions.hadm_id = admission_flags.hadm_id
  left join mimiciv_derived.age
    on admissions.hadm_id = age.hadm_id
)
select
  *,
  age_score
    + myocardial_infarct
    + congestive_heart_failure
    + peripheral_vascular_disease
    + cerebrovascular_disease
    + dementia
    + chronic_pulmonary_disease
    + rheumatic_disease
    + peptic_ulcer_disease
    + greatest(mild_liver_disease, 3 * severe_liver_disease)
    + greatest(2 * diabetes_with_cc, diabetes_without_cc)
    + greatest(2 * malignant_cancer, 6 * metastatic_solid_tumor)
    + 2 * paraplegia
    + 2 * renal_disease
    + 6 * aids
    as charlson_comorbidity_index
from admission_scores
