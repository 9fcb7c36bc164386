-- Vasoactive and other infusions as chains of pieces with one rate each, changed every two to four hours.
with running(itemid, runs, first_hour, hours, base_rate, rate_unit, stay_key) as (
  select 221906, has_pressor and u('which pressor', i) < 0.85, cast(floor(4 * u('np start', i)) as bigint), 8 + 60 * cardio, 0.03 + 0.36 * cardio * cardio * cardio, 'mcg/kg/min', i from stay
  union all select 221906, i in (select i from pinned where norepinephrine_only = 1), 0, 12, 0.05, 'mcg/kg/min', i from stay
  union all select 222315, has_pressor and cardio > 0.85 and u('vasopressin', i) < 0.45, 6, 6 + 30 * cardio, 2.4, 'units/hour', i from stay
  union all select 221749, has_pressor and u('which pressor', i) >= 0.6 or (archetype = 'surgical' and u('phenyl', i) < 0.5), 0, 6 + 30 * u('phenyl hours', i), 0.4 + 1.6 * u('phenyl rate', i), 'mcg/kg/min', i from stay
  union all select 221289, has_pressor and u('epi', i) < case when cardio > 0.95 then 0.5 else 0.08 end, 2, 5 + 20 * u('epi hours', i), 0.02 + 0.12 * u('epi rate', i), 'mcg/kg/min', i from stay
  union all select 221662, has_pressor and u('dopamine', i) < 0.08, 1, 5 + 20 * u('dopamine hours', i), 2 + 16 * u('dopamine rate', i), 'mcg/kg/min', i from stay
  union all select 221653, archetype = 'cardiac' and cardio > 0.6 and u('dobutamine', i) < 0.15 or i in (select i from pinned where dobutamine_only = 1), 0, 10 + 40 * u('dobutamine hours', i), 2.5 + 5 * u('dobutamine rate', i), 'mcg/kg/min', i from stay
  union all select 221986, archetype = 'cardiac' and cardio > 0.6 and u('milrinone', i) < 0.15, 3, 12 + 50 * u('milrinone hours', i), 0.25, 'mcg/kg/min', i from stay
  union all select 221555, is_intubated and resp > 0.85 and u('block', i) < 0.4, tube_hour + 1, 12 + 30 * u('block hours', i), 0.12, 'mg/kg/hour', i from stay
  union all select 222062, is_intubated and resp > 0.85 and u('block', i) >= 0.85, tube_hour + 1, 6, 0.06, 'mg/kg/hour', i from stay
  union all select 222168, is_intubated, tube_hour, least(tube_hours, 72), 25 + 15 * u('propofol', i), 'mcg/kg/min', i from stay
  union all select 227536, has_crrt, 8, greatest(los_hours - 9, 2), 20, 'mL/hour', i from stay
  union all select 227525, has_crrt and u('citrate', i) < 0.5, 8, greatest(los_hours - 9, 2), 30, 'mL/hour', i from stay
  union all select 225158, true, 0, 12 + 24 * u('fluid', i), 75, 'mL/hour', i from stay
), pieces as (
  select running.*, stay.* exclude (i), stay.i, piece, (stay_key * 1000000 + itemid) as order_key,
    first_hour + 3 * piece as piece_hour
  from running join stay on stay.i = stay_key, unnest(generate_series(0, greatest(cast(floor(least(hours, los_hours - first_hour) / 3) as bigint) - 1, 0))) numbered(piece)
  where runs and first_hour < los_hours
), timed as (
  select *, order_key * 1000 + piece as key,
    date_trunc('minute', intime) + to_minutes(piece_hour * 60 + case when piece = 0 then 0 else cast(floor(40 * u('change', order_key * 1000 + piece)) as bigint) end) as starttime,
    date_trunc('minute', intime) + to_minutes((piece_hour + 3) * 60 + case when piece_hour + 6 > least(hours, los_hours - first_hour) + first_hour then 0
      else cast(floor(40 * u('change', order_key * 1000 + piece + 1)) as bigint) end) as endtime,
    base_rate * case when dies then 0.8 + 0.6 * piece_hour / los_hours else 1.0 / (1 + greatest(piece_hour - 8, 0) / 24.0) end
      * (1 + 0.2 * z('rate', order_key * 1000 + piece)) as raw_rate
  from pieces
)
select i, stay_id, hadm_id, subject_id, itemid, key, order_key, piece, starttime, endtime,
  round(weight_kg + case when u('order weight', i) < 0.05 then 2 else 0 end, 1) as patientweight,
  -- labelled in mg instead of mcg now and then, and some pumps count per minute
  case when itemid = 221906 and u('unit slip', i) < 0.02 then round(greatest(raw_rate, 0.01) / 1000, 6)
    when itemid = 221749 and u('per minute', i) < 0.1 then round(greatest(raw_rate, 0.1) * weight_kg, 2)
    when itemid = 222315 and u('per minute', i) < 0.1 then round(greatest(raw_rate, 0.6) / 60, 4)
    when itemid in (222315, 225158, 227536, 227525) then round(greatest(raw_rate, 0.6), 2)
    else round(greatest(raw_rate, 0.005), 4) end as rate,
  case when itemid = 221906 and u('unit slip', i) < 0.02 then 'mg/kg/min'
    when itemid = 221749 and u('per minute', i) < 0.1 then 'mcg/min'
    when itemid = 222315 and u('per minute', i) < 0.1 then 'units/min'
    else rate_unit end as rateuom,
  case when itemid = 222315 then 'units' when itemid in (225158, 227536, 227525) then 'ml' else 'mg' end as amountuom,
  round(case when itemid in (222315, 225158, 227536, 227525) then greatest(raw_rate, 0.6) * 3
    else greatest(raw_rate, 0.005) * weight_kg * 180 / 1000 end, 4) as amount,
  itemid in (225158, 227536, 227525) as is_fluid
from timed
