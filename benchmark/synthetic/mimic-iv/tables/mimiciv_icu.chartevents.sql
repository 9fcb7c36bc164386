select subject_id, hadm_id, stay_id, 1 + key % 40 as caregiver_id, charttime,
  charttime + to_minutes(cast(1 + floor(45 * u('stored', key)) as bigint)) as storetime,
  itemid, value, number as valuenum, unit as valueuom, 0 as warning
from chart join stay using (stay_id)
union all
-- what nurses tick by the clock, the same for a shift, mostly the first choice
select subject_id, hadm_id, stay_id, 1 + key % 40, charttime, charttime + to_minutes(cast(1 + floor(45 * u('stored', key)) as bigint)), itemid,
  texts[1 + cast(floor(len(texts) * u('ticked', i * 100000 + (hr // 12) * 1000 + itemid % 1000) * u('shift', i * 100000 + (hr // 12) * 1000 + itemid % 1000)) as integer)], null, null, 0
from hour, (select itemid, share, cast(every_hours as bigint) as every, string_split(texts, '|') as texts from nursing_item) ticks
where hr % every = itemid % every and is_charted and u('ticks', i * 1000000 + itemid) < share
union all
-- one value in 3,000 is charted twice
select subject_id, hadm_id, stay_id, 1 + key % 40, charttime, charttime + to_minutes(59), itemid, value, number, unit, 0
from chart join stay using (stay_id) where u('twice', key * 1000000 + itemid) < 0.0003
