-- title: Prescriptions of ACE inhibitors
-- grain: one row per matching prescription (equal prescriptions give equal rows)
-- keys: subject_id, hadm_id, starttime, stoptime, acei
-- sources: mimiciv_hosp.prescriptions
-- citation: none
-- conventions:
--   - a prescription matches when its drug text contains one of the names, in upper or lower case
--   - all routes and drug types count
--   - prescriptions without start or stop time are kept, nothing is merged
-- ties: none

with ace_inhibitors(name) as (
  values
    ('BENAZEPRIL'),
    ('CAPTOPRIL'),
    ('ENALAPRIL'),
    ('FOSINOPRIL'),
    ('LISINOPRIL'),
    ('MOEXIPRIL'),
    ('PERINDOPRIL'),
    ('QUINAPRIL'),
    ('RAMIPRIL'),
    ('TRANDOLAPRIL')
),

prescribed_drugs as (
  select distinct drug
  from mimiciv_hosp.prescriptions
),

matching_drugs as (
  select distinct prescribed_drugs.drug
  from prescribed_drugs
  inner join ace_inhibitors
    on contains(upper(prescribed_drugs.drug), ace_inhibitors.name)
)

select
  prescriptions.subject_id,
  prescriptions.hadm_id,
  prescriptions.drug as acei,
  prescriptions.starttime,
  prescriptions.stoptime
from mimiciv_hosp.prescriptions as prescriptions
inner join matching_drugs
  on prescriptions.drug = matching_drugs.drug
