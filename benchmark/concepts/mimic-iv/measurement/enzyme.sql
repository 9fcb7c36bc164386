-- title: Liver, pancreatic and muscle enzymes and bilirubin
-- grain: one row per laboratory specimen with at least one usable enzyme or bilirubin result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Results of zero or below are ignored.
--   - A result repeated within a specimen gives the largest value; no upper limit is applied.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at.
--   - CK-MB is also in the cardiac marker table, which keeps results of zero and below.
-- ties: none
with enzyme_items (itemid, analyte) as (
  values
    (50861, 'alt'),                 -- Alanine Aminotransferase (ALT)
    (50863, 'alp'),                 -- Alkaline Phosphatase
    (50878, 'ast'),                 -- Asparate Aminotransferase (AST)
    (50867, 'amylase'),             -- Amylase
    (50885, 'bilirubin_total'),     -- Bilirubin, Total
    (50883, 'bilirubin_direct'),    -- Bilirubin, Direct
    (50884, 'bilirubin_indirect'),  -- Bilirubin, Indirect
    (50910, 'ck_cpk'),              -- Creatine Kinase (CK)
    (50911, 'ck_mb'),               -- Creatine Kinase, MB Isoenzyme
    (50927, 'ggt'),                 -- Gamma Glutamyltransferase
    (50954, 'ld_ldh')               -- Lactate Dehydrogenase (LD)
)
select
  max(labevents.subject_id) as subject_id,
  max(labevents.hadm_id) as hadm_id,
  max(labevents.charttime) as charttime,
  labevents.specimen_id,
  max(case when enzyme_items.analyte = 'alt' then labevents.valuenum end) as alt,
  max(case when enzyme_items.analyte = 'alp' then labevents.valuenum end) as alp,
  max(case when enzyme_items.analyte = 'ast' then labevents.valuenum end) as ast,
  max(case when enzyme_items.analyte = 'amylase' then labevents.valuenum end) as amylase,
  max(case when enzyme_items.analyte = 'bilirubin_total' then labevents.valuenum end) as bilirubin_total,
  max(case when enzyme_items.analyte = 'bilirubin_direct' then labevents.valuenum end) as bilirubin_direct,
  max(case when enzyme_items.analyte = 'bilirubin_indirect' then labevents.valuenum end) as bilirubin_indirect,
  max(case when enzyme_items.analyte = 'ck_cpk' then labevents.valuenum end) as ck_cpk,
  max(case when enzyme_items.analyte = 'ck_mb' then labevents.valuenum end) as ck_mb,
  max(case when enzyme_items.analyte = 'ggt' then labevents.valuenum end) as ggt,
  max(case when enzyme_items.analyte = 'ld_ldh' then labevents.valuenum end) as ld_ldh
from mimiciv_hosp.labevents
inner join enzyme_items
  on labevents.itemid = enzyme_items.itemid
where labevents.valuenum > 0
group by labevents.specimen_id
