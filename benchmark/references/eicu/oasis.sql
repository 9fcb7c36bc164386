-- title: Oxford Acute Severity of Illness Score, first ICU day (eICU)
-- grain: one row per ICU stay
-- keys: patientunitstayid
-- sources: eicu_crd.patient, eicu_crd.nursecharting, eicu_crd.physicalexam, eicu_crd.intakeoutput, eicu_crd.apacheapsvar, eicu_crd.apachepredvar, eicu_crd.respiratorycare
-- citation: Johnson et al. 2013, Critical Care Medicine; Pollard et al. 2018, Scientific Data
-- conventions:
--   - the first day starts after the minute of admission and ends 24 hours later (included); times are minutes from admission
--   - each component is decided by the first bin that fits, low values first; missing data and values between two bins score 0
--   - charted text counts as a number rounded to 3 decimals; text that is no number is ignored
--   - a respiratory rate from 13 to 22 in the minimum scores 0 however high the maximum, and high temperatures and pressures count only when the minimum falls in no earlier bin
--   - only temperatures charted in Celsius count; the periodic vital sign tables are not used
--   - invasive mean pressure decides first, non-invasive pressure only when it gives no bin
--   - a respiratory rate of 0 is left out of the minimum but not of the maximum
--   - the GCS total charted by nurses (lowest of a minute, above 2 and below 16) goes ahead of the one in physical exams, which is not checked
--   - urine is the sum of all entries with a urine label, without checks; without any entry it is the APACHE urine output if positive
--   - urine volumes are added exactly, so their order does not matter
--   - ventilation is an intubation flag of the APACHE tables or any airway entry in respiratory care
--   - surgery counts as elective only with a set flag and a source other than the emergency department; missing flags score 6
--   - an age "> 89" is taken as 91; a stay that began before hospital admission scores 5 for its pre-ICU time
-- ties: none
-- deviations: none

with first_day_charting as materialized (
  select
    patientunitstayid,
    nursingchartoffset,
    nursingchartcelltypecat as category,
    nursingchartcelltypevallabel as label,
    nursingchartcelltypevalname as name,
    try_cast(nursingchartvalue as decimal(18, 3)) as charted_number
  from eicu_crd.nursecharting
  where nursingchartcelltypecat in ('Vital Signs', 'Scores', 'Other Vital Signs and Infusions')
    and nursingchartcelltypevallabel in (
      'Glasgow coma score', 'Score (Glasgow Coma Scale)', 'Heart Rate',
      'Respiratory Rate', 'Temperature', 'Invasive BP', 'MAP (mmHg)',
      'Arterial Line MAP (mmHg)', 'Non-Invasive BP'
    )
    and nursingchartoffset > 0
    and nursingchartoffset <= 1440
),

nurse_gcs_by_minute as (
  select
    patientunitstayid,
    nursingchartoffset,
    min(charted_number) as total
  from first_day_charting
  where category in ('Scores', 'Other Vital Signs and Infusions')
    and (
      (label = 'Glasgow coma score' and name = 'GCS Total')
      or (label = 'Score (Glasgow Coma Scale)' and name = 'Value')
    )
  group by patientunitstayid, nursingchartoffset
),

nurse_gcs as (
  select
    patientunitstayid,
    min(total) as gcs
  from nurse_gcs_by_minute
  where total > 2
    and total < 16
  group by patientunitstayid
),

physical_exam_gcs as (
  select
    patientunitstayid,
    min(try_cast(physicalexamvalue as decimal(18, 3))) as gcs
  from eicu_crd.physicalexam
  where (
      physicalexampath like 'notes/Progress Notes/Physical Exam/Physical Exam/Neurologic/GCS/_'
      or physicalexampath like 'notes/Progress Notes/Physical Exam/Physical Exam/Neurologic/GCS/__'
    )
    and physicalexamoffset > 0
    and physicalexamoffset <= 1440
  group by patientunitstayid
),

vital_signs as (
  select
    patientunitstayid,
    case
      when label = 'Heart Rate' and name = 'Heart Rate' then 'heart rate'
      when label = 'Respiratory Rate' and name = 'Respiratory Rate' then 'respiratory rate'
      when label = 'Temperature' and name = 'Temperature (C)' then 'temperature'
      when label = 'Invasive BP' and name = 'Invasive BP Mean' then 'invasive mean pressure'
      when label in ('MAP (mmHg)', 'Arterial Line MAP (mmHg)') and name = 'Value' then 'invasive mean pressure'
      when label = 'Non-Invasive BP' and name = 'Non-Invasive BP Mean' then 'non-invasive mean pressure'
    end as vital_sign,
    charted_number
  from first_day_charting
),

