select 900000000000 + key as cplcareprovderid, patientunitstayid, minute as careprovidersaveoffset, null as providertype, pick(['critical care medicine (CCM)', 'internal medicine', 'cardiology', 'surgery-general', 'nephrology'], 'specialty', key) as specialty,
  pick(['I', 'II', 'III', 'IV'], 'category', key) as interventioncategory, case n when 1 then 'Managing' else 'Consulting' end as managingphysician, 'True' as activeupondischarge
from event where kind = 'provider'
