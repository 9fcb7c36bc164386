-- Unit stays in eICU's terms: times are minutes from unit admission. Ids from 900,000,001 on are in no release.
select *,
  900000001 + i as patientunitstayid,
  910000001 + a as patienthealthsystemstayid,
  'SYN-' || lpad(cast(p as varchar), 7, '0') as uniquepid,
  900001 + i % 20 as hospitalid,
  cast(date_diff('minute', intime, admittime) as bigint) as hospitaladmitoffset,
  cast(date_diff('minute', intime, outtime) as bigint) as unitdischargeoffset,
  case archetype when 'surgical' then case when admission_type = 'ELECTIVE' then 'Operating Room' else pick(['Operating Room', 'Recovery Room'], 'source', i) end
    else pick(['Emergency Department', 'Emergency Department', 'Emergency Department', 'Emergency Department', 'Floor', 'Floor', 'Direct Admit', 'Step-Down Unit (SDU)', 'Other Hospital', 'ICU to SDU'], 'source', i) end as unitadmitsource,
  -- how this unit charts the coma scale
  pick(['total and components', 'total and components', 'total', 'components', 'other label', 'none'], 'gcs style', i) as gcs_style,
  u('apache', i) < 0.88 as has_apache
from stay