vital_sign_ranges as (
  select
    patientunitstayid,
    min(charted_number) filter (where vital_sign = 'heart rate' and charted_number between 25 and 225) as heart_rate_min,
    max(charted_number) filter (where vital_sign = 'heart rate' and charted_number between 25 and 225) as heart_rate_max,
    min(charted_number) filter (where vital_sign = 'respiratory rate' and charted_number > 0 and charted_number <= 60) as resp_rate_min,
    max(charted_number) filter (where vital_sign = 'respiratory rate' and charted_number between 0 and 60) as resp_rate_max,
    min(charted_number) filter (where vital_sign = 'temperature' and charted_number between 25 and 46) as temperature_min,
    max(charted_number) filter (where vital_sign = 'temperature' and charted_number between 25 and 46) as temperature_max,
    min(charted_number) filter (where vital_sign = 'invasive mean pressure' and charted_number between 1 and 250) as ibp_min,
    max(charted_number) filter (where vital_sign = 'invasive mean pressure' and charted_number between 1 and 250) as ibp_max,
    min(charted_number) filter (where vital_sign = 'non-invasive mean pressure' and charted_number between 1 and 250) as nibp_min,
    max(charted_number) filter (where vital_sign = 'non-invasive mean pressure' and charted_number between 1 and 250) as nibp_max
  from vital_signs
  where vital_sign is not null
  group by patientunitstayid
),

-- Labels as typed at the sites; spelling, case and double blanks matter.
urine_labels(label) as (
  values
    ('Urine'), ('3 way foley'), ('3 Way Foley'), ('Actual Urine'),
    ('Adjusted total UO NOC end shift'), ('BRP (urine)'), ('BRP (Urine)'),
    ('condome cath urine'), ('diaper urine'), ('inc of urine'), ('incontient urine'),
    ('Incontient urine'), ('Incontient Urine'), ('incontinence of urine'),
    ('Incontinence-urine'), ('incontinence/ voids urine'), ('incontinent of urine'),
    ('INCONTINENT OF URINE'), ('Incontinent UOP'), ('incontinent urine'),
    ('Incontinent (urine)'), ('Incontinent Urine'), ('incontinent urine counts'),
    ('incont of urine'), ('incont. of urine'), ('incont. of urine count'), ('incont urine'),
    ('incont. urine'), ('Incont. urine'), ('Incont. Urine'), ('inc urine'), ('inc. urine'),
    ('Inc. urine'), ('Inc Urine'), ('indwelling foley'), ('Indwelling Foley'),
    ('Straight Catheter-Foley'), ('Straight Catheterization Urine'), ('Straight Cath UOP'),
    ('straight cath urine'), ('Straight Cath Urine'), ('strait cath Urine'),
    ('Suprapubic Urine Output'), ('true urine'), ('True Urine'), ('True Urine out'),
    ('unmeasured urine'), ('Unmeasured Urine'), ('unmeasured urine output'),
    ('Urethal Catheter'), ('Urethral Catheter'), ('urinary output 7AM - 7 PM'),
    ('urinary output 7AM-7PM'), ('urine'), ('URINE'), ('URINE CATHETER'),
    ('Intermittent/Straight Cath (mL)'), ('straightcath'), ('straight cath'), ('Straight cath'),
    ('Straight  cath'), ('Straight Cath'), ('Straight  Cath'), ('Straight Cath''d'),
    ('straight cath daily'), ('straight cathed'), ('Straight Cathed'),
    ('Straight catheterization'), ('Straight Catheter Output'),
    ('Straight Catheter-Straight Catheter'), ('straight cath ml''s'), ('Straight cath ml''s'),
    ('Straight Cath Q6hrs'), ('Straight caths'), ('Urine Output-straight cath'),
    ('Urine-straight cath'), ('Urine Straight Cath'), ('Condom Catheter'), ('condom catheter'),
    ('condom cath'), ('Condom Cath'), ('CONDOM CATHETER OUTPUT'), ('Urine via condom catheter'),
    ('Urine-foley'), ('Urine- foley'), ('Urine- Foley'), ('Urine foley catheter'),
    ('Urine, L neph:'), ('Urine (measured)'), ('urine output'),
    ('Urine Output-external catheter'), ('Urine Output-foley'), ('Urine Output-Foley'),
    ('Urine Output-FOLEY'), ('Urine Output-Foley cath'), ('Urine Output-FOLEY CATH'),
    ('Urine Output-foley catheter'), ('Urine Output-Foley Catheter'),
    ('Urine Output-FOLEY CATHETER'), ('Urine Output-Foley Output'), ('Urine Output-Fpley'),
    ('Urine Output-Ileoconduit'), ('Urine Output-left nephrostomy'),
    ('Urine Output-Left Nephrostomy'), ('Urine Output-Left Nephrostomy Tube'),
    ('Urine Output-LEFT PCN TUBE'), ('Urine Output-L Nephrostomy'),
    ('Urine Output-L Nephrostomy Tube'), ('Urine Output-Nephrostomy'),
    ('Urine Output-right nephrostomy'), ('Urine Output-RIGHT Nephrouretero Stent Urine Output'),
    ('Urine Output-R nephrostomy'), ('Urine Output-R Nephrostomy'),
    ('Urine Output-R. Nephrostomy'), ('Urine Output-R Nephrostomy Tube'),
    ('Urine Output-Rt Nephrectomy'), ('Urine Output-stent'), ('Urine Output-suprapubic'),
    ('Urine Output-Texas Cath'), ('Urine Output-Urine'), ('Urine Output-Urine Output'),
    ('Urine, R neph:'), ('urine (void)'), ('Urine- void'), ('Urine, void:')
),

