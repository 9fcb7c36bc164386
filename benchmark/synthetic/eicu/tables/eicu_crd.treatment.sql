select 900000000000 + key as treatmentid, patientunitstayid, minute as treatmentoffset,
  pick(list_concat(['cardiovascular|intravenous fluid|normal saline administration', 'pulmonary|radiologic procedures / bronchoscopy|chest x-ray', 'gastrointestinal|medications|stress ulcer prophylaxis|pantoprazole',
      'cardiovascular|non-operative procedures|internal catheter|central venous', 'renal|urinary catheters|foley catheter', 'hematology|coagulation and platelets|DVT prophylaxis|heparin',
      'neurologic|pain / agitation / altered mentation|analgesics|fentanyl', 'endocrine|glucose metabolism|insulin|sliding scale administration'],
    list_concat(case when resp > 0.45 then ['pulmonary|ventilation and oxygenation|mechanical ventilation', 'pulmonary|ventilation and oxygenation|oxygen therapy (< 40%)'] else ['pulmonary|ventilation and oxygenation|oxygen therapy (< 40%)|nasal cannula'] end,
    list_concat(case when cardio > 0.5 then ['cardiovascular|shock|vasopressors|norepinephrine > 0.1 micrograms/kg/min'] else [] end,
      case when infection > 0.4 then ['infectious diseases|medications|therapeutic antibacterials|vancomycin', 'infectious diseases|medications|therapeutic antibacterials|piperacillin/tazobactam'] else [] end))), 'treatment', key) as treatmentstring,
  case when u('still treated', key) < 0.3 then 'True' else 'False' end as activeupondischarge
from event where kind = 'treatment'
