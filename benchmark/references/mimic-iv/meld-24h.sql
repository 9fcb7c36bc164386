-- title: Model for End-Stage Liver Disease (MELD) with sodium, first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_derived.meld
-- citation: Kamath 2001, Hepatology; Kim 2008, New England Journal of Medicine
-- conventions:
--   - Those of the concept meld; every ICU stay has a value, which is neither rounded nor limited.
-- ties: none
-- deviations:
--   - The initial score, the dialysis flag and the four laboratory values are not part of the reference.
select
  subject_id,
  hadm_id,
  stay_id,
  meld
from mimiciv_derived.meld
