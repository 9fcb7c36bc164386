-- title: Extremes and means of vital signs on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.vitalsign
-- citation: none
-- conventions:
--   - The first day runs from 6 hours before ICU admission to 24 hours after it, both ends included, also when the stay ended earlier.
--   - Vital signs are matched by ICU stay.
--   - Means are over charting times, each of which may already be the mean of several readings.
--   - Blood pressures mix invasive and non-invasive readings; the non-invasive columns are not used.
--   - A stay without vital signs has a row with missing values.
--   - Means add exactly (10 decimals), so they do not depend on the order of the readings.
-- ties: none
select
  icustays.subject_id,
  icustays.stay_id,
  min(vitalsign.heart_rate) as heart_rate_min,
  max(vitalsign.heart_rate) as heart_rate_max,
  avg(cast(vitalsign.heart_rate as decimal(38, 10))) as heart_rate_mean,
  min(vitalsign.sbp) as sbp_min,
  max(vitalsign.sbp) as sbp_max,
  avg(cast(vitalsign.sbp as decimal(38, 10))) as sbp_mean,
  min(vitalsign.dbp) as dbp_min,
  max(vitalsign.dbp) as dbp_max,
  avg(cast(vitalsign.dbp as decimal(38, 10))) as dbp_mean,
  min(vitalsign.mbp) as mbp_min,
  max(vitalsign.mbp) as mbp_max,
  avg(cast(vitalsign.mbp as decimal(38, 10))) as mbp_mean,
  min(vitalsign.resp_rate) as resp_rate_min,
  max(vitalsign.resp_rate) as resp_rate_max,
  avg(cast(vitalsign.resp_rate as decimal(38, 10))) as resp_rate_mean,
  min(vitalsign.temperature) as temperature_min,
  max(vitalsign.temperature) as temperature_max,
  avg(vitalsign.temperature) as temperature_mean,
  min(vitalsign.spo2) as spo2_min,
  max(vitalsign.spo2) as spo2_max,
  avg(cast(vitalsign.spo2 as decimal(38, 10))) as spo2_mean,
  min(vitalsign.glucose) as glucose_min,
  max(vitalsign.glucose) as glucose_max,
  avg(cast(vitalsign.glucose as decimal(38, 10))) as glucose_mean
from mimiciv_icu.icustays
left join mimiciv_derived.vitalsign
  on icustays.stay_id = vitalsign.stay_id
  and vitalsign.charttime >= icustays.intime - interval 6 hours
  and vitalsign.charttime <= icustays.intime + interval 24 hours
group by icustays.subject_id, icustays.stay_id
