select 900000000000 + key as microlabid, patientunitstayid, minute as culturetakenoffset, pick(['Blood, Venipuncture', 'Sputum, Expectorated', 'Urine, Catheter Specimen', 'Sputum, Tracheal Specimen'], 'site', key) as culturesite,
  pick(['no growth', 'no growth', 'Staphylococcus aureus', 'Escherichia coli', 'Pseudomonas aeruginosa'], 'organism', key) as organism,
  case when u('tested', key) < 0.3 then 'vancomycin' end as antibiotic, case when u('tested', key) < 0.3 then pick(['Sensitive', 'Resistant'], 'sensitivity', key) end as sensitivitylevel
from event where kind = 'culture'
