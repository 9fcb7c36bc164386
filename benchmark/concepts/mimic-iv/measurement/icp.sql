-- title: Intracranial pressure
-- grain: one row per patient, ICU stay and charting time with any intracranial pressure entry
-- keys: subject_id, stay_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - A pressure counts when above 0 and below 100 mmHg, both strict; a time without a usable pressure keeps its row.
--   - Of two monitors charted at one time the higher pressure counts.
-- ties: none
select
  subject_id,
  stay_id,
  charttime,
  max(case when valuenum > 0 and valuenum < 100 then valuenum end) as icp
from mimiciv_icu.chartevents
where itemid in (
  220765,  -- Intra Cranial Pressure
  227989   -- Intra Cranial Pressure #2
)
group by subject_id, stay_id, charttime
