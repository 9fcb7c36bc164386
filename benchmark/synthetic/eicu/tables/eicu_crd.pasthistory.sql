with histories as (
  select *, pick(['Cardiovascular (R)/Hypertension Requiring Treatment/hypertension requiring treatment', 'Endocrine (R)/Insulin Dependent Diabetes/insulin dependent diabetes', 'Endocrine (R)/Non-Insulin Dependent Diabetes/medication dependent',
    'Cardiovascular (R)/Congestive Heart Failure/CHF', 'Pulmonary/COPD/COPD - moderate', 'Renal  (R)/Renal Insufficiency/renal insufficiency - baseline creatinine unknown', 'Neurologic/Strokes/stroke - remote',
    'Hematology/Oncology (R)/Cancer/Cancer Therapy/Chemotherapy', 'Gastrointestinal (R)/Cirrhosis/biopsy proven', 'Cardiovascular (R)/Arrhythmias/atrial fibrillation - chronic', 'Cardiovascular (R)/Myocardial Infarction/MI - date unknown'], 'history', key) as path
  from event where kind = 'history'
)
select 900000000000 + key as pasthistoryid, patientunitstayid, 5 as pasthistoryoffset, 12 as pasthistoryenteredoffset, 'Admission' as pasthistorynotetype,
  'notes/Progress Notes/Past History/Organ Systems/' || path as pasthistorypath, split_part(path, '/', -1) as pasthistoryvalue, split_part(path, '/', -1) as pasthistoryvaluetext
from histories
