with vitals as (
  select
    icustay.stay_id,
    min(temperature) as temperature_min,
    max(temperature) as temperature_max,
    max(heart_rate) as heart_rate_max,
    max(resp_rate) as resp_rate_max
  from mimiciv_icu.icustays as icustay
  join paragraph.vital_signs as vital
    on vital.stay_id = icustay.stay_id
    and vital.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
gases as (
  select
    subject_id,
    charttime,
    arg_min(pco2, specimen_id) as pco2
  from paragraph.arterial_gases
  where po2 is not null
  group by all
),
lowest_pco2 as (
  select
    icustay.stay_id,
    min(pco2) as pco2_min
  from mimiciv_icu.icustays as icustay
  join gases
    on gases.subject_id = icustay.subject_id
    and gases.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
blood_counts as (
  select
    icustay.stay_id,
    min(valuenum) filter (itemid = 51301 and valuenum > 0) as wbc_min, -- White Blood Cells
    max(valuenum) filter (itemid = 51301 and valuenum > 0) as wbc_max,
    max(valuenum) filter (itemid = 51144) as bands_max -- Bands
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where lab.itemid in (51301, 51144)
  group by all
),
scores as (
  select
    icustay.subject_id,
    icustay.hadm_id,
    icustay.stay_id,
    coalesce(temperature_min < 36 or temperature_max > 38, false)::int as temp_score,
    coalesce(heart_rate_max > 90, false)::int as heart_rate_score,
    coalesce(resp_rate_max > 20 or pco2_min < 32, false)::int as resp_score,
    coalesce(wbc_min < 4 or wbc_max > 12 or bands_max > 10, false)::int as wbc_score
  from mimiciv_icu.icustays as icustay
  left join vitals using (stay_id)
  left join lowest_pco2 using (stay_id)
  left join blood_counts using (stay_id)
)
select
  subject_id,
  hadm_id,
  stay_id,
  temp_score + heart_rate_score + resp_score + wbc_score as sirs,
  temp_score,
  heart_rate_score,
  resp_score,
  wbc_score
from scores
