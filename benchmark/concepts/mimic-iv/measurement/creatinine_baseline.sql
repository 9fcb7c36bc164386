-- title: Baseline serum creatinine
-- grain: one row per adult hospital admission
-- keys: hadm_id
-- sources: mimiciv_hosp.patients, mimiciv_hosp.diagnoses_icd, mimiciv_derived.age, mimiciv_derived.chemistry
-- citation: Levey 1999, Annals of Internal Medicine (MDRD equation); Bellomo 2004, Critical Care (back-calculation at a filtration rate of 75)
-- conventions:
--   - Adult means a fractional age of at least 18 years at admission; there is no other age limit.
--   - The baseline is the lowest creatinine of the admission when it is at most 1.1 mg/dL or the patient has chronic kidney disease, otherwise the creatinine expected for age and sex at a filtration rate of 75 mL/min/1.73 m2.
--   - The expected creatinine has no race term, uses the fractional age, and treats an unknown sex as male; it is not rounded.
--   - The lowest creatinine is over all specimens attributed to the admission, without a time window; specimens without an admission never count.
--   - Chronic kidney disease is a billed ICD-9 code starting with 585 or ICD-10 code starting with N18, so it is known only after discharge.
--   - An admission without creatinine gets the expected creatinine, or a missing baseline in chronic kidney disease.
-- ties: none
with lowest_creatinine as (
  select
    hadm_id,
    min(creatinine) as scr_min
  from mimiciv_derived.chemistry
  group by hadm_id
),
chronic_kidney_disease as (
  select distinct hadm_id
  from mimiciv_hosp.diagnoses_icd
  where (icd_version = 9 and substr(icd_code, 1, 3) = '585')  -- Chronic kidney disease
    or (icd_version = 10 and substr(icd_code, 1, 3) = 'N18')  -- Chronic kidney disease
),
adult_admissions as (
  select
    age.hadm_id,
    patients.gender,
    age.age,
    lowest_creatinine.scr_min,
    case when chronic_kidney_disease.hadm_id is not null then 1 else 0 end as ckd,
    case
      when patients.gender = 'F'
        then pow(75 / 186 / pow(age.age, -0.203) / 0.742, -1 / 1.154)
      else pow(75 / 186 / pow(age.age, -0.203), -1 / 1.154)
    end as mdrd_est
  from mimiciv_derived.age
  left join mimiciv_hosp.patients
    on age.subject_id = patients.subject_id
  left join lowest_creatinine
    on age.hadm_id = lowest_creatinine.hadm_id
  left join chronic_kidney_disease
    on age.hadm_id = chronic_kidney_disease.hadm_id
  where age.age >= 18
)
select
  hadm_id,
  gender,
  age,
  scr_min,
  ckd,
  mdrd_est,
  case
    when scr_min <= 1.1 then scr_min
    when ckd = 1 then scr_min
    else mdrd_est
  end as scr_baseline
from adult_admissions
