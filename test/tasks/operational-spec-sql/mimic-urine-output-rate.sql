with bounds as (
  select icustay.stay_id, min(charttime) as first_heart_rate
  from mimiciv_icu.icustays as icustay
  join mimiciv_icu.chartevents as chart
    on chart.stay_id = icustay.stay_id
    and chart.charttime between icustay.intime - interval 1 month and icustay.outtime + interval 1 month
  where itemid = 220045 -- Heart Rate
  group by all
),
measurements as (
  select
    urine.stay_id,
    urine.charttime,
    urine.volume,
    epoch(urine.charttime - coalesce(
      lag(urine.charttime) over (partition by urine.stay_id order by urine.charttime),
      first_heart_rate
    ))::bigint as elapsed_seconds
  from paragraph.urine_volumes as urine
  join bounds using (stay_id)
),
windows as (
  select
    stay_id,
    charttime,
    volume as uo,
    sum(volume) over back_5 as urineoutput_6hr,
    sum(volume) over back_11 as urineoutput_12hr,
    sum(volume) over back_23 as urineoutput_24hr,
    sum(elapsed_seconds) over back_5 / 3600 as elapsed_6hr,
    sum(elapsed_seconds) over back_11 / 3600 as elapsed_12hr,
    sum(elapsed_seconds) over back_23 / 3600 as elapsed_24hr
  from measurements
  window
    back_5 as (partition by stay_id order by charttime range between interval 5 hours preceding and current row),
    back_11 as (partition by stay_id order by charttime range between interval 11 hours preceding and current row),
    back_23 as (partition by stay_id order by charttime range between interval 23 hours preceding and current row)
)
select
  windows.stay_id,
  windows.charttime,
  weight,
  uo,
  urineoutput_6hr,
  urineoutput_12hr,
  urineoutput_24hr,
  case when elapsed_6hr >= 6 then round(urineoutput_6hr / weight / elapsed_6hr, 4) end as uo_mlkghr_6hr,
  case when elapsed_12hr >= 12 then round(urineoutput_12hr / weight / elapsed_12hr, 4) end as uo_mlkghr_12hr,
  case when elapsed_24hr >= 24 then round(urineoutput_24hr / weight / elapsed_24hr, 4) end as uo_mlkghr_24hr,
  round(elapsed_6hr, 2) as uo_tm_6hr,
  round(elapsed_12hr, 2) as uo_tm_12hr,
  round(elapsed_24hr, 2) as uo_tm_24hr
from windows
left join paragraph.weights as weights
  on weights.stay_id = windows.stay_id
  and windows.charttime > weights.starttime
  and windows.charttime <= weights.endtime
