-- title: Systemic inflammatory response syndrome (SIRS) criteria, first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.first_day_bg_art, mimiciv_derived.first_day_vitalsign, mimiciv_derived.first_day_lab
-- citation: Bone 1992, Chest
-- conventions:
--   - One point each for temperature below 36 or above 38 degrees Celsius, heart rate above 90, respiratory rate above 20 or arterial pCO2 below 32 mmHg, and white cells below 4 or above 12 (thousand per microlitre) or more than 10 per cent bands; all limits are strict.
--   - Worst values of the first day, from 6 hours before ICU admission to 24 hours after it; the criteria need not be met at the same time.
--   - A criterion without any measurement is missing and counts as 0 in the total.
--   - Only arterial gases give the pCO2.
-- ties: none
with criteria as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    case
      when first_day_vitalsign.temperature_min < 36.0 then 1
      when first_day_vitalsign.temperature_max > 38.0 then 1
      when first_day_vitalsign.temperature_min is null then null
      else 0
    end as temp_score,
    case
      when first_day_vitalsign.heart_rate_max > 90.0 then 1
      when first_day_vitalsign.heart_rate_max is null then null
      else 0
    end as heart_rate_score,
    case
      when first_day_vitalsign.resp_rate_max > 20.0 then 1
      when first_day_bg_art.pco2_min < 32.0 then 1
      when first_day_vitalsign.resp_rate_max is null and first_day_bg_art.pco2_min is null then null
      else 0
    end as resp_score,
    case
      when first_day_lab.wbc_min < 4.0 then 1
      when first_day_lab.wbc_max > 12.0 then 1
      when first_day_lab.bands_max > 10 then 1
      when first_day_lab.wbc_min is null and first_day_lab.bands_max is null then null
      else 0
    end as wbc_score
  from mimiciv_icu.icustays
  left join mimiciv_derived.first_day_bg_art
    on icustays.stay_id = first_day_bg_art.stay_id
  left join mimiciv_derived.first_day_vitalsign
    on icustays.stay_id = first_day_vitalsign.stay_id
  left join mimiciv_derived.first_day_lab
    on icustays.stay_id = first_day_lab.stay_id
)
select
  subject_id,
  hadm_id,
  stay_id,
  coalesce(temp_score, 0) + coalesce(heart_rate_score, 0) + coalesce(resp_score, 0) + coalesce(wbc_score, 0) as sirs,
  temp_score,
  heart_rate_score,
  resp_score,
  wbc_score
from criteria
