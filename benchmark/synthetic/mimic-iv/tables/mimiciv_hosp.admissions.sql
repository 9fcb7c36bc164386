select subject_id, hadm_id, admittime, date_trunc('minute', dischtime) as dischtime,
  case when dies then date_trunc('minute', dischtime) end as deathtime, admission_type,
  'PSYN' || lpad(cast(1 + a % 20 as varchar), 2, '0') as admit_provider_id,
  case when admission_type in ('ELECTIVE', 'SURGICAL SAME DAY ADMISSION') then 'PHYSICIAN REFERRAL'
    when admission_type in ('URGENT', 'DIRECT EMER.') then 'TRANSFER FROM HOSPITAL' else 'EMERGENCY ROOM' end as admission_location,
  case when dies then 'DIED' else pick(['HOME', 'HOME HEALTH CARE', 'SKILLED NURSING FACILITY', 'REHAB'], 'to', a) end as discharge_location,
  pick(['Medicare', 'Other', 'Medicaid'], 'insurance', p) as insurance, 'SYNTHETIC' as language,
  pick(['MARRIED', 'SINGLE', 'WIDOWED', 'DIVORCED'], 'marital', p) as marital_status,
  pick(['WHITE', 'WHITE', 'WHITE', 'BLACK/AFRICAN AMERICAN', 'HISPANIC OR LATINO', 'ASIAN', 'OTHER', 'UNKNOWN'], 'race', p) as race,
  case when admission_type in ('EW EMER.', 'EU OBSERVATION', 'OBSERVATION ADMIT') then admittime - to_minutes(cast(60 + floor(300 * u('ed', a)) as bigint)) end as edregtime,
  case when admission_type in ('EW EMER.', 'EU OBSERVATION', 'OBSERVATION ADMIT') then admittime + to_minutes(cast(5 + floor(60 * u('ed out', a)) as bigint)) end as edouttime,
  case when dies then 1 else 0 end as hospital_expire_flag
from hospital
