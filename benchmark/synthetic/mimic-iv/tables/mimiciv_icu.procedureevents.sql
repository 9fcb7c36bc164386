with procedures(itemid, runs, first_hour, hours, place, stay_key) as (
  select 225792, is_intubated, tube_hour, tube_hours, null, i from stay
  union all select 225794, has_mask and not is_intubated, 1, 6 + 30 * resp, null, i from stay
  union all select 225752, has_arterial_line, 1, least(los_hours, 72), pick(['Right Radial', 'Left Radial', 'Right Femoral', 'Left Brachial.', 'Left Axilla.'], 'artery', i), i from stay
  union all select 224263, has_pressor, 1, least(los_hours, 120), pick(['Right IJ', 'Left IJ', 'Right Femoral.', 'Left Subclavian'], 'vein', i), i from stay
  union all select 224264, u('picc', i) < 0.12, 5, los_hours, pick(['Right Antecube', 'Left Antecub', 'Right Brachial.'], 'picc', i), i from stay
  union all select 224560, archetype = 'cardiac' and u('pa', i) < 0.25, 1, 40, 'Right IJ', i from stay
  union all select 224267, archetype = 'surgical' and u('cordis', i) < 0.35, 0, 30, 'Right IJ', i from stay
  union all select 224272, archetype = 'cardiac' and cardio > 0.8 and u('iabp', i) < 0.2, 1, 36, 'Right Femoral', i from stay
  union all select 226124, archetype = 'neuro' and u('icp', i) < 0.3, 2, 60, null, i from stay
  union all select 225204, u('midline', i) < 0.03, 8, 60, 'Left Brachial', i from stay
  union all select 225315, u('hickman', i) < 0.02, 0, los_hours, null, i from stay
  union all select 225202, u('port', i) < 0.04, 0, los_hours, null, i from stay
  union all select 224268, archetype = 'trauma' and u('trauma line', i) < 0.3, 0, 24, 'Left Femoral', i from stay
  union all select 224270, has_crrt or has_dialysis, 6, least(los_hours, 150), pick(['Right IJ', 'Left Femoral'], 'dialysis line', i), i from stay
  union all select 225802, has_crrt and u('crrt item', i) < 0.5, 8, greatest(los_hours - 9, 2), null, i from stay
  union all select 225809, has_crrt and u('crrt item', i) >= 0.5 and u('crrt item', i) < 0.8, 8, greatest(los_hours - 9, 2), null, i from stay
  union all select 225803, has_crrt and u('crrt item', i) >= 0.8, 8, greatest(los_hours - 9, 2), null, i from stay
  union all select 225436, has_crrt and u('filter change', i) < 0.4, 20, 0.2, null, i from stay
  union all select 225441, has_dialysis and u('peritoneal', i) >= 0.1, 14, 4, null, i from stay
  union all select 225805, has_dialysis and u('peritoneal', i) < 0.1, 6, 12, null, i from stay
  union all select 225955, has_dialysis and u('scuf', i) < 0.05, 20, 6, null, i from stay
)
select subject_id, hadm_id, stay_id, 1 + i % 40 as caregiver_id,
  date_trunc('minute', intime) + to_minutes(cast(60 * first_hour + floor(25 * u('procedure', stay_key * 1000000 + itemid)) as bigint)) as starttime,
  date_trunc('minute', intime) + to_minutes(cast(60 * (first_hour + hours) + 30 as bigint)) as endtime,
  outtime as storetime, itemid, round(60 * hours + 5) as value, 'min' as valueuom,
  place as location, case when place is null then null when itemid = 225752 then 'Invasive Arterial' else 'Invasive Venous' end as locationcategory,
  970000000000000 + stay_key * 1000000 + itemid as orderid, 970000000000000 + stay_key * 1000000 + itemid as linkorderid,
  case when itemid in (225792, 225794) then 'Ventilation' when itemid in (225802, 225809, 225803, 225436, 225441, 225805, 225955) then 'Dialysis' else 'Invasive Lines' end as ordercategoryname,
  'ContinuousProcess' as ordercategorydescription, weight_kg as patientweight, 1 as isopenbag, 0 as continueinnextdept,
  'FinishedRunning' as statusdescription, round(60 * hours + 5) as originalamount, 1 as originalrate
from procedures join stay on stay.i = stay_key
where runs and first_hour < los_hours
union all
-- what is done once or several times: lines into the arm, images, tubes out
select subject_id, hadm_id, stay_id, 1 + i % 40,
  date_trunc('minute', intime) + to_minutes(cast(floor(60 * los_hours * u('done at', key)) as bigint)),
  date_trunc('minute', intime) + to_minutes(cast(floor(60 * los_hours * u('done at', key)) + case unit when 'min' then value * (0.4 + 1.2 * u('done for', key)) else 1 end as bigint)),
  outtime, itemid, case unit when 'min' then round(value * (0.4 + 1.2 * u('done for', key))) else 1 end, unit, null, null, 975000000000000 + key, 975000000000000 + key,
  category, case unit when 'min' then 'ContinuousProcess' else 'Task' end, weight_kg, case unit when 'min' then 1 else 0 end, 0, 'FinishedRunning', value, 1
from (select stay.*, procedure_item.*, (stay.i * 1000000 + procedure_item.itemid) * 20 + again as key from stay, procedure_item,
    unnest(generate_series(0, cast(floor(2 * (times - 0.5) * u('done times', stay.i * 1000000 + procedure_item.itemid)) as bigint))) repeats(again)
  where u('is done', stay.i * 1000000 + procedure_item.itemid) < share)
