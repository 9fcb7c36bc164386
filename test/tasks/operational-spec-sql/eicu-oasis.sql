with nursing as (
  select
    patientunitstayid,
    nursingchartcelltypecat as category,
    nursingchartcelltypevallabel as label,
    nursingchartcelltypevalname as name,
    nursingchartoffset as charted_offset,
    nursingchartcelltypevalname = 'Invasive BP Mean'
      or nursingchartcelltypevallabel in ('MAP (mmHg)', 'Arterial Line MAP (mmHg)') as is_invasive_mean,
    try_cast(nursingchartvalue as double) as value
  from eicu_crd.nursecharting
  where nursingchartoffset > 0 and nursingchartoffset <= 1440
    and nursingchartcelltypecat in ('Vital Signs', 'Scores', 'Other Vital Signs and Infusions')
),
vitals as (
  select
    patientunitstayid,
    min(value) filter (label = 'Heart Rate' and value between 25 and 225) as heart_rate_min,
    max(value) filter (label = 'Heart Rate' and value between 25 and 225) as heart_rate_max,
    min(value) filter (name = 'Temperature (C)' and value between 25 and 46) as temperature_min,
    max(value) filter (name = 'Temperature (C)' and value between 25 and 46) as temperature_max,
    min(value) filter (is_invasive_mean and value between 1 and 250) as invasive_min,
    max(value) filter (is_invasive_mean and value between 1 and 250) as invasive_max,
    min(value) filter (name = 'Non-Invasive BP Mean' and value between 1 and 250) as non_invasive_min,
    max(value) filter (name = 'Non-Invasive BP Mean' and value between 1 and 250) as non_invasive_max,
    min(value) filter (label = 'Respiratory Rate' and value > 0 and value <= 60) as resp_rate_min,
    max(value) filter (label = 'Respiratory Rate' and value between 0 and 60) as resp_rate_max
  from nursing
  group by all
),
gcs_moments as (
  select patientunitstayid, charted_offset, min(value) as total
  from nursing
  where category in ('Scores', 'Other Vital Signs and Infusions')
    and (
      label = 'Glasgow coma score' and name = 'GCS Total'
      or label = 'Score (Glasgow Coma Scale)' and name = 'Value'
    )
  group by all
),
gcs_charted as (
  select patientunitstayid, min(total) as gcs_nurses
  from gcs_moments
  where total > 2 and total < 16
  group by all
),
gcs_physicians as (
  select patientunitstayid, min(try_cast(physicalexamvalue as double)) as gcs_examined
  from eicu_crd.physicalexam
  where physicalexamoffset > 0 and physicalexamoffset <= 1440
    and regexp_matches(physicalexampath, '/GCS/[0-9]+$')
  group by all
),
outputs as (
  select patientunitstayid, cellvaluenumeric, string_split(cellpath, '|')[-1] as label
  from eicu_crd.intakeoutput
  where intakeoutputoffset > 0 and intakeoutputoffset <= 1440
    and cellpath like 'flowsheet|Flowsheet Cell Labels|I&O|Output (ml)|%'
),
urine_charted as (
  select patientunitstayid, sum(cellvaluenumeric) as urine
  from outputs
  where label ilike 'foley%' and label not ilike '%pacu%' and label not ilike '%or%' and label not ilike '%ir%'
    or label like 'Output%Urinary Catheter%' or label like 'Output%Urethral Catheter%' or label like 'Output%External Urethral%'
    or label like 'Urine Output (mL)%' or label like 'Urine Output-%' or label like 'Urinary Catheter Output%'
    or lower(label) in (
      'urine', 'actual urine', 'true urine', 'measured urine', 'urine (measured)', 'unmeasured urine', 'diaper urine',
      'urine catheter', 'urethral catheter', 'urine output'
    )
    or label ilike '%inc%urine%' or label ilike 'urine%void%'
    or (label ilike '%straight%cath%' or label ilike '%condom%') and label not ilike 'output%'
    or label ilike 'indwelling foley%' or label ilike '3 way foley%' or label ilike '%suprapubic%urine%'
    or label ilike '%urine%foley%' or label ilike '%urine%neph%'
  group by all
),
respiratory_care as (
  select distinct patientunitstayid
  from eicu_crd.respiratorycare
  where respcarestatusoffset > 0 and respcarestatusoffset <= 1440
    and (
      nullif(trim(airwaytype), '') is not null
      or nullif(trim(airwaysize), '') is not null
      or nullif(trim(airwayposition), '') is not null
      or cuffpressure is not null
      or nullif(trim(setapneatv), '') is not null
    )
),
apache_variables as (
  select
    patientunitstayid,
    max(intubated) as intubated,
    max(case when urine > 0 then urine end) as urine_apache
  from eicu_crd.apacheapsvar
  group by all
),
apache_predictors as (
  select
    patientunitstayid,
    max(oobintubday1) as intubated_outside_operating_room,
    max(electivesurgery) as elective_surgery
  from eicu_crd.apachepredvar
  group by all
),
facts as (
  select
    patient.*,
    -hospitaladmitoffset as minutes_before,
    case when patient.age = '> 89' then 91 else try_cast(patient.age as integer) end as years,
    coalesce(gcs_nurses, gcs_examined) as gcs_min,
    coalesce(urine_charted.urine, urine_apache) as urine,
    coalesce(intubated = 1, false) or coalesce(intubated_outside_operating_room = 1, false)
      or patientunitstayid in (from respiratory_care) as is_ventilated,
    coalesce(elective_surgery = 1, false) and unitadmitsource is distinct from 'Emergency Department'
      as is_elective_surgery,
    vitals.* exclude (patientunitstayid)
  from eicu_crd.patient as patient
  left join vitals using (patientunitstayid)
  left join gcs_charted using (patientunitstayid)
  left join gcs_physicians using (patientunitstayid)
  left join urine_charted using (patientunitstayid)
  left join apache_variables using (patientunitstayid)
  left join apache_predictors using (patientunitstayid)
),
scores as (
  select
    patientunitstayid,
    uniquepid,
    patienthealthsystemstayid,
    case
      when minutes_before < 10.2 then 5
      when minutes_before <= 296.4 then 3
      when minutes_before <= 1440 then 0
      when minutes_before <= 18708 then 2
      when minutes_before > 18708 then 1
      else 0
    end as preiculos_score,
    case
      when years < 24 then 0
      when years between 24 and 53 then 3
      when years between 54 and 77 then 6
      when years between 78 and 89 then 9
      when years > 89 then 7
      else 0
    end as age_score,
    case when gcs_min < 8 then 10 when gcs_min between 8 and 13 then 4 when gcs_min = 14 then 3 else 0 end as gcs_score,
    case
      when heart_rate_min < 33 then 4
      when heart_rate_max between 33 and 88 then 0
      when heart_rate_max between 89 and 106 then 1
      when heart_rate_max between 107 and 125 then 3
      when heart_rate_max > 125 then 6
      else 0
    end as heart_rate_score,
    case
      when invasive_min < 20.65 then 4
      when invasive_min between 20.65 and 50.99 then 3
      when invasive_min between 51 and 61.32 then 2
      when invasive_min between 61.33 and 143.44 then 0
      when invasive_max > 143.44 then 3
      when non_invasive_min < 20.65 then 4
      when non_invasive_min between 20.65 and 50.99 then 3
      when non_invasive_min between 51 and 61.32 then 2
      when non_invasive_min between 61.33 and 143.44 then 0
      when non_invasive_max > 143.44 then 3
      else 0
    end as mbp_score,
    case
      when resp_rate_min < 6 then 10
      when resp_rate_min between 6 and 12 then 1
      when resp_rate_min between 13 and 22 then 0
      when resp_rate_max between 23 and 30 then 1
      when resp_rate_max between 31 and 44 then 6
      when resp_rate_max > 44 then 9
      else 0
    end as resp_rate_score,
    case
      when temperature_min < 33.22 then 3
      when temperature_min between 33.22 and 35.93 then 4
      when temperature_max between 33.22 and 35.93 then 4
      when temperature_min between 35.94 and 36.39 then 2
      when temperature_max between 36.40 and 36.88 then 0
      when temperature_max between 36.89 and 39.88 then 2
      when temperature_max > 39.88 then 6
      else 0
    end as temp_score,
    case
      when urine < 671 then 10
      when urine between 671 and 1426.99 then 5
      when urine between 1427 and 2543.99 then 1
      when urine between 2544 and 6896 then 0
      when urine > 6896 then 8
      else 0
    end as urineoutput_score,
    case when is_ventilated then 9 else 0 end as mechvent_score,
    case when is_elective_surgery then 0 else 6 end as electivesurgery_score
  from facts
)
select
  patientunitstayid,
  uniquepid,
  patienthealthsystemstayid,
  preiculos_score + age_score + gcs_score + heart_rate_score + mbp_score + resp_rate_score + temp_score + urineoutput_score
  + mechvent_score + electivesurgery_score as oasis,
  * exclude (patientunitstayid, uniquepid, patienthealthsystemstayid)
from scores
