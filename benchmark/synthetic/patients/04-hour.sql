-- The state of each patient hour by hour. `course` is how far the illness is unfolded: it peaks within half a day
-- and then fades, or grows until death.
with hours as (
  select stay.*, hr,
    i * 10000 + hr as key,
    case when hr = 0 then date_trunc('minute', intime) + to_minutes(cast(floor(2 + 20 * u('first', i)) as bigint))
      else date_trunc('hour', intime) + to_hours(hr) end as charttime,
    case when dies then 0.8 + 0.5 * hr / los_hours
      else (0.8 + 0.2 * least(hr, 6) / 6.0) / (1 + greatest(hr - 10, 0) / 40.0) end as course,
    z('slow', i * 10000 + hr // 6) as slow
  from stay, generate_series(0, los_hours) hours(hr)
), devices as (
  select *,
    case
      when has_tracheostomy and hr >= 0 then 'tracheostomy'
      when is_intubated and hr between tube_hour and tube_hour + tube_hours then 'tube'
      when has_mask and not is_intubated and hr between 1 and 6 + 30 * resp then 'mask'
      when has_high_flow and hr < 60 then 'high flow'
      when resp * course > 0.15 and hr < 90 then 'oxygen'
      else 'none' end as support
  from hours
)
select
  i, stay_id, hadm_id, subject_id, hr, key, charttime, course, slow, support, weight_kg, height_cm, archetype,
  los_hours, tube_hour, is_hamilton, has_arterial_line, has_catheter, has_crrt, has_tracheostomy, has_dialysis,
  resp * course as resp_now, cardio * course as cardio_now, renal * course as renal_now, neuro * course as neuro_now,
  round(clip(77 + 34 * cardio * course + 10 * infection * course + 9 * z('hr level', i) + 6 * slow + 3 * z('hr', key)
    + case when u('slow heart', i) < 0.06 then -36 when u('fast heart', i) < 0.09 then 34 else 0 end, 22, 215)) as heart_rate,
  round(clip(88 - 30 * cardio * course + 6 * z('map level', i) + 5 * slow + 4.5 * z('map', key)
    + case when archetype = 'neuro' and u('hypertension', i) < 0.5 then 24 when u('hypertension', i) < 0.05 then 48 else 0 end
    - case when u('collapse', key) < 0.0002 then 80 else 0 end
    , 14, 170)) as mean_pressure,
  round(clip(17 + 13 * resp * course + 1.5 * z('rr level', i) + 1.6 * slow + 1.6 * z('rr', key) + case when u('apnoea', key) < 0.001 then -11 when u('panting', i) < 0.015 and hr < 20 then 24 else 0 end, 4, 55)) as resp_rate,
  clip(36.7 + 1.5 * infection * course + 0.22 * z('temp level', i) + 0.15 * slow + 0.15 * z('temp', key)
    + case when u('fever', i) < 0.15 * infection and hr between 2 and 20 then 1.2 + 2.4 * u('fever height', i) else 0 end
    - case when u('cold', i) < 0.07 and hr < 14 then 2 + 30 * u('cold', i) else 0 end, 31, 41.6) as temperature_c,
  round(clip(98.3 - 7 * resp * course + 1.1 * z('spo2', key), 72, 100)) as spo2,
  round(clip(120 + 45 * z('sugar level', i) + 18 * z('sugar', key) + 25 * (infection * course), 38, 480)) as glucose,
  cast(clip(round(4.5 - 3.5 * neuro * course + 0.25 * z('eyes', key // 2)), 1, 4) as bigint) as eyes,
  cast(clip(round(5.6 - 4.5 * neuro * course + 0.35 * z('verbal', key // 2)), 1, 5) as bigint) as verbal,
  cast(clip(round(6.7 - 4.8 * neuro * course + 0.3 * z('motor', key // 2)), 1, 6) as bigint) as motor,
  case support when 'tube' then clip(round((28 + 52 * resp * course + 5 * z('fio2', i)) / 5) * 5, 30, 100)
    when 'tracheostomy' then 40 when 'mask' then 50 when 'high flow' then clip(round((40 + 30 * resp * course) / 5) * 5, 30, 100)
    when 'oxygen' then 28 else 21 end as fio2,
  u('charted', key) >= 0.03 as is_charted
from devices
