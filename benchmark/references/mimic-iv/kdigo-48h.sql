-- title: Highest KDIGO stage of the first 48 hours
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.kdigo_stages
-- citation: KDIGO Acute Kidney Injury Work Group 2012, Kidney International Supplements
-- conventions:
--   - The window runs from ICU admission to 48 hours later, both ends included, and is not cut at discharge; creatinine drawn after discharge is absent from kdigo_stages.
--   - The stage and its creatinine, urine output and CRRT parts are each the highest of the window, independently of each other; the smoothed stage is not used.
--   - Missing data mean no kidney injury, stage 0.
-- deviations:
--   - The time series of kdigo_stages is summed up in one row per stay.
--   - Missing stages are 0.
-- ties: none
select
  icustays.subject_id,
  icustays.hadm_id,
  icustays.stay_id,
  coalesce(max(kdigo_stages.aki_stage), 0) as aki_stage,
  coalesce(max(kdigo_stages.aki_stage_creat), 0) as aki_stage_creat,
  coalesce(max(kdigo_stages.aki_stage_uo), 0) as aki_stage_uo,
  max(case when kdigo_stages.aki_stage_crrt > 0 then 3 else 0 end) as aki_stage_crrt
from mimiciv_icu.icustays
left join mimiciv_derived.kdigo_stages
  on icustays.stay_id = kdigo_stages.stay_id
  and kdigo_stages.charttime >= icustays.intime
  and kdigo_stages.charttime <= icustays.intime + interval '48 hours'
group by icustays.subject_id, icustays.hadm_id, icustays.stay_id
