-- Rates of running infusions, charted every two hours while they run.
with running as (
  select flow.*, unit.resp, unit.cardio, unit.has_pressor, unit.is_intubated, unit.tube_hours from flow join unit using (i, patientunitstayid)
), rates as (
  select patientunitstayid, charted_offset, key, weight_kg, unnest([
    {n: 1, name: 'Norepinephrine (mcg/min)', rate: round(clip(25 * cardio * cardio * course + 2 * z('norepinephrine', key), 1, 60)), used: has_pressor and hr < 8 + 60 * cardio},
    {n: 2, name: 'Propofol (mcg/kg/min)', rate: round(clip(30 + 8 * z('propofol', key), 5, 80)), used: support = 'tube' and hr - tube_hour < 72},
    {n: 3, name: 'Fentanyl (mcg/hr)', rate: round(clip(75 + 20 * z('fentanyl', key), 25, 200)), used: support = 'tube' and u('fentanyl', i) < 0.5},
    {n: 4, name: 'Vasopressin (units/min)', rate: 0.03, used: has_pressor and cardio > 0.85 and hr between 6 and 40},
    {n: 5, name: 'Insulin (units/hr)', rate: round(clip(glucose / 60 + z('insulin', key), 0, 15), 1), used: u('insulin drip', i) < 0.08 and hr < 30},
    {n: 6, name: 'Heparin (units/hr)', rate: 1200.0, used: archetype = 'cardiac' and u('heparin drip', i) < 0.25}
  ], recursive := true) from running where hr % 2 = 0
)
select 900000000000 + key * 10 + n as infusiondrugid, patientunitstayid, charted_offset as infusionoffset, name as drugname, shortest(rate) as drugrate,
  case when u('volume charted', key * 10 + n) < 0.5 then shortest(round(rate / 2, 1)) end as infusionrate, case when u('volume charted', key * 10 + n) < 0.5 then '4' end as drugamount,
  case when u('volume charted', key * 10 + n) < 0.5 then '250' end as volumeoffluid, case when u('infusion weight', key) < 0.5 then shortest(weight_kg) end as patientweight
from rates where used
