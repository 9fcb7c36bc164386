-- title: Height charted on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.height
-- citation: none
-- conventions:
--   - The mean of the heights charted from 6 hours before ICU admission to 24 hours after it, both ends included, rounded to 3 and then to 2 decimals, half away from zero.
--   - Heights are matched by ICU stay, so a height charted in inches alone, which has no stay, never counts; a height charted later is not used.
-- ties: none
select
  icustays.subject_id,
  icustays.stay_id,
  round(try_cast(avg(height.height) as decimal(18, 3)), 2) as height
from mimiciv_icu.icustays
left join mimiciv_derived.height
  on icustays.stay_id = height.stay_id
  and height.charttime >= icustays.intime - interval 6 hours
  and height.charttime <= icustays.intime + interval 24 hours
group by icustays.subject_id, icustays.stay_id
