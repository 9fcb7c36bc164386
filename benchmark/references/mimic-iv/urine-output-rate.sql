-- title: Urine output rate over the last 6, 12 and 24 hours
-- grain: one row per urine output time of an ICU stay with a charted heart rate, repeated only if several weights are in force at that time
-- keys: stay_id, charttime
-- sources: mimiciv_icu.icustays, mimiciv_icu.chartevents, mimiciv_derived.urine_output, mimiciv_derived.weight_durations
-- citation: none
-- conventions:
--   - Each urine record covers the time since the record before it; the first record of a stay covers the time since the first charted heart rate, which can be negative.
--   - The first heart rate is looked for from one calendar month before ICU admission to one calendar month after ICU discharge; stays without one are left out.
--   - The windows named 6, 12 and 24 hours hold the records charted in the last 5, 11 and 23 hours, both ends included, because each record stands for the time before it.
--   - A rate in mL/kg/h is given only if the records of the window cover at least 6, 12 or 24 hours, tested before rounding, and a weight is known.
--   - Rates have 3 decimals; covered hours are rounded to 3 and then to 2 decimals.
--   - A weight holds from after the start of its period up to and including its end, and only weights above zero count.
-- deviations: none
-- ties: none
with first_heart_rates as (
  select
    icustays.stay_id,
    min(chartevents.charttime) as first_heart_rate_time
  from mimiciv_icu.icustays
  inner join mimiciv_icu.chartevents
    on icustays.stay_id = chartevents.stay_id
    and chartevents.charttime > icustays.intime - interval '1 month'
    and chartevents.charttime < icustays.outtime + interval '1 month'
  where chartevents.itemid = 220045  -- Heart Rate
  group by icustays.stay_id
),
urine_records as (
  select
    urine_output.stay_id,
    urine_output.charttime,
    urine_output.urineoutput,
    cast(urine_output.urineoutput as decimal(38, 10)) as exact_urineoutput,
    epoch_us(urine_output.charttime) as charted_at,
    -- the record covers the time since the record before it, in microseconds
    epoch_us(
      coalesce(
        lag(urine_output.charttime) over (
          partition by urine_output.stay_id
          order by urine_output.charttime nulls first
        ),
        first_heart_rates.first_heart_rate_time
      )
    ) as covers_from
  from first_heart_rates
  inner join mimiciv_derived.urine_output
    on first_heart_rates.stay_id = urine_output.stay_id
),
urine_windows as (
  select
    stay_id,
    charttime,
    urineoutput,
    sum(exact_urineoutput) over last_5_hours as exact_urineoutput_6hr,
    sum(exact_urineoutput) over last_11_hours as exact_urineoutput_12hr,
    sum(exact_urineoutput) over last_23_hours as exact_urineoutput_24hr,
    -- records follow one another without gaps, so a window covers the time since the record before its first one
    charted_at - first_value(covers_from) over last_5_hours as covered_microseconds_6hr,
    charted_at - first_value(covers_from) over last_11_hours as covered_microseconds_12hr,
    charted_at - first_value(covers_from) over last_23_hours as covered_microseconds_24hr
  from urine_records
  window
    last_5_hours as (
      partition by stay_id
      order by charted_at
      range between 18000000000 preceding and current row  -- 5 hours in microseconds
    ),
    last_11_hours as (
      partition by stay_id
      order by charted_at
      range between 39600000000 preceding and current row  -- 11 hours in microseconds
    ),
    last_23_hours as (
      partition by stay_id
      order by charted_at
      range between 82800000000 preceding and current row  -- 23 hours in microseconds
    )
),
urine_totals as (
  select
    stay_id,
    charttime,
    urineoutput,
    exact_urineoutput_6hr::double as urineoutput_6hr,
    exact_urineoutput_12hr::double as urineoutput_12hr,
    exact_urineoutput_24hr::double as urineoutput_24hr,
    -- microseconds to minutes, then minutes to hours
    covered_microseconds_6hr::double / 60000000 / 60 as covered_hours_6hr,
    covered_microseconds_12hr::double / 60000000 / 60 as covered_hours_12hr,
    covered_microseconds_24hr::double / 60000000 / 60 as covered_hours_24hr
  from urine_windows
)
select
  urine_totals.stay_id,
  urine_totals.charttime,
  weight_durations.weight,
  urine_totals.urineoutput as uo,
  urine_totals.urineoutput_6hr,
  urine_totals.urineoutput_12hr,
  urine_totals.urineoutput_24hr,
  case
    when covered_hours_6hr >= 6
      then try_cast(urineoutput_6hr / weight / covered_hours_6hr as decimal(18, 3))
  end as uo_mlkghr_6hr,
  case
    when covered_hours_12hr >= 12
      then try_cast(urineoutput_12hr / weight / covered_hours_12hr as decimal(18, 3))
  end as uo_mlkghr_12hr,
  case
    when covered_hours_24hr >= 24
      then try_cast(urineoutput_24hr / weight / covered_hours_24hr as decimal(18, 3))
  end as uo_mlkghr_24hr,
  round(try_cast(covered_hours_6hr as decimal(18, 3)), 2) as uo_tm_6hr,
  round(try_cast(covered_hours_12hr as decimal(18, 3)), 2) as uo_tm_12hr,
  round(try_cast(covered_hours_24hr as decimal(18, 3)), 2) as uo_tm_24hr
from urine_totals
left join mimiciv_derived.weight_durations
  on urine_totals.stay_id = weight_durations.stay_id
  and urine_totals.charttime > weight_durations.starttime
  and urine_totals.charttime <= weight_durations.endtime
  and weight_durations.weight > 0
