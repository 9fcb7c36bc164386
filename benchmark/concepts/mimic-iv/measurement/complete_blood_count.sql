-- title: Complete blood count
-- grain: one row per laboratory specimen with at least one usable blood count result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Results of zero or below are ignored: a count of zero is missing here, not zero.
--   - A result repeated within a specimen gives the largest value; no upper limit is applied.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at.
--   - The white cell count is item 51301 only; the differential count also takes two other white cell items.
--   - The column rdwsd keeps item 52159 as upstream has it, although the item dictionary gives RDW-SD another number.
-- ties: none
with blood_count_items (itemid, analyte) as (
  values
    (51221, 'hematocrit'),  -- Hematocrit
    (51222, 'hemoglobin'),  -- Hemoglobin
    (51248, 'mch'),         -- MCH
    (51249, 'mchc'),        -- MCHC
    (51250, 'mcv'),         -- MCV
    (51265, 'platelet'),    -- Platelet Count
    (51279, 'rbc'),         -- Red Blood Cells
    (51277, 'rdw'),         -- RDW
    (52159, 'rdwsd'),       -- labelled Platelet Aggregation in the item dictionary; RDW-SD there is 52172
    (51301, 'wbc')          -- White Blood Cells
)
select
  max(labevents.subject_id) as subject_id,
  max(labevents.hadm_id) as hadm_id,
  max(labevents.charttime) as charttime,
  labevents.specimen_id,
  max(case when blood_count_items.analyte = 'hematocrit' then labevents.valuenum end) as hematocrit,
  max(case when blood_count_items.analyte = 'hemoglobin' then labevents.valuenum end) as hemoglobin,
  max(case when blood_count_items.analyte = 'mch' then labevents.valuenum end) as mch,
  max(case when blood_count_items.analyte = 'mchc' then labevents.valuenum end) as mchc,
  max(case when blood_count_items.analyte = 'mcv' then labevents.valuenum end) as mcv,
  max(case when blood_count_items.analyte = 'platelet' then labevents.valuenum end) as platelet,
  max(case when blood_count_items.analyte = 'rbc' then labevents.valuenum end) as rbc,
  max(case when blood_count_items.analyte = 'rdw' then labevents.valuenum end) as rdw,
  max(case when blood_count_items.analyte = 'rdwsd' then labevents.valuenum end) as rdwsd,
  max(case when blood_count_items.analyte = 'wbc' then labevents.valuenum end) as wbc
from mimiciv_hosp.labevents
inner join blood_count_items
  on labevents.itemid = blood_count_items.itemid
where labevents.valuenum > 0
group by labevents.specimen_id
