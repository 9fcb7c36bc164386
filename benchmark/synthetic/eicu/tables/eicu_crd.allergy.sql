select 900000000000 + key as allergyid, patientunitstayid, 3 as allergyoffset, 6 as allergyenteredoffset, 'Comprehensive Progress' as allergynotetype, 'eCM Primary' as specialtytype, 'THC Physician' as usertype, 'False' as rxincluded, 'True' as writtenineicu,
  pick(['PENICILLINS', 'MORPHINE', null, 'SULFA'], 'allergy', key) as drugname, case when pick(['PENICILLINS', 'MORPHINE', null, 'SULFA'], 'allergy', key) is null then 'Non Drug' else 'Drug' end as allergytype,
  pick(['Penicillins', 'Morphine', 'Latex', 'Sulfa'], 'allergy', key) as allergyname
from event where kind = 'allergy'
