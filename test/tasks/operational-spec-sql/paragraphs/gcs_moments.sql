-- text: "A GCS moment is a chart time of the stay with any component …"
with charted as (
  select
    subject_id,
    stay_id,
    charttime,
    max(valuenum) filter (itemid = 220739) as eyes, -- GCS - Eye Opening
    max(valuenum) filter (itemid = 223901) as motor, -- GCS - Motor Response
    max(case when value = 'No Response-ETT' then 0 else valuenum end)
      filter (itemid = 223900) as verbal -- GCS - Verbal Response
  from mimiciv_icu.chartevents
  where itemid in (220739, 223900, 223901)
  group by all
),
with_previous as (
  select
    *,
    case when charttime - lag(charttime) over previous < interval 6 hours then lag(eyes) over previous end as eyes_before,
    case when charttime - lag(charttime) over previous < interval 6 hours then lag(motor) over previous end as motor_before,
    case when charttime - lag(charttime) over previous < interval 6 hours then lag(verbal) over previous end as verbal_before
  from charted
  window previous as (partition by stay_id order by charttime)
)
select
  subject_id,
  stay_id,
  charttime,
  coalesce(eyes, eyes_before) as eyes,
  coalesce(motor, motor_before) as motor,
  coalesce(verbal, verbal_before) as verbal,
  case
    when verbal = 0 or (verbal is null and verbal_before = 0) then 15
    when verbal_before = 0 then coalesce(eyes, 4) + verbal + coalesce(motor, 6)
    else coalesce(eyes, eyes_before, 4) + coalesce(verbal, verbal_before, 5) + coalesce(motor, motor_before, 6)
  end as total
from with_previous
