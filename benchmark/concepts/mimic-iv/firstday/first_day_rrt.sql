-- title: Renal replacement therapy on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.rrt
-- citation: none
-- conventions:
--   - The first day runs from 6 hours before ICU admission to 24 hours after it, both ends included, also when the stay ended earlier.
--   - A stay without renal replacement in that window has missing values, not zero.
--   - The types are the distinct ones seen, joined with a comma and a blank.
-- ties: the types in the list are sorted ascending by bytes
select
  icustays.subject_id,
  icustays.stay_id,
  max(rrt.dialysis_present) as dialysis_present,
  max(rrt.dialysis_active) as dialysis_active,
  string_agg(distinct rrt.dialysis_type, ', ' order by rrt.dialysis_type) as dialysis_type
from mimiciv_icu.icustays
left join mimiciv_derived.rrt
  on icustays.stay_id = rrt.stay_id
  and rrt.charttime >= icustays.intime - interval 6 hours
  and rrt.charttime <= icustays.intime + interval 24 hours
group by icustays.subject_id, icustays.stay_id
