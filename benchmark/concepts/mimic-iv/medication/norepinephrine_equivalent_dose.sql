-- title: Norepinephrine-equivalent dose of the vasopressors running
-- grain: one row per vasoactive_agent row with at least one vasopressor rate
-- keys: stay_id, starttime, endtime
-- sources: mimiciv_derived.vasoactive_agent
-- citation: Goradia et al. 2021, Journal of Critical Care (online 2020)
-- conventions:
--   - 1 mcg/kg/min of norepinephrine equals 1 of epinephrine, 10 of phenylephrine, 100 of dopamine and 24 units/hour (0.4 units/min) of vasopressin; a drug not running counts 0
--   - dobutamine and milrinone do not count
--   - the dose has 3 decimals, so doses below 0.0005 become 0
-- ties: none

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
