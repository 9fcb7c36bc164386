with charted as (
  select
    patientunitstayid,
    nursingchartoffset as charted_offset,
    min(value) filter (
      nursingchartcelltypevallabel = 'Glasgow coma score' and nursingchartcelltypevalname = 'GCS Total'
      or nursingchartcelltypevallabel = 'Score (Glasgow Coma Scale)' and nursingchartcelltypevalname = 'Value'
    ) as charted_total,
    min(value) filter (
      nursingchartcelltypevallabel = 'Glasgow coma score' and nursingchartcelltypevalname = 'Motor'
    ) as motor,
    min(value) filter (
      nursingchartcelltypevallabel = 'Glasgow coma score' and nursingchartcelltypevalname = 'Verbal'
    ) as verbal,
    min(value) filter (
      nursingchartcelltypevallabel = 'Glasgow coma score' and nursingchartcelltypevalname = 'Eyes'
    ) as eyes
  from (
    select *, try_cast(nursingchartvalue as double) as value
    from eicu_crd.nursecharting
    where nursingchartcelltypecat in ('Scores', 'Other Vital Signs and Infusions')
      and nursingchartoffset between -360 and 1440
  )
  group by all
  having coalesce(charted_total, motor, verbal, eyes) is not null
),
moments as (
  select
    *,
    case
      when charted_total > 2 and charted_total < 16 then charted_total
      else coalesce(eyes, 4) + coalesce(motor, 6) + coalesce(verbal, 5)
    end as total
  from charted
),
lowest as (
  select *
  from moments
  qualify row_number() over (partition by patientunitstayid order by total, charted_offset) = 1
)
select
  patientunitstayid,
  uniquepid,
  patienthealthsystemstayid,
  coalesce(total, 15) as gcs_min,
  coalesce(motor, 6) as gcs_motor,
  coalesce(verbal, 5) as gcs_verbal,
  coalesce(eyes, 4) as gcs_eyes
from eicu_crd.patient
left join lowest using (patientunitstayid)
