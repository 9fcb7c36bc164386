-- title: Model for End-Stage Liver Disease (MELD) with sodium, first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.first_day_lab, mimiciv_derived.first_day_rrt
-- citation: Kamath 2001, Hepatology; Kim 2008, New England Journal of Medicine
-- conventions:
--   - Worst values of the first day: highest creatinine, total bilirubin and INR, lowest sodium.
--   - A missing input counts as normal, so every stay has a score of at least 6.
--   - Creatinine above 4.0 mg/dL, or any renal replacement therapy charted on the first day, counts as creatinine 4; values of creatinine, bilirubin or INR below 1 count as 1.
--   - Sodium is limited to 125 to 137 mmol/L and enters only when the initial score is above 11.
--   - The sum of the three terms is rounded to 3 decimals, then to 1, then multiplied by 10; above a sum of 4 the initial score is 40.
--   - The score with sodium is neither rounded nor limited.
--   - The column rrt is missing, not zero, for a stay without renal replacement therapy.
-- ties: none
with inputs as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    first_day_rrt.dialysis_present as rrt,
    first_day_lab.creatinine_max,
    first_day_lab.bilirubin_total_max,
    first_day_lab.inr_max,
    first_day_lab.sodium_min
  from mimiciv_icu.icustays
  left join mimiciv_derived.first_day_lab
    on icustays.stay_id = first_day_lab.stay_id
  left join mimiciv_derived.first_day_rrt
    on icustays.stay_id = first_day_rrt.stay_id
),
terms as (
  select
    inputs.*,
    case
      when sodium_min is null or sodium_min > 137 then 0
      when sodium_min < 125 then 12
      else 137 - sodium_min
    end as sodium_deficit,
    case
      when rrt = 1 or creatinine_max > 4.0 then 0.957 * ln(4)
      when creatinine_max is null or creatinine_max < 1 then 0
      else 0.957 * ln(creatinine_max)
    end as creatinine_term,
    case
      when bilirubin_total_max is null or bilirubin_total_max < 1 then 0
      else 0.378 * ln(bilirubin_total_max)
    end as bilirubin_term,
    case
      when inr_max is null or inr_max < 1 then 0.643
      else 1.120 * ln(inr_max) + 0.643
    end as inr_term
  from inputs
),
initial_scores as (
  select
    terms.*,
    cast(
      case
        when creatinine_term + bilirubin_term + inr_term > 4 then 40.0
        else round(try_cast(creatinine_term + bilirubin_term + inr_term as decimal(18, 3)), 1) * 10
      end as decimal(18, 1)
    ) as meld_initial
  from terms
)
select
  subject_id,
  hadm_id,
  stay_id,
  meld_initial,
  case
    when meld_initial > 11
      then meld_initial + 1.32 * sodium_deficit - (0.033 * meld_initial) * sodium_deficit
    else meld_initial
  end as meld,
  rrt,
  creatinine_max,
  bilirubin_total_max,
  inr_max,
  sodium_min
from initial_scores
