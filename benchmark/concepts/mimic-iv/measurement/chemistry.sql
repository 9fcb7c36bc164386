-- title: Routine blood chemistry
-- grain: one row per laboratory specimen with at least one usable chemistry result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Results of zero or below are ignored, except for the anion gap, which may be zero or negative.
--   - A result above its upper limit is dropped, not clipped; limits belong to the accepted range. The specimen keeps its row, if need be with no value at all.
--   - A result repeated within a specimen gives the largest accepted value.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
--   - Units, flags and comments are not looked at, and blood gas analyser results are not used.
-- ties: none
with chemistry_items (itemid, analyte, upper_limit) as (
  values
    (50862, 'albumin', 10),          -- Albumin, g/dL
    (50930, 'globulin', 10),         -- Globulin, g/dL
    (50976, 'total_protein', 20),    -- Protein, Total, g/dL
    (50868, 'aniongap', 10000),      -- Anion Gap, mEq/L
    (50882, 'bicarbonate', 10000),   -- Bicarbonate, mEq/L
    (51006, 'bun', 300),             -- Urea Nitrogen, mg/dL
    (50893, 'calcium', 10000),       -- Calcium, Total, mg/dL
    (50902, 'chloride', 10000),      -- Chloride, mEq/L
    (50912, 'creatinine', 150),      -- Creatinine, mg/dL
    (50931, 'glucose', 10000),       -- Glucose, mg/dL
    (50983, 'sodium', 200),          -- Sodium, mEq/L
    (50971, 'potassium', 30)         -- Potassium, mEq/L
),
chemistry_results as (
  select
    labevents.specimen_id,
    labevents.subject_id,
    labevents.hadm_id,
    labevents.charttime,
    chemistry_items.analyte,
    case when labevents.valuenum <= chemistry_items.upper_limit then labevents.valuenum end as accepted_value
  from mimiciv_hosp.labevents
  inner join chemistry_items
    on labevents.itemid = chemistry_items.itemid
  where labevents.valuenum > 0
    or (labevents.valuenum is not null and chemistry_items.analyte = 'aniongap')
)
select
  max(subject_id) as subject_id,
  max(hadm_id) as hadm_id,
  max(charttime) as charttime,
  specimen_id,
  max(case when analyte = 'albumin' then accepted_value end) as albumin,
  max(case when analyte = 'globulin' then accepted_value end) as globulin,
  max(case when analyte = 'total_protein' then accepted_value end) as total_protein,
  max(case when analyte = 'aniongap' then accepted_value end) as aniongap,
  max(case when analyte = 'bicarbonate' then accepted_value end) as bicarbonate,
  max(case when analyte = 'bun' then accepted_value end) as bun,
  max(case when analyte = 'calcium' then accepted_value end) as calcium,
  max(case when analyte = 'chloride' then accepted_value end) as chloride,
  max(case when analyte = 'creatinine' then accepted_value end) as creatinine,
  max(case when analyte = 'glucose' then accepted_value end) as glucose,
  max(case when analyte = 'sodium' then accepted_value end) as sodium,
  max(case when analyte = 'potassium' then accepted_value end) as potassium
from chemistry_results
group by specimen_id
