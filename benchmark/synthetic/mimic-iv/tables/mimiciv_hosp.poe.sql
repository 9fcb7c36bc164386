-- One order entry per drug order, and some of other kinds.
select 'SYN' || cast(subject_id as varchar) || '-' || cast(key as varchar) as poe_id, key % 100000 as poe_seq, subject_id, hadm_id, starttime - to_minutes(30) as ordertime,
  'Medications' as order_type, null as order_subtype, 'New' as transaction_type, 'PSYN' || lpad(cast(1 + key % 20 as varchar), 2, '0') as order_provider_id, 'Inactive' as order_status
from drug_order
union all
select 'SYN' || cast(subject_id as varchar) || '-X' || cast(a * 100 + n as varchar), n, subject_id, hadm_id, admittime + to_minutes(cast(30 + floor(2000 * u('other order', a * 100 + n)) as bigint)),
  ['Lab', 'General Care', 'Nutrition', 'Radiology', 'ADT orders', 'Consults'][kind], ['Chemistry', 'Vitals/Monitoring', 'Diet Order', 'Chest X-Ray', 'Admit', 'Physical Therapy'][kind], 'New',
  'PSYN' || lpad(cast(1 + a % 20 as varchar), 2, '0'), 'Inactive'
from (select *, 1 + cast(floor(6 * u('order kind', a * 100 + n)) as integer) as kind from hospital, range(12) others(n))
