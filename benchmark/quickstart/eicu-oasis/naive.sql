-- OASIS per unit stay as a person might write it from the instruction alone: one label for each measurement, urine by
-- its plain name only, ventilation from APACHE's day-one flag, any charted number taken as it is.
copy (
  with chart as (
    select
      patientunitstayid,
      nursingchartcelltypevallabel as label,
      nursingchartcelltypevalname as name,
      try_cast(nursingchartvalue as double) as charted
    from eicu_crd.nursecharting
    where nursingchartoffset between 0 and 1440
  ),
  worst as (
    select
      patientunitstayid,
      min(charted) filter (name = 'GCS Total') as gcs,
      min(charted) filter (label = 'Heart Rate' and charted between 25 and 225) as heart_rate_min,
      max(charted) filter (label = 'Heart Rate' and charted between 25 and 225) as heart_rate_max,
      min(charted) filter (label = 'Respiratory Rate' and charted > 0 and charted <= 60) as resp_rate_min,
      max(charted) filter (label = 'Respiratory Rate' and charted <= 60) as resp_rate_max,
      min(charted) filter (name = 'Temperature (C)' and charted between 25 and 46) as temperature_min,
      max(charted) filter (name = 'Temperature (C)' and charted between 25 and 46) as temperature_max,
      min(charted) filter (name = 'Non-Invasive BP Mean') as pressure_min
    from chart
    group by patientunitstayid
  ),
  output as (
    select patientunitstayid, sum(cellvaluenumeric) as urine
    from eicu_crd.intakeoutput
    where intakeoutputoffset > 0 and intakeoutputoffset <= 1440 and celllabel = 'Urine'
    group by patientunitstayid
  ),
  inputs as (
    select
      patient.patientunitstayid,
      uniquepid,
      patienthealthsystemstayid,
      hospitaladmitoffset,
      unitadmitsource,
      case when patient.age = '> 89' then 91 else try_cast(patient.age as int) end as years,
      worst.* exclude (patientunitstayid),
      coalesce(output.urine) as urine,
      apachepredvar.electivesurgery as elective,
      coalesce(apachepredvar.ventday1, 0) = 1 as ventilated
    from eicu_crd.patient as patient
    left join worst on patient.patientunitstayid = worst.patientunitstayid
    left join output on patient.patientunitstayid = output.patientunitstayid
    left join eicu_crd.apacheapsvar as apacheapsvar on patient.patientunitstayid = apacheapsvar.patientunitstayid
    left join eicu_crd.apachepredvar as apachepredvar on patient.patientunitstayid = apachepredvar.patientunitstayid
  ),
  points as (
    select
      *,
      case when hospitaladmitoffset > -10.2 then 5 when hospitaladmitoffset > -297 then 3 when hospitaladmitoffset > -1440 then 0 when hospitaladmitoffset > -18708 then 2 else 1 end as preiculos_score,
      case when years < 24 then 0 when years <= 53 then 3 when years <= 77 then 6 when years <= 89 then 9 when years > 89 then 7 else 0 end as age_score,
      case when gcs < 8 then 10 when gcs < 14 then 4 when gcs = 14 then 3 else 0 end as gcs_score,
      case when heart_rate_min < 33 then 4 when heart_rate_max > 125 then 6 when heart_rate_max >= 107 then 3 when heart_rate_max >= 89 then 1 else 0 end as heart_rate_score,
      case when pressure_min < 20.65 then 4 when pressure_min < 51 then 3 when pressure_min < 61.33 then 2 else 0 end as mbp_score,
      case when resp_rate_min < 6 then 10 when resp_rate_min <= 12 then 1 when resp_rate_min <= 22 then 0 when resp_rate_max > 44 then 9 when resp_rate_max > 30 then 6 when resp_rate_max > 22 then 1 else 0 end as resp_rate_score,
      case when temperature_min < 33.22 then 3 when temperature_min <= 35.93 then 4 when temperature_min < 36.4 then 2 when temperature_max > 39.88 then 6 when temperature_max >= 36.89 then 2 else 0 end as temp_score,
      case when urine < 671 then 10 when urine < 1427 then 5 when urine < 2544 then 1 when urine > 6896 then 8 else 0 end as urineoutput_score,
      case when ventilated then 9 else 0 end as mechvent_score,
      case when elective = 1 then 0 else 6 end as electivesurgery_score
    from inputs
  )
  select
    patientunitstayid,
    uniquepid,
    patienthealthsystemstayid,
    preiculos_score + age_score + gcs_score + heart_rate_score + mbp_score + resp_rate_score + temp_score
      + urineoutput_score + mechvent_score + electivesurgery_score as oasis,
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
  from points
) to './output.csv' (header);
