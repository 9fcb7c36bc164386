-- title: Coagulation panel
-- grain: one row per laboratory specimen with at least one coagulation result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Every numeric result counts, zero and negative ones included.
--   - A result repeated within a specimen gives the largest value; no upper limit is applied.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at.
-- ties: none
with coagulation_items (itemid, analyte) as (
  values
    (51196, 'd_dimer'),     -- D-Dimer
    (51214, 'fibrinogen'),  -- Fibrinogen, Functional
    (51297, 'thrombin'),    -- Thrombin
    (51237, 'inr'),         -- INR(PT)
    (51274, 'pt'),          -- PT
    (51275, 'ptt')          -- PTT
)
select
  max(labevents.subject_id) as subject_id,
  max(labevents.hadm_id) as hadm_id,
  max(labevents.charttime) as charttime,
  labevents.specimen_id,
  max(case when coagulation_items.analyte = 'd_dimer' then labevents.valuenum end) as d_dimer,
  max(case when coagulation_items.analyte = 'fibrinogen' then labevents.valuenum end) as fibrinogen,
  max(case when coagulation_items.analyte = 'thrombin' then labevents.valuenum end) as thrombin,
  max(case when coagulation_items.analyte = 'inr' then labevents.valuenum end) as inr,
  max(case when coagulation_items.analyte = 'pt' then labevents.valuenum end) as pt,
  max(case when coagulation_items.analyte = 'ptt' then labevents.valuenum end) as ptt
from mimiciv_hosp.labevents
inner join coagulation_items
  on labevents.itemid = coagulation_items.itemid
where labevents.valuenum is not null
group by labevents.specimen_id
