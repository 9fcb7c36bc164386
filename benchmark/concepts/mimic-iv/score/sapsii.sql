-- title: Simplified Acute Physiology Score II
-- grain: one row per ICU stay with its admission
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_icu.chartevents, mimiciv_hosp.admissions, mimiciv_hosp.services, mimiciv_hosp.diagnoses_icd, mimiciv_derived.age, mimiciv_derived.bg, mimiciv_derived.ventilation, mimiciv_derived.gcs, mimiciv_derived.vitalsign, mimiciv_derived.urine_output, mimiciv_derived.chemistry, mimiciv_derived.complete_blood_count, mimiciv_derived.enzyme
-- citation: Le Gall 1993, JAMA
-- conventions:
--   - The window is the 24 hours after ICU admission, start not included, end included, not cut at discharge and without the look-back of the first-day tables.
--   - Vital signs, laboratory values and arterial gases are matched by patient, so those of another stay inside the window count; urine output and GCS by ICU stay.
--   - Only arterial gases under invasive ventilation or CPAP score (start of the period not included, end included); without any the component is missing.
--   - One CPAP period per stay runs from 1 hour before the first to 4 hours after the last charting of a CPAP or BiPAP mask in the window, gaps included, cut to the window; it counts for all stays of the patient.
--   - A stay is surgical if the first service of the hospital admission is surgical (not orthopaedics), whenever that was; only the admission type ELECTIVE is scheduled.
--   - Chronic diseases come from the diagnosis codes of the admission; AIDS outranks haematologic malignancy, and this metastatic cancer. Code ranges compare as text, so the short codes 202 and 203 fall into a range.
--   - Age is fractional.
--   - A component without data is missing; the total counts it as 0. The probability is that of hospital death.
-- ties: among services that start at the same time the one without a previous service is first, then by the names of previous and current service
with first_24_hours as (
  select
    subject_id,
    hadm_id,
    stay_id,
    intime as starttime,
    intime + interval '24 hours' as endtime
  from mimiciv_icu.icustays
),
vital_signs as (
  select
    first_24_hours.stay_id,
    min(heart_rate) as heart_rate_min,
    max(heart_rate) as heart_rate_max,
    min(sbp) as sbp_min,
    max(sbp) as sbp_max,
    min(temperature) as temperature_min,
    max(temperature) as temperature_max
  from first_24_hours
  inner join mimiciv_derived.vitalsign
    on first_24_hours.subject_id = vitalsign.subject_id
    and vitalsign.charttime > first_24_hours.starttime
    and vitalsign.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
chemistry_values as (
  select
    first_24_hours.stay_id,
    max(bun) as bun_max,
    min(potassium) as potassium_min,
    max(potassium) as potassium_max,
    min(sodium) as sodium_min,
    max(sodium) as sodium_max,
    min(bicarbonate) as bicarbonate_min,
    max(bicarbonate) as bicarbonate_max
  from first_24_hours
  inner join mimiciv_derived.chemistry
    on first_24_hours.subject_id = chemistry.subject_id
    and chemistry.charttime > first_24_hours.starttime
    and chemistry.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
white_cells as (
  select
    first_24_hours.stay_id,
    min(wbc) as wbc_min,
    max(wbc) as wbc_max
  from first_24_hours
  inner join mimiciv_derived.complete_blood_count
    on first_24_hours.subject_id = complete_blood_count.subject_id
    and complete_blood_count.charttime > first_24_hours.starttime
    and complete_blood_count.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
bilirubin as (
  select
    first_24_hours.stay_id,
    max(bilirubin_total) as bilirubin_max
  from first_24_hours
  inner join mimiciv_derived.enzyme
    on first_24_hours.subject_id = enzyme.subject_id
    and enzyme.charttime > first_24_hours.starttime
    and enzyme.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
urine as (
  select
    first_24_hours.stay_id,
    sum(cast(urineoutput as decimal(38, 10)))::double as urineoutput
  from first_24_hours
  inner join mimiciv_derived.urine_output
    on first_24_hours.stay_id = urine_output.stay_id
    and urine_output.charttime > first_24_hours.starttime
    and urine_output.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
coma_scale as (
  select
    first_24_hours.stay_id,
    min(gcs) as gcs_min
  from first_24_hours
  inner join mimiciv_derived.gcs
    on first_24_hours.stay_id = gcs.stay_id
    and gcs.charttime > first_24_hours.starttime
    and gcs.charttime <= first_24_hours.endtime
  group by first_24_hours.stay_id
),
invasive_ventilation as (
  select stay_id, starttime, endtime
  from mimiciv_derived.ventilation
  where ventilation_status = 'InvasiveVent'
),
cpap_periods as (
  select
    first_24_hours.subject_id,
    greatest(min(chartevents.charttime) - interval '1 hour', first_24_hours.starttime) as starttime,
    least(max(chartevents.charttime) + interval '4 hours', first_24_hours.endtime) as endtime
  from first_24_hours
  inner join mimiciv_icu.chartevents
    on first_24_hours.stay_id = chartevents.stay_id
    and chartevents.charttime > first_24_hours.starttime
    and chartevents.charttime <= first_24_hours.endtime
  where chartevents.itemid = 226732  -- O2 Delivery Device(s)
    and (
      contains(lower(chartevents.value), 'cpap mask')
      or contains(lower(chartevents.value), 'bipap')
    )
  group by
    first_24_hours.subject_id,
    first_24_hours.stay_id,
    first_24_hours.starttime,
    first_24_hours.endtime
),
worst_ratios as (
  select
    first_24_hours.stay_id,
    min(bg.pao2fio2ratio) as pao2fio2_vent_min
  from first_24_hours
  inner join mimiciv_derived.bg
    on first_24_hours.subject_id = bg.subject_id
    and bg.charttime > first_24_hours.starttime
    and bg.charttime <= first_24_hours.endtime
  left join invasive_ventilation
    on first_24_hours.stay_id = invasive_ventilation.stay_id
    and bg.charttime > invasive_ventilation.starttime
    and bg.charttime <= invasive_ventilation.endtime
  left join cpap_periods
    on first_24_hours.subject_id = cpap_periods.subject_id
    and bg.charttime > cpap_periods.starttime
    and bg.charttime <= cpap_periods.endtime
  where bg.specimen = 'ART.'
    and (invasive_ventilation.stay_id is not null or cpap_periods.subject_id is not null)
  group by first_24_hours.stay_id
),
first_services as (
  select
    hadm_id,
    curr_service
  from mimiciv_hosp.services
  qualify row_number() over (
    partition by hadm_id
    order by
      transfertime nulls first,
      prev_service nulls first,
      curr_service nulls first
  ) = 1
),
comorbidities as (
  select
    hadm_id,
    max(
      case
        -- HIV disease
        when icd_version = 9 and substr(icd_code, 1, 3) between '042' and '044' then 1
        when icd_version = 10 and substr(icd_code, 1, 3) between 'B20' and 'B22' then 1
        when icd_version = 10 and substr(icd_code, 1, 3) = 'B24' then 1
        else 0
      end
    ) as aids,
    max(
      case
        when icd_version = 9 and (
          substr(icd_code, 1, 5) between '20000' and '20238'     -- lymphoma
          or substr(icd_code, 1, 5) between '20240' and '20248'  -- leukaemic reticuloendotheliosis
          or substr(icd_code, 1, 5) between '20250' and '20382'  -- other lymphoid neoplasms, multiple myeloma
          or substr(icd_code, 1, 5) between '20400' and '20522'  -- lymphoid and myeloid leukaemia
          or substr(icd_code, 1, 5) between '20580' and '20702'  -- other and monocytic leukaemia
          or substr(icd_code, 1, 5) between '20720' and '20892'  -- other specified and unspecified leukaemia
          or substr(icd_code, 1, 4) in (
            '2386',  -- neoplasm of uncertain behaviour of plasma cells
            '2733'   -- macroglobulinaemia
          )
        ) then 1
        -- malignant neoplasms of lymphoid, haematopoietic and related tissue
        when icd_version = 10 and substr(icd_code, 1, 3) between 'C81' and 'C96' then 1
        else 0
      end
    ) as hematologic_malignancy,
    max(
      case
        when icd_version = 9 and (
          substr(icd_code, 1, 4) between '1960' and '1991'       -- secondary malignant neoplasm, unspecified site
          or substr(icd_code, 1, 5) between '20970' and '20975'  -- secondary neuroendocrine tumour
          or substr(icd_code, 1, 5) in (
            '20979',  -- secondary neuroendocrine tumour of other sites
            '78951'   -- malignant ascites
          )
        ) then 1
        -- secondary malignant neoplasms
        when icd_version = 10 and substr(icd_code, 1, 3) between 'C77' and 'C79' then 1
        -- disseminated malignant neoplasm
        when icd_version = 10 and substr(icd_code, 1, 4) = 'C800' then 1
        else 0
      end
    ) as metastatic_cancer
  from mimiciv_hosp.diagnoses_icd
  group by hadm_id
),
components as (
  select
    first_24_hours.subject_id,
    first_24_hours.hadm_id,
    first_24_hours.stay_id,
    first_24_hours.starttime,
    first_24_hours.endtime,
    case
      when age is null then null
      when age < 40 then 0
      when age < 60 then 7
      when age < 70 then 12
      when age < 75 then 15
      when age < 80 then 16
      else 18
    end as age_score,
    case
      when heart_rate_max is null then null
      when heart_rate_min < 40 then 11
      when heart_rate_max >= 160 then 7
      when heart_rate_max >= 120 then 4
      when heart_rate_min < 70 then 2
      when heart_rate_max >= 70 and heart_rate_max < 120
        and heart_rate_min >= 70 and heart_rate_min < 120
        then 0
    end as hr_score,
    case
      when sbp_min is null then null
      when sbp_min < 70 then 13
      when sbp_min < 100 then 5
      when sbp_max >= 200 then 2
      when sbp_max >= 100 and sbp_max < 200
        and sbp_min >= 100 and sbp_min < 200
        then 0
    end as sysbp_score,
    case
      when temperature_max is null then null
      when temperature_max >= 39.0 then 3
      when temperature_min < 39.0 then 0
    end as temp_score,
    case
      when pao2fio2_vent_min is null then null
      when pao2fio2_vent_min < 100 then 11
      when pao2fio2_vent_min < 200 then 9
      when pao2fio2_vent_min >= 200 then 6
    end as pao2fio2_score,
    case
      when urineoutput is null then null
      when urineoutput < 500 then 11
      when urineoutput < 1000 then 4
      when urineoutput >= 1000 then 0
    end as uo_score,
    case
      when bun_max is null then null
      when bun_max < 28.0 then 0
      when bun_max < 84.0 then 6
      when bun_max >= 84.0 then 10
    end as bun_score,
    case
      when wbc_max is null then null
      when wbc_min < 1.0 then 12
      when wbc_max >= 20.0 then 3
      when wbc_max >= 1.0 and wbc_max < 20.0
        and wbc_min >= 1.0 and wbc_min < 20.0
        then 0
    end as wbc_score,
    case
      when potassium_max is null then null
      when potassium_min < 3.0 then 3
      when potassium_max >= 5.0 then 3
      when potassium_max >= 3.0 and potassium_max < 5.0
        and potassium_min >= 3.0 and potassium_min < 5.0
        then 0
    end as potassium_score,
    case
      when sodium_max is null then null
      when sodium_min < 125 then 5
      when sodium_max >= 145 then 1
      when sodium_max >= 125 and sodium_max < 145
        and sodium_min >= 125 and sodium_min < 145
        then 0
    end as sodium_score,
    case
      when bicarbonate_max is null then null
      when bicarbonate_min < 15.0 then 6
      when bicarbonate_min < 20.0 then 3
      when bicarbonate_max >= 20.0 and bicarbonate_min >= 20.0 then 0
    end as bicarbonate_score,
    case
      when bilirubin_max is null then null
      when bilirubin_max < 4.0 then 0
      when bilirubin_max < 6.0 then 4
      when bilirubin_max >= 6.0 then 9
    end as bilirubin_score,
    case
      when gcs_min is null then null
      when gcs_min < 3 then null
      when gcs_min < 6 then 26
      when gcs_min < 9 then 13
      when gcs_min < 11 then 7
      when gcs_min < 14 then 5
      when gcs_min >= 14 and gcs_min <= 15 then 0
    end as gcs_score,
    case
      when aids = 1 then 17
      when hematologic_malignancy = 1 then 10
      when metastatic_cancer = 1 then 9
      else 0
    end as comorbidity_score,
    case
      when not coalesce(contains(lower(curr_service), 'surg'), false) then 6  -- medical
      when admission_type = 'ELECTIVE' then 0                                 -- scheduled surgical
      when admission_type <> 'ELECTIVE' then 8                                -- unscheduled surgical
      else 6                                                                  -- unknown admission type
    end as admissiontype_score
  from first_24_hours
  inner join mimiciv_hosp.admissions
    on first_24_hours.hadm_id = admissions.hadm_id
  left join mimiciv_derived.age
    on first_24_hours.hadm_id = age.hadm_id
  left join vital_signs
    on first_24_hours.stay_id = vital_signs.stay_id
  left join chemistry_values
    on first_24_hours.stay_id = chemistry_values.stay_id
  left join white_cells
    on first_24_hours.stay_id = white_cells.stay_id
  left join bilirubin
    on first_24_hours.stay_id = bilirubin.stay_id
  left join urine
    on first_24_hours.stay_id = urine.stay_id
  left join coma_scale
    on first_24_hours.stay_id = coma_scale.stay_id
  left join worst_ratios
    on first_24_hours.stay_id = worst_ratios.stay_id
  left join first_services
    on first_24_hours.hadm_id = first_services.hadm_id
  left join comorbidities
    on first_24_hours.hadm_id = comorbidities.hadm_id
),
totals as (
  select
    *,
    coalesce(age_score, 0)
      + coalesce(hr_score, 0)
      + coalesce(sysbp_score, 0)
      + coalesce(temp_score, 0)
      + coalesce(pao2fio2_score, 0)
      + coalesce(uo_score, 0)
      + coalesce(bun_score, 0)
      + coalesce(wbc_score, 0)
      + coalesce(potassium_score, 0)
      + coalesce(sodium_score, 0)
      + coalesce(bicarbonate_score, 0)
      + coalesce(bilirubin_score, 0)
      + coalesce(gcs_score, 0)
      + coalesce(comorbidity_score, 0)
      + coalesce(admissiontype_score, 0) as sapsii
  from components
)
select
  subject_id,
  hadm_id,
  stay_id,
  starttime,
  endtime,
  sapsii,
  1 / (1 + exp(-(-7.7631 + 0.0737 * sapsii + 0.9971 * ln(sapsii + 1)))) as sapsii_prob,
  age_score,
  hr_score,
  sysbp_score,
  temp_score,
  pao2fio2_score,
  uo_score,
  bun_score,
  wbc_score,
  potassium_score,
  sodium_score,
  bicarbonate_score,
  bilirubin_score,
  gcs_score,
  comorbidity_score,
  admissiontype_score
from totals
