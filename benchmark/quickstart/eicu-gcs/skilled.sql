-- Lowest GCS per unit stay, written after reading the skill: both labels of a total, totals rebuilt from components,
-- six hours before admission included, components of the minute of the lowest total.
copy (
  with by_minute as (
    select
      patientunitstayid,
      nursingchartoffset,
      min(points) filter (name = 'GCS Total' or (label = 'Score (Glasgow Coma Scale)' and name = 'Value')) as total,
      min(points) filter (label = 'Glasgow coma score' and name = 'Motor') as motor,
      min(points) filter (label = 'Glasgow coma score' and name = 'Verbal') as verbal,
      min(points) filter (label = 'Glasgow coma score' and name = 'Eyes') as eyes
    from (
      select
        patientunitstayid,
        nursingchartoffset,
        nursingchartcelltypevallabel as label,
        nursingchartcelltypevalname as name,
        try_cast(nursingchartvalue as double) as points
      from eicu_crd.nursecharting
      where nursingchartcelltypevallabel in ('Glasgow coma score', 'Score (Glasgow Coma Scale)')
        and nursingchartcelltypecat in ('Scores', 'Other Vital Signs and Infusions')
        and nursingchartoffset between -360 and 1440
    )
    group by all
  ),
  lowest as (
    select
      *,
      case when total between 3 and 15 then total else coalesce(eyes, 4) + coalesce(motor, 6) + coalesce(verbal, 5) end as gcs
    from by_minute
    where coalesce(total, motor, verbal, eyes) is not null
    qualify row_number() over (partition by patientunitstayid order by gcs, nursingchartoffset) = 1
  )
  select
    patient.patientunitstayid,
    patient.uniquepid,
    patient.patienthealthsystemstayid,
    coalesce(gcs, 15) as gcs_min,
    coalesce(motor, 6) as gcs_motor,
    coalesce(verbal, 5) as gcs_verbal,
    coalesce(eyes, 4) as gcs_eyes
  from eicu_crd.patient as patient
  left join lowest
    on patient.patientunitstayid = lowest.patientunitstayid
) to './output.csv' (header);
