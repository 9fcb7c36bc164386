-- title: Systemic inflammatory response syndrome (SIRS) criteria, first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_derived.sirs
-- citation: Bone 1992, Chest
-- conventions:
--   - Those of the concept sirs.
-- ties: none
-- deviations:
--   - A criterion without any measurement is 0, not missing, because the task says that missing data count as normal; the total is the same.
select
  subject_id,
  hadm_id,
  stay_id,
  sirs,
  coalesce(temp_score, 0) as temp_score,
  coalesce(heart_rate_score, 0) as heart_rate_score,
  coalesce(resp_score, 0) as resp_score,
  coalesce(wbc_score, 0) as wbc_score
from mimiciv_derived.sirs
