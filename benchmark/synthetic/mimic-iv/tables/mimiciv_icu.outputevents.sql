-- Urine hourly with a catheter, every four to six hours without; about 1 ml/kg/h, less with failing kidneys.
with urine as (
  select *,
    case when has_catheter then 1 else 5 end as every,
    clip(1.25 - 1.25 * renal_now - 0.25 * cardio_now + 0.25 * slow + 0.2 * z('urine', key), 0, 6)
      * case when u('polyuria', i) < 0.05 then 3.4 else 1 end as ml_per_kg_hour
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
