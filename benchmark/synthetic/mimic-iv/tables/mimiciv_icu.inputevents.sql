select subject_id, hadm_id, stay_id, 1 + key % 40 as caregiver_id, starttime, endtime, starttime as storetime, itemid,
  amount, amountuom, rate, rateuom,
  960000000000000000 + key as orderid, 960000000000000000 + order_key * 1000 as linkorderid,
  case when is_fluid then '02-Fluids (Crystalloids)' else '01-Drips' end as ordercategoryname,
  case when is_fluid then null else '02-Fluids (Crystalloids)' end as secondaryordercategoryname,
  'Main order parameter' as ordercomponenttypedescription,
  case when is_fluid then 'Continuous IV' else 'Continuous Med' end as ordercategorydescription,
  patientweight, 250 as totalamount, 'ml' as totalamountuom, 0 as isopenbag, 0 as continueinnextdept,
  case when lead(starttime) over (partition by order_key order by piece) is null then 'FinishedRunning' else 'ChangeDose/Rate' end as statusdescription,
  amount as originalamount, rate as originalrate
from infusion
union all
select subject_id, hadm_id, stay_id, 1 + key % 40, starttime, starttime + to_minutes(minutes), starttime, itemid, amount, unit, rate, rate_unit,
  965000000000000000 + key, 965000000000000000 + key, category, null, 'Main order parameter',
  case when rate is null then 'Drug Push' else 'Bolus' end, weight_kg, amount, unit, 0, 0, 'FinishedRunning', amount, coalesce(rate, amount)
from given
