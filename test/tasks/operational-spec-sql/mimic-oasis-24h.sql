with vitals as (
  select
    icustay.stay_id,
    min(heart_rate) as heart_rate_min,
    max(heart_rate) as heart_rate_max,
    min(mbp) as mbp_min,
    max(mbp) as mbp_max,
    min(resp_rate) as resp_rate_min,
    max(resp_rate) as resp_rate_max,
    min(temperature) as temperature_min,
    max(temperature) as temperature_max
  from mimiciv_icu.icustays as icustay
  join paragraph.vital_signs as vital
    on vital.stay_id = icustay.stay_id
    and vital.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
gcs as (
  select icustay.stay_id, min(total) as gcs_min
  from mimiciv_icu.icustays as icustay
  join paragraph.gcs_moments as moment
    on moment.stay_id = icustay.stay_id
    and moment.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
urine as (
  select icustay.stay_id, sum(volume) as urineoutput
  from mimiciv_icu.icustays as icustay
  join paragraph.urine_volumes as urine
    on urine.stay_id = icustay.stay_id
    and urine.charttime between icustay.intime and icustay.intime + interval 24 hours
  group by all
),
ventilated as (
  select distinct icustay.stay_id
  from mimiciv_icu.icustays as icustay
  join paragraph.invasive_ventilation as episode
    on episode.stay_id = icustay.stay_id
    and episode.starttime <= icustay.intime + interval 24 hours
    and episode.endtime >= icustay.intime
),
surgical as (
  select distinct icustay.stay_id
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.services as service
    on service.hadm_id = icustay.hadm_id
    and service.transfertime < icustay.intime + interval 24 hours
  where service.curr_service ilike '%surg%' or service.curr_service = 'ORTHO'
),
facts as (
  select
    icustay.*,
    epoch(icustay.intime - admission.admittime) / 60 as minutes_before,
    age,
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
    icustay.stay_id in (from ventilated) as is_ventilated,
    admission.admission_type = 'ELECTIVE' and icustay.stay_id in (from surgical) as is_elective_surgery
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.admissions as admission using (hadm_id)
  join paragraph.age using (hadm_id)
  left join vitals using (stay_id)
  left join gcs using (stay_id)
  left join urine using (stay_id)
),
scores as (
  select
    subject_id,
    hadm_id,
    stay_id,
    case
      when minutes_before < 10.2 then 5
      when minutes_before < 297 then 3
      when minutes_before < 24 * 60 then 0
      when minutes_before < 311.8 * 60 then 2
      else 1
    end as preiculos_score,
    case
      when age < 24 then 0
      when age <= 53 then 3
      when age <= 77 then 6
      when age <= 89 then 9
      when age >= 90 then 7
      else 0
    end as age_score,
    case when gcs_min <= 7 then 10 when gcs_min <= 13 then 4 when gcs_min = 14 then 3 else 0 end as gcs_score,
    case
      when heart_rate_max > 125 then 6
      when heart_rate_min < 33 then 4
      when heart_rate_max between 107 and 125 then 3
      when heart_rate_max between 89 and 106 then 1
      else 0
    end as heart_rate_score,
    case when mbp_min < 20.65 then 4 when mbp_min < 51 then 3 when mbp_max > 143.44 then 3 when mbp_min < 61.33 then 2 else 0 end
      as mbp_score,
    case
      when resp_rate_min < 6 then 10
      when resp_rate_max > 44 then 9
      when resp_rate_max > 30 then 6
      when resp_rate_max > 22 then 1
      when resp_rate_min < 13 then 1
      else 0
    end as resp_rate_score,
    case
      when temperature_max > 39.88 then 6
      when temperature_min between 33.22 and 35.93 then 4
      when temperature_max between 33.22 and 35.93 then 4
      when temperature_min < 33.22 then 3
      when temperature_min <= 36.39 then 2
      when temperature_max between 36.89 and 39.88 then 2
      else 0
    end as temp_score,
    case
      when urineoutput < 671.09 then 10
      when urineoutput > 6896.80 then 8
      when urineoutput <= 1426.99 then 5
      when urineoutput between 1427.00 and 2544.14 then 1
      else 0
    end as urineoutput_score,
    case when is_ventilated then 9 else 0 end as mechvent_score,
    case when is_elective_surgery then 0 else 6 end as electivesurgery_score
  from facts
)
select
  subject_id,
  hadm_id,
  stay_id,
  preiculos_score + age_score + gcs_score + heart_rate_score + mbp_score + resp_rate_score + temp_score
  + urineoutput_score + mechvent_score + electivesurgery_score as oasis,
  * exclude (subject_id, hadm_id, stay_id)
from scores
