-- title: Creatinine with the lowest earlier values for KDIGO staging
-- grain: one row per ICU stay and creatinine time; a stay without creatinine has one row without time and values
-- keys: stay_id, charttime
-- sources: mimiciv_icu.icustays, mimiciv_hosp.labevents
-- citation: KDIGO Acute Kidney Injury Work Group 2012, Kidney International Supplements
-- conventions:
--   - Serum creatinine in mg/dL of the patient from 7 days before ICU admission to ICU discharge, both ends included, whatever the hospital admission; one result can serve several stays.
--   - Results above 150 mg/dL are ignored; there is no lower limit.
--   - Several results at one time are averaged.
--   - The lowest earlier values look back 48 hours and 7 days, far end included, leave out the current time, and see only values inside the stay's own window, so the first creatinine has none.
-- ties: none
with creatinine_results as (
  select
    subject_id,
    charttime,
    valuenum
  from mimiciv_hosp.labevents
  where itemid = 50912  -- Creatinine
    and valuenum <= 150
),
stay_creatinine as (
  select
    icustays.hadm_id,
    icustays.stay_id,
    creatinine_results.charttime,
    sum(cast(creatinine_results.valuenum as decimal(38, 10)))::double
      / count(creatinine_results.valuenum) as creat
  from mimiciv_icu.icustays
  left join creatinine_results
    on icustays.subject_id = creatinine_results.subject_id
    and creatinine_results.charttime >= icustays.intime - interval '7 days'
    and creatinine_results.charttime <= icustays.outtime
  group by icustays.hadm_id, icustays.stay_id, creatinine_results.charttime
)
select
  hadm_id,
  stay_id,
  charttime,
  creat,
  min(creat) over (
    partition by stay_id
    order by charttime
    range between interval '48 hours' preceding and interval '1 microsecond' preceding
  ) as creat_low_past_48hr,
  min(creat) over (
    partition by stay_id
    order by charttime
    range between interval '7 days' preceding and interval '1 microsecond' preceding
  ) as creat_low_past_7day
from stay_creatinine
