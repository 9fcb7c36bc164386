-- title: Heart rhythm and ectopy
-- grain: one row per patient and charting time with any of the listed items
-- keys: subject_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - Of several texts of one item at one time only the last in byte order is kept.
--   - Chart entries outside an ICU stay are left out; the stay itself is not shown.
--   - A time whose entries have no text keeps its row.
-- ties: none
with rhythm_items (itemid, item) as (
  values
    (220048, 'heart_rhythm'),               -- Heart Rhythm
    (224650, 'ectopy_type'),                -- Ectopy Type 1
    (224651, 'ectopy_frequency'),           -- Ectopy Frequency 1
    (226479, 'ectopy_type_secondary'),      -- Ectopy Type 2
    (226480, 'ectopy_frequency_secondary')  -- Ectopy Frequency 2
)
select
  chartevents.subject_id,
  chartevents.charttime,
  max(case when rhythm_items.item = 'heart_rhythm' then chartevents.value end) as heart_rhythm,
  max(case when rhythm_items.item = 'ectopy_type' then chartevents.value end) as ectopy_type,
  max(case when rhythm_items.item = 'ectopy_frequency' then chartevents.value end) as ectopy_frequency,
  max(case when rhythm_items.item = 'ectopy_type_secondary' then chartevents.value end) as ectopy_type_secondary,
  max(case when rhythm_items.item = 'ectopy_frequency_secondary' then chartevents.value end)
    as ectopy_frequency_secondary
from mimiciv_icu.chartevents
inner join rhythm_items
  on chartevents.itemid = rhythm_items.itemid
where chartevents.stay_id is not null
group by chartevents.subject_id, chartevents.charttime
