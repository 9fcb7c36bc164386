-- title: Continuous renal replacement therapy settings
-- grain: one row per ICU stay and chart time with at least one CRRT record
-- keys: stay_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - A record counts if it has a text value; the row exists even if none of its columns could be filled.
--   - Several records of one item at one time give the largest value, for texts the last in byte order.
--   - System integrity yields four flags: active and clots can be 1, 0 or missing; clots increasing and clotted are 1 or missing, never 0.
--   - With conflicting integrity states at one time the positive one wins (active, clots present).
--   - No limits are applied to any value.
-- ties: none
with crrt_items (itemid, setting) as (
  values
    (227290, 'crrt_mode'),                     -- CRRT mode
    (224149, 'access_pressure'),               -- Access Pressure
    (224144, 'blood_flow'),                    -- Blood Flow (ml/min)
    (228004, 'citrate'),                       -- Citrate (ACD-A)
    (225183, 'current_goal'),                  -- Current Goal
    (225977, 'dialysate_fluid'),               -- Dialysate Fluid
    (224154, 'dialysate_rate'),                -- Dialysate Rate
    (224151, 'effluent_pressure'),             -- Effluent Pressure
    (224150, 'filter_pressure'),               -- Filter Pressure
    (225958, 'heparin_concentration'),         -- Heparin Concentration (units/mL)
    (224145, 'heparin_dose'),                  -- Heparin Dose (per hour)
    (224191, 'hourly_patient_fluid_removal'),  -- Hourly Patient Fluid Removal
    (228005, 'prefilter_replacement_rate'),    -- PBP (Prefilter) Replacement Rate
    (228006, 'postfilter_replacement_rate'),   -- Post Filter Replacement Rate
    (225976, 'replacement_fluid'),             -- Replacement Fluid
    (224153, 'replacement_rate'),              -- Replacement Rate
    (224152, 'return_pressure'),               -- Return Pressure
    (226457, 'ultrafiltrate_output'),          -- Ultrafiltrate Output
    (224146, 'system_integrity')               -- System Integrity
),
crrt_records as (
  select
    chartevents.stay_id,
    chartevents.charttime,
    crrt_items.setting,
    chartevents.value,
    chartevents.valuenum
  from mimiciv_icu.chartevents
  inner join crrt_items
    on chartevents.itemid = crrt_items.itemid
  where chartevents.value is not null
)
select
  stay_id,
  charttime,
  max(case when setting = 'crrt_mode' then value end) as crrt_mode,
  max(case when setting = 'access_pressure' then valuenum end) as access_pressure,
  max(case when setting = 'blood_flow' then valuenum end) as blood_flow,
  max(case when setting = 'citrate' then valuenum end) as citrate,
  max(case when setting = 'current_goal' then valuenum end) as current_goal,
  max(case when setting = 'dialysate_fluid' then value end) as dialysate_fluid,
  max(case when setting = 'dialysate_rate' then valuenum end) as dialysate_rate,
  max(case when setting = 'effluent_pressure' then valuenum end) as effluent_pressure,
  max(case when setting = 'filter_pressure' then valuenum end) as filter_pressure,
  max(case when setting = 'heparin_concentration' then value end) as heparin_concentration,
  max(case when setting = 'heparin_dose' then valuenum end) as heparin_dose,
  max(case when setting = 'hourly_patient_fluid_removal' then valuenum end) as hourly_patient_fluid_removal,
  max(case when setting = 'prefilter_replacement_rate' then valuenum end) as prefilter_replacement_rate,
  max(case when setting = 'postfilter_replacement_rate' then valuenum end) as postfilter_replacement_rate,
  max(case when setting = 'replacement_fluid' then value end) as replacement_fluid,
  max(case when setting = 'replacement_rate' then valuenum end) as replacement_rate,
  max(case when setting = 'return_pressure' then valuenum end) as return_pressure,
  max(case when setting = 'ultrafiltrate_output' then valuenum end) as ultrafiltrate_output,
  max(
    case
      when setting <> 'system_integrity' then null
      when value in ('Active', 'Initiated', 'Reinitiated', 'New Filter') then 1
      when value in ('Recirculating', 'Discontinued') then 0
    end
  ) as system_active,
  max(
    case
      when setting <> 'system_integrity' then null
      when value = 'Clots Present' then 1
      when value = 'No Clot Present' then 0
    end
  ) as clots,
  max(
    case
      when setting = 'system_integrity' and value in ('Clots Increasing', 'Clot Increasing') then 1
    end
  ) as clots_increasing,
  max(case when setting = 'system_integrity' and value = 'Clotted' then 1 end) as clotted
from crrt_records
group by stay_id, charttime
