-- title: Prescriptions of non-steroidal anti-inflammatory drugs
-- grain: one row per matching prescription (equal prescriptions give equal rows)
-- keys: subject_id, hadm_id, starttime, stoptime, nsaid
-- sources: mimiciv_hosp.prescriptions
-- citation: none
-- conventions:
--   - a prescription matches when its drug text contains one of the names, in upper or lower case
--   - aspirin counts; topical and ophthalmic forms are not excluded
--   - prescriptions without start or stop time are kept, nothing is merged
-- ties: none

with antiinflammatory_drugs(name) as (
  values
    ('ASPIRIN'),
    ('BROMFENAC'),
    ('CELECOXIB'),
    ('DICLOFENAC'),
    ('DIFLUNISAL'),
    ('ETODOLAC'),
    ('FENOPROFEN'),
    ('FLURBIPROFEN'),
    ('IBUPROFEN'),
    ('INDOMETHACIN'),
    ('KETOPROFEN'),
    ('MEFENAMIC ACID'),
    ('MELOXICAM'),
    ('NABUMETONE'),
    ('NAPROXEN'),
    ('NEPAFENAC'),
    ('OXAPROZIN'),
    ('PIROXICAM'),
    ('SULINDAC'),
    ('TOLMETIN')
),

prescribed_drugs as (
  select distinct drug
  from mimiciv_hosp.prescriptions
),

matching_drugs as (
  select distinct prescribed_drugs.drug
  from prescribed_drugs
  inner join antiinflammatory_drugs
    on contains(upper(prescribed_drugs.drug), antiinflammatory_drugs.name)
)

select
  prescriptions.subject_id,
  prescriptions.hadm_id,
  prescriptions.drug as nsaid,
  prescriptions.starttime,
  prescriptions.stoptime
from mimiciv_hosp.prescriptions as prescriptions
inner join matching_drugs
  on prescriptions.drug = matching_drugs.drug
