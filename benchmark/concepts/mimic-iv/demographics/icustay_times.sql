-- title: ICU entry and exit seen in the heart rate charting
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - Entry is the earliest and exit the latest heart rate entry of the stay, whatever its value and whether or not it lies within the recorded stay.
--   - A stay without heart rate entries has missing times.
-- ties: none
with heart_rate_charting as (
  select
    stay_id,
    min(charttime) as intime_hr,
    max(charttime) as outtime_hr
  from mimiciv_icu.chartevents
  where itemid = 220045  -- Heart Rate
  group by stay_id
)
select
  icustays.subject_id,
  icustays.hadm_id,
  icustays.stay_id,
  heart_rate_charting.intime_hr,
  heart_rate_charting.outtime_hr
from mimiciv_icu.icustays
left join heart_rate_charting
  on icustays.stay_id = heart_rate_charting.stay_id
