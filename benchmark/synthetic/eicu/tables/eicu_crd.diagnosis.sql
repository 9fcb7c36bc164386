select 900000000 + i as diagnosisid, patientunitstayid, 'True' as activeupondischarge, 60 as diagnosisoffset,
  case archetype when 'sepsis' then 'infectious diseases|systemic/other infections|sepsis' when 'respiratory' then 'pulmonary|respiratory failure|acute respiratory failure'
    when 'renal' then 'renal|disorder of kidney|acute renal failure' when 'cardiac' then 'cardiovascular|ventricular disorders|congestive heart failure'
    when 'neuro' then 'neurologic|disorders of vasculature|stroke' when 'liver' then 'gastrointestinal|hepatic disease|hepatic dysfunction|cirrhosis'
    when 'trauma' then 'trauma' else 'cardiovascular|cardiac surgery|CABG' end as diagnosisstring, 'Primary' as diagnosispriority
from unit
