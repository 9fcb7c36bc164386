with creatinine as (
  select
    icustay.stay_id,
    lab.charttime,
    avg(valuenum) as creat
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime between icustay.intime - interval 7 days and icustay.outtime
  where itemid = 50912 -- Creatinine
    and valuenum <= 150
  group by all
),
creatinine_history as (
  select
    *,
    min(creat) over (
      partition by stay_id order by charttime
      range between interval 48 hours preceding and current row exclude group
    ) as lowest_48_hours,
    min(creat) over (
      partition by stay_id order by charttime
      range between interval 7 days preceding and current row exclude group
    ) as lowest_7_days
  from creatinine
),
creatinine_stages as (
  select
    stay_id,
    charttime,
    case
      when creat >= 3 * lowest_7_days then 3
      when creat >= 4 and (lowest_48_hours <= 3.7 or creat >= 1.5 * lowest_7_days) then 3
      when creat >= 2 * lowest_7_days then 2
      when creat >= lowest_48_hours + 0.3 then 1
      when creat >= 1.5 * lowest_7_days then 1
      else 0
    end as creatinine_stage
  from creatinine_history
),
covered as (
  select
    *,
    coalesce(epoch(charttime - lag(charttime) over (partition by stay_id order by charttime)) / 3600, 1) as hours
  from paragraph.urine_volumes
),
trailing_windows as (
  select
    stay_id,
    charttime,
    sum(volume) over within_6 as volume_6,
    sum(volume) over within_12 as volume_12,
    sum(volume) over within_24 as volume_24,
    sum(hours) over within_6 as hours_6,
    sum(hours) over within_12 as hours_12,
    sum(hours) over within_24 as hours_24
  from covered
  window
    within_6 as (partition by stay_id order by charttime range between interval 6 hours preceding and current row),
    within_12 as (partition by stay_id order by charttime range between interval 12 hours preceding and current row),
    within_24 as (partition by stay_id order by charttime range between interval 24 hours preceding and current row)
),
rates as (
  select
    icustay.stay_id,
    icustay.intime,
    trailing_windows.charttime,
    case when hours_6 >= 6 and hours_6 < 12 then round(volume_6 / weight / hours_6, 3) end as rate_6,
    case when hours_12 >= 12 then round(volume_12 / weight / hours_12, 3) end as rate_12,
    case when hours_24 >= 24 then round(volume_24 / weight / hours_24, 3) end as rate_24
  from trailing_windows
  join mimiciv_icu.icustays as icustay using (stay_id)
  left join paragraph.weights as weights
    on weights.stay_id = trailing_windows.stay_id
    and trailing_windows.charttime >= weights.starttime
    and trailing_windows.charttime < weights.endtime
),
urine_stages as (
  select
    stay_id,
    charttime,
    case
      when rate_6 is null then null
      when charttime <= intime + interval 6 hours then 0
      when rate_24 < 0.3 then 3
      when rate_12 = 0 then 3
      when rate_12 < 0.5 then 2
      when rate_6 < 0.5 then 1
      else 0
    end as urine_stage
  from rates
),
crrt_stages as (
  select distinct stay_id, charttime, 3 as crrt_stage
  from mimiciv_icu.chartevents
  where itemid = 227290 -- CRRT mode
    and value is not null
),
stages as (
  select stay_id, charttime, creatinine_stage, null as urine_stage, null as crrt_stage from creatinine_stages
  union all
  select stay_id, charttime, null, urine_stage, null from urine_stages
  union all
  select stay_id, charttime, null, null, crrt_stage from crrt_stages
),
highest as (
  select
    icustay.subject_id,
    icustay.hadm_id,
    icustay.stay_id,
    coalesce(max(creatinine_stage), 0) as aki_stage_creat,
    coalesce(max(urine_stage), 0) as aki_stage_uo,
    coalesce(max(crrt_stage), 0) as aki_stage_crrt
  from mimiciv_icu.icustays as icustay
  left join stages
    on stages.stay_id = icustay.stay_id
    and stages.charttime between icustay.intime and icustay.intime + interval 48 hours
  group by all
)
select
  subject_id,
  hadm_id,
  stay_id,
  greatest(aki_stage_creat, aki_stage_uo, aki_stage_crrt) as aki_stage,
  aki_stage_creat,
  aki_stage_uo,
  aki_stage_crrt
from highest
