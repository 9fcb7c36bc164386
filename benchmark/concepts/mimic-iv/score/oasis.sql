-- title: Oxford Acute Severity of Illness Score of the first day
-- grain: one row per ICU stay with its admission and patient
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_hosp.admissions, mimiciv_hosp.patients, mimiciv_hosp.services, mimiciv_derived.age, mimiciv_derived.ventilation, mimiciv_derived.first_day_gcs, mimiciv_derived.first_day_vitalsign, mimiciv_derived.first_day_urine_output
-- citation: Johnson 2013, Critical Care Medicine
-- conventions:
--   - Vital signs, urine output and GCS are those of the first-day tables; urine output is not scaled to 24 hours.
--   - Time from hospital to ICU admission is in minutes with fraction; a negative one scores 5.
--   - Age is fractional: between 89 and 90 no band applies and the score is 0; 53.4 falls into the band above 53.
--   - Heart rates between 106 and 107 score 0.
--   - A stay is mechanically ventilated if it was invasively ventilated at some time of the first 24 hours, ends included.
--   - A stay is surgical if the admission was under a surgical service or orthopaedics at any time before 24 hours after ICU admission; only the admission type ELECTIVE is elective.
--   - The reported vital sign is the one whose rule gave the score, else the mean of minimum and maximum.
--   - A component without data is missing; the total counts it as 0. The probability is that of hospital death.
-- ties: none
with surgical_stays as (
  select distinct icustays.stay_id
  from mimiciv_icu.icustays
  inner join mimiciv_hosp.services
    on icustays.hadm_id = services.hadm_id
    and services.transfertime < icustays.intime + interval '1 day'
  where contains(lower(services.curr_service), 'surg')
    or services.curr_service = 'ORTHO'
),
ventilated_stays as (
  select distinct icustays.stay_id
  from mimiciv_icu.icustays
  inner join mimiciv_derived.ventilation
    on icustays.stay_id = ventilation.stay_id
  where ventilation.ventilation_status = 'InvasiveVent'
    and (
      (starttime >= intime and starttime <= intime + interval '1 day')
      or (endtime >= intime and endtime <= intime + interval '1 day')
      or (starttime <= intime and endtime >= intime + interval '1 day')
    )
),
first_day as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    age.age,
    -- minutes from hospital to ICU admission, with fraction
    date_diff('microsecond', admissions.admittime, icustays.intime) / 60000000 as preiculos,
    gcs_min,
    heart_rate_min,
    heart_rate_max,
    mbp_min,
    mbp_max,
    resp_rate_min,
    resp_rate_max,
    temperature_min,
    temperature_max,
    urineoutput,
    case when ventilated_stays.stay_id is null then 0 else 1 end as mechvent,
    case
      when admissions.admission_type = 'ELECTIVE' and surgical_stays.stay_id is not null then 1
      when admissions.admission_type is null then null
      else 0
    end as electivesurgery
  from mimiciv_icu.icustays
  inner join mimiciv_hosp.admissions
    on icustays.hadm_id = admissions.hadm_id
  inner join mimiciv_hosp.patients
    on icustays.subject_id = patients.subject_id
  left join mimiciv_derived.age
    on icustays.hadm_id = age.hadm_id
  left join surgical_stays
    on icustays.stay_id = surgical_stays.stay_id
  left join ventilated_stays
    on icustays.stay_id = ventilated_stays.stay_id
  left join mimiciv_derived.first_day_gcs
    on icustays.stay_id = first_day_gcs.stay_id
  left join mimiciv_derived.first_day_vitalsign
    on icustays.stay_id = first_day_vitalsign.stay_id
  left join mimiciv_derived.first_day_urine_output
    on icustays.stay_id = first_day_urine_output.stay_id
),
components as (
  select
    *,
    case
      when preiculos is null then null
      when preiculos < 10.2 then 5
      when preiculos < 297 then 3
      when preiculos < 1440 then 0
      when preiculos < 18708 then 2
      else 1
    end as preiculos_score,
    case
      when age is null then null
      when age < 24 then 0
      when age <= 53 then 3
      when age <= 77 then 6
      when age <= 89 then 9
      when age >= 90 then 7
      else 0
    end as age_score,
    case
      when gcs_min is null then null
      when gcs_min <= 7 then 10
      when gcs_min < 14 then 4
      when gcs_min = 14 then 3
      else 0
    end as gcs_score,
    case
      when heart_rate_max is null then null
      when heart_rate_max > 125 then 6
      when heart_rate_min < 33 then 4
      when heart_rate_max >= 107 and heart_rate_max <= 125 then 3
      when heart_rate_max >= 89 and heart_rate_max <= 106 then 1
      else 0
    end as heart_rate_score,
    case
      when mbp_min is null then null
      when mbp_min < 20.65 then 4
      when mbp_min < 51 then 3
      when mbp_max > 143.44 then 3
      when mbp_min >= 51 and mbp_min < 61.33 then 2
      else 0
    end as mbp_score,
    case
      when resp_rate_min is null then null
      when resp_rate_min < 6 then 10
      when resp_rate_max > 44 then 9
      when resp_rate_max > 30 then 6
      when resp_rate_max > 22 then 1
      when resp_rate_min < 13 then 1
      else 0
    end as resp_rate_score,
    case
      when temperature_max is null then null
      when temperature_max > 39.88 then 6
      when temperature_min >= 33.22 and temperature_min <= 35.93 then 4
      when temperature_max >= 33.22 and temperature_max <= 35.93 then 4
      when temperature_min < 33.22 then 3
      when temperature_min > 35.93 and temperature_min <= 36.39 then 2
      when temperature_max >= 36.89 and temperature_max <= 39.88 then 2
      else 0
    end as temp_score,
    case
      when urineoutput is null then null
      when urineoutput < 671.09 then 10
      when urineoutput > 6896.80 then 8
      when urineoutput >= 671.09 and urineoutput <= 1426.99 then 5
      when urineoutput >= 1427.00 and urineoutput <= 2544.14 then 1
      else 0
    end as urineoutput_score,
    case
      when mechvent = 1 then 9
      else 0
    end as mechvent_score,
    case
      when electivesurgery is null then null
      when electivesurgery = 1 then 0
      else 6
    end as electivesurgery_score,
    case
      when heart_rate_max is null then null
      when heart_rate_max > 125 then heart_rate_max
      when heart_rate_min < 33 then heart_rate_min
      when heart_rate_max >= 107 and heart_rate_max <= 125 then heart_rate_max
      when heart_rate_max >= 89 and heart_rate_max <= 106 then heart_rate_max
      else (heart_rate_min + heart_rate_max) / 2
    end as heartrate,
    case
      when mbp_min is null then null
      when mbp_min < 51 then mbp_min
      when mbp_max > 143.44 then mbp_max
      when mbp_min >= 51 and mbp_min < 61.33 then mbp_min
      else (mbp_min + mbp_max) / 2
    end as meanbp,
    case
      when resp_rate_min is null then null
      when resp_rate_min < 6 then resp_rate_min
      when resp_rate_max > 22 then resp_rate_max
      when resp_rate_min < 13 then resp_rate_min
      else (resp_rate_min + resp_rate_max) / 2
    end as resprate,
    case
      when temperature_max is null then null
      when temperature_max > 39.88 then temperature_max
      when temperature_min >= 33.22 and temperature_min <= 35.93 then temperature_min
      when temperature_max >= 33.22 and temperature_max <= 35.93 then temperature_max
      when temperature_min < 33.22 then temperature_min
      when temperature_min > 35.93 and temperature_min <= 36.39 then temperature_min
      when temperature_max >= 36.89 and temperature_max <= 39.88 then temperature_max
      else (temperature_min + temperature_max) / 2
    end as temp
  from first_day
),
totals as (
  select
    *,
    coalesce(preiculos_score, 0)
      + coalesce(age_score, 0)
      + coalesce(gcs_score, 0)
      + coalesce(heart_rate_score, 0)
      + coalesce(mbp_score, 0)
      + coalesce(resp_rate_score, 0)
      + coalesce(temp_score, 0)
      + coalesce(urineoutput_score, 0)
      + coalesce(mechvent_score, 0)
      + coalesce(electivesurgery_score, 0) as oasis
  from components
)
select
  subject_id,
  hadm_id,
  stay_id,
  oasis,
  1 / (1 + exp(-(-6.1746 + 0.1275 * oasis))) as oasis_prob,
  age,
  age_score,
  preiculos,
  preiculos_score,
  gcs_min as gcs,
  gcs_score,
  heartrate,
  heart_rate_score,
  meanbp,
  mbp_score,
  resprate,
  resp_rate_score,
  temp,
  temp_score,
  urineoutput,
  urineoutput_score,
  mechvent,
  mechvent_score,
  electivesurgery,
  electivesurgery_score
from totals
