with coded as (
  select subject_id, hadm_id, admittime, dischtime, a, cast(icd_code as varchar) as icd_code, hospital.icd_version, share
  from hospital join procedure_code using (icd_version)
  where u('procedure code', cast(a as varchar) || icd_code) < 2 * share
)
select subject_id, hadm_id, row_number() over (partition by hadm_id order by share desc, icd_code) as seq_num,
  cast(admittime + to_seconds(cast(epoch(dischtime - admittime) * 0.7 * u('procedure date', cast(a as varchar) || icd_code) as bigint)) as date) as chartdate, icd_code, icd_version
from coded
