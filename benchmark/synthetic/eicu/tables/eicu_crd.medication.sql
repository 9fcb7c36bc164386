with drugs(n, name, dose, route, frequency) as (
  values (1, 'ACETAMINOPHEN', '650 mg', 'PO', 'Q6H PRN'), (2, 'HEPARIN', '5000 units', 'SC', 'Q8H'), (3, 'PANTOPRAZOLE', '40 mg', 'IV', 'Daily'),
    (4, 'NORMAL SALINE FLUSH', '10 mL', 'IV', 'Q8H'), (5, 'INSULIN ASPART', '1-10 units', 'SC', 'AC & HS'), (6, 'POTASSIUM CHLORIDE', '20 mEq', 'IV', 'PRN'),
    (7, 'FUROSEMIDE', '40 mg', 'IV', 'BID'), (8, 'METOPROLOL', '25 mg', 'PO', 'BID'), (9, 'VANCOMYCIN', '1 g', 'IV', 'Q12H'), (10, 'PIPERACILLIN-TAZOBACTAM', '3.375 g', 'IV', 'Q6H'),
    (11, 'FENTANYL', '50 mcg', 'IV', 'Q1H PRN'), (12, 'ONDANSETRON', '4 mg', 'IV', 'Q6H PRN'), (13, 'ASPIRIN', '81 mg', 'PO', 'Daily'), (14, 'DOCUSATE', '100 mg', 'PO', 'BID'), (15, 'MAGNESIUM SULFATE', '2 g', 'IV', 'Once')
)
select 900000000000 + key as medicationid, patientunitstayid, minute - 20 as drugorderoffset, minute as drugstartoffset, case when route = 'IV' then 'Yes' else 'No' end as drugivadmixture,
  case when u('cancelled', key) < 0.04 then 'Yes' else 'No' end as drugordercancelled, case when u('no drug name', key) < 0.35 then null else name end as drugname,
  1000 + drugs.n as drughiclseqno, case when u('no dose', key) < 0.1 then null else dose end as dosage, route as routeadmin, frequency,
  case when frequency like '%PRN' then 'Yes' else 'No' end as prn, minute + 60 * (4 + cast(floor(90 * u('drug hours', key)) as bigint)) as drugstopoffset, drugs.n as gtc
from event join drugs on drugs.n = 1 + cast(floor(15 * u('which drug', key)) as integer) where kind = 'medication'
