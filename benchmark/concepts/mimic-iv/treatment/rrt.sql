-- title: Renal replacement therapy
-- grain: one row per distinct event and treatment range that contains it, or per event without a range; not unique
-- keys: stay_id, charttime
-- sources: mimiciv_icu.chartevents, mimiciv_icu.inputevents, mimiciv_icu.procedureevents
-- citation: none
-- conventions:
--   - Any charted item of the list with a value counts as dialysis present, also a catheter dressing or an access site; only items that show a running treatment count as active.
--   - Treatment ranges are infusions given for continuous treatment (amount above zero) and charted procedures; a dialysis catheter or a filter change is a range that is present but not active.
--   - An event inside a treatment range, both ends included, takes presence, activity and type from the range where the range has them, so a catheter range turns an active chart event into an inactive one.
--   - An event inside several ranges gives one row for each; identical rows are kept.
--   - Every row has dialysis_present 1; there are no rows for times without dialysis.
-- ties: none
with charted_items (itemid, is_active, dialysis_type) as (
  values
    (226118, 0, null),          -- Dialysis Catheter placed in outside facility
    (227357, 0, null),          -- Dialysis Catheter Dressing Occlusive
    (225725, 0, null),          -- Dialysis Catheter Tip Cultured
    (226499, 1, 'IHD'),         -- Hemodialysis Output
    (224154, 1, null),          -- Dialysate Rate
    (225810, 0, 'Peritoneal'),  -- Dwell Time (Peritoneal Dialysis)
    (225959, 0, 'Peritoneal'),  -- Medication Added Amount #1 (Peritoneal Dialysis)
    (227639, 0, 'Peritoneal'),  -- Medication Added Amount #2 (Peritoneal Dialysis)
    (225183, 1, null),          -- Current Goal
    (227438, 1, null),          -- Volume not removed
    (224191, 1, null),          -- Hourly Patient Fluid Removal
    (225806, 1, 'Peritoneal'),  -- Volume In (PD)
    (225807, 1, 'Peritoneal'),  -- Volume Out (PD)
    (228004, 1, null),          -- Citrate (ACD-A)
    (228005, 1, null),          -- PBP (Prefilter) Replacement Rate
    (228006, 1, null),          -- Post Filter Replacement Rate
    (224144, 1, null),          -- Blood Flow (ml/min)
    (224145, 1, null),          -- Heparin Dose (per hour)
    (224149, 0, null),          -- Access Pressure
    (224150, 0, null),          -- Filter Pressure
    (224151, 0, null),          -- Effluent Pressure
    (224152, 0, null),          -- Return Pressure
    (224153, 1, null),          -- Replacement Rate
    (224404, 0, null),          -- ART Lumen Volume
    (224406, 0, null),          -- VEN Lumen Volume
    (226457, 1, null),          -- Ultrafiltrate Output
    (224135, 0, null),          -- Dialysis Access Site
    (224139, 0, null),          -- Dialysis Site Appearance
    (224146, 0, null),          -- System Integrity
    (225323, 0, null),          -- Dialysis Catheter Site Appear
    (225740, 0, null),          -- Dialysis Catheter Discontinued
    (225776, 0, null),          -- Dialysis Catheter Dressing Type
    (225951, 0, 'Peritoneal'),  -- Peritoneal Dialysis Fluid Appearance
    (225952, 0, 'Peritoneal'),  -- Medication Added #1 (Peritoneal Dialysis)
    (225953, 0, 'Peritoneal'),  -- Solution (Peritoneal Dialysis)
    (225954, 0, null),          -- Dialysis Access Type
    (225956, 0, null),          -- Reason for CRRT Filter Change
    (225958, 0, null),          -- Heparin Concentration (units/mL)
    (225961, 0, 'Peritoneal'),  -- Medication Added Units #1 (Peritoneal Dialysis)
    (225963, 0, 'Peritoneal'),  -- Peritoneal Dialysis Catheter Type
    (225965, null, 'Peritoneal'),  -- Peritoneal Dialysis Catheter Status (active when 'In use')
    (225976, 0, null),          -- Replacement Fluid
    (225977, 0, null),          -- Dialysate Fluid
    (227124, 0, null),          -- Dialysis Catheter Type
    (227290, 0, 'as charted'),  -- CRRT mode (the text is the type)
    (227638, 0, 'Peritoneal'),  -- Medication Added #2 (Peritoneal Dialysis)
    (227640, 0, 'Peritoneal'),  -- Medication Added Units #2 (Peritoneal Dialysis)
    (227753, 0, null)           -- Dialysis Catheter Placement Confirmed by X-ray
),
procedure_items (itemid, is_active, dialysis_type) as (
  values
    (225441, 1, 'IHD'),         -- Hemodialysis
    (225802, 1, 'CRRT'),        -- Dialysis - CRRT
    (225803, 1, 'CVVHD'),       -- Dialysis - CVVHD
    (225805, 1, 'Peritoneal'),  -- Peritoneal Dialysis
    (225809, 1, 'CVVHDF'),      -- Dialysis - CVVHDF
    (225955, 1, 'SCUF'),        -- Dialysis - SCUF
    (224270, 0, null),          -- Dialysis Catheter
    (225436, 0, null)           -- CRRT Filter Change
),
charted_events as (
  select
    chartevents.stay_id,
    chartevents.charttime,
    1 as dialysis_present,
    case
      when charted_items.is_active is not null then charted_items.is_active
      when chartevents.value = 'In use' then 1
      else 0
    end as dialysis_active,
    case
      when charted_items.dialysis_type = 'as charted' then chartevents.value
      else charted_items.dialysis_type
    end as dialysis_type
  from mimiciv_icu.chartevents
  inner join charted_items
    on chartevents.itemid = charted_items.itemid
  where chartevents.value is not null
),
treatment_ranges as (
  select
    stay_id,
    starttime,
    endtime,
    1 as dialysis_present,
    1 as dialysis_active,
    'CRRT' as dialysis_type
  from mimiciv_icu.inputevents
  where itemid in (
    227536,  -- KCl (CRRT)
    227525   -- Calcium Gluconate (CRRT)
  )
    and amount > 0
  union
  select
    procedureevents.stay_id,
    procedureevents.starttime,
    procedureevents.endtime,
    1 as dialysis_present,
    procedure_items.is_active as dialysis_active,
    procedure_items.dialysis_type
  from mimiciv_icu.procedureevents
  inner join procedure_items
    on procedureevents.itemid = procedure_items.itemid
  where procedureevents.value is not null
),
events as (
  select stay_id, charttime, dialysis_present, dialysis_active, dialysis_type
  from charted_events
  union
  select stay_id, starttime as charttime, dialysis_present, dialysis_active, dialysis_type
  from treatment_ranges
)
select
  events.stay_id,
  events.charttime,
  coalesce(treatment_ranges.dialysis_present, events.dialysis_present) as dialysis_present,
  coalesce(treatment_ranges.dialysis_active, events.dialysis_active) as dialysis_active,
  coalesce(treatment_ranges.dialysis_type, events.dialysis_type) as dialysis_type
from events
left join treatment_ranges
  on events.stay_id = treatment_ranges.stay_id
  and events.charttime >= treatment_ranges.starttime
  and events.charttime <= treatment_ranges.endtime
