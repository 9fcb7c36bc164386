-- What the fluids given consist of: every volume is water, and an ingredient of its kind.
with volumes as (
  select subject_id, hadm_id, stay_id, starttime, starttime + to_minutes(minutes) as endtime, amount, rate, 965000000000000000 + key as orderid, key, category
  from given where unit = 'ml'
  union all
  select subject_id, hadm_id, stay_id, starttime, endtime, amount, rate, 960000000000000000 + key, key, '02-Fluids (Crystalloids)' from infusion where is_fluid
)
select subject_id, hadm_id, stay_id, 1 + key % 40 as caregiver_id, starttime, endtime, starttime as storetime,
  unnest([220490, case when category like '07%' then 226509 when category like '1%' then 227075 else 227074 end]) as itemid,
  amount, 'ml' as amountuom, rate, case when rate is not null then 'mL/hour' end as rateuom, orderid, orderid as linkorderid, 'FinishedRunning' as statusdescription, amount as originalamount, rate as originalrate
from volumes
