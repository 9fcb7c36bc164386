-- title: C-reactive protein
-- grain: one row per laboratory specimen with a usable C-reactive protein result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Results of zero or below are ignored.
--   - A result repeated within a specimen gives the largest value; no upper limit is applied.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at.
-- ties: none
with inflammation_items (itemid, analyte) as (
  values
    (50889, 'crp')   -- C-Reactive Protein
)
select
  max(labevents.subject_id) as subject_id,
  max(labevents.hadm_id) as hadm_id,
  max(labevents.charttime) as charttime,
  labevents.specimen_id,
  max(case when inflammation_items.analyte = 'crp' then labevents.valuenum end) as crp
from mimiciv_hosp.labevents
inner join inflammation_items
  on labevents.itemid = inflammation_items.itemid
where labevents.valuenum > 0
group by labevents.specimen_id
