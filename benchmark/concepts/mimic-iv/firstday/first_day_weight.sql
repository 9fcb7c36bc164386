-- title: Weight on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.weight_durations
-- citation: none
-- conventions:
--   - All weight intervals that start up to 24 hours after ICU admission count, with no lower limit.
--   - Means are over intervals, each counted once whatever its length; a first daily weight that was also taken for the time before it counts twice when charted on the first day, and once when charted later.
--   - The admission weight is the mean of all admission weights that count.
--   - Means add exactly (10 decimals), so they do not depend on the order of the weights.
-- ties: none
select
  icustays.subject_id,
  icustays.stay_id,
  avg(case when weight_durations.weight_type = 'admit' then cast(weight_durations.weight as decimal(38, 10)) end)
    as weight_admit,
  avg(cast(weight_durations.weight as decimal(38, 10))) as weight,
  min(weight_durations.weight) as weight_min,
  max(weight_durations.weight) as weight_max
from mimiciv_icu.icustays
left join mimiciv_derived.weight_durations
  on icustays.stay_id = weight_durations.stay_id
  and weight_durations.starttime <= icustays.intime + interval 24 hours
group by icustays.subject_id, icustays.stay_id
