-- The hours of each unit stay with their offsets.
select hour.*, patientunitstayid, gcs_style,
  hr * 60 + cast(floor(12 * u('minute', key)) as bigint) as charted_offset
from hour join unit using (i)
