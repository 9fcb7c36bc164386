-- title: Hours of an ICU stay
-- grain: one row per ICU stay and hour, from 24 hours before the stay to the end of heart rate charting
-- keys: stay_id, hr
-- sources: mimiciv_derived.icustay_times
-- citation: none
-- conventions:
--   - An hour is named by its number and by its end; hour 0 ends at the first whole hour at or after the first heart rate entry and may be a part hour, and negative hours lie before the stay.
--   - The number of the last hour is the elapsed time from first to last heart rate entry in hours, rounded up, counted from the entry itself and not from the whole hour; the last hour therefore ends up to 2 hours after the last entry, never before it.
--   - A stay without heart rate entries has no rows; a stay with a single entry has the 25 hours from -24 to 0.
-- ties: none
with stay_hours as (
  select
    stay_id,
    case
      when date_trunc('hour', intime_hr) = intime_hr then intime_hr
      else date_trunc('hour', intime_hr) + interval 1 hour
    end as hour_zero_end,
    unnest(
      range(-24, cast(ceil(date_diff('microsecond', intime_hr, outtime_hr) / 3600000000.0) as bigint) + 1)
    ) as hr
  from mimiciv_derived.icustay_times
)
select
  stay_id,
  hr,
  hour_zero_end + to_hours(hr) as endtime
from stay_hours