first_day_output as (
  select
    patientunitstayid,
    substr(cellpath, length('flowsheet|Flowsheet Cell Labels|I&O|Output (ml)|') + 1) as label,
    cellvaluenumeric
  from eicu_crd.intakeoutput
  where starts_with(cellpath, 'flowsheet|Flowsheet Cell Labels|I&O|Output (ml)|')
    and intakeoutputoffset > 0
    and intakeoutputoffset <= 1440
    and cellvaluenumeric is not null
),

charted_urine as (
  select
    patientunitstayid,
    cast(sum(cast(cellvaluenumeric as decimal(38, 10))) as double) as urine_output
  from first_day_output
  where label in (select urine_labels.label from urine_labels)
    or label like 'Output%Urinary Catheter%'
    or label like 'Output%Urethral Catheter%'
    or label like 'Output%External Urethral%'
    or starts_with(label, 'Urine Output (mL)')
    or starts_with(label, 'Urinary Catheter Output')
    or (
      starts_with(lower(label), 'foley')
      and not contains(lower(label), 'pacu')
      and not contains(lower(label), 'or')
      and not contains(lower(label), 'ir')
    )
  group by patientunitstayid
),

apache_physiology as (
  select
    patientunitstayid,
    max(urine) filter (where urine > 0) as urine_output,
    max(case when intubated = 1 then 1 else 0 end) as is_intubated
  from eicu_crd.apacheapsvar
  group by patientunitstayid
),

apache_predictors as (
  select
    patientunitstayid,
    max(case when oobintubday1 = 1 then 1 else 0 end) as is_intubated,
    max(electivesurgery) as electivesurgery
  from eicu_crd.apachepredvar
  group by patientunitstayid
),

charted_airways as (
  select distinct patientunitstayid
  from eicu_crd.respiratorycare
  where respcarestatusoffset > 0
    and respcarestatusoffset <= 1440
    and (
      airwaytype is not null
      or airwaysize is not null
      or airwayposition is not null
      or cuffpressure is not null
      or setapneatv is not null
    )
),

