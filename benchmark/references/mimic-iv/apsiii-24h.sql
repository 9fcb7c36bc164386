-- title: Acute Physiology Score III of the first 24 hours
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_hosp.admissions, mimiciv_hosp.patients, mimiciv_hosp.diagnoses_icd, mimiciv_derived.bg, mimiciv_derived.ventilation, mimiciv_derived.first_day_gcs, mimiciv_derived.first_day_vitalsign, mimiciv_derived.first_day_urine_output, mimiciv_derived.first_day_lab
-- citation: Knaus 1991, Chest
-- conventions:
--   - Vital signs, laboratory values, urine output and GCS are those of the first-day tables (laboratory and vital signs from 6 hours before to 24 hours after ICU admission, urine output from admission).
--   - Arterial blood gases count from ICU admission, included, to 24 hours later or discharge, whichever is first, not included, of the same hospital admission.
--   - The highest PaO2 of gases without invasive ventilation and with FiO2 below 50 (room air if unknown) is scored; only if there is none, the highest charted A-aDO2 of gases under invasive ventilation with FiO2 of 50 or more. Other gases score nothing.
--   - Of a minimum and a maximum the one further from the midpoint of the normal range is scored, at equal distance the higher score; for BUN and bilirubin always the maximum.
--   - Acute renal failure is a creatinine of 1.5 or more with urine output below 410 mL and no chronic kidney disease of stage 4, 5 or end stage; admissions without any diagnosis never have it. The creatinine maximum then scores 10.
--   - A respiratory rate below 14 scores 0 in any stay invasively ventilated at some time of the first 24 hours.
--   - Glucose is the most extreme of laboratory and bedside values.
--   - GCS is 0 points for patients who cannot be assessed because of intubation; combinations that the published grid leaves out have no score.
--   - A component without data scores 0 (missing data count as normal).
-- deviations:
--   - Blood gases are cut to the first 24 hours, where the concept takes the whole stay; this changes totals.
--   - Missing components are 0 instead of missing; totals are unchanged by it.
--   - The mortality probability is left out.
-- ties: none; the components of GCS depend on the charting that first_day_gcs keeps
with invasive_ventilation as (
  select stay_id, starttime, endtime
  from mimiciv_derived.ventilation
  where ventilation_status = 'InvasiveVent'
),
arterial_gases as (
  select
    icustays.stay_id,
    invasive_ventilation.stay_id is not null as is_ventilated,
    bg.po2,
    bg.aado2,
    bg.ph,
    bg.pco2,
    coalesce(bg.fio2, bg.fio2_chartevents) as fio2
  from mimiciv_icu.icustays
  inner join mimiciv_derived.bg
    on icustays.hadm_id = bg.hadm_id
    and bg.charttime >= icustays.intime
    and bg.charttime < least(icustays.outtime, icustays.intime + interval '1 day')
  left join invasive_ventilation
    on icustays.stay_id = invasive_ventilation.stay_id
    and bg.charttime >= invasive_ventilation.starttime
    and bg.charttime <= invasive_ventilation.endtime
  where bg.specimen = 'ART.'
),
gas_extremes as (
  select
    stay_id,
    max(case when not is_ventilated and coalesce(fio2, 21) < 50 then po2 end) as pao2,
    max(case when is_ventilated and fio2 >= 50 then aado2 end) as aado2,
    max(
      case
        when ph is null or pco2 is null then null
        when ph < 7.20 then
          case when pco2 < 50 then 12 else 4 end
        when ph < 7.30 then
          case when pco2 < 30 then 9 when pco2 < 40 then 6 when pco2 < 50 then 3 else 2 end
        when ph < 7.35 then
          case when pco2 < 30 then 9 when pco2 < 45 then 0 else 1 end
        when ph < 7.45 then
          case when pco2 < 30 then 5 when pco2 < 45 then 0 else 1 end
        when ph < 7.50 then
          case when pco2 < 30 then 5 when pco2 < 35 then 0 when pco2 < 45 then 2 else 12 end
        when ph < 7.60 then
          case when pco2 < 40 then 3 else 12 end
        else
          case when pco2 < 25 then 0 when pco2 < 40 then 3 else 12 end
      end
    ) as acidbase_score
  from arterial_gases
  group by stay_id
),
chronic_kidney_disease as (
  select
    hadm_id,
    max(
      case
        when icd_version = 9 and substr(icd_code, 1, 4) in (
          '5854',  -- chronic kidney disease, stage IV
          '5855',  -- chronic kidney disease, stage V
          '5856'   -- end stage renal disease
        ) then 1
        when icd_version = 10 and substr(icd_code, 1, 4) in (
          'N184',  -- chronic kidney disease, stage 4
          'N185',  -- chronic kidney disease, stage 5
          'N186'   -- end stage renal disease
        ) then 1
        else 0
      end
    ) as ckd
  from mimiciv_hosp.diagnoses_icd
  group by hadm_id
),
ventilated_stays as (
  select distinct icustays.stay_id
  from mimiciv_icu.icustays
  inner join invasive_ventilation
    on icustays.stay_id = invasive_ventilation.stay_id
  where (starttime >= intime and starttime <= intime + interval '1 day')
    or (endtime >= intime and endtime <= intime + interval '1 day')
    or (starttime <= intime and endtime >= intime + interval '1 day')
),
first_day as (
  select
    icustays.stay_id,
    case when ventilated_stays.stay_id is null then 0 else 1 end as vent,
    -- acute renal failure
    case
      when first_day_lab.creatinine_max >= 1.5
        and first_day_urine_output.urineoutput < 410
        and chronic_kidney_disease.ckd = 0
        then 1
      else 0
    end as arf,
    heart_rate_min,
    heart_rate_max,
    mbp_min,
    mbp_max,
    temperature_min,
    temperature_max,
    resp_rate_min,
    resp_rate_max,
    hematocrit_min,
    hematocrit_max,
    wbc_min,
    wbc_max,
    creatinine_min,
    creatinine_max,
    bun_min,
    bun_max,
    sodium_min,
    sodium_max,
    albumin_min,
    albumin_max,
    bilirubin_total_min,
    bilirubin_total_max,
    least(first_day_lab.glucose_min, first_day_vitalsign.glucose_min) as glucose_min,
    greatest(first_day_lab.glucose_max, first_day_vitalsign.glucose_max) as glucose_max,
    urineoutput,
    gcs_motor,
    gcs_verbal,
    gcs_eyes,
    gcs_unable,
    pao2,
    aado2,
    acidbase_score
  from mimiciv_icu.icustays
  inner join mimiciv_hosp.admissions
    on icustays.hadm_id = admissions.hadm_id
  inner join mimiciv_hosp.patients
    on icustays.subject_id = patients.subject_id
  left join gas_extremes
    on icustays.stay_id = gas_extremes.stay_id
  left join chronic_kidney_disease
    on icustays.hadm_id = chronic_kidney_disease.hadm_id
  left join ventilated_stays
    on icustays.stay_id = ventilated_stays.stay_id
  left join mimiciv_derived.first_day_gcs
    on icustays.stay_id = first_day_gcs.stay_id
  left join mimiciv_derived.first_day_vitalsign
    on icustays.stay_id = first_day_vitalsign.stay_id
  left join mimiciv_derived.first_day_urine_output
    on icustays.stay_id = first_day_urine_output.stay_id
  left join mimiciv_derived.first_day_lab
    on icustays.stay_id = first_day_lab.stay_id
),
-- two rows per stay, one with the minima and one with the maxima, so that each band is written once
extremes as (
  select
    stay_id,
    vent,
    arf,
    'min' as extreme,
    heart_rate_min as heart_rate,
    mbp_min as mbp,
    temperature_min as temperature,
    resp_rate_min as resp_rate,
    hematocrit_min as hematocrit,
    wbc_min as wbc,
    creatinine_min as creatinine,
    bun_min as bun,
    sodium_min as sodium,
    albumin_min as albumin,
    bilirubin_total_min as bilirubin,
    glucose_min as glucose
  from first_day
  union all
  select
    stay_id,
    vent,
    arf,
    'max' as extreme,
    heart_rate_max as heart_rate,
    mbp_max as mbp,
    temperature_max as temperature,
    resp_rate_max as resp_rate,
    hematocrit_max as hematocrit,
    wbc_max as wbc,
    creatinine_max as creatinine,
    bun_max as bun,
    sodium_max as sodium,
    albumin_max as albumin,
    bilirubin_total_max as bilirubin,
    glucose_max as glucose
  from first_day
),
bands as (
  select
    *,
    case
      when heart_rate is null then null
      when heart_rate < 40 then 8
      when heart_rate < 50 then 5
      when heart_rate < 100 then 0
      when heart_rate < 110 then 1
      when heart_rate < 120 then 5
      when heart_rate < 140 then 7
      when heart_rate < 155 then 13
      else 17
    end as hr_band,
    case
      when mbp is null then null
      when mbp < 40 then 23
      when mbp < 60 then 15
      when mbp < 70 then 7
      when mbp < 80 then 6
      when mbp < 100 then 0
      when mbp < 120 then 4
      when mbp < 130 then 7
      when mbp < 140 then 9
      else 10
    end as mbp_band,
    case
      when temperature is null then null
      when temperature < 33.0 then 20
      when temperature < 33.5 then 16
      when temperature < 34.0 then 13
      when temperature < 35.0 then 8
      when temperature < 36.0 then 2
      when temperature < 40.0 then 0
      else 4
    end as temp_band,
    case
      when resp_rate is null then null
      when vent = 1 and resp_rate < 14 then 0
      when resp_rate < 6 then 17
      when resp_rate < 12 then 8
      when resp_rate < 14 then 7
      when resp_rate < 25 then 0
      when resp_rate < 35 then 6
      when resp_rate < 40 then 9
      when resp_rate < 50 then 11
      else 18
    end as resp_rate_band,
    case
      when hematocrit is null then null
      when hematocrit < 41.0 then 3
      when hematocrit < 50.0 then 0
      else 3
    end as hematocrit_band,
    case
      when wbc is null then null
      when wbc < 1.0 then 19
      when wbc < 3.0 then 5
      when wbc < 20.0 then 0
      when wbc < 25.0 then 1
      else 5
    end as wbc_band,
    case
      when creatinine is null then null
      when arf = 1 and creatinine < 1.5 then 0
      when arf = 1 then 10
      when creatinine < 0.5 then 3
      when creatinine < 1.5 then 0
      when creatinine < 1.95 then 4
      else 7
    end as creatinine_band,
    case
      when bun is null then null
      when bun < 17.0 then 0
      when bun < 20.0 then 2
      when bun < 40.0 then 7
      when bun < 80.0 then 11
      else 12
    end as bun_band,
    case
      when sodium is null then null
      when sodium < 120 then 3
      when sodium < 135 then 2
      when sodium < 155 then 0
      else 4
    end as sodium_band,
    case
      when albumin is null then null
      when albumin < 2.0 then 11
      when albumin < 2.5 then 6
      when albumin < 4.5 then 0
      else 4
    end as albumin_band,
    case
      when bilirubin is null then null
      when bilirubin < 2.0 then 0
      when bilirubin < 3.0 then 5
      when bilirubin < 5.0 then 6
      when bilirubin < 8.0 then 8
      else 16
    end as bilirubin_band,
    case
      when glucose is null then null
      when glucose < 40 then 8
      when glucose < 60 then 9
      when glucose < 200 then 0
      when glucose < 350 then 3
      else 5
    end as glucose_band
  from extremes
),
-- of minimum and maximum the one further from the midpoint counts, at equal distance the higher band
worst_bands as (
  select
    stay_id,
    arg_max(hr_band, row(abs(heart_rate - 75), hr_band)) as hr_score,
    arg_max(mbp_band, row(abs(mbp - 90), mbp_band)) as mbp_score,
    arg_max(temp_band, row(abs(temperature - 38), temp_band)) as temp_score,
    arg_max(resp_rate_band, row(abs(resp_rate - 19), resp_rate_band)) as resp_rate_score,
    arg_max(hematocrit_band, row(abs(hematocrit - 45.5), hematocrit_band)) as hematocrit_score,
    arg_max(wbc_band, row(abs(wbc - 11.5), wbc_band)) as wbc_score,
    case
      when max(arf) = 1 then max(creatinine_band) filter (where extreme = 'max')
      else arg_max(creatinine_band, row(abs(creatinine - 1), creatinine_band))
    end as creatinine_score,
    max(bun_band) filter (where extreme = 'max') as bun_score,
    arg_max(sodium_band, row(abs(sodium - 145.5), sodium_band)) as sodium_score,
    arg_max(albumin_band, row(abs(albumin - 3.5), albumin_band)) as albumin_score,
    max(bilirubin_band) filter (where extreme = 'max') as bilirubin_score,
    arg_max(glucose_band, row(abs(glucose - 130), glucose_band)) as glucose_score
  from bands
  group by stay_id
),
components as (
  select
    first_day.stay_id,
    hr_score,
    mbp_score,
    temp_score,
    resp_rate_score,
    case
      when pao2 < 50 then 15
      when pao2 < 70 then 5
      when pao2 < 80 then 2
      when pao2 is not null then 0
      when aado2 < 100 then 0
      when aado2 < 250 then 7
      when aado2 < 350 then 9
      when aado2 < 500 then 11
      when aado2 >= 500 then 14
    end as pao2_aado2_score,
    hematocrit_score,
    wbc_score,
    creatinine_score,
    case
      when urineoutput is null then null
      when urineoutput < 400 then 15
      when urineoutput < 600 then 8
      when urineoutput < 900 then 7
      when urineoutput < 1500 then 5
      when urineoutput < 2000 then 4
      when urineoutput < 4000 then 0
      else 1
    end as uo_score,
    bun_score,
    sodium_score,
    albumin_score,
    bilirubin_score,
    glucose_score,
    acidbase_score,
    case
      when gcs_unable = 1 then 0
      when gcs_eyes = 1 and gcs_verbal = 1 then
        case when gcs_motor in (1, 2) then 48 when gcs_motor in (3, 4) then 33 when gcs_motor in (5, 6) then 16 end
      when gcs_eyes = 1 and gcs_verbal in (2, 3) then
        case when gcs_motor in (1, 2) then 29 when gcs_motor in (3, 4) then 24 end
      when gcs_eyes > 1 and gcs_verbal = 1 then
        case when gcs_motor in (1, 2) then 29 when gcs_motor in (3, 4) then 24 when gcs_motor in (5, 6) then 15 end
      when gcs_eyes > 1 and gcs_verbal in (2, 3) then
        case
          when gcs_motor in (1, 2) then 29
          when gcs_motor in (3, 4) then 24
          when gcs_motor = 5 then 13
          when gcs_motor = 6 then 10
        end
      when gcs_eyes > 1 and gcs_verbal = 4 then
        case when gcs_motor in (1, 2, 3, 4) then 13 when gcs_motor = 5 then 8 when gcs_motor = 6 then 3 end
      when gcs_eyes > 1 and gcs_verbal = 5 then
        case when gcs_motor in (1, 2, 3, 4, 5) then 3 when gcs_motor = 6 then 0 end
    end as gcs_score
  from first_day
  inner join worst_bands
    on first_day.stay_id = worst_bands.stay_id
),
totals as (
  select
    *,
    coalesce(hr_score, 0)
      + coalesce(mbp_score, 0)
      + coalesce(temp_score, 0)
      + coalesce(resp_rate_score, 0)
      + coalesce(pao2_aado2_score, 0)
      + coalesce(hematocrit_score, 0)
      + coalesce(wbc_score, 0)
      + coalesce(creatinine_score, 0)
      + coalesce(uo_score, 0)
      + coalesce(bun_score, 0)
      + coalesce(sodium_score, 0)
      + coalesce(albumin_score, 0)
      + coalesce(bilirubin_score, 0)
      + coalesce(glucose_score, 0)
      + coalesce(acidbase_score, 0)
      + coalesce(gcs_score, 0) as apsiii
  from components
)
select
  icustays.subject_id,
  icustays.hadm_id,
  icustays.stay_id,
  apsiii,
  coalesce(hr_score, 0) as hr_score,
  coalesce(mbp_score, 0) as mbp_score,
  coalesce(temp_score, 0) as temp_score,
  coalesce(resp_rate_score, 0) as resp_rate_score,
  coalesce(pao2_aado2_score, 0) as pao2_aado2_score,
  coalesce(hematocrit_score, 0) as hematocrit_score,
  coalesce(wbc_score, 0) as wbc_score,
  coalesce(creatinine_score, 0) as creatinine_score,
  coalesce(uo_score, 0) as uo_score,
  coalesce(bun_score, 0) as bun_score,
  coalesce(sodium_score, 0) as sodium_score,
  coalesce(albumin_score, 0) as albumin_score,
  coalesce(bilirubin_score, 0) as bilirubin_score,
  coalesce(glucose_score, 0) as glucose_score,
  coalesce(acidbase_score, 0) as acidbase_score,
  coalesce(gcs_score, 0) as gcs_score
from mimiciv_icu.icustays
left join totals
  on icustays.stay_id = totals.stay_id
