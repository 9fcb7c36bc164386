select 900000000000 + key as cplinfectid, patientunitstayid, 'True' as activeupondischarge, minute as cplinfectdiseaseoffset, pick(['Pulmonary', 'Blood', 'Urinary tract'], 'site', key) as infectdiseasesite,
  pick(['Definite', 'Probable', 'Possible'], 'assessment', key) as infectdiseaseassessment, pick(['Improving', 'Stable', 'Unknown'], 'response', key) as responsetotherapy, 'Empiric antibacterials' as treatment
from event where kind = 'infectious'
