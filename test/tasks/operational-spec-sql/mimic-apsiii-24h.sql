with vitals as (
  select
    icustay.stay_id,
    min(heart_rate) as heart_rate_min,
    max(heart_rate) as heart_rate_max,
    min(mbp) as mbp_min,
    max(mbp) as mbp_max,
    min(resp_rate) as resp_rate_min,
    max(resp_rate) as resp_rate_max,
    min(temperature) as temperature_min,
    max(temperature) as temperature_max
  from mimiciv_icu.icustays as icustay
  join paragraph.vital_signs as vital
    on vital.stay_id = icustay.stay_id
    and vital.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
labs as (
  select
    icustay.stay_id,
    min(valuenum) filter (itemid = 51221) as hematocrit_min, -- Hematocrit
    max(valuenum) filter (itemid = 51221) as hematocrit_max,
    min(valuenum) filter (itemid = 51301) as wbc_min, -- White Blood Cells
    max(valuenum) filter (itemid = 51301) as wbc_max,
    min(valuenum) filter (itemid = 50912) as creatinine_min, -- Creatinine
    max(valuenum) filter (itemid = 50912) as creatinine_max,
    max(valuenum) filter (itemid = 51006) as bun_max, -- Urea Nitrogen
    min(valuenum) filter (itemid = 50983) as sodium_min, -- Sodium
    max(valuenum) filter (itemid = 50983) as sodium_max,
    min(valuenum) filter (itemid = 50862) as albumin_min, -- Albumin
    max(valuenum) filter (itemid = 50862) as albumin_max,
    max(valuenum) filter (itemid = 50885) as bilirubin_max, -- Bilirubin, Total
    min(valuenum) filter (itemid = 50931) as glucose_lab_min, -- Glucose
    max(valuenum) filter (itemid = 50931) as glucose_lab_max
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where itemid in (51221, 51301, 50912, 51006, 50983, 50862, 50885, 50931)
    and valuenum > 0
  group by all
),
bedside_glucose as (
  select icustay.stay_id, min(valuenum) as glucose_bedside_min, max(valuenum) as glucose_bedside_max
  from mimiciv_icu.icustays as icustay
  join mimiciv_icu.chartevents as chart
    on chart.stay_id = icustay.stay_id
    and chart.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where itemid in (
      220621, -- Glucose (serum)
      225664, -- Glucose finger stick (range 70-100)
      226537 -- Glucose (whole blood)
    )
    and valuenum > 0
  group by all
),
urine as (
  select icustay.stay_id, sum(volume) as urineoutput
  from mimiciv_icu.icustays as icustay
  join paragraph.urine_volumes as urine
    on urine.stay_id = icustay.stay_id
    and urine.charttime between icustay.intime and icustay.intime + interval 24 hours
  group by all
),
ventilated_days as (
  select distinct icustay.stay_id
  from mimiciv_icu.icustays as icustay
  join paragraph.invasive_ventilation as episode
    on episode.stay_id = icustay.stay_id
    and episode.starttime <= icustay.intime + interval 24 hours
    and episode.endtime >= icustay.intime
),
diagnosed as (
  select
    hadm_id,
    bool_or(icd_version = 9 and left(icd_code, 4) in ('5854', '5855', '5856')
      or icd_version = 10 and left(icd_code, 4) in ('N184', 'N185', 'N186')) as has_late_kidney_disease
  from mimiciv_hosp.diagnoses_icd
  group by all
),
gases as (
  select
    icustay.stay_id,
    gas.*,
    exists (
      select 1
      from paragraph.invasive_ventilation as episode
      where episode.stay_id = icustay.stay_id and gas.charttime between episode.starttime and episode.endtime
    ) as is_ventilated,
    coalesce(fio2_of_record, fio2_charted) as fio2
  from mimiciv_icu.icustays as icustay
  join paragraph.arterial_gases as gas
    on gas.hadm_id = icustay.hadm_id
    and gas.charttime >= icustay.intime
    and gas.charttime < least(icustay.intime + interval 24 hours, icustay.outtime)
),
oxygenation as (
  select
    stay_id,
    max(po2) filter (not is_ventilated and coalesce(fio2, 21) < 50) as pao2,
    max(aado2) filter (is_ventilated and fio2 >= 50) as aado2
  from gases
  group by all
),
acid_base as (
  select
    stay_id,
    max(case
      when ph < 7.20 then case when pco2 < 50 then 12 else 4 end
      when ph < 7.30 then case when pco2 < 30 then 9 when pco2 < 40 then 6 when pco2 < 50 then 3 else 2 end
      when ph < 7.35 then case when pco2 < 30 then 9 when pco2 < 45 then 0 else 1 end
      when ph < 7.45 then case when pco2 < 30 then 5 when pco2 < 45 then 0 else 1 end
      when ph < 7.50 then case when pco2 < 30 then 5 when pco2 < 35 then 0 when pco2 < 45 then 2 else 12 end
      when ph < 7.60 then case when pco2 < 40 then 3 else 12 end
      else case when pco2 < 25 then 0 when pco2 < 40 then 3 else 12 end
    end) as acidbase_score
  from gases
  where ph is not null and pco2 is not null
  group by all
),
gcs as (
  select icustay.stay_id, eyes, verbal, motor
  from mimiciv_icu.icustays as icustay
  join paragraph.gcs_moments as moment
    on moment.stay_id = icustay.stay_id
    and moment.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  qualify row_number() over (partition by icustay.stay_id order by total, charttime desc) = 1
),
facts as (
  select
    icustay.*,
    vitals.* exclude (stay_id),
    labs.* exclude (stay_id, glucose_lab_min, glucose_lab_max),
    least(glucose_lab_min, glucose_bedside_min) as glucose_min,
    greatest(glucose_lab_max, glucose_bedside_max) as glucose_max,
    urineoutput,
    stay_id in (from ventilated_days) as is_ventilated_day,
    coalesce(creatinine_max >= 1.5 and urineoutput < 410 and not has_late_kidney_disease, false) as has_renal_failure,
    pao2,
    aado2,
    coalesce(acid_base.acidbase_score, 0) as acidbase_score,
    eyes,
    verbal,
    motor
  from mimiciv_icu.icustays as icustay
  left join vitals using (stay_id)
  left join labs using (stay_id)
  left join bedside_glucose using (stay_id)
  left join urine using (stay_id)
  left join diagnosed using (hadm_id)
  left join oxygenation using (stay_id)
  left join acid_base using (stay_id)
  left join gcs using (stay_id)
),
bands(variable, place, below, points) as (
  values
    ('heart rate', 1, 40, 8), ('heart rate', 2, 50, 5), ('heart rate', 3, 100, 0), ('heart rate', 4, 110, 1),
    ('heart rate', 5, 120, 5), ('heart rate', 6, 140, 7), ('heart rate', 7, 155, 13), ('heart rate', 8, 1e9, 17),
    ('mean pressure', 1, 40, 23), ('mean pressure', 2, 60, 15), ('mean pressure', 3, 70, 7), ('mean pressure', 4, 80, 6),
    ('mean pressure', 5, 100, 0), ('mean pressure', 6, 120, 4), ('mean pressure', 7, 130, 7), ('mean pressure', 8, 140, 9),
    ('mean pressure', 9, 1e9, 10),
    ('temperature', 1, 33.0, 20), ('temperature', 2, 33.5, 16), ('temperature', 3, 34.0, 13), ('temperature', 4, 35.0, 8),
    ('temperature', 5, 36.0, 2), ('temperature', 6, 40.0, 0), ('temperature', 7, 1e9, 4),
    ('respiratory rate', 1, 6, 17), ('respiratory rate', 2, 12, 8), ('respiratory rate', 3, 14, 7),
    ('respiratory rate', 4, 25, 0), ('respiratory rate', 5, 35, 6), ('respiratory rate', 6, 40, 9),
    ('respiratory rate', 7, 50, 11), ('respiratory rate', 8, 1e9, 18),
    ('hematocrit', 1, 41, 3), ('hematocrit', 2, 50, 0), ('hematocrit', 3, 1e9, 3),
    ('white cells', 1, 1, 19), ('white cells', 2, 3, 5), ('white cells', 3, 20, 0), ('white cells', 4, 25, 1),
    ('white cells', 5, 1e9, 5),
    ('creatinine', 1, 0.5, 3), ('creatinine', 2, 1.5, 0), ('creatinine', 3, 1.95, 4), ('creatinine', 4, 1e9, 7),
    ('urine', 1, 400, 15), ('urine', 2, 600, 8), ('urine', 3, 900, 7), ('urine', 4, 1500, 5), ('urine', 5, 2000, 4),
    ('urine', 6, 4000, 0), ('urine', 7, 1e9, 1),
    ('BUN', 1, 17, 0), ('BUN', 2, 20, 2), ('BUN', 3, 40, 7), ('BUN', 4, 80, 11), ('BUN', 5, 1e9, 12),
    ('sodium', 1, 120, 3), ('sodium', 2, 135, 2), ('sodium', 3, 155, 0), ('sodium', 4, 1e9, 4),
    ('albumin', 1, 2.0, 11), ('albumin', 2, 2.5, 6), ('albumin', 3, 4.5, 0), ('albumin', 4, 1e9, 4),
    ('bilirubin', 1, 2, 0), ('bilirubin', 2, 3, 5), ('bilirubin', 3, 5, 6), ('bilirubin', 4, 8, 8), ('bilirubin', 5, 1e9, 16),
    ('glucose', 1, 40, 8), ('glucose', 2, 60, 9), ('glucose', 3, 200, 0), ('glucose', 4, 350, 3), ('glucose', 5, 1e9, 5)
),
extremes(stay_id, variable, reading, reference) as (
  -- readings without a reference value are the only extreme of their variable
  select stay_id, 'heart rate', unnest([heart_rate_min, heart_rate_max]), 75 from facts
  union all select stay_id, 'mean pressure', unnest([mbp_min, mbp_max]), 90 from facts
  union all select stay_id, 'temperature', unnest([temperature_min, temperature_max]), 38 from facts
  union all select stay_id, 'respiratory rate', unnest([resp_rate_min, resp_rate_max]), 19 from facts
  union all select stay_id, 'hematocrit', unnest([hematocrit_min, hematocrit_max]), 45.5 from facts
  union all select stay_id, 'white cells', unnest([wbc_min, wbc_max]), 11.5 from facts
  union all select stay_id, 'creatinine', unnest([creatinine_min, creatinine_max]), 1 from facts
  union all select stay_id, 'sodium', unnest([sodium_min, sodium_max]), 145.5 from facts
  union all select stay_id, 'albumin', unnest([albumin_min, albumin_max]), 3.5 from facts
  union all select stay_id, 'glucose', unnest([glucose_min, glucose_max]), 130 from facts
  union all select stay_id, 'BUN', bun_max, 0 from facts
  union all select stay_id, 'bilirubin', bilirubin_max, 0 from facts
  union all select stay_id, 'urine', urineoutput, 0 from facts
),
scored as (
  select
    extreme.stay_id,
    extreme.variable,
    abs(reading - reference) as distance,
    case
      when extreme.variable = 'respiratory rate' and reading < 14 and is_ventilated_day then 0
      when extreme.variable = 'creatinine' and has_renal_failure then 10
      else (
        select arg_min(points, place) from bands where bands.variable = extreme.variable and reading < below
      )
    end as score
  from extremes as extreme
  join facts using (stay_id)
  where reading is not null
),
worst as (
  select *
  from scored
  qualify row_number() over (partition by stay_id, variable order by distance desc, score desc) = 1
),
scores as (
  select
    subject_id,
    hadm_id,
    stay_id,
    coalesce(max(score) filter (variable = 'heart rate'), 0) as hr_score,
    coalesce(max(score) filter (variable = 'mean pressure'), 0) as mbp_score,
    coalesce(max(score) filter (variable = 'temperature'), 0) as temp_score,
    coalesce(max(score) filter (variable = 'respiratory rate'), 0) as resp_rate_score,
    max(case
      when pao2 is not null then case when pao2 < 50 then 15 when pao2 < 70 then 5 when pao2 < 80 then 2 else 0 end
      when aado2 is not null
        then case when aado2 < 100 then 0 when aado2 < 250 then 7 when aado2 < 350 then 9 when aado2 < 500 then 11 else 14 end
      else 0
    end) as pao2_aado2_score,
    coalesce(max(score) filter (variable = 'hematocrit'), 0) as hematocrit_score,
    coalesce(max(score) filter (variable = 'white cells'), 0) as wbc_score,
    coalesce(max(score) filter (variable = 'creatinine'), 0) as creatinine_score,
    coalesce(max(score) filter (variable = 'urine'), 0) as uo_score,
    coalesce(max(score) filter (variable = 'BUN'), 0) as bun_score,
    coalesce(max(score) filter (variable = 'sodium'), 0) as sodium_score,
    coalesce(max(score) filter (variable = 'albumin'), 0) as albumin_score,
    coalesce(max(score) filter (variable = 'bilirubin'), 0) as bilirubin_score,
    coalesce(max(score) filter (variable = 'glucose'), 0) as glucose_score,
    max(acidbase_score) as acidbase_score,
    max(case
      when verbal = 0 then 0
      when eyes = 1 and verbal = 1 then
        case when motor in (1, 2) then 48 when motor in (3, 4) then 33 when motor in (5, 6) then 16 else 0 end
      when eyes = 1 and verbal in (2, 3) then case when motor in (1, 2) then 29 when motor in (3, 4) then 24 else 0 end
      when eyes in (2, 3, 4) and verbal = 1 then
        case when motor in (1, 2) then 29 when motor in (3, 4) then 24 when motor in (5, 6) then 15 else 0 end
      when eyes in (2, 3, 4) and verbal in (2, 3) then
        case when motor in (1, 2) then 29 when motor in (3, 4) then 24 when motor = 5 then 13 when motor = 6 then 10 else 0 end
      when eyes in (2, 3, 4) and verbal = 4 then
        case when motor in (1, 2, 3, 4) then 13 when motor = 5 then 8 when motor = 6 then 3 else 0 end
      when eyes in (2, 3, 4) and verbal = 5 then case when motor between 1 and 5 then 3 else 0 end
      else 0
    end) as gcs_score
  from facts
  left join worst using (stay_id)
  group by all
)
select
  subject_id,
  hadm_id,
  stay_id,
  hr_score + mbp_score + temp_score + resp_rate_score + pao2_aado2_score + hematocrit_score + wbc_score + creatinine_score
  + uo_score + bun_score + sodium_score + albumin_score + bilirubin_score + glucose_score + acidbase_score + gcs_score
    as apsiii,
  * exclude (subject_id, hadm_id, stay_id)
from scores
