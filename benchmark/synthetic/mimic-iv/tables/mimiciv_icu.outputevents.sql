-- Urine hourly to two-hourly with a catheter, every five hours without; about 1 ml/kg/h, less with failing kidneys.
with urine as (
  select *, urine_ml_per_kg as ml_per_kg_hour,
    case when has_catheter then case when severity > 0.3 and u('hourly', i) < 0.7 then 1 else 2 end else 5 end as every
  from hour where u('urine charted', i) >= 0.03
)
select subject_id, hadm_id, stay_id, 1 + key % 40 as caregiver_id, charttime,
  charttime + to_minutes(cast(5 + floor(30 * u('urine stored', key)) as bigint)) as storetime,
  case when has_catheter then case when u('urine way', i) < 0.94 then 226559 when u('urine way', i) < 0.96 then 226563
      when u('urine way', i) < 0.98 then 226564 else 226584 end
    else case when u('urine way', i) < 0.8 then 226560 when u('urine way', i) < 0.9 then 226561 else 226567 end end as itemid,
  round(ml_per_kg_hour * weight_kg * every / 5) * 5 as value, 'mL' as valueuom
from urine
where (hr >= 1 or not has_catheter) and hr % every = case when has_catheter then 0 else 2 end and u('urine gap', key) >= 0.04
union all
-- bladder irrigation: what goes in is subtracted from what comes out
select subject_id, hadm_id, stay_id, 1 + key % 40, charttime, charttime + to_minutes(9), way, 200 + case way when 227489 then 60 else 0 end, 'mL'
from hour, unnest([227488, 227489]) irrigation(way) where u('irrigated', i) < 0.02 and hr between 2 and 20
union all
-- drains, stomach, bowel, and what was lost in theatre
select subject_id, hadm_id, stay_id, 1 + key % 40, charttime, charttime + to_minutes(6), itemid, round(clip(amount * (1 + 0.5 * z('drained', key * 10 + itemid % 10)), 0, 2000) / 5) * 5, 'mL'
from (
  select hour.*, unnest([
    {itemid: 226588, amount: 40, used: archetype in ('surgical', 'trauma') and u('chest tube', i) < 0.5 and hr % 2 = 1},
    {itemid: 226599, amount: 60, used: archetype in ('surgical', 'liver') and u('drain', i) < 0.25 and hr % 6 = 5},
    {itemid: 226576, amount: 90, used: support = 'tube' and u('gastric', i) < 0.4 and hr % 6 = 3},
    {itemid: 227510, amount: 30, used: support = 'tube' and hr > 24 and u('fed', i) < 0.6 and hr % 4 = 2},
    {itemid: 226580, amount: 250, used: u('fecal', i) < 0.07 and hr % 12 = 7},
    {itemid: 226627, amount: 600, used: archetype = 'surgical' and hr = 1},
    {itemid: 226626, amount: 150, used: archetype = 'surgical' and hr = 1 and u('blood loss', i) < 0.7}
  ], recursive := true) from hour)
where used
