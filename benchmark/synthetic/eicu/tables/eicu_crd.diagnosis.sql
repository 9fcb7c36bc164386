-- The main diagnosis by the reason for admission, then others that fit the failing organs.
with others as (
  select *, pick(list_concat(['cardiovascular|arrhythmias|atrial fibrillation', 'endocrine|glucose metabolism|diabetes mellitus', 'cardiovascular|vascular disorders|hypertension',
      'hematology|bleeding and red blood cell disorders|anemia', 'neurologic|altered mental status / pain|change in mental status', 'renal|electrolyte imbalance|hyponatremia'],
    list_concat(case when resp > 0.4 then ['pulmonary|respiratory failure|acute respiratory failure', 'pulmonary|pulmonary infections|pneumonia'] else [] end,
    list_concat(case when renal > 0.4 then ['renal|disorder of kidney|acute renal failure'] else [] end,
      case when infection > 0.5 then ['cardiovascular|shock / hypotension|sepsis', 'infectious diseases|systemic/other infections|sepsis'] else [] end))), 'other diagnosis', key) as path
  from event where kind = 'diagnosis'
)
select 900000000000 + key * 10 + 1 as diagnosisid, patientunitstayid, case when u('still active', key) < 0.4 then 'True' else 'False' end as activeupondischarge, minute as diagnosisoffset, path as diagnosisstring,
  case split_part(path, '|', 1) when 'pulmonary' then '518.81, J96.00' when 'renal' then '584.9, N17.9' when 'infectious diseases' then '038.9, A41.9' when 'endocrine' then '250.00, E11.9' end as icd9code,
  pick(['Major', 'Other'], 'priority', key) as diagnosispriority
from others
union all
select 900000000000 + i * 20000 as diagnosisid, patientunitstayid, 'True' as activeupondischarge, 60 as diagnosisoffset,
  case archetype when 'sepsis' then 'infectious diseases|systemic/other infections|sepsis' when 'respiratory' then 'pulmonary|respiratory failure|acute respiratory failure'
    when 'renal' then 'renal|disorder of kidney|acute renal failure' when 'cardiac' then 'cardiovascular|ventricular disorders|congestive heart failure'
    when 'neuro' then 'neurologic|disorders of vasculature|stroke' when 'liver' then 'gastrointestinal|hepatic disease|hepatic dysfunction|cirrhosis'
    when 'trauma' then 'trauma' else 'cardiovascular|cardiac surgery|CABG' end as diagnosisstring, null, 'Primary' as diagnosispriority
from unit
