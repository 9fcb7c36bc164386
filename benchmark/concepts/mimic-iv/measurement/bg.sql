-- title: Blood gases with the oxygen fraction charted before them
-- grain: one row per patient and draw time with at least one blood gas specimen that has a pO2
-- keys: subject_id, charttime
-- sources: mimiciv_hosp.labevents, mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - Only specimens with a pO2 appear, so a lactate or glucose measured in a panel without pO2 is absent.
--   - All specimen types are kept; the type may be missing, and arterial blood is 'ART.'.
--   - Two specimens of one patient drawn at the same minute leave one row (see ties), taken whole from one specimen.
--   - A result repeated within a specimen gives the largest value. Haematocrit and oxygen saturation above 100 and lactate and glucose above 10000 are dropped; nothing else is checked.
--   - Inspired oxygen from the laboratory is a percentage when above 20 and up to 100, a fraction (times 100) when above 0.2 and up to 1, and otherwise missing.
--   - Charted inspired oxygen is a percentage from 20 up to 100, a fraction (times 100) when above 0.2 and up to 1, and otherwise unusable; of several values at one time the largest counts.
--   - The charted oxygen used is the latest usable one of the same patient, in whatever stay, from 4 hours before the gas up to its time, both ends included.
--   - The A-a difference and the PaO2/FiO2 ratio use the laboratory oxygen, or the charted one where the laboratory has none; sea-level pressure 760 mmHg, water vapour 47 mmHg, respiratory quotient 0.8; no rounding.
-- ties: of several specimens with a pO2 of one patient at one time, the lowest specimen_id is kept
with blood_gas_items (itemid, analyte, upper_limit) as (
  values
    (52033, 'specimen', null),          -- Specimen Type (text)
    (50801, 'aado2', null),             -- Alveolar-arterial Gradient
    (50802, 'baseexcess', null),        -- Base Excess
    (50803, 'bicarbonate', null),       -- Calculated Bicarbonate, Whole Blood
    (50804, 'totalco2', null),          -- Calculated Total CO2
    (50805, 'carboxyhemoglobin', null), -- Carboxyhemoglobin
    (50806, 'chloride', null),          -- Chloride, Whole Blood
    (50808, 'calcium', null),           -- Free Calcium
    (50809, 'glucose', 10000),          -- Glucose
    (50810, 'hematocrit', 100),         -- Hematocrit, Calculated
    (50811, 'hemoglobin', null),        -- Hemoglobin
    (50813, 'lactate', 10000),          -- Lactate
    (50814, 'methemoglobin', null),     -- Methemoglobin
    (50816, 'fio2', null),              -- Oxygen
    (50817, 'so2', 100),                -- Oxygen Saturation
    (50818, 'pco2', null),              -- pCO2
    (50820, 'ph', null),                -- pH
    (50821, 'po2', null),               -- pO2
    (50822, 'potassium', null),         -- Potassium, Whole Blood
    (50824, 'sodium', null),            -- Sodium, Whole Blood
    (50825, 'temperature', null),       -- Temperature
    (50807, 'not shown', null),         -- Comments
    (50815, 'not shown', null),         -- O2 Flow
    (50819, 'not shown', null),         -- PEEP
    (50823, 'not shown', null)          -- Required O2
),
blood_gas_results as (
  select
    labevents.specimen_id,
    labevents.subject_id,
    labevents.hadm_id,
    labevents.charttime,
    blood_gas_items.analyte,
    case when blood_gas_items.analyte = 'specimen' then labevents.value end as specimen_type,
    case
      when blood_gas_items.analyte = 'fio2' then
        case
          when labevents.valuenum > 20 and labevents.valuenum <= 100 then labevents.valuenum
          when labevents.valuenum > 0.2 and labevents.valuenum <= 1.0 then labevents.valuenum * 100
        end
      when blood_gas_items.upper_limit is null then labevents.valuenum
      when labevents.valuenum <= blood_gas_items.upper_limit then labevents.valuenum
    end as accepted_value
  from mimiciv_hosp.labevents
  inner join blood_gas_items
    on labevents.itemid = blood_gas_items.itemid
),
specimens as (
  select
    max(subject_id) as subject_id,
    max(hadm_id) as hadm_id,
    max(charttime) as charttime,
    specimen_id,
    max(specimen_type) as specimen,
    max(case when analyte = 'so2' then accepted_value end) as so2,
    max(case when analyte = 'po2' then accepted_value end) as po2,
    max(case when analyte = 'pco2' then accepted_value end) as pco2,
    max(case when analyte = 'fio2' then accepted_value end) as fio2,
    max(case when analyte = 'aado2' then accepted_value end) as aado2,
    max(case when analyte = 'ph' then accepted_value end) as ph,
    max(case when analyte = 'baseexcess' then accepted_value end) as baseexcess,
    max(case when analyte = 'bicarbonate' then accepted_value end) as bicarbonate,
    max(case when analyte = 'totalco2' then accepted_value end) as totalco2,
    max(case when analyte = 'hematocrit' then accepted_value end) as hematocrit,
    max(case when analyte = 'hemoglobin' then accepted_value end) as hemoglobin,
    max(case when analyte = 'carboxyhemoglobin' then accepted_value end) as carboxyhemoglobin,
    max(case when analyte = 'methemoglobin' then accepted_value end) as methemoglobin,
    max(case when analyte = 'chloride' then accepted_value end) as chloride,
    max(case when analyte = 'calcium' then accepted_value end) as calcium,
    max(case when analyte = 'temperature' then accepted_value end) as temperature,
    max(case when analyte = 'potassium' then accepted_value end) as potassium,
    max(case when analyte = 'sodium' then accepted_value end) as sodium,
    max(case when analyte = 'lactate' then accepted_value end) as lactate,
    max(case when analyte = 'glucose' then accepted_value end) as glucose
  from blood_gas_results
  group by specimen_id
  having po2 is not null
),
one_specimen_per_draw as (
  select *
  from specimens
  qualify row_number() over (partition by subject_id, charttime order by specimen_id) = 1
),
charted_fio2 as (
  select
    subject_id,
    charttime,
    max(
      case
        when valuenum > 0.2 and valuenum <= 1 then valuenum * 100
        when valuenum >= 20 and valuenum <= 100 then valuenum
      end
    ) as fio2_percent
  from mimiciv_icu.chartevents
  where itemid = 223835  -- Inspired O2 Fraction
    and valuenum > 0
    and valuenum <= 100
  group by subject_id, charttime
  having fio2_percent > 0
),
gases as (
  select
    one_specimen_per_draw.*,
    case
      when charted_fio2.charttime >= one_specimen_per_draw.charttime - interval 4 hours
        then charted_fio2.fio2_percent
    end as fio2_chartevents,
    coalesce(one_specimen_per_draw.fio2, fio2_chartevents) as inspired_oxygen
  from one_specimen_per_draw
  asof left join charted_fio2
    on one_specimen_per_draw.subject_id = charted_fio2.subject_id
    and one_specimen_per_draw.charttime >= charted_fio2.charttime
)
select
  subject_id,
  hadm_id,
  charttime,
  specimen,
  so2,
  po2,
  pco2,
  fio2_chartevents,
  fio2,
  aado2,
  (inspired_oxygen / 100) * (760 - 47) - (pco2 / 0.8) - po2 as aado2_calc,
  (100 * po2) / inspired_oxygen as pao2fio2ratio,
  ph,
  baseexcess,
  bicarbonate,
  totalco2,
  hematocrit,
  hemoglobin,
  carboxyhemoglobin,
  methemoglobin,
  chloride,
  calcium,
  temperature,
  potassium,
  sodium,
  lactate,
  glucose
from gases
