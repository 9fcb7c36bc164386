select 900000000000 + key as admissiondrugid, patientunitstayid, 2 as drugoffset, 19 as drugenteredoffset, 'Comprehensive Progress' as drugnotetype, 'eCM Primary' as specialtytype, 'THC Physician' as usertype,
  'True' as rxincluded, 'True' as writtenineicu, rpad(pick(['ASPIRIN', 'LISINOPRIL', 'METFORMIN', 'ATORVASTATIN', 'FUROSEMIDE', 'OMEPRAZOLE', 'METOPROLOL TARTRATE', 'LEVOTHYROXINE'], 'home drug', key), 255, ' ') as drugname,
  pick([81, 10, 500, 40, 20, 20, 25, 0.1], 'home drug', key) as drugdosage, 'mg' as drugunit, pick(['daily', 'bid'], 'home frequency', key) as drugadmitfrequency, 1500 + n as drughiclseqno
from event where kind = 'admission drug'
