-- title: SOFA score of the first 24 hours
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.norepinephrine, mimiciv_derived.epinephrine, mimiciv_derived.dopamine, mimiciv_derived.dobutamine, mimiciv_derived.bg, mimiciv_derived.ventilation, mimiciv_derived.first_day_vitalsign, mimiciv_derived.first_day_lab, mimiciv_derived.first_day_urine_output, mimiciv_derived.first_day_gcs
-- citation: Vincent 1996, Intensive Care Medicine
-- conventions:
--   - The first day runs from 6 hours before to 24 hours after ICU admission, both ends included, whatever the time of discharge; urine output alone starts at admission and is not scaled to 24 hours.
--   - A vasopressor or inotrope counts if its infusion starts within the first day, with its highest rate (mcg/kg/min as charted); infusions started earlier, phenylephrine and vasopressin do not count.
--   - Any epinephrine or norepinephrine rate above 0 scores at least 3.
--   - Only arterial blood gases count, matched by patient.
--   - A gas is ventilated if it lies within an episode of invasive ventilation, ends included. A PaO2/FiO2 of 200 or more under ventilation scores nothing; without ventilation the score is at most 2.
--   - Blood pressure, laboratory and GCS extremes are those of the first-day tables.
--   - A component without any data scores 0 (missing data count as normal).
-- deviations:
--   - Only arterial blood gases count, where the concept first_day_sofa takes every specimen type; this changes totals.
--   - An epinephrine or norepinephrine rate of 0 does not score, where the concept gives 3.
--   - Missing components are 0 instead of missing; totals are unchanged by it.
-- ties: none
with vasoactive_infusions as (
  select stay_id, starttime, 'norepinephrine' as drug, vaso_rate from mimiciv_derived.norepinephrine
  union all
  select stay_id, starttime, 'epinephrine' as drug, vaso_rate from mimiciv_derived.epinephrine
  union all
  select stay_id, starttime, 'dopamine' as drug, vaso_rate from mimiciv_derived.dopamine
  union all
  select stay_id, starttime, 'dobutamine' as drug, vaso_rate from mimiciv_derived.dobutamine
),
highest_rates as (
  select
    icustays.stay_id,
    max(case when drug = 'norepinephrine' then vaso_rate end) as norepinephrine,
    max(case when drug = 'epinephrine' then vaso_rate end) as epinephrine,
    max(case when drug = 'dopamine' then vaso_rate end) as dopamine,
    max(case when drug = 'dobutamine' then vaso_rate end) as dobutamine
  from mimiciv_icu.icustays
  inner join vasoactive_infusions
    on icustays.stay_id = vasoactive_infusions.stay_id
    and vasoactive_infusions.starttime >= icustays.intime - interval '6 hours'
    and vasoactive_infusions.starttime <= icustays.intime + interval '1 day'
  group by icustays.stay_id
),
arterial_gases as (
  select
    icustays.stay_id,
    bg.charttime,
    bg.pao2fio2ratio
  from mimiciv_icu.icustays
  inner join mimiciv_derived.bg
    on icustays.subject_id = bg.subject_id
    and bg.charttime >= icustays.intime - interval '6 hours'
    and bg.charttime <= icustays.intime + interval '1 day'
  where bg.specimen = 'ART.'
),
invasive_ventilation as (
  select stay_id, starttime, endtime
  from mimiciv_derived.ventilation
  where ventilation_status = 'InvasiveVent'
),
worst_ratios as (
  select
    arterial_gases.stay_id,
    min(case when invasive_ventilation.stay_id is not null then pao2fio2ratio end) as ventilated_ratio,
    min(case when invasive_ventilation.stay_id is null then pao2fio2ratio end) as unventilated_ratio
  from arterial_gases
  left join invasive_ventilation
    on arterial_gases.stay_id = invasive_ventilation.stay_id
    and arterial_gases.charttime >= invasive_ventilation.starttime
    and arterial_gases.charttime <= invasive_ventilation.endtime
  group by arterial_gases.stay_id
),
components as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    case
      when ventilated_ratio < 100 then 4
      when ventilated_ratio < 200 then 3
      when unventilated_ratio < 300 then 2
      when unventilated_ratio < 400 then 1
      else 0
    end as respiration,
    case
      when platelets_min < 20 then 4
      when platelets_min < 50 then 3
      when platelets_min < 100 then 2
      when platelets_min < 150 then 1
      else 0
    end as coagulation,
    case
      when bilirubin_total_max >= 12.0 then 4
      when bilirubin_total_max >= 6.0 then 3
      when bilirubin_total_max >= 2.0 then 2
      when bilirubin_total_max >= 1.2 then 1
      else 0
    end as liver,
    case
      when dopamine > 15 or epinephrine > 0.1 or norepinephrine > 0.1 then 4
      when dopamine > 5
        or (epinephrine > 0 and epinephrine <= 0.1)
        or (norepinephrine > 0 and norepinephrine <= 0.1)
        then 3
      when dopamine > 0 or dobutamine > 0 then 2
      when mbp_min < 70 then 1
      else 0
    end as cardiovascular,
    case
      when gcs_min >= 13 and gcs_min <= 14 then 1
      when gcs_min >= 10 and gcs_min <= 12 then 2
      when gcs_min >= 6 and gcs_min <= 9 then 3
      when gcs_min < 6 then 4
      else 0
    end as cns,
    case
      when creatinine_max >= 5.0 then 4
      when urineoutput < 200 then 4
      when creatinine_max >= 3.5 and creatinine_max < 5.0 then 3
      when urineoutput < 500 then 3
      when creatinine_max >= 2.0 and creatinine_max < 3.5 then 2
      when creatinine_max >= 1.2 and creatinine_max < 2.0 then 1
      else 0
    end as renal
  from mimiciv_icu.icustays
  left join highest_rates
    on icustays.stay_id = highest_rates.stay_id
  left join worst_ratios
    on icustays.stay_id = worst_ratios.stay_id
  left join mimiciv_derived.first_day_vitalsign
    on icustays.stay_id = first_day_vitalsign.stay_id
  left join mimiciv_derived.first_day_lab
    on icustays.stay_id = first_day_lab.stay_id
  left join mimiciv_derived.first_day_urine_output
    on icustays.stay_id = first_day_urine_output.stay_id
  left join mimiciv_derived.first_day_gcs
    on icustays.stay_id = first_day_gcs.stay_id
)
select
  subject_id,
  hadm_id,
  stay_id,
  respiration + coagulation + liver + cardiovascular + cns + renal as sofa,
  respiration,
  coagulation,
  liver,
  cardiovascular,
  cns,
  renal
from components
