with results as (
  select subject_id, hadm_id, charttime, specimen_id, itemid, value, number, unit, low, high from lab
  union all
  select subject_id, hadm_id, charttime, specimen_id, itemid, value, number, unit, null, null from gas where used
)
select specimen_id * 100000 + itemid as labevent_id, subject_id,
  -- a result taken before the admission is registered has no admission yet
  case when u('no admission', specimen_id) < 0.03 then null else hadm_id end as hadm_id,
  specimen_id, itemid, null as order_provider_id, charttime,
  charttime + to_minutes(cast(20 + floor(90 * u('lab stored', specimen_id)) as bigint)) as storetime,
  value, number as valuenum, unit as valueuom, low as ref_range_lower, high as ref_range_upper,
  case when number < low or number > high then 'abnormal' end as flag,
  pick(['ROUTINE', 'STAT'], 'priority', specimen_id) as priority,
  case when value is null then 'SYNTHETIC: no result.' end as comments
from results
