with ranked as (
  select
    icustay.stay_id,
    moment.*,
    row_number() over (
      partition by icustay.stay_id
      order by total, charttime, motor nulls last, verbal nulls last, eyes nulls last
    ) as place
  from mimiciv_icu.icustays as icustay
  join paragraph.gcs_moments as moment
    on moment.stay_id = icustay.stay_id
    and moment.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
)
select
  icustay.subject_id,
  icustay.hadm_id,
  icustay.stay_id,
  coalesce(total, 15) as gcs_min,
  coalesce(motor, 6) as gcs_motor,
  coalesce(verbal, 5) as gcs_verbal,
  coalesce(eyes, 4) as gcs_eyes
from mimiciv_icu.icustays as icustay
left join ranked on ranked.stay_id = icustay.stay_id and place = 1
