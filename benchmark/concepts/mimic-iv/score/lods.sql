-- title: Logistic Organ Dysfunction Score of the first day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_icu.chartevents, mimiciv_hosp.admissions, mimiciv_hosp.patients, mimiciv_derived.bg, mimiciv_derived.ventilation, mimiciv_derived.first_day_gcs, mimiciv_derived.first_day_vitalsign, mimiciv_derived.first_day_urine_output, mimiciv_derived.first_day_lab
-- citation: Le Gall 1996, JAMA
-- conventions:
--   - Vital signs, laboratory values, urine output and GCS are those of the first-day tables.
--   - Blood gases of every specimen type count, over the whole ICU stay from admission, included, to discharge, not included, of the same hospital admission.
--   - Only gases under invasive ventilation or CPAP score, ends of the periods included; without any the pulmonary component is 0, not missing.
--   - One CPAP period runs from 1 hour before the first to 4 hours after the last charting of a CPAP or BiPAP mask within 24 hours of ICU admission, gaps included; it may reach beyond the day and the stay.
--   - The renal component needs urea nitrogen, creatinine and urine output; if one is missing it is missing.
--   - Prothrombin time limits are 3 seconds above and a quarter of a standard of 12 seconds.
--   - A component without data is missing; the total counts it as 0.
-- ties: none
with invasive_ventilation as (
  select stay_id, starttime, endtime
  from mimiciv_derived.ventilation
  where ventilation_status = 'InvasiveVent'
),
cpap_periods as (
  select
    icustays.stay_id,
    min(chartevents.charttime) - interval '1 hour' as starttime,
    max(chartevents.charttime) + interval '4 hours' as endtime
  from mimiciv_icu.icustays
  inner join mimiciv_icu.chartevents
    on icustays.stay_id = chartevents.stay_id
    and chartevents.charttime >= icustays.intime
    and chartevents.charttime <= icustays.intime + interval '1 day'
  where chartevents.itemid = 226732  -- O2 Delivery Device(s)
    and (
      contains(lower(chartevents.value), 'cpap')
      or contains(lower(chartevents.value), 'bipap mask')
    )
  group by icustays.stay_id
),
worst_ratios as (
  select
    icustays.stay_id,
    min(bg.pao2fio2ratio) as pao2fio2_vent_min
  from mimiciv_icu.icustays
  inner join mimiciv_derived.bg
    on icustays.hadm_id = bg.hadm_id
    and bg.charttime >= icustays.intime
    and bg.charttime < icustays.outtime
  left join invasive_ventilation
    on icustays.stay_id = invasive_ventilation.stay_id
    and bg.charttime >= invasive_ventilation.starttime
    and bg.charttime <= invasive_ventilation.endtime
  left join cpap_periods
    on icustays.stay_id = cpap_periods.stay_id
    and bg.charttime >= cpap_periods.starttime
    and bg.charttime <= cpap_periods.endtime
  where invasive_ventilation.stay_id is not null
    or cpap_periods.stay_id is not null
  group by icustays.stay_id
),
components as (
  select
    icustays.stay_id,
    case
      when gcs_min is null then null
      when gcs_min < 3 then null
      when gcs_min <= 5 then 5
      when gcs_min <= 8 then 3
      when gcs_min <= 13 then 1
      else 0
    end as neurologic,
    case
      when heart_rate_max is null and sbp_min is null then null
      when heart_rate_min < 30 then 5
      when sbp_min < 40 then 5
      when sbp_min < 70 then 3
      when sbp_max >= 270 then 3
      when heart_rate_max >= 140 then 1
      when sbp_max >= 240 then 1
      when sbp_min < 90 then 1
      else 0
    end as cardiovascular,
    case
      when bun_max is null or urineoutput is null or creatinine_max is null then null
      when urineoutput < 500 then 5
      when bun_max >= 56.0 then 5
      when creatinine_max >= 1.60 then 3
      when urineoutput < 750 then 3
      when bun_max >= 28.0 then 3
      when urineoutput >= 10000 then 3
      when creatinine_max >= 1.20 then 1
      when bun_max >= 17.0 then 1
      when bun_max >= 7.50 then 1
      else 0
    end as renal,
    case
      when pao2fio2_vent_min is null then 0
      when pao2fio2_vent_min >= 150 then 1
      when pao2fio2_vent_min < 150 then 3
    end as pulmonary,
    case
      when wbc_max is null and platelets_min is null then null
      when wbc_min < 1.0 then 3
      when wbc_min < 2.5 then 1
      when platelets_min < 50 then 1
      when wbc_max >= 50 then 1
      else 0
    end as hematologic,
    case
      when pt_max is null and bilirubin_total_max is null then null
      when bilirubin_total_max >= 2.0 then 1
      when pt_max > 15 then 1
      when pt_min < 3 then 1
      else 0
    end as hepatic
  from mimiciv_icu.icustays
  inner join mimiciv_hosp.admissions
    on icustays.hadm_id = admissions.hadm_id
  inner join mimiciv_hosp.patients
    on icustays.subject_id = patients.subject_id
  left join worst_ratios
    on icustays.stay_id = worst_ratios.stay_id
  left join mimiciv_derived.first_day_gcs
    on icustays.stay_id = first_day_gcs.stay_id
  left join mimiciv_derived.first_day_vitalsign
    on icustays.stay_id = first_day_vitalsign.stay_id
  left join mimiciv_derived.first_day_urine_output
    on icustays.stay_id = first_day_urine_output.stay_id
  left join mimiciv_derived.first_day_lab
    on icustays.stay_id = first_day_lab.stay_id
)
select
  icustays.subject_id,
  icustays.hadm_id,
  icustays.stay_id,
  coalesce(neurologic, 0)
    + coalesce(cardiovascular, 0)
    + coalesce(renal, 0)
    + coalesce(pulmonary, 0)
    + coalesce(hematologic, 0)
    + coalesce(hepatic, 0) as lods,
  neurologic,
  cardiovascular,
  renal,
  pulmonary,
  hematologic,
  hepatic
from mimiciv_icu.icustays
left join components
  on icustays.stay_id = components.stay_id
