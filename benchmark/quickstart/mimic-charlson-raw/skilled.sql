-- Charlson index per admission, written after reading the skill comorbidity-score, with the code lists of
-- Quan et al. 2005 at hand. A rule holds when the first `length` characters of a code lie between `low` and `high`.
copy (
  with rules (condition, version, length, low, high) as (
    values
      ('myocardial_infarct', 9, 3, '410', '410'), ('myocardial_infarct', 9, 3, '412', '412'),
      ('myocardial_infarct', 10, 3, 'I21', 'I22'), ('myocardial_infarct', 10, 4, 'I252', 'I252'),

      ('congestive_heart_failure', 9, 3, '428', '428'), ('congestive_heart_failure', 9, 4, '4254', '4259'),
      ('congestive_heart_failure', 9, 5, '39891', '39891'), ('congestive_heart_failure', 9, 5, '40201', '40201'),
      ('congestive_heart_failure', 9, 5, '40211', '40211'), ('congestive_heart_failure', 9, 5, '40291', '40291'),
      ('congestive_heart_failure', 9, 5, '40401', '40401'), ('congestive_heart_failure', 9, 5, '40403', '40403'),
      ('congestive_heart_failure', 9, 5, '40411', '40411'), ('congestive_heart_failure', 9, 5, '40413', '40413'),
      ('congestive_heart_failure', 9, 5, '40491', '40491'), ('congestive_heart_failure', 9, 5, '40493', '40493'),
      ('congestive_heart_failure', 10, 3, 'I43', 'I43'), ('congestive_heart_failure', 10, 3, 'I50', 'I50'),
      ('congestive_heart_failure', 10, 4, 'I099', 'I099'), ('congestive_heart_failure', 10, 4, 'I110', 'I110'),
      ('congestive_heart_failure', 10, 4, 'I130', 'I130'), ('congestive_heart_failure', 10, 4, 'I132', 'I132'),
      ('congestive_heart_failure', 10, 4, 'I255', 'I255'), ('congestive_heart_failure', 10, 4, 'I420', 'I420'),
      ('congestive_heart_failure', 10, 4, 'I425', 'I429'), ('congestive_heart_failure', 10, 4, 'P290', 'P290'),

      ('peripheral_vascular_disease', 9, 3, '440', '441'), ('peripheral_vascular_disease', 9, 4, '0930', '0930'),
      ('peripheral_vascular_disease', 9, 4, '4373', '4373'), ('peripheral_vascular_disease', 9, 4, '4431', '4439'),
      ('peripheral_vascular_disease', 9, 4, '4471', '4471'), ('peripheral_vascular_disease', 9, 4, '5571', '5571'),
      ('peripheral_vascular_disease', 9, 4, '5579', '5579'), ('peripheral_vascular_disease', 9, 4, 'V434', 'V434'),
      ('peripheral_vascular_disease', 10, 3, 'I70', 'I71'), ('peripheral_vascular_disease', 10, 4, 'I731', 'I731'),
      ('peripheral_vascular_disease', 10, 4, 'I738', 'I739'), ('peripheral_vascular_disease', 10, 4, 'I771', 'I771'),
      ('peripheral_vascular_disease', 10, 4, 'I790', 'I790'), ('peripheral_vascular_disease', 10, 4, 'I792', 'I792'),
      ('peripheral_vascular_disease', 10, 4, 'K551', 'K551'), ('peripheral_vascular_disease', 10, 4, 'K558', 'K559'),
      ('peripheral_vascular_disease', 10, 4, 'Z958', 'Z959'),

      ('cerebrovascular_disease', 9, 3, '430', '438'), ('cerebrovascular_disease', 9, 5, '36234', '36234'),
      ('cerebrovascular_disease', 10, 3, 'G45', 'G46'), ('cerebrovascular_disease', 10, 3, 'I60', 'I69'),
      ('cerebrovascular_disease', 10, 4, 'H340', 'H340'),

      ('dementia', 9, 3, '290', '290'), ('dementia', 9, 4, '2941', '2941'), ('dementia', 9, 4, '3312', '3312'),
      ('dementia', 10, 3, 'F00', 'F03'), ('dementia', 10, 3, 'G30', 'G30'),
      ('dementia', 10, 4, 'F051', 'F051'), ('dementia', 10, 4, 'G311', 'G311'),

      ('chronic_pulmonary_disease', 9, 3, '490', '505'), ('chronic_pulmonary_disease', 9, 4, '4168', '4169'),
      ('chronic_pulmonary_disease', 9, 4, '5064', '5064'), ('chronic_pulmonary_disease', 9, 4, '5081', '5081'),
      ('chronic_pulmonary_disease', 9, 4, '5088', '5088'),
      ('chronic_pulmonary_disease', 10, 3, 'J40', 'J47'), ('chronic_pulmonary_disease', 10, 3, 'J60', 'J67'),
      ('chronic_pulmonary_disease', 10, 4, 'I278', 'I279'), ('chronic_pulmonary_disease', 10, 4, 'J684', 'J684'),
      ('chronic_pulmonary_disease', 10, 4, 'J701', 'J701'), ('chronic_pulmonary_disease', 10, 4, 'J703', 'J703'),

      ('rheumatic_disease', 9, 3, '725', '725'), ('rheumatic_disease', 9, 4, '4465', '4465'),
      ('rheumatic_disease', 9, 4, '7100', '7104'), ('rheumatic_disease', 9, 4, '7140', '7142'),
      ('rheumatic_disease', 9, 4, '7148', '7148'),
      ('rheumatic_disease', 10, 3, 'M05', 'M06'), ('rheumatic_disease', 10, 3, 'M32', 'M34'),
      ('rheumatic_disease', 10, 4, 'M315', 'M315'), ('rheumatic_disease', 10, 4, 'M351', 'M351'),
      ('rheumatic_disease', 10, 4, 'M353', 'M353'), ('rheumatic_disease', 10, 4, 'M360', 'M360'),

      ('peptic_ulcer_disease', 9, 3, '531', '534'), ('peptic_ulcer_disease', 10, 3, 'K25', 'K28'),

      ('mild_liver_disease', 9, 3, '570', '571'), ('mild_liver_disease', 9, 4, '0706', '0706'),
      ('mild_liver_disease', 9, 4, '0709', '0709'), ('mild_liver_disease', 9, 4, '5733', '5734'),
      ('mild_liver_disease', 9, 4, '5738', '5739'), ('mild_liver_disease', 9, 4, 'V427', 'V427'),
      ('mild_liver_disease', 9, 5, '07022', '07023'), ('mild_liver_disease', 9, 5, '07032', '07033'),
      ('mild_liver_disease', 9, 5, '07044', '07044'), ('mild_liver_disease', 9, 5, '07054', '07054'),
      ('mild_liver_disease', 10, 3, 'B18', 'B18'), ('mild_liver_disease', 10, 3, 'K73', 'K74'),
      ('mild_liver_disease', 10, 4, 'K700', 'K703'), ('mild_liver_disease', 10, 4, 'K709', 'K709'),
      ('mild_liver_disease', 10, 4, 'K713', 'K715'), ('mild_liver_disease', 10, 4, 'K717', 'K717'),
      ('mild_liver_disease', 10, 4, 'K760', 'K760'), ('mild_liver_disease', 10, 4, 'K762', 'K764'),
      ('mild_liver_disease', 10, 4, 'K768', 'K769'), ('mild_liver_disease', 10, 4, 'Z944', 'Z944'),

      ('diabetes_without_cc', 9, 4, '2500', '2503'), ('diabetes_without_cc', 9, 4, '2508', '2509'),
      ('diabetes_without_cc', 10, 4, 'E100', 'E101'), ('diabetes_without_cc', 10, 4, 'E106', 'E106'),
      ('diabetes_without_cc', 10, 4, 'E108', 'E109'), ('diabetes_without_cc', 10, 4, 'E110', 'E111'),
      ('diabetes_without_cc', 10, 4, 'E116', 'E116'), ('diabetes_without_cc', 10, 4, 'E118', 'E119'),
      ('diabetes_without_cc', 10, 4, 'E120', 'E121'), ('diabetes_without_cc', 10, 4, 'E126', 'E126'),
      ('diabetes_without_cc', 10, 4, 'E128', 'E129'), ('diabetes_without_cc', 10, 4, 'E130', 'E131'),
      ('diabetes_without_cc', 10, 4, 'E136', 'E136'), ('diabetes_without_cc', 10, 4, 'E138', 'E139'),
      ('diabetes_without_cc', 10, 4, 'E140', 'E141'), ('diabetes_without_cc', 10, 4, 'E146', 'E146'),
      ('diabetes_without_cc', 10, 4, 'E148', 'E149'),

      ('diabetes_with_cc', 9, 4, '2504', '2507'),
      ('diabetes_with_cc', 10, 4, 'E102', 'E105'), ('diabetes_with_cc', 10, 4, 'E107', 'E107'),
      ('diabetes_with_cc', 10, 4, 'E112', 'E115'), ('diabetes_with_cc', 10, 4, 'E117', 'E117'),
      ('diabetes_with_cc', 10, 4, 'E122', 'E125'), ('diabetes_with_cc', 10, 4, 'E127', 'E127'),
      ('diabetes_with_cc', 10, 4, 'E132', 'E135'), ('diabetes_with_cc', 10, 4, 'E137', 'E137'),
      ('diabetes_with_cc', 10, 4, 'E142', 'E145'), ('diabetes_with_cc', 10, 4, 'E147', 'E147'),

      ('paraplegia', 9, 3, '342', '343'), ('paraplegia', 9, 4, '3341', '3341'),
      ('paraplegia', 9, 4, '3440', '3446'), ('paraplegia', 9, 4, '3449', '3449'),
      ('paraplegia', 10, 3, 'G81', 'G82'), ('paraplegia', 10, 4, 'G041', 'G041'),
      ('paraplegia', 10, 4, 'G114', 'G114'), ('paraplegia', 10, 4, 'G801', 'G802'),
      ('paraplegia', 10, 4, 'G830', 'G834'), ('paraplegia', 10, 4, 'G839', 'G839'),

      ('renal_disease', 9, 3, '582', '582'), ('renal_disease', 9, 3, '585', '586'),
      ('renal_disease', 9, 3, 'V56', 'V56'), ('renal_disease', 9, 4, '5830', '5837'),
      ('renal_disease', 9, 4, '5880', '5880'), ('renal_disease', 9, 4, 'V420', 'V420'),
      ('renal_disease', 9, 4, 'V451', 'V451'), ('renal_disease', 9, 5, '40301', '40301'),
      ('renal_disease', 9, 5, '40311', '40311'), ('renal_disease', 9, 5, '40391', '40391'),
      ('renal_disease', 9, 5, '40402', '40403'), ('renal_disease', 9, 5, '40412', '40413'),
      ('renal_disease', 9, 5, '40492', '40493'),
      ('renal_disease', 10, 3, 'N18', 'N19'), ('renal_disease', 10, 4, 'I120', 'I120'),
      ('renal_disease', 10, 4, 'I131', 'I131'), ('renal_disease', 10, 4, 'N032', 'N037'),
      ('renal_disease', 10, 4, 'N052', 'N057'), ('renal_disease', 10, 4, 'N250', 'N250'),
      ('renal_disease', 10, 4, 'Z490', 'Z492'), ('renal_disease', 10, 4, 'Z940', 'Z940'),
      ('renal_disease', 10, 4, 'Z992', 'Z992'),

      ('malignant_cancer', 9, 3, '140', '172'), ('malignant_cancer', 9, 3, '200', '208'),
      ('malignant_cancer', 9, 4, '1740', '1958'), ('malignant_cancer', 9, 4, '2386', '2386'),
      ('malignant_cancer', 10, 3, 'C00', 'C26'), ('malignant_cancer', 10, 3, 'C30', 'C34'),
      ('malignant_cancer', 10, 3, 'C37', 'C41'), ('malignant_cancer', 10, 3, 'C43', 'C43'),
      ('malignant_cancer', 10, 3, 'C45', 'C58'), ('malignant_cancer', 10, 3, 'C60', 'C76'),
      ('malignant_cancer', 10, 3, 'C81', 'C85'), ('malignant_cancer', 10, 3, 'C88', 'C88'),
      ('malignant_cancer', 10, 3, 'C90', 'C97'),

      ('severe_liver_disease', 9, 4, '4560', '4562'), ('severe_liver_disease', 9, 4, '5722', '5728'),
      ('severe_liver_disease', 10, 4, 'I850', 'I850'), ('severe_liver_disease', 10, 4, 'I859', 'I859'),
      ('severe_liver_disease', 10, 4, 'I864', 'I864'), ('severe_liver_disease', 10, 4, 'I982', 'I982'),
      ('severe_liver_disease', 10, 4, 'K704', 'K704'), ('severe_liver_disease', 10, 4, 'K711', 'K711'),
      ('severe_liver_disease', 10, 4, 'K721', 'K721'), ('severe_liver_disease', 10, 4, 'K729', 'K729'),
      ('severe_liver_disease', 10, 4, 'K765', 'K767'),

      ('metastatic_solid_tumor', 9, 3, '196', '199'), ('metastatic_solid_tumor', 10, 3, 'C77', 'C79'),
      ('metastatic_solid_tumor', 10, 3, 'C80', 'C80'),

      ('aids', 9, 3, '042', '044'), ('aids', 10, 3, 'B20', 'B22'), ('aids', 10, 3, 'B24', 'B24')
  ),
  present as (
    select distinct
      diagnoses.hadm_id,
      rules.condition
    from mimiciv_hosp.diagnoses_icd as diagnoses
    inner join rules
      on diagnoses.icd_version = rules.version
      and left(diagnoses.icd_code, rules.length) between rules.low and rules.high
  ),
  flags as (
    select
      hadm_id,
      count(*) filter (condition = 'myocardial_infarct') as myocardial_infarct,
      count(*) filter (condition = 'congestive_heart_failure') as congestive_heart_failure,
      count(*) filter (condition = 'peripheral_vascular_disease') as peripheral_vascular_disease,
      count(*) filter (condition = 'cerebrovascular_disease') as cerebrovascular_disease,
      count(*) filter (condition = 'dementia') as dementia,
      count(*) filter (condition = 'chronic_pulmonary_disease') as chronic_pulmonary_disease,
      count(*) filter (condition = 'rheumatic_disease') as rheumatic_disease,
      count(*) filter (condition = 'peptic_ulcer_disease') as peptic_ulcer_disease,
      count(*) filter (condition = 'mild_liver_disease') as mild_liver_disease,
      count(*) filter (condition = 'diabetes_without_cc') as diabetes_without_cc,
      count(*) filter (condition = 'diabetes_with_cc') as diabetes_with_cc,
      count(*) filter (condition = 'paraplegia') as paraplegia,
      count(*) filter (condition = 'renal_disease') as renal_disease,
      count(*) filter (condition = 'malignant_cancer') as malignant_cancer,
      count(*) filter (condition = 'severe_liver_disease') as severe_liver_disease,
      count(*) filter (condition = 'metastatic_solid_tumor') as metastatic_solid_tumor,
      count(*) filter (condition = 'aids') as aids
    from present
    group by hadm_id
  ),
  ages as (
    select
      admissions.subject_id,
      admissions.hadm_id,
      -- exact age at admission: anchor age plus the time since 1 January of the anchor year, in years of 365.242 days
      patients.anchor_age
        + epoch(admissions.admittime - make_timestamp(patients.anchor_year, 1, 1, 0, 0, 0)) / (365.242 * 86400) as age
    from mimiciv_hosp.admissions as admissions
    inner join mimiciv_hosp.patients as patients
      on admissions.subject_id = patients.subject_id
  ),
  scored as (
    select
      ages.subject_id,
      ages.hadm_id,
      case when age <= 50 then 0 when age <= 60 then 1 when age <= 70 then 2 when age <= 80 then 3 else 4 end as age_score,
      coalesce(flags.myocardial_infarct, 0) as myocardial_infarct,
      coalesce(flags.congestive_heart_failure, 0) as congestive_heart_failure,
      coalesce(flags.peripheral_vascular_disease, 0) as peripheral_vascular_disease,
      coalesce(flags.cerebrovascular_disease, 0) as cerebrovascular_disease,
      coalesce(flags.dementia, 0) as dementia,
      coalesce(flags.chronic_pulmonary_disease, 0) as chronic_pulmonary_disease,
      coalesce(flags.rheumatic_disease, 0) as rheumatic_disease,
      coalesce(flags.peptic_ulcer_disease, 0) as peptic_ulcer_disease,
      coalesce(flags.mild_liver_disease, 0) as mild_liver_disease,
      coalesce(flags.diabetes_without_cc, 0) as diabetes_without_cc,
      coalesce(flags.diabetes_with_cc, 0) as diabetes_with_cc,
      coalesce(flags.paraplegia, 0) as paraplegia,
      coalesce(flags.renal_disease, 0) as renal_disease,
      coalesce(flags.malignant_cancer, 0) as malignant_cancer,
      coalesce(flags.severe_liver_disease, 0) as severe_liver_disease,
      coalesce(flags.metastatic_solid_tumor, 0) as metastatic_solid_tumor,
      coalesce(flags.aids, 0) as aids
    from ages
    left join flags
      on ages.hadm_id = flags.hadm_id
  )
  select
    *,
    age_score
      + myocardial_infarct + congestive_heart_failure + peripheral_vascular_disease + cerebrovascular_disease
      + dementia + chronic_pulmonary_disease + rheumatic_disease + peptic_ulcer_disease
      + greatest(mild_liver_disease, 3 * severe_liver_disease)
      + greatest(diabetes_without_cc, 2 * diabetes_with_cc)
      + greatest(2 * malignant_cancer, 6 * metastatic_solid_tumor)
      + 2 * paraplegia
      + 2 * renal_disease
      + 6 * aids as charlson_comorbidity_index
  from scored
) to './output.csv' (header);
