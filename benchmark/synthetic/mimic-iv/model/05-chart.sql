-- Charted values: one row per stay, time and item. Numbers are charted as text too, as in MIMIC-IV.
with charted as (
  select * from hour where is_charted
), hourly as (
  select stay_id, charttime, key, unnest([
    {itemid: 220045, number: heart_rate, shown: null::varchar, unit: 'bpm', used: true},
    {itemid: 220210, number: resp_rate, shown: null, unit: 'insp/min', used: true},
    {itemid: 220277, number: spo2, shown: null, unit: '%', used: true},
    -- arterial line hourly, cuff hourly without it and every four hours with it
    {itemid: 220050, number: round(1.5 * mean_pressure + 2 + 3 * z('abps', key)), shown: null, unit: 'mmHg', used: has_arterial_line},
    {itemid: 220051, number: round(0.76 * mean_pressure + 2 * z('abpd', key)), shown: null, unit: 'mmHg', used: has_arterial_line},
    {itemid: 220052, number: mean_pressure, shown: null, unit: 'mmHg', used: has_arterial_line},
    {itemid: 220179, number: round(1.5 * mean_pressure + 2 + 5 * z('nbps', key)), shown: null, unit: 'mmHg', used: not has_arterial_line or hr % 4 = 0},
    {itemid: 220180, number: round(0.75 * mean_pressure + 3 * z('nbpd', key)), shown: null, unit: 'mmHg', used: not has_arterial_line or hr % 4 = 0},
    {itemid: 220181, number: round(mean_pressure + 2 * z('nbpm', key)), shown: null, unit: 'mmHg', used: not has_arterial_line or hr % 4 = 0},
    {itemid: 225309, number: round(1.5 * mean_pressure + 4), shown: null, unit: 'mmHg', used: has_arterial_line and u('second line', i) < 0.06},
    {itemid: 225310, number: round(0.76 * mean_pressure + 1), shown: null, unit: 'mmHg', used: has_arterial_line and u('second line', i) < 0.06},
    {itemid: 225312, number: mean_pressure + 1, shown: null, unit: 'mmHg', used: has_arterial_line and u('second line', i) < 0.06},
    {itemid: 220765, number: round(clip(9 + 14 * neuro_now + 3 * z('icp', key), 1, 60)), shown: null, unit: 'mmHg', used: archetype = 'neuro' and u('icp', i) < 0.3},
    {itemid: 227989, number: round(clip(10 + 13 * neuro_now, 1, 60)), shown: null, unit: 'mmHg', used: archetype = 'neuro' and u('icp', i) < 0.05 and hr % 6 = 0},
    {itemid: 220048, number: null, unit: null, used: hr % 2 = 0, shown: case
      when heart_rate < 60 then 'SB (Sinus Bradycardia)' when u('fast heart', i) < 0.05 then 'AF (Atrial Fibrillation)'
      when heart_rate > 100 then 'ST (Sinus Tachycardia) ' when u('paced', i) < 0.02 then 'A Paced' else 'SR (Sinus Rhythm)' end},
    {itemid: 224650, number: null, unit: null, used: hr % 2 = 0, shown: case when u('ectopy', key) < 0.05 then 'PVC''s' when u('ectopy', key) < 0.1 then 'PAC''s' else 'None' end},
    {itemid: 224651, number: null, unit: null, used: hr % 2 = 0 and u('ectopy', key) < 0.1, shown: pick(['Occasional', 'Rare', 'Frequent'], 'ectopy rate', key)},
    {itemid: 226479, number: null, unit: null, used: hr % 2 = 0 and u('ectopy', key) < 0.01, shown: 'PVC''s'},
    {itemid: 226480, number: null, unit: null, used: hr % 2 = 0 and u('ectopy', key) < 0.01, shown: 'Rare'},
    -- temperature every four hours, in Fahrenheit on nine stays of ten
    {itemid: 223761, number: round(temperature_c * 1.8 + 32, 1), shown: null, unit: '°F', used: hr % 4 = 0 and u('celsius', i) >= 0.1},
    {itemid: 223762, number: round(temperature_c, 1), shown: null, unit: '°C', used: hr % 4 = 0 and u('celsius', i) < 0.15},
    {itemid: 224642, number: null, unit: null, used: hr % 4 = 0, shown: case when u('celsius', i) < 0.1 then 'Blood' else pick(['Oral', 'Oral', 'Oral', 'Axillary', 'Tympanic'], 'site', i) end},
    {itemid: 225664, number: glucose, shown: null, unit: 'mg/dL', used: hr % 6 = 0},
    {itemid: 220621, number: glucose + 4, shown: null, unit: 'mg/dL', used: hr % 12 = 0 and u('serum', i) < 0.5},
    {itemid: 226537, number: glucose - 3, shown: null, unit: 'mg/dL', used: hr % 8 = 0 and has_arterial_line and u('whole blood', i) < 0.3}
  ], recursive := true) from charted
), consciousness as (
  select stay_id, charttime, key, unnest([
    {itemid: 220739, number: eyes::double, unit: null::varchar, used: true, shown: ['None', 'To Pain', 'To Speech', 'Spontaneously'][eyes]},
    {itemid: 223901, number: motor::double, unit: null, used: u('motor charted', key) >= 0.02,
      shown: ['No response', 'Abnormal extension', 'Abnormal Flexion', 'Flex-withdraws', 'Localizes Pain', 'Obeys Commands'][motor]},
    {itemid: 223900, number: case when support in ('tube', 'tracheostomy') then 1.0 else verbal::double end, unit: null, used: u('verbal charted', key) >= 0.03,
      shown: case when support in ('tube', 'tracheostomy') then case when u('ett text', i) < 0.9 then 'No Response-ETT' else 'No Response' end
        else ['No Response', 'Incomprehensible sounds', 'Inappropriate Words', 'Confused', 'Oriented'][verbal] end}
  ], recursive := true)
  from hour where hr % 4 = 0 and (u('gcs charted', i) >= 0.02 or i in (select i from pinned))
), oxygen as (
  select stay_id, charttime, key, unnest([
    {itemid: 223834, number: flow, unit: 'L/min', used: true, shown: null::varchar},
    {itemid: 227287, number: 2.0, unit: 'L/min', used: u('second flow', i) < 0.02, shown: null},
    {itemid: 226732, number: null, unit: null, used: true, shown: device},
    {itemid: 226732, number: null, unit: null, used: u('second device', key) < 0.02, shown: 'Nasal cannula'}
  ], recursive := true)
  from (select *,
      case support when 'tube' then 0.0 when 'tracheostomy' then 10.0 when 'mask' then 12.0 when 'high flow' then 50.0
        when 'oxygen' then 2.0 + floor(5 * u('flow', i)) else 0.0 end as flow,
      case support
        when 'tube' then 'Endotracheal tube'
        when 'tracheostomy' then pick(['Tracheostomy tube', 'Trach mask '], 'trach device', i)
        when 'mask' then pick(['Bipap mask ', 'CPAP mask '], 'mask', i)
        when 'high flow' then 'High flow nasal cannula'
        when 'oxygen' then pick(['Nasal cannula', 'Nasal cannula', 'Nasal cannula', 'Nasal cannula', 'Face tent', 'Non-rebreather',
          'Aerosol-cool', 'Venti mask ', 'Medium conc mask '], 'oxygen device', i * 100 + hr // 24)
        else 'None' end as device
    from charted where hr % 4 = 0)
), ventilator as (
  select stay_id, charttime, key, unnest([
    {itemid: 223848, number: null::double, unit: null::varchar, used: hr % 12 = 0, shown: case when is_hamilton then 'Hamilton' else 'Drager' end},
    {itemid: 223849, number: null, unit: null, used: not is_hamilton, shown: case
      when hr - tube_hour > 10 and u('weaning', i) < 0.7 then pick(['CPAP/PSV', 'PSV/SBT', 'CPAP/PPS'], 'weaning mode', i)
      when u('standby', key) < 0.01 then 'Standby' else pick(['CMV/ASSIST/AutoFlow', 'CMV/ASSIST', 'PRVC/AC', 'SIMV/PSV'], 'mode', i) end},
    {itemid: 229314, number: null, unit: null, used: is_hamilton, shown: case when hr - tube_hour > 10 then pick(['SPONT', 'ASV'], 'hamilton weaning', i)
      else pick(['APV (cmv)', 'APV (simv)', 'P-CMV'], 'hamilton mode', i) end},
    {itemid: 223835, number: case when u('fraction', key) < 0.03 then fio2 / 100 else fio2 end, unit: '%', used: true, shown: null},
    {itemid: 220339, number: 5 + clip(round(17 * (resp_now - 0.45)), 0, 15), unit: 'cmH2O', used: true, shown: null},
    {itemid: 224700, number: 5 + clip(round(14 * (resp_now - 0.45)), 0, 17), unit: 'cmH2O', used: hr % 8 = 0, shown: null},
    {itemid: 224684, number: round(6.6 * (height_cm - 105)), unit: 'mL', used: true, shown: null},
    {itemid: 224685, number: round(6.6 * (height_cm - 105) + 25 * z('vt', key)), unit: 'mL', used: true, shown: null},
    {itemid: 224686, number: round(6.2 * (height_cm - 105) + 40 * z('vts', key)), unit: 'mL', used: hr - tube_hour > 10, shown: null},
    {itemid: 224687, number: round(clip(7 + 4 * resp_now + z('mv', key), 3, 20), 1), unit: 'L/min', used: true, shown: null},
    {itemid: 224688, number: clip(round(14 + 10 * resp_now), 8, 32), unit: 'insp/min', used: true, shown: null},
    {itemid: 224689, number: round(clip(4 + 3 * z('spont', key), 0, 30)), unit: 'insp/min', used: true, shown: null},
    {itemid: 224690, number: clip(round(16 + 10 * resp_now + 2 * z('total', key)), 8, 45), unit: 'insp/min', used: true, shown: null},
    {itemid: 224691, number: 60.0, unit: 'L/min', used: u('flow rate', i) < 0.2, shown: null},
    {itemid: 224696, number: round(clip(15 + 14 * resp_now + 2 * z('plateau', key), 8, 45)), unit: 'cmH2O', used: hr % 8 = 0, shown: null}
  ], recursive := true)
  from charted where support = 'tube' and hr % 4 = 0
), mask_ventilator as (
  select stay_id, charttime, key, unnest([
    {itemid: 229314, number: null::double, unit: null::varchar, used: u('niv mode', i) < 0.4, shown: pick(['NIV', 'NIV-ST', 'DuoPaP'], 'niv mode', i)},
    {itemid: 223835, number: fio2, unit: '%', used: true, shown: null},
    {itemid: 227582, number: 8.0, unit: 'L/min', used: u('bipap flow', i) < 0.5, shown: null}
  ], recursive := true)
  from charted where support = 'mask' and hr % 4 = 0
), body as (
  select stay_id, charttime, key, unnest([
    {itemid: 226512, number: weight_kg, unit: 'kg', used: hr = 0 and u('weight charted', i) >= 0.06, shown: null::varchar},
    {itemid: 224639, number: round(weight_kg + 0.8 * z('daily', key) + least(hr, 48) / 24.0, 1), unit: 'kg', used: hr % 24 = 12 and u('daily weight', i) < 0.6, shown: null},
    {itemid: 226730, number: height_cm, unit: 'cm', used: hr = 0 and u('height charted', i) < 0.6, shown: null},
    {itemid: 226707, number: round(height_cm / 2.54), unit: 'Inch', used: hr = 0 and u('height charted', i) < 0.7, shown: null},
    -- what is plainly wrong in real charts: a weight in pounds, a value typed twice, a temperature in the wrong unit
    {itemid: 220045, number: 0.0, unit: 'bpm', used: u('dirt heart', key) < 0.0008, shown: null},
    {itemid: 220277, number: 980.0, unit: '%', used: u('dirt spo2', key) < 0.0005, shown: null},
    {itemid: 223761, number: round(temperature_c, 1), unit: '°F', used: u('dirt temp', key) < 0.0008, shown: null},
    {itemid: 220052, number: 0.0, unit: 'mmHg', used: has_arterial_line and u('dirt map', key) < 0.0008, shown: null}
  ], recursive := true)
  from hour
), renal_replacement as (
  select stay_id, charttime, key, unnest([
    {itemid: 227290, number: null::double, unit: null::varchar, used: true, shown: pick(['CVVHDF', 'CVVH', 'CVVHD', 'SCUF'], 'crrt mode', i)},
    {itemid: 224144, number: 120.0 + 10 * floor(6 * u('blood flow', i)), unit: 'ml/min', used: true, shown: null},
    {itemid: 224149, number: round(-60 + 12 * z('access', key)), unit: 'mmHg', used: true, shown: null},
    {itemid: 224150, number: round(150 + 20 * z('filter', key)), unit: 'mmHg', used: true, shown: null},
    {itemid: 224151, number: round(60 + 15 * z('effluent', key)), unit: 'mmHg', used: true, shown: null},
    {itemid: 224152, number: round(70 + 12 * z('return', key)), unit: 'mmHg', used: true, shown: null},
    {itemid: 224153, number: 1800.0, unit: 'ml/hr', used: true, shown: null},
    {itemid: 224154, number: 500.0, unit: 'ml/hr', used: true, shown: null},
    {itemid: 225183, number: round(100 + 60 * z('goal', key // 12)), unit: 'mL', used: true, shown: null},
    {itemid: 224191, number: round(clip(120 + 60 * z('removal', key), 0, 500)), unit: 'mL', used: true, shown: null},
    {itemid: 226457, number: round(clip(180 + 60 * z('ultrafiltrate', key), 0, 600)), unit: 'mL', used: true, shown: null},
    {itemid: 228004, number: 180.0, unit: 'ml/hr', used: u('citrate', i) < 0.5, shown: null},
    {itemid: 228005, number: 1200.0, unit: 'ml/hr', used: true, shown: null},
    {itemid: 228006, number: 200.0, unit: 'ml/hr', used: true, shown: null},
    {itemid: 225976, number: null, unit: null, used: hr % 6 = 0, shown: pick(['Prismasate K2', 'Prismasate K4', 'Prismasate K0'], 'replacement', i)},
    {itemid: 225977, number: null, unit: null, used: hr % 6 = 0, shown: pick(['Prismasate K4', 'Prismasate K2', 'None'], 'dialysate', i)},
    {itemid: 224145, number: 500.0, unit: 'units', used: u('citrate', i) >= 0.7, shown: null},
    {itemid: 225958, number: null, unit: null, used: u('citrate', i) >= 0.7 and hr % 6 = 0, shown: '1000 units/mL'},
    {itemid: 224146, number: null, unit: null, used: true, shown: case when hr = 8 then 'Initiated' else
      pick(['Active', 'Active', 'Active', 'Active', 'No Clot Present', 'Clots Present', 'Clots Increasing', 'Clotted', 'New Filter', 'Recirculating'], 'filter', key) end}
  ], recursive := true)
  from hour where has_crrt and hr >= 8
), dialysis as (
  select stay_id, charttime, key, unnest([
    {itemid: 226499, number: 2000.0 + 500 * floor(4 * u('removed', key)), unit: 'mL', used: hr % 48 = 14, shown: null::varchar},
    {itemid: 225965, number: null, unit: null, used: u('peritoneal', i) < 0.1 and hr % 24 = 6, shown: 'In use'},
    {itemid: 225776, number: null, unit: null, used: hr % 12 = 2, shown: 'Occlusive'}
  ], recursive := true)
  from hour where has_dialysis
), together as (
  select *, 0 as copy from hourly union all by name select *, 0 as copy from consciousness union all by name select *, 0 as copy from oxygen
  union all by name select *, 0 as copy from ventilator union all by name select *, 0 as copy from mask_ventilator
  union all by name select *, 0 as copy from body union all by name select *, 0 as copy from renal_replacement union all by name select *, 0 as copy from dialysis
)
select stay_id, charttime, key, itemid, number, coalesce(shown, shortest(number)) as value, unit from together where used
