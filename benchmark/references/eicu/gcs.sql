-- title: Lowest Glasgow Coma Scale of the first ICU day (eICU)
-- grain: one row per ICU stay
-- keys: patientunitstayid
-- sources: eicu_crd.patient, eicu_crd.nursecharting
-- citation: Teasdale and Jennett 1974, Lancet; Pollard et al. 2018, Scientific Data
-- conventions:
--   - the first day runs from 6 hours before admission to the ICU to 24 hours after it, both ends included
--   - of several values of one kind charted at the same minute the lowest counts; text that is no number is ignored
--   - numbers are rounded to 3 decimals before any comparison
--   - a charted total counts if it is above 2 and below 16; otherwise the total is rebuilt from the components of that minute, a missing one taken as normal (eyes 4, motor 6, verbal 5)
--   - the lowest total of a minute is taken before it is checked, and a minute with nothing but an invalid total counts with 15
--   - components are not checked, are not carried forward from earlier minutes, and need not add up to a charted total
--   - intubated patients are not treated differently
--   - a stay without any value is normal (15, motor 6, verbal 5, eyes 4), as is a component missing at the chosen minute
-- ties: minutes of equal total: the earliest (a minute occurs once per stay)
-- deviations: none

with charted_gcs as (
  select
    patientunitstayid,
    nursingchartoffset,
    nursingchartcelltypevallabel as label,
    nursingchartcelltypevalname as name,
    try_cast(nursingchartvalue as decimal(18, 3)) as charted_number
  from eicu_crd.nursecharting
  where nursingchartcelltypecat in ('Scores', 'Other Vital Signs and Infusions')
    and nursingchartcelltypevallabel in ('Glasgow coma score', 'Score (Glasgow Coma Scale)')
    and nursingchartoffset between -360 and 1440 -- minutes from admission
),

gcs_by_minute as (
  select
    patientunitstayid,
    nursingchartoffset,
    min(
      case
        when label = 'Glasgow coma score' and name = 'GCS Total' then charted_number
        when label = 'Score (Glasgow Coma Scale)' and name = 'Value' then charted_number
      end
    ) as total,
    min(case when label = 'Glasgow coma score' and name = 'Motor' then charted_number end) as motor,
    min(case when label = 'Glasgow coma score' and name = 'Verbal' then charted_number end) as verbal,
    min(case when label = 'Glasgow coma score' and name = 'Eyes' then charted_number end) as eyes
  from charted_gcs
  group by patientunitstayid, nursingchartoffset
),

effective_gcs as (
  select
    patientunitstayid,
    nursingchartoffset,
    case
      when total > 2 and total < 16 then total
      else coalesce(eyes, 4) + coalesce(motor, 6) + coalesce(verbal, 5)
    end as gcs,
    motor,
    verbal,
    eyes
  from gcs_by_minute
  where coalesce(total, motor, verbal, eyes) is not null
),

lowest_gcs as (
  select
    patientunitstayid,
    gcs,
    motor,
    verbal,
    eyes
  from effective_gcs
  qualify row_number() over (
    partition by patientunitstayid
    order by gcs, nursingchartoffset
  ) = 1
)

select
  patient.patientunitstayid,
  patient.uniquepid,
  patient.patienthealthsystemstayid,
  cast(coalesce(lowest_gcs.gcs, 15) as decimal(18, 3)) as gcs_min,
  cast(coalesce(lowest_gcs.motor, 6) as decimal(18, 3)) as gcs_motor,
  cast(coalesce(lowest_gcs.verbal, 5) as decimal(18, 3)) as gcs_verbal,
  cast(coalesce(lowest_gcs.eyes, 4) as decimal(18, 3)) as gcs_eyes
from eicu_crd.patient as patient
left join lowest_gcs
  on patient.patientunitstayid = lowest_gcs.patientunitstayid
