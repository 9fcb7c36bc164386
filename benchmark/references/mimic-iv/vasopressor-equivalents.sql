-- title: Norepinephrine-equivalent dose per interval
-- grain: one row per ICU stay and interval with at least one vasopressor rate
-- keys: stay_id, starttime
-- sources: mimiciv_derived.vasoactive_agent
-- citation: Goradia et al. 2021, Journal of Critical Care (online 2020)
-- conventions:
--   - 1 mcg/kg/min of norepinephrine equals 1 of epinephrine, 10 of phenylephrine, 100 of dopamine and 24 units/hour (0.4 units/min) of vasopressin; a drug not running counts 0
--   - dobutamine and milrinone do not count
--   - the dose has 3 decimals, so doses below 0.0005 become 0
--   - an interval runs to the next start or end of any vasoactive infusion of the stay
-- ties: none
-- deviations:
--   - an interval that norepinephrine_equivalent_dose repeats (overlapping records of one drug) appears once, with its highest dose

with doses as (
  select
    stay_id,
    starttime,
    endtime,
    try_cast(
      coalesce(norepinephrine, 0)
      + coalesce(epinephrine, 0)
      + coalesce(phenylephrine / 10, 0)
      + coalesce(dopamine / 100, 0)
      + coalesce(vasopressin * 2.5 / 60, 0) -- units/hour
      as decimal(18, 3)
    ) as norepinephrine_equivalent_dose
  from mimiciv_derived.vasoactive_agent
  where norepinephrine is not null
    or epinephrine is not null
    or phenylephrine is not null
    or dopamine is not null
    or vasopressin is not null
)

select
  stay_id,
  starttime,
  endtime,
  max(norepinephrine_equivalent_dose) as norepinephrine_equivalent_dose
from doses
group by stay_id, starttime, endtime
