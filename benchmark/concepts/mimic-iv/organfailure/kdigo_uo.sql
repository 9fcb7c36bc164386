-- title: Urine output rate for KDIGO staging
-- grain: one row per urine output time of an ICU stay, repeated only if several weights are in force at that time
-- keys: stay_id, charttime, weight
-- sources: mimiciv_icu.icustays, mimiciv_derived.urine_output, mimiciv_derived.weight_durations
-- citation: KDIGO Acute Kidney Injury Work Group 2012, Kidney International Supplements
-- conventions:
--   - Each urine record covers the time since the record before it; the first record of a stay is taken to cover 1 hour.
--   - The windows hold the records charted in the last 6, 12 and 24 hours, both ends included (the full hours here, not one less as in urine_output_rate).
--   - The 6-hour rate is given only if the records of its window cover at least 6 and less than 12 hours; the 12- and 24-hour rates only if they cover at least 12 and 24 hours.
--   - These limits have no tolerance: covered hours are added in floating point in ascending time order, so gaps that are inexact in binary (20 minutes, a third of an hour) can add up to just under a limit and blank the rate.
--   - Rates in mL/kg/h have 3 decimals; covered hours are not rounded.
--   - A weight holds from the start of its period, included, up to but not including its end (the reverse of urine_output_rate); a weight of zero gives no rate.
-- ties: none
with urine_records as (
  select
    icustays.stay_id,
    urine_output.charttime,
    cast(urine_output.urineoutput as decimal(38, 10)) as exact_urineoutput,
    -- whole seconds since ICU admission
    cast(date_diff('microsecond', icustays.intime, urine_output.charttime) / 1000000 as integer) as seconds_in_icu,
    -- hours since the previous record
    coalesce(
      date_diff(
        'microsecond',
        lag(urine_output.charttime) over (
          partition by icustays.stay_id
          order by urine_output.charttime nulls first
        ),
        urine_output.charttime
      ) / 1000000 / 3600,
      1
    ) as covered_hours
  from mimiciv_icu.icustays
  inner join mimiciv_derived.urine_output
    on icustays.stay_id = urine_output.stay_id
),
urine_windows as (
  select
    stay_id,
    charttime,
    sum(exact_urineoutput) over last_6_hours as exact_urineoutput_6hr,
    sum(exact_urineoutput) over last_12_hours as exact_urineoutput_12hr,
    sum(exact_urineoutput) over last_24_hours as exact_urineoutput_24hr,
    -- a list keeps the records in time order, so the floating-point sum has one fixed order
    list(covered_hours) over last_24_hours as covered_hours_24hr,
    count(*) over last_6_hours as records_6hr,
    count(*) over last_12_hours as records_12hr
  from urine_records
  window
    last_6_hours as (
      partition by stay_id
      order by seconds_in_icu
      range between 21600 preceding and current row
    ),
    last_12_hours as (
      partition by stay_id
      order by seconds_in_icu
      range between 43200 preceding and current row
    ),
    last_24_hours as (
      partition by stay_id
      order by seconds_in_icu
      range between 86400 preceding and current row
    )
),
urine_totals as (
  select
    stay_id,
    charttime,
    exact_urineoutput_6hr::double as urineoutput_6hr,
    exact_urineoutput_12hr::double as urineoutput_12hr,
    exact_urineoutput_24hr::double as urineoutput_24hr,
    list_sum(covered_hours_24hr[-records_6hr:]) as uo_tm_6hr,
    list_sum(covered_hours_24hr[-records_12hr:]) as uo_tm_12hr,
    list_sum(covered_hours_24hr) as uo_tm_24hr
  from urine_windows
)
select
  urine_totals.stay_id,
  urine_totals.charttime,
  weight_durations.weight,
  urine_totals.urineoutput_6hr,
  urine_totals.urineoutput_12hr,
  urine_totals.urineoutput_24hr,
  case
    when uo_tm_6hr >= 6 and uo_tm_6hr < 12
      then try_cast(urineoutput_6hr / weight / uo_tm_6hr as decimal(18, 3))
  end as uo_rt_6hr,
  case
    when uo_tm_12hr >= 12
      then try_cast(urineoutput_12hr / weight / uo_tm_12hr as decimal(18, 3))
  end as uo_rt_12hr,
  case
    when uo_tm_24hr >= 24
      then try_cast(urineoutput_24hr / weight / uo_tm_24hr as decimal(18, 3))
  end as uo_rt_24hr,
  urine_totals.uo_tm_6hr,
  urine_totals.uo_tm_12hr,
  urine_totals.uo_tm_24hr
from urine_totals
left join mimiciv_derived.weight_durations
  on urine_totals.stay_id = weight_durations.stay_id
  and urine_totals.charttime >= weight_durations.starttime
  and urine_totals.charttime < weight_durations.endtime
