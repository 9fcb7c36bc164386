with labs as (
  select
    icustay.stay_id,
    max(valuenum) filter (itemid = 50912 and valuenum > 0 and valuenum <= 150) as creatinine, -- Creatinine
    max(valuenum) filter (itemid = 50885 and valuenum > 0) as bilirubin, -- Bilirubin, Total
    max(valuenum) filter (itemid = 51237) as inr, -- INR(PT)
    min(valuenum) filter (itemid = 50983 and valuenum > 0 and valuenum <= 200) as sodium -- Sodium
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where itemid in (50912, 50885, 51237, 50983)
  group by all
),
dialysis_items as (
  select itemid
  from mimiciv_icu.d_items
  where (category = 'Dialysis' or label like '%Dialysis%' or label like '%(CRRT%' or label = 'Hemodialysis')
    and label not in ('Dialysis patient', 'Last dialysis')
),
dialysis_records as (
  select stay_id, charttime as starttime, charttime as endtime, itemid from mimiciv_icu.chartevents
  union all
  select stay_id, starttime, endtime, itemid from mimiciv_icu.procedureevents
  union all
  select stay_id, starttime, endtime, itemid from mimiciv_icu.inputevents
  union all
  select stay_id, charttime, charttime, itemid from mimiciv_icu.outputevents
),
dialysed_stays as (
  select distinct icustay.stay_id
  from mimiciv_icu.icustays as icustay
  join dialysis_records as record
    on record.stay_id = icustay.stay_id
    and record.starttime <= icustay.intime + interval 24 hours
    and record.endtime >= icustay.intime - interval 6 hours
  where record.itemid in (select itemid from dialysis_items)
),
terms as (
  select
    icustay.*,
    case
      when icustay.stay_id in (select stay_id from dialysed_stays) or creatinine > 4 then 0.957 * ln(4)
      when creatinine < 1 or creatinine is null then 0
      else 0.957 * ln(creatinine)
    end as creatinine_term,
    case when bilirubin < 1 or bilirubin is null then 0 else 0.378 * ln(bilirubin) end as bilirubin_term,
    case when inr < 1 or inr is null then 0.643 else 1.120 * ln(inr) + 0.643 end as inr_term,
    case when sodium > 137 or sodium is null then 0 when sodium < 125 then 12 else 137 - sodium end as sodium_term
  from mimiciv_icu.icustays as icustay
  left join labs using (stay_id)
),
initial_scores as (
  select
    *,
    case
      when creatinine_term + bilirubin_term + inr_term > 4 then 40
      else round(round((creatinine_term + bilirubin_term + inr_term)::decimal(18, 10), 3), 1)::double * 10
    end as initial
  from terms
)
select
  subject_id,
  hadm_id,
  stay_id,
  case when initial > 11 then initial + 1.32 * sodium_term - 0.033 * initial * sodium_term else initial end as meld
from initial_scores
