-- Charlson index per admission as a person might write it from the instruction alone: code families from memory,
-- the same text compared for both ICD versions, the patient's anchor age, every condition added to the total.
copy (
  with flags as (
    select
      hadm_id,
      max(case when icd_code like '410%' or icd_code like '412%' or icd_code like 'I21%' or icd_code like 'I22%' then 1 else 0 end) as myocardial_infarct,
      max(case when icd_code like '428%' or icd_code like 'I50%' then 1 else 0 end) as congestive_heart_failure,
      max(case when icd_code like '440%' or icd_code like '441%' or icd_code like '443%' or icd_code like 'I70%' or icd_code like 'I71%' or icd_code like 'I73%' then 1 else 0 end) as peripheral_vascular_disease,
      max(case when left(icd_code, 3) between '430' and '438' or left(icd_code, 3) between 'I60' and 'I69' then 1 else 0 end) as cerebrovascular_disease,
      max(case when icd_code like '290%' or icd_code like 'F00%' or icd_code like 'F01%' or icd_code like 'F02%' or icd_code like 'F03%' or icd_code like 'G30%' then 1 else 0 end) as dementia,
      max(case when left(icd_code, 3) between '490' and '496' or left(icd_code, 3) between 'J40' and 'J47' then 1 else 0 end) as chronic_pulmonary_disease,
      max(case when icd_code like '714%' or icd_code like '710%' or icd_code like 'M05%' or icd_code like 'M06%' or icd_code like 'M32%' then 1 else 0 end) as rheumatic_disease,
      max(case when left(icd_code, 3) between '531' and '534' or left(icd_code, 3) between 'K25' and 'K28' then 1 else 0 end) as peptic_ulcer_disease,
      max(case when icd_code like '571%' or icd_code like 'K70%' or icd_code like 'K73%' or icd_code like 'K74%' then 1 else 0 end) as mild_liver_disease,
      max(case when icd_code like '2500%' or left(icd_code, 4) in ('E109', 'E119') then 1 else 0 end) as diabetes_without_cc,
      max(case when left(icd_code, 4) between '2501' and '2509' or (left(icd_code, 3) in ('E10', 'E11') and left(icd_code, 4) not in ('E109', 'E119')) then 1 else 0 end) as diabetes_with_cc,
      max(case when icd_code like '342%' or icd_code like '344%' or icd_code like 'G81%' or icd_code like 'G82%' then 1 else 0 end) as paraplegia,
      max(case when icd_code like '585%' or icd_code like '586%' or icd_code like 'N18%' or icd_code like 'N19%' then 1 else 0 end) as renal_disease,
      max(case when left(icd_code, 3) between '140' and '208' or left(icd_code, 3) between 'C00' and 'C97' then 1 else 0 end) as malignant_cancer,
      max(case when icd_code like '572%' or icd_code like 'K72%' or icd_code like 'I85%' then 1 else 0 end) as severe_liver_disease,
      max(case when left(icd_code, 3) between '196' and '199' or left(icd_code, 3) between 'C77' and 'C80' then 1 else 0 end) as metastatic_solid_tumor,
      max(case when icd_code like '042%' or icd_code like 'B20%' then 1 else 0 end) as aids
    from mimiciv_hosp.diagnoses_icd
    group by hadm_id
  ),
  scored as (
    select
      admissions.subject_id,
      admissions.hadm_id,
      case
        when patients.anchor_age < 50 then 0
        when patients.anchor_age < 60 then 1
        when patients.anchor_age < 70 then 2
        when patients.anchor_age < 80 then 3
        else 4
      end as age_score,
      coalesce(columns(flags.* exclude (hadm_id)), 0)
    from mimiciv_hosp.admissions as admissions
    inner join mimiciv_hosp.patients as patients on admissions.subject_id = patients.subject_id
    left join flags on admissions.hadm_id = flags.hadm_id
  )
  select
    *,
    age_score + myocardial_infarct + congestive_heart_failure + peripheral_vascular_disease
      + cerebrovascular_disease + dementia + chronic_pulmonary_disease + rheumatic_disease
      + peptic_ulcer_disease + mild_liver_disease + diabetes_without_cc + 2 * diabetes_with_cc + 2 * paraplegia
      + 2 * renal_disease + 2 * malignant_cancer + 3 * severe_liver_disease + 6 * metastatic_solid_tumor
      + 6 * aids as charlson_comorbidity_index
  from scored
) to './output.csv' (header);
