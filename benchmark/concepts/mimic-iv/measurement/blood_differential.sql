-- title: White blood cell count and differential
-- grain: one row per laboratory specimen with at least one usable white cell or differential result
-- keys: specimen_id
-- sources: mimiciv_hosp.labevents
-- citation: none
-- conventions:
--   - Results below zero are ignored; zero counts.
--   - Eosinophil, lymphocyte and monocyte counts reported per microlitre (the items named count) are divided by 1000; a result repeated within a specimen gives the largest value.
--   - An absolute count that was not measured is worked out as percentage times white cell count divided by 100, provided the white cell count is above zero and at least one of the five main percentages is above zero.
--   - Absolute counts, measured or worked out, are rounded to 3 decimals, half away from zero; all other columns are not rounded.
--   - A specimen with only a white cell count or only a granulocyte count keeps its row; the granulocyte count itself is not shown.
--   - Patient, admission and time are the largest recorded among the rows of the specimen; the admission may be missing.
-- ties: none
with differential_items (itemid, analyte, divisor) as (
  values
    (51300, 'wbc', 1),                     -- WBC Count
    (51301, 'wbc', 1),                     -- White Blood Cells
    (51755, 'wbc', 1),                     -- White Blood Cells
    (52069, 'basophils_abs', 1),           -- Absolute Basophil Count
    (52073, 'eosinophils_abs', 1),         -- Absolute Eosinophil Count
    (51199, 'eosinophils_abs', 1000),      -- Eosinophil Count
    (51133, 'lymphocytes_abs', 1),         -- Absolute Lymphocyte Count
    (52769, 'lymphocytes_abs', 1000),      -- Absolute Lymphocyte Count
    (52074, 'monocytes_abs', 1),           -- Absolute Monocyte Count
    (51253, 'monocytes_abs', 1000),        -- Monocyte Count
    (52075, 'neutrophils_abs', 1),         -- Absolute Neutrophil Count
    (51218, 'granulocytes_abs', 1),        -- Granulocyte Count
    (51146, 'basophils', 1),               -- Basophils, %
    (51200, 'eosinophils', 1),             -- Eosinophils, %
    (51244, 'lymphocytes', 1),             -- Lymphocytes, %
    (51245, 'lymphocytes', 1),             -- Lymphocytes, Percent
    (51254, 'monocytes', 1),               -- Monocytes, %
    (51256, 'neutrophils', 1),             -- Neutrophils, %
    (51143, 'atypical_lymphocytes', 1),    -- Atypical Lymphocytes, %
    (51144, 'bands', 1),                   -- Bands, %
    (52135, 'immature_granulocytes', 1),   -- Immature Granulocytes, %
    (51251, 'metamyelocytes', 1),          -- Metamyelocytes, %
    (51257, 'nrbc', 1)                     -- Nucleated Red Cells
),
differential_results as (
  select
    labevents.specimen_id,
    labevents.subject_id,
    labevents.hadm_id,
    labevents.charttime,
    differential_items.analyte,
    labevents.valuenum / differential_items.divisor as result
  from mimiciv_hosp.labevents
  inner join differential_items
    on labevents.itemid = differential_items.itemid
  where labevents.valuenum >= 0
),
specimens as (
  select
    max(subject_id) as subject_id,
    max(hadm_id) as hadm_id,
    max(charttime) as charttime,
    specimen_id,
    max(case when analyte = 'wbc' then result end) as wbc,
    max(case when analyte = 'basophils_abs' then result end) as basophils_abs,
    max(case when analyte = 'eosinophils_abs' then result end) as eosinophils_abs,
    max(case when analyte = 'lymphocytes_abs' then result end) as lymphocytes_abs,
    max(case when analyte = 'monocytes_abs' then result end) as monocytes_abs,
    max(case when analyte = 'neutrophils_abs' then result end) as neutrophils_abs,
    max(case when analyte = 'basophils' then result end) as basophils,
    max(case when analyte = 'eosinophils' then result end) as eosinophils,
    max(case when analyte = 'lymphocytes' then result end) as lymphocytes,
    max(case when analyte = 'monocytes' then result end) as monocytes,
    max(case when analyte = 'neutrophils' then result end) as neutrophils,
    max(case when analyte = 'atypical_lymphocytes' then result end) as atypical_lymphocytes,
    max(case when analyte = 'bands' then result end) as bands,
    max(case when analyte = 'immature_granulocytes' then result end) as immature_granulocytes,
    max(case when analyte = 'metamyelocytes' then result end) as metamyelocytes,
    max(case when analyte = 'nrbc' then result end) as nrbc
  from differential_results
  group by specimen_id
),
imputable_white_cells as (
  select
    specimens.*,
    case
      when wbc > 0
        and greatest(basophils, eosinophils, lymphocytes, monocytes, neutrophils) > 0
        then wbc
    end as imputing_wbc
  from specimens
)
select
  subject_id,
  hadm_id,
  charttime,
  specimen_id,
  wbc,
  try_cast(coalesce(basophils_abs, (basophils * imputing_wbc) / 100) as decimal(18, 3)) as basophils_abs,
  try_cast(coalesce(eosinophils_abs, (eosinophils * imputing_wbc) / 100) as decimal(18, 3)) as eosinophils_abs,
  try_cast(coalesce(lymphocytes_abs, (lymphocytes * imputing_wbc) / 100) as decimal(18, 3)) as lymphocytes_abs,
  try_cast(coalesce(monocytes_abs, (monocytes * imputing_wbc) / 100) as decimal(18, 3)) as monocytes_abs,
  try_cast(coalesce(neutrophils_abs, (neutrophils * imputing_wbc) / 100) as decimal(18, 3)) as neutrophils_abs,
  basophils,
  eosinophils,
  lymphocytes,
  monocytes,
  neutrophils,
  atypical_lymphocytes,
  bands,
  immature_granulocytes,
  metamyelocytes,
  nrbc
from imputable_white_cells
