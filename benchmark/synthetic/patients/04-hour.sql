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
), sweet as (
  select *, 0.6 * z('sugar level', i) + 0.4 * z('sugar', key) + 0.5 * infection * course as sugar from devices
)
select
  i, stay_id, hadm_id, subject_id, hr, key, charttime, course, slow, support, weight_kg, height_cm, archetype,
  sweet.los_hours, sweet.tube_hour, is_hamilton, sweet.has_arterial_line, has_catheter, sweet.has_crrt, sweet.has_tracheostomy, sweet.has_dialysis,
  severity,
  sweet.resp * course as resp_now, sweet.cardio * course as cardio_now, sweet.renal * course as renal_now, sweet.neuro * course as neuro_now,
  coalesce(pinned_hour.heart_rate, round(clip(80 + 34 * sweet.cardio * course + 10 * sweet.infection * course + 10 * z('hr level', i) + 6 * slow + 3 * z('hr', key)
    + case when u('slow heart', i) < 0.03 then -36 when u('fast heart', i) < 0.09 then 34 else 0 end, 22, 215))) as heart_rate,
  -- a pressure that is low on admission or falls with shock; drugs hold it up, so even the sickest are rarely below 55
  coalesce(pinned_hour.mean_pressure, round(clip(79.5 - 16 * sweet.cardio * course + 8 * z('map level', i) + 6 * slow + 6.5 * z('map', key)
    + case when archetype = 'neuro' and u('hypertension', i) < 0.5 then 22 when u('hypertension', i) < 0.04 then 44 else 0 end
    - case when dies then 3 + 9.0 * hr / sweet.los_hours else 0 end
    - case when u('collapse', key) < 0.0002 then 80 else 0 end
    , 14, 170))) as mean_pressure,
  coalesce(pinned_hour.resp_rate, round(clip(17.3 + 11 * sweet.resp * course + 2.4 * z('rr level', i) + 2 * slow + 3 * z('rr', key)
    + case when u('apnoea', key) < 0.001 then -11 when u('panting', i) < 0.015 and hr < 20 then 24 else 0 end, 4, 55))) as resp_rate,
  coalesce(pinned_hour.temperature_c, clip(36.7 + 1.5 * sweet.infection * course + 0.22 * z('temp level', i) + 0.15 * slow + 0.15 * z('temp', key)
    + case when u('fever', i) < 0.15 * sweet.infection and hr between 2 and 20 then 1.2 + 2.4 * u('fever height', i) else 0 end
    - case when u('cold', i) < 0.07 and hr < 14 then 2 + 30 * u('cold', i) else 0 end, 31, 41.6)) as temperature_c,
  round(clip(98.2 - 5 * sweet.resp * course + 0.8 * z('spo2 level', i) + 1.8 * z('spo2', key), 72, 100)) as spo2,
  -- skewed to the right: sugar * sugar above the middle
  coalesce(pinned_hour.glucose, round(clip(140 * (1 + 0.15 * sugar) * (1 + 0.15 * sugar) + 48 * greatest(sugar, 0), 38, 620))) as glucose,
  coalesce(cast(pinned_hour.eyes as bigint), cast(clip(round(4.5 - 3.5 * sweet.neuro * course + 0.25 * z('eyes', key // 2)), 1, 4) as bigint)) as eyes,
  coalesce(cast(pinned_hour.verbal as bigint), cast(clip(round(5.6 - 4.5 * sweet.neuro * course + 0.35 * z('verbal', key // 2)), 1, 5) as bigint)) as verbal,
  coalesce(cast(pinned_hour.motor as bigint), cast(clip(round(6.7 - 4.8 * sweet.neuro * course + 0.3 * z('motor', key // 2)), 1, 6) as bigint)) as motor,
  coalesce(case when support in ('tube', 'mask') then pinned.fio2 end, case support
    -- 40 % for most, more only for the sickest lungs and in the first hour after intubation
    when 'tube' then case when hr = sweet.tube_hour then 100 when u('spare oxygen', i) < 0.15 then 30
      else clip(40 + 10 * round(9 * greatest(sweet.resp * course - 0.55, 0) + 0.45 * z('fio2', i * 100 + hr // 6)), 40, 100) end
    when 'tracheostomy' then 40 when 'mask' then 50 when 'high flow' then clip(round((40 + 30 * sweet.resp * course) / 5) * 5, 30, 100)
    when 'oxygen' then 28 else 21 end) as fio2,
  -- urine, ml per kg and hour, before the catheter's and the charting's doing
  coalesce(pinned.urine_ml_per_kg, clip(1.2 - 1.25 * sweet.renal * course - 0.2 * sweet.cardio * course + 0.38 * z('urine level', i) + 0.25 * slow + 0.2 * z('urine', key), 0, 6)
    * case when u('polyuria', i) < 0.05 then 3.4 else 1 end) as urine_ml_per_kg,
  u('charted', key) >= 0.03 or pinned_hour.i is not null as is_charted
from sweet left join pinned using (i) left join pinned_hour using (i, hr)
