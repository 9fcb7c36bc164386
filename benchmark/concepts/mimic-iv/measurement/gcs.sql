-- title: Glasgow Coma Scale, total and components at each charting time
-- grain: one row per patient, ICU stay and charting time with any GCS component
-- keys: subject_id, stay_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: Teasdale and Jennett 1974, Lancet; Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - several values of one component charted at the same time count with the highest
--   - a verbal response charted as "No Response-ETT" (intubated) is stored as verbal 0 and the total is set to 15; the total is 15 as well when the verbal response is missing and was "No Response-ETT" at the preceding charting time
--   - a missing component is carried forward from the directly preceding charting time of the stay if that lies less than 6 hours back (exactly 6 hours is too old); no earlier time is looked at
--   - after an intubated charting time nothing is carried into the total, although the component columns still show the carried value
--   - in the total a component still missing counts as normal (motor 6, verbal 5, eyes 4) while its own column stays empty
--   - if a real verbal response is charted together with "No Response-ETT", the real response counts and gcs_unable is still 1
--   - gcs_unable marks "No Response-ETT" at this very time and is never carried forward
-- ties: rows of one stay at one time can only differ in subject_id, the smaller comes first

with components as (
  select
    subject_id,
    stay_id,
    charttime,
    max(case when itemid = 223901 then valuenum end) as motor, -- GCS - Motor Response
    max(
      case
        when itemid = 223900 and value = 'No Response-ETT' then 0 -- GCS - Verbal Response
        when itemid = 223900 then valuenum
      end
    ) as verbal,
    max(case when itemid = 220739 then valuenum end) as eyes, -- GCS - Eye Opening
    max(case when itemid = 223900 and value = 'No Response-ETT' then 1 else 0 end) as intubated
  from mimiciv_icu.chartevents
  where itemid in (223901, 223900, 220739)
  group by subject_id, stay_id, charttime
),

with_preceding_time as (
  select
    subject_id,
    stay_id,
    charttime,
    motor,
    verbal,
    eyes,
    intubated,
    lag(motor) over stay_times as preceding_motor,
    lag(verbal) over stay_times as preceding_verbal,
    lag(eyes) over stay_times as preceding_eyes,
    stay_id is not null
      and lag(charttime) over stay_times > charttime - interval 6 hour as preceding_is_recent
  from components
  window stay_times as (partition by stay_id order by charttime nulls first, subject_id nulls first)
),

with_carried_components as (
  select
    subject_id,
    stay_id,
    charttime,
    motor,
    verbal,
    eyes,
    intubated,
    case when preceding_is_recent then preceding_motor end as carried_motor,
    case when preceding_is_recent then preceding_verbal end as carried_verbal,
    case when preceding_is_recent then preceding_eyes end as carried_eyes
  from with_preceding_time
)

select
  subject_id,
  stay_id,
  charttime,
  cast(
    case
      when verbal = 0 then 15
      when verbal is null and carried_verbal = 0 then 15
      when carried_verbal = 0
        then coalesce(motor, 6) + coalesce(verbal, 5) + coalesce(eyes, 4)
      else
        coalesce(motor, carried_motor, 6)
        + coalesce(verbal, carried_verbal, 5)
        + coalesce(eyes, carried_eyes, 4)
    end as double
  ) as gcs,
  coalesce(motor, carried_motor) as gcs_motor,
  coalesce(verbal, carried_verbal) as gcs_verbal,
  coalesce(eyes, carried_eyes) as gcs_eyes,
  intubated as gcs_unable
from with_carried_components
