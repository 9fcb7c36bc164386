select subject_id, hadm_id, stay_id, 1 + key % 40 as caregiver_id, charttime,
  charttime + to_minutes(cast(1 + floor(45 * u('stored', key)) as bigint)) as storetime,
  itemid, value, number as valuenum, unit as valueuom, 0 as warning
from chart join stay using (stay_id)
-- one value in 3,000 is charted twice
union all
select subject_id, hadm_id, stay_id, 1 + key % 40, charttime, charttime + to_minutes(59), itemid, value, number, unit, 0
from chart join stay using (stay_id) where u('twice', key * 1000000 + itemid) < 0.0003