measured as (
  select
    patient.patientunitstayid,
    patient.uniquepid,
    patient.patienthealthsystemstayid,
    patient.hospitaladmitoffset,
    patient.unitadmitsource,
    case
      when patient.age = '> 89' then 91
      else try_cast(patient.age as integer)
    end as age,
    coalesce(nurse_gcs.gcs, physical_exam_gcs.gcs) as gcs,
    vital_sign_ranges.heart_rate_min,
    vital_sign_ranges.heart_rate_max,
    vital_sign_ranges.resp_rate_min,
    vital_sign_ranges.resp_rate_max,
    vital_sign_ranges.temperature_min,
    vital_sign_ranges.temperature_max,
    vital_sign_ranges.ibp_min,
    vital_sign_ranges.ibp_max,
    vital_sign_ranges.nibp_min,
    vital_sign_ranges.nibp_max,
    coalesce(charted_urine.urine_output, apache_physiology.urine_output) as urine_output,
    coalesce(apache_physiology.is_intubated, 0) = 1
      or coalesce(apache_predictors.is_intubated, 0) = 1
      or charted_airways.patientunitstayid is not null as is_ventilated,
    apache_predictors.electivesurgery
  from eicu_crd.patient as patient
  left join nurse_gcs
    on patient.patientunitstayid = nurse_gcs.patientunitstayid
  left join physical_exam_gcs
    on patient.patientunitstayid = physical_exam_gcs.patientunitstayid
  left join vital_sign_ranges
    on patient.patientunitstayid = vital_sign_ranges.patientunitstayid
  left join charted_urine
    on patient.patientunitstayid = charted_urine.patientunitstayid
  left join apache_physiology
    on patient.patientunitstayid = apache_physiology.patientunitstayid
  left join apache_predictors
    on patient.patientunitstayid = apache_predictors.patientunitstayid
  left join charted_airways
    on patient.patientunitstayid = charted_airways.patientunitstayid
),

scored as (
  select
    patientunitstayid,
    uniquepid,
    patienthealthsystemstayid,
    case -- minutes from unit to hospital admission, negative if the hospital came first
      when hospitaladmitoffset > -10.2 then 5
      when hospitaladmitoffset between -296.4 and -10.2 then 3
      when hospitaladmitoffset between -1440 and -296.4 then 0
      when hospitaladmitoffset between -18708 and -1440 then 2
      when hospitaladmitoffset < -18708 then 1
      else 0
    end as preiculos_score,
    case
      when age < 24 then 0
      when age between 24 and 53 then 3
      when age between 54 and 77 then 6
      when age between 78 and 89 then 9
      when age > 89 then 7
      else 0
    end as age_score,
    case
      when gcs < 8 then 10
      when gcs between 8 and 13 then 4
      when gcs = 14 then 3
      when gcs = 15 then 0
      else 0
    end as gcs_score,
    case
      when heart_rate_min < 33 then 4
      when heart_rate_max between 33 and 88 then 0
      when heart_rate_max between 89 and 106 then 1
      when heart_rate_max between 107 and 125 then 3
      when heart_rate_max > 125 then 6
      else 0
    end as heart_rate_score,
    case
      when ibp_min < 20.65 then 4
      when ibp_min between 20.65 and 50.99 then 3
      when ibp_min between 51 and 61.32 then 2
      when ibp_min between 61.33 and 143.44 then 0
      when ibp_max > 143.44 then 3
      when nibp_min < 20.65 then 4
      when nibp_min between 20.65 and 50.99 then 3
      when nibp_min between 51 and 61.32 then 2
      when nibp_min between 61.33 and 143.44 then 0
      when nibp_max > 143.44 then 3
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
      when urine_output < 671 then 10
      when urine_output between 671 and 1426.99 then 5
      when urine_output between 1427 and 2543.99 then 1
      when urine_output between 2544 and 6896 then 0
      when urine_output > 6896 then 8
      else 0
    end as urineoutput_score,
    case
      when is_ventilated then 9
      else 0
    end as mechvent_score,
    case
      when electivesurgery = 0 then 6
      when electivesurgery is null then 6
      when unitadmitsource = 'Emergency Department' then 6
      else 0
    end as electivesurgery_score
  from measured
)

select
  patientunitstayid,
  uniquepid,
  patienthealthsystemstayid,
  preiculos_score
    + age_score
    + gcs_score
    + heart_rate_score
    + mbp_score
    + resp_rate_score
    + temp_score
    + urineoutput_score
    + mechvent_score
    + electivesurgery_score as oasis,
  preiculos_score,
  age_score,
  gcs_score,
  heart_rate_score,
  mbp_score,
  resp_rate_score,
  temp_score,
  urineoutput_score,
  mechvent_score,
  electivesurgery_score
from scored
