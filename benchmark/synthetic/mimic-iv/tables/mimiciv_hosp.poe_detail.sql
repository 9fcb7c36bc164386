select 'SYN' || cast(subject_id as varchar) || '-X' || cast(a * 100 as varchar) as poe_id, 0 as poe_seq, subject_id, 'Code status' as field_name,
  case when u('code status', a) < 0.12 then 'Resuscitate (Full code): no' else 'Resuscitate (Full code)' end as field_value
from hospital
