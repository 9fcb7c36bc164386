-- title: Charlson comorbidity index
-- grain: one row per hospital admission
-- keys: hadm_id
-- sources: mimiciv_derived.charlson
-- citation: Charlson 1987, Journal of Chronic Diseases; Charlson 1994, Journal of Clinical Epidemiology (age points); Quan 2005, Medical Care (code lists)
-- conventions:
--   - Those of the concept charlson; every hospital admission counts, with or without diagnoses.
-- ties: none
-- deviations: none
select
  subject_id,
  hadm_id,
  age_score,
  myocardial_infarct,
  congestive_heart_failure,
  peripheral_vascular_disease,
  cerebrovascular_disease,
  dementia,
  chronic_pulmonary_disease,
  rheumatic_disease,
  peptic_ulcer_disease,
  mild_liver_disease,
  diabetes_without_cc,
  diabetes_with_cc,
  paraplegia,
  renal_disease,
  malignant_cancer,
  severe_liver_disease,
  metastatic_solid_tumor,
  aids,
  charlson_comorbidity_index
from mimiciv_derived.charlson
