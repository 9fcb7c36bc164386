with specimens as (
  select hadm_id, specimen_id, max(valuenum) as creatinine
  from mimiciv_hosp.labevents
  where itemid = 50912 -- Creatinine
    and valuenum > 0
    and valuenum <= 150
    and hadm_id is not null
  group by all
),
lowest as (
  select hadm_id, min(creatinine) as scr_min
  from specimens
  group by all
),
kidney_disease as (
  select distinct hadm_id
  from mimiciv_hosp.diagnoses_icd
  where icd_version = 9 and icd_code like '585%' or icd_version = 10 and icd_code like 'N18%'
),
cohort as (
  select
    hadm_id,
    gender,
    age,
    scr_min,
    (hadm_id in (from kidney_disease))::int as ckd,
    case
      when gender = 'F' then pow(75 / 186 / pow(age, -0.203) / 0.742, -1 / 1.154)
      else pow(75 / 186 / pow(age, -0.203), -1 / 1.154)
    end as mdrd_est
  from paragraph.age
  left join lowest using (hadm_id)
  where age >= 18
)
select
  *,
  case when scr_min <= 1.1 then scr_min when ckd = 1 then scr_min else mdrd_est end as scr_baseline
from cohort
