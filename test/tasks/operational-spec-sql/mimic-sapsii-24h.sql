with vitals as (
  select
    icustay.stay_id,
    min(heart_rate) as heart_rate_min,
    max(heart_rate) as heart_rate_max,
    min(sbp) as sbp_min,
    max(sbp) as sbp_max,
    max(temperature) as temperature_max
  from mimiciv_icu.icustays as icustay
  join paragraph.vital_signs as vital
    on vital.subject_id = icustay.subject_id
    and vital.charttime > icustay.intime
    and vital.charttime <= icustay.intime + interval 24 hours
  group by all
),
gcs as (
  select icustay.stay_id, min(total) as gcs_min
  from mimiciv_icu.icustays as icustay
  join paragraph.gcs_moments as moment
    on moment.stay_id = icustay.stay_id
    and moment.charttime > icustay.intime
    and moment.charttime <= icustay.intime + interval 24 hours
  group by all
),
urine as (
  select icustay.stay_id, sum(volume) as urineoutput
  from mimiciv_icu.icustays as icustay
  join paragraph.urine_volumes as urine
    on urine.stay_id = icustay.stay_id
    and urine.charttime > icustay.intime
    and urine.charttime <= icustay.intime + interval 24 hours
  group by all
),
labs as (
  select
    icustay.stay_id,
    max(valuenum) filter (itemid = 51006) as bun_max, -- Urea Nitrogen
    min(valuenum) filter (itemid = 51301) as wbc_min, -- White Blood Cells
    max(valuenum) filter (itemid = 51301) as wbc_max,
    min(valuenum) filter (itemid = 50971) as potassium_min, -- Potassium
    max(valuenum) filter (itemid = 50971) as potassium_max,
    min(valuenum) filter (itemid = 50983) as sodium_min, -- Sodium
    max(valuenum) filter (itemid = 50983) as sodium_max,
    min(valuenum) filter (itemid = 50882) as bicarbonate_min, -- Bicarbonate
    max(valuenum) filter (itemid = 50885) as bilirubin_max -- Bilirubin, Total
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime > icustay.intime
    and lab.charttime <= icustay.intime + interval 24 hours
  where valuenum > 0
  group by all
),
mask_support as (
  select
    icustay.stay_id,
    greatest(min(charttime) - interval 1 hour, icustay.intime) as starttime,
    least(max(charttime) + interval 4 hours, icustay.intime + interval 24 hours) as endtime
  from mimiciv_icu.icustays as icustay
  join mimiciv_icu.chartevents as device
    on device.stay_id = icustay.stay_id
    and device.charttime > icustay.intime
    and device.charttime <= icustay.intime + interval 24 hours
  where device.itemid = 226732 -- O2 Delivery Device(s)
    and (device.value ilike '%cpap mask%' or device.value ilike '%bipap%')
  group by icustay.stay_id, icustay.intime
),
oxygenation as (
  select icustay.stay_id, min(pao2fio2) as pao2fio2_min
  from mimiciv_icu.icustays as icustay
  join paragraph.arterial_gases as gas
    on gas.subject_id = icustay.subject_id
    and gas.charttime > icustay.intime
    and gas.charttime <= icustay.intime + interval 24 hours
  left join mask_support on mask_support.stay_id = icustay.stay_id
  where gas.charttime between mask_support.starttime and mask_support.endtime
    or exists (
      select 1
      from paragraph.invasive_ventilation as episode
      where episode.stay_id = icustay.stay_id
        and gas.charttime > episode.starttime
        and gas.charttime <= episode.endtime
    )
  group by all
),
diagnosis_ranges(condition, icd_version, first_code, last_code) as (
  values
    ('aids', 9, '042', '044'),
    ('aids', 10, 'B20', 'B22'),
    ('aids', 10, 'B24', 'B24'),
    ('haematologic malignancy', 9, '20000', '20238'),
    ('haematologic malignancy', 9, '20240', '20248'),
    ('haematologic malignancy', 9, '20250', '20382'),
    ('haematologic malignancy', 9, '20400', '20522'),
    ('haematologic malignancy', 9, '20580', '20702'),
    ('haematologic malignancy', 9, '20720', '20892'),
    ('haematologic malignancy', 9, '2386', '2386'),
    ('haematologic malignancy', 9, '2733', '2733'),
    ('haematologic malignancy', 10, 'C81', 'C96'),
    ('metastatic cancer', 9, '1960', '1991'),
    ('metastatic cancer', 9, '20970', '20975'),
    ('metastatic cancer', 9, '20979', '20979'),
    ('metastatic cancer', 9, '78951', '78951'),
    ('metastatic cancer', 10, 'C77', 'C79'),
    ('metastatic cancer', 10, 'C800', 'C800')
),
comorbidity as (
  select
    hadm_id,
    max(case condition when 'aids' then 17 when 'haematologic malignancy' then 10 else 9 end) as comorbidity_score
  from mimiciv_hosp.diagnoses_icd as diagnosis
  join diagnosis_ranges as listed
    on listed.icd_version = diagnosis.icd_version
    and left(trim(icd_code), length(first_code)) >= first_code
    and left(trim(icd_code), length(last_code)) <= last_code
  group by all
),
first_service as (
  select hadm_id, curr_service
  from mimiciv_hosp.services
  qualify row_number() over (partition by hadm_id order by transfertime) = 1
),
scores as (
  select
    icustay.subject_id,
    icustay.hadm_id,
    icustay.stay_id,
    case when age < 40 then 0 when age < 60 then 7 when age < 70 then 12 when age < 75 then 15 when age < 80 then 16 else 18 end
      as age_score,
    case
      when heart_rate_min < 40 then 11
      when heart_rate_max >= 160 then 7
      when heart_rate_max >= 120 then 4
      when heart_rate_min < 70 then 2
      else 0
    end as hr_score,
    case when sbp_min < 70 then 13 when sbp_min < 100 then 5 when sbp_max >= 200 then 2 else 0 end as sysbp_score,
    case when temperature_max >= 39 then 3 else 0 end as temp_score,
    case when pao2fio2_min < 100 then 11 when pao2fio2_min < 200 then 9 when pao2fio2_min is not null then 6 else 0 end
      as pao2fio2_score,
    case when urineoutput < 500 then 11 when urineoutput < 1000 then 4 else 0 end as uo_score,
    case when bun_max < 28 then 0 when bun_max < 84 then 6 when bun_max >= 84 then 10 else 0 end as bun_score,
    case when wbc_min < 1 then 12 when wbc_max >= 20 then 3 else 0 end as wbc_score,
    case when potassium_min < 3 or potassium_max >= 5 then 3 else 0 end as potassium_score,
    case when sodium_min < 125 then 5 when sodium_max >= 145 then 1 else 0 end as sodium_score,
    case when bicarbonate_min < 15 then 6 when bicarbonate_min < 20 then 3 else 0 end as bicarbonate_score,
    case when bilirubin_max < 4 then 0 when bilirubin_max < 6 then 4 when bilirubin_max >= 6 then 9 else 0 end
      as bilirubin_score,
    case
      when gcs_min < 3 then 0
      when gcs_min < 6 then 26
      when gcs_min < 9 then 13
      when gcs_min < 11 then 7
      when gcs_min < 14 then 5
      else 0
    end as gcs_score,
    coalesce(comorbidity_score, 0) as comorbidity_score,
    case
      when admission_type = 'ELECTIVE' and curr_service ilike '%surg%' then 0
      when curr_service ilike '%surg%' then 8
      else 6
    end as admissiontype_score
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.admissions as admission using (hadm_id)
  join paragraph.age using (hadm_id)
  left join vitals using (stay_id)
  left join gcs using (stay_id)
  left join urine using (stay_id)
  left join labs using (stay_id)
  left join oxygenation using (stay_id)
  left join comorbidity using (hadm_id)
  left join first_service using (hadm_id)
)
select
  subject_id,
  hadm_id,
  stay_id,
  age_score + hr_score + sysbp_score + temp_score + pao2fio2_score + uo_score + bun_score + wbc_score + potassium_score
  + sodium_score + bicarbonate_score + bilirubin_score + gcs_score + comorbidity_score + admissiontype_score as sapsii,
  * exclude (subject_id, hadm_id, stay_id)
from scores
