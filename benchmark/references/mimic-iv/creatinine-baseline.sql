-- title: Baseline serum creatinine
-- grain: one row per adult hospital admission
-- keys: hadm_id
-- sources: mimiciv_derived.creatinine_baseline
-- citation: Levey 1999, Annals of Internal Medicine (MDRD equation); Bellomo 2004, Critical Care (back-calculation at a filtration rate of 75)
-- conventions:
--   - Those of the concept creatinine_baseline; admissions without a creatinine are included.
-- ties: none
-- deviations: none
select
  hadm_id,
  gender,
  age,
  scr_min,
  ckd,
  mdrd_est,
  scr_baseline
from mimiciv_derived.creatinine_baseline
