-- Lowest GCS per unit stay as a person might write it from the instruction alone: only charted totals with their usual
-- label are read, from admission on, and components are taken as their own minima.
copy (
  with charted as (
    select
      patientunitstayid,
      nursingchartcelltypevalname as name,
      try_cast(nursingchartvalue as double) as points
    from eicu_crd.nursecharting
    where nursingchartcelltypevallabel = 'Glasgow coma score'
      and nursingchartoffset between 0 and 1440
  )
  select
    patient.patientunitstayid,
    patient.uniquepid,
    patient.patienthealthsystemstayid,
    coalesce(min(points) filter (name = 'GCS Total'), 15) as gcs_min,
    coalesce(min(points) filter (name = 'Motor'), 6) as gcs_motor,
    coalesce(min(points) filter (name = 'Verbal'), 5) as gcs_verbal,
    coalesce(min(points) filter (name = 'Eyes'), 4) as gcs_eyes
  from eicu_crd.patient as patient
  left join charted
    on patient.patientunitstayid = charted.patientunitstayid
  group by all
) to './output.csv' (header);
