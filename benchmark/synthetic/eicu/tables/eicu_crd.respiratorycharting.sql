-- Ventilator settings every four hours, oxygen where there is no ventilator.
with cells as (
  select patientunitstayid, charted_offset, key, unnest([
    {n: 1, kind: 'respFlowSettings', label: 'FiO2', value: shortest(fio2), used: support <> 'none'},
    {n: 2, kind: 'respFlowSettings', label: 'PEEP', value: shortest(5 + clip(round(14 * (resp_now - 0.45)), 0, 15)), used: support = 'tube'},
    {n: 3, kind: 'respFlowSettings', label: 'Tidal Volume (set)', value: shortest(round(6.6 * (height_cm - 105))), used: support = 'tube'},
    {n: 4, kind: 'respFlowSettings', label: 'Vent Rate', value: shortest(clip(round(14 + 10 * resp_now), 8, 32)), used: support = 'tube'},
    {n: 5, kind: 'respFlowPtVentData', label: 'Peak Insp. Pressure', value: shortest(clip(round(20 + 14 * resp_now), 10, 50)), used: support = 'tube'},
    {n: 6, kind: 'respFlowCareData', label: 'RT Vent On/Off', value: 'Continued', used: support = 'tube'},
    {n: 7, kind: 'respFlowCareData', label: 'SaO2', value: shortest(spo2), used: true}
  ], recursive := true)
  from flow where hr % 4 = 1 and u('respiratory therapist', i) < 0.6
)
select 900000000000 + key * 10 + n as respchartid, patientunitstayid, charted_offset as respchartoffset, charted_offset + 5 as respchartentryoffset, kind as respcharttypecat, label as respchartvaluelabel, value as respchartvalue
from cells where used
