with draws as (
  select flow.*, unit.coag, unit.liver, unit.infection, unit.severity, has_liver_panel, has_gases from flow join unit using (i, patientunitstayid) where hr % 12 = 1
), results as (
  select patientunitstayid, charted_offset, key, unnest([
    {name: 'sodium', kind: 1, unit: 'mmol/L', number: round(138.5 + 3.5 * z('sodium level', i) + z('sodium', key)), used: true},
    {name: 'potassium', kind: 1, unit: 'mmol/L', number: round(clip(4.1 + 0.5 * z('potassium', key), 2.3, 7.5), 1), used: true},
    {name: 'chloride', kind: 1, unit: 'mmol/L', number: round(104 + 3.5 * z('chloride', key)), used: true},
    {name: 'bicarbonate', kind: 1, unit: 'mmol/L', number: round(clip(25 - 8 * renal_now + 2 * z('bicarbonate', key), 6, 42)), used: true},
    {name: 'creatinine', kind: 1, unit: 'mg/dL', number: round(clip(0.9 + 4 * greatest(renal_now - 0.25, 0) + 0.1 * z('creatinine', key), 0.3, 14), 2), used: true},
    {name: 'BUN', kind: 1, unit: 'mg/dL', number: round(clip(16 + 55 * greatest(renal_now - 0.2, 0) + 4 * z('bun', key), 3, 180)), used: true},
    {name: 'glucose', kind: 1, unit: 'mg/dL', number: glucose, used: true},
    {name: 'Hgb', kind: 3, unit: 'g/dL', number: round(clip(10.5 + 1.8 * z('marrow', i), 4.5, 18), 1), used: true},
    {name: 'WBC x 1000', kind: 3, unit: 'K/mcL', number: round(clip(8.2 + 9 * infection + 3 * z('wbc level', i) + z('wbc', key), 0.2, 60), 1), used: true},
    {name: 'platelets x 1000', kind: 3, unit: 'K/mcL', number: round(clip(230 - 190 * coag + 65 * z('platelet level', i), 6, 900)), used: true},
    {name: 'total bilirubin', kind: 1, unit: 'mg/dL', number: round(clip(0.6 + 14 * greatest(liver - 0.3, 0), 0.1, 40), 1), used: has_liver_panel},
    {name: 'paO2', kind: 7, unit: 'mm Hg', number: round(clip(fio2 * (4.3 - 3.2 * resp_now), 40, 500)), used: has_gases},
    {name: 'FiO2', kind: 7, unit: '%', number: fio2, used: has_gases}
  ], recursive := true) from draws
)
select 900000000000 + key * 100 + row_number() over (partition by key order by name) as labid, patientunitstayid, charted_offset as labresultoffset, kind as labtypeid,
  name as labname, number as labresult, shortest(number) as labresulttext, unit as labmeasurenamesystem, unit as labmeasurenameinterface, charted_offset + 40 as labresultrevisedoffset
from results where used
