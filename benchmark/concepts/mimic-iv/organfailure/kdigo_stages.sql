-- title: KDIGO acute kidney injury stage over time
-- grain: one row per ICU stay and time of a creatinine, urine output or CRRT record, repeated only where kdigo_uo repeats a time; a stay without creatinine also has a row without time
-- keys: stay_id, charttime
-- sources: mimiciv_icu.icustays, mimiciv_derived.kdigo_creatinine, mimiciv_derived.kdigo_uo, mimiciv_derived.crrt
-- citation: KDIGO Acute Kidney Injury Work Group 2012, Kidney International Supplements
-- conventions:
--   - Creatinine of 4 mg/dL or more is stage 3 only with a sign of an acute rise: a lowest value of the last 48 hours of at most 3.7, or 1.5 times the lowest of 7 days.
--   - Comparisons have no tolerance: 1.4 does not reach 1.1 + 0.3, which is a shade more than 1.4 in floating point. A creatinine without earlier value is stage 0.
--   - Within 6 hours of ICU admission, end included, urine output is stage 0.
--   - Without a 6-hour urine rate there is no urine stage, even where a 12- or 24-hour rate would give one.
--   - Urine rates are compared with their 3 decimals: a rate that rounds to 0.000 is anuria, one that rounds up to 0.300 or 0.500 is not below that limit.
--   - CRRT with a charted mode is stage 3.
--   - The stage is the highest of the three, a missing one counting as 0.
--   - The smoothed stage is the highest stage of the last 6 hours, ends included. It is taken over all stays of a patient together, each at its own time since ICU admission, so stays of one patient mix at equal relative times. Rows without time form a group of their own.
-- ties: none
with creatinine_stages as (
  select
    stay_id,
    charttime,
    creat_low_past_7day,
    creat_low_past_48hr,
    creat,
    case
      when creat >= creat_low_past_7day * 3.0 then 3
      when creat >= 4
        and (creat_low_past_48hr <= 3.7 or creat >= 1.5 * creat_low_past_7day)
        then 3
      when creat >= creat_low_past_7day * 2.0 then 2
      when creat >= creat_low_past_48hr + 0.3 then 1
      when creat >= creat_low_past_7day * 1.5 then 1
      else 0
    end as aki_stage_creat
  from mimiciv_derived.kdigo_creatinine
),
urine_stages as (
  select
    kdigo_uo.stay_id,
    kdigo_uo.charttime,
    kdigo_uo.uo_rt_6hr,
    kdigo_uo.uo_rt_12hr,
    kdigo_uo.uo_rt_24hr,
    case
      when kdigo_uo.uo_rt_6hr is null then null
      when kdigo_uo.charttime <= icustays.intime + interval '6 hours' then 0
      when kdigo_uo.uo_tm_24hr >= 24 and kdigo_uo.uo_rt_24hr < 0.3 then 3
      when kdigo_uo.uo_tm_12hr >= 12 and kdigo_uo.uo_rt_12hr = 0 then 3
      when kdigo_uo.uo_tm_12hr >= 12 and kdigo_uo.uo_rt_12hr < 0.5 then 2
      when kdigo_uo.uo_tm_6hr >= 6 and kdigo_uo.uo_rt_6hr < 0.5 then 1
      else 0
    end as aki_stage_uo
  from mimiciv_derived.kdigo_uo
  inner join mimiciv_icu.icustays
    on kdigo_uo.stay_id = icustays.stay_id
),
crrt_stages as (
  select
    stay_id,
    charttime,
    3 as aki_stage_crrt
  from mimiciv_derived.crrt
  where crrt_mode is not null
    and charttime is not null
),
staging_times as (
  select stay_id, charttime from creatinine_stages
  union
  select stay_id, charttime from urine_stages
  union
  select stay_id, charttime from crrt_stages
),
stages as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    staging_times.charttime,
    date_diff('microsecond', icustays.intime, staging_times.charttime) as microseconds_in_icu,
    creatinine_stages.creat_low_past_7day,
    creatinine_stages.creat_low_past_48hr,
    creatinine_stages.creat,
    creatinine_stages.aki_stage_creat,
    urine_stages.uo_rt_6hr,
    urine_stages.uo_rt_12hr,
    urine_stages.uo_rt_24hr,
    urine_stages.aki_stage_uo,
    crrt_stages.aki_stage_crrt,
    greatest(
      coalesce(creatinine_stages.aki_stage_creat, 0),
      coalesce(urine_stages.aki_stage_uo, 0),
      coalesce(crrt_stages.aki_stage_crrt, 0)
    ) as aki_stage
  from mimiciv_icu.icustays
  left join staging_times
    on icustays.stay_id = staging_times.stay_id
  left join creatinine_stages
    on staging_times.stay_id = creatinine_stages.stay_id
    and staging_times.charttime = creatinine_stages.charttime
  left join urine_stages
    on staging_times.stay_id = urine_stages.stay_id
    and staging_times.charttime = urine_stages.charttime
  left join crrt_stages
    on staging_times.stay_id = crrt_stages.stay_id
    and staging_times.charttime = crrt_stages.charttime
)
select
  subject_id,
  hadm_id,
  stay_id,
  charttime,
  creat_low_past_7day,
  creat_low_past_48hr,
  creat,
  aki_stage_creat,
  uo_rt_6hr,
  uo_rt_12hr,
  uo_rt_24hr,
  aki_stage_uo,
  aki_stage_crrt,
  aki_stage,
  max(aki_stage) over (
    partition by subject_id
    order by microseconds_in_icu
    range between 21600000000 preceding and current row  -- 6 hours
  ) as aki_stage_smoothed
from stages
