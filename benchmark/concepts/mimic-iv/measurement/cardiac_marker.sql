-- title: Troponin T, CK-MB and NT-proBNP
-- grain: one row per laboratory specimen with at least one cardiac marker result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Every numeric result counts, zero and negative ones included; a result given only as text (such as below a limit) does not.
--   - A result repeated within a specimen gives the largest value; no upper limit is applied.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at.
--   - Troponin T only, no troponin I.
-- ties: none
with cardiac_marker_items (itemid, analyte) as (
  values
    (51003, 'troponin_t'),  -- Troponin T
    (50911, 'ck_mb'),       -- Creatine Kinase, MB Isoenzyme
    (50963, 'ntprobnp')     -- NTproBNP
)
select
  max(labevents.subject_id) as subject_id,
  max(labevents.hadm_id) as hadm_id,
  max(labevents.charttime) as charttime,
  labevents.specimen_id,
  max(case when cardiac_marker_items.analyte = 'troponin_t' then labevents.valuenum end) as troponin_t,
  max(case when cardiac_marker_items.analyte = 'ck_mb' then labevents.valuenum end) as ck_mb,
  max(case when cardiac_marker_items.analyte = 'ntprobnp' then labevents.valuenum end) as ntprobnp
from mimiciv_hosp.labevents
inner join cardiac_marker_items
  on labevents.itemid = cardiac_marker_items.itemid
where labevents.valuenum is not null
group by labevents.specimen_id
