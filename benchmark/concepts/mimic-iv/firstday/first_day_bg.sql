-- title: Extremes of blood gases on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.bg
-- citation: none
-- conventions:
--   - The first day runs from 6 hours before ICU admission to 24 hours after it, both ends included, also when the stay ended earlier.
--   - Gases are matched by patient, so a gas of a neighbouring stay or of the ward counts when its time falls into the window.
--   - All specimen types count, venous ones included.
--   - The blood gas table holds only panels with a pO2, so values of other samples are absent.
--   - A stay without a gas has a row with missing values.
-- ties: none
select
  icustays.subject_id,
  icustays.stay_id,
  min(bg.lactate) as lactate_min,
  max(bg.lactate) as lactate_max,
  min(bg.ph) as ph_min,
  max(bg.ph) as ph_max,
  min(bg.so2) as so2_min,
  max(bg.so2) as so2_max,
  min(bg.po2) as po2_min,
  max(bg.po2) as po2_max,
  min(bg.pco2) as pco2_min,
  max(bg.pco2) as pco2_max,
  min(bg.aado2) as aado2_min,
  max(bg.aado2) as aado2_max,
  min(bg.aado2_calc) as aado2_calc_min,
  max(bg.aado2_calc) as aado2_calc_max,
  min(bg.pao2fio2ratio) as pao2fio2ratio_min,
  max(bg.pao2fio2ratio) as pao2fio2ratio_max,
  min(bg.baseexcess) as baseexcess_min,
  max(bg.baseexcess) as baseexcess_max,
  min(bg.bicarbonate) as bicarbonate_min,
  max(bg.bicarbonate) as bicarbonate_max,
  min(bg.totalco2) as totalco2_min,
  max(bg.totalco2) as totalco2_max,
  min(bg.hematocrit) as hematocrit_min,
  max(bg.hematocrit) as hematocrit_max,
  min(bg.hemoglobin) as hemoglobin_min,
  max(bg.hemoglobin) as hemoglobin_max,
  min(bg.carboxyhemoglobin) as carboxyhemoglobin_min,
  max(bg.carboxyhemoglobin) as carboxyhemoglobin_max,
  min(bg.methemoglobin) as methemoglobin_min,
  max(bg.methemoglobin) as methemoglobin_max,
  min(bg.temperature) as temperature_min,
  max(bg.temperature) as temperature_max,
  min(bg.chloride) as chloride_min,
  max(bg.chloride) as chloride_max,
  min(bg.calcium) as calcium_min,
  max(bg.calcium) as calcium_max,
  min(bg.glucose) as glucose_min,
  max(bg.glucose) as glucose_max,
  min(bg.potassium) as potassium_min,
  max(bg.potassium) as potassium_max,
  min(bg.sodium) as sodium_min,
  max(bg.sodium) as sodium_max
from mimiciv_icu.icustays
left join mimiciv_derived.bg
  on icustays.subject_id = bg.subject_id
  and bg.charttime >= icustays.intime - interval 6 hours
  and bg.charttime <= icustays.intime + interval 24 hours
group by icustays.subject_id, icustays.stay_id
