-- Worst values of the first day, those farthest from normal; -1 stands for missing, as in eICU. At most one row per stay.
with first_day as (
  select i, min(eyes) as eyes, min(motor) as motor, min(verbal) as verbal, arg_max(heart_rate, abs(heart_rate - 75) * 1000 + hr) as heart_rate, arg_max(mean_pressure, abs(mean_pressure - 90) * 1000 + hr) as mean_pressure,
    arg_max(resp_rate, abs(resp_rate - 19) * 1000 + hr) as resp_rate, arg_max(temperature_c, abs(temperature_c - 38) * 1000 + hr) as temperature_c,
    arg_min(glucose, abs(hr - 6)) as glucose, bool_or(support in ('tube', 'tracheostomy')) as intubated,
    bool_or(support in ('tube', 'tracheostomy', 'mask')) as ventilated, max(fio2) as fio2, max(resp_now) as resp_now
  from hour where hr < 24 group by i
)
select 900000000 + i as apacheapsvarid, patientunitstayid, (intubated and u('aps intubated', i) < 0.4)::bigint as intubated, (ventilated and u('aps ventilated', i) < 0.6)::bigint as vent,
  (has_crrt or has_dialysis)::bigint as dialysis, eyes, motor, verbal, 0 as meds,
  case when u('aps urine', i) < 0.5 then round(weight_kg * 24 * clip(1.25 - 1.2 * renal, 0.05, 4)) else -1 end as urine,
  case when u('aps blood count', i) < 0.31 then -1 else round(clip(8.2 + 9 * infection + 4 * z('wbc level', i), 0.2, 60), 1) end as wbc, round(temperature_c, 1) as temperature, resp_rate as respiratoryrate,
  round(138.5 + 3.5 * z('sodium level', i)) as sodium, heart_rate as heartrate, mean_pressure as meanbp,
  case when has_gases and u('aps gases', i) < 0.45 then round(7.38 - 0.08 * renal + 0.03 * z('ph', i), 2) else -1 end as ph, round(33 + 5 * z('hematocrit', i), 1) as hematocrit,
  case when u('aps chemistry', i) < 0.25 then -1 else round(clip(0.95 + 4 * greatest(renal - 0.3, 0) + 0.3 * z('creatinine', i), 0.3, 14), 2) end as creatinine,
  case when u('albumin', i) < 0.4 then round(3 + 0.5 * z('albumin', i), 1) else -1 end as albumin,
  case when has_gases and u('aps gases', i) < 0.45 then round(clip(fio2 * (4.3 - 3.2 * resp_now), 40, 500)) else -1 end as pao2,
  case when has_gases and u('aps gases', i) < 0.45 then round(40 + 6 * z('pco2', i)) else -1 end as pco2, round(clip(15 + 60 * greatest(renal - 0.2, 0) + 4 * z('bun', i), 3, 180)) as bun, glucose,
  case when has_liver_panel and u('aps liver', i) < 0.63 then round(clip(0.6 + 12 * greatest(liver - 0.42, 0) + 0.25 * z('aps bilirubin', i), 0.1, 40), 1) else -1 end as bilirubin,
  case when has_gases and u('aps gases', i) < 0.45 then fio2 else -1 end as fio2
from unit join first_day using (i) where has_apache
