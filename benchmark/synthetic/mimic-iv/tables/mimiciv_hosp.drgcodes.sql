-- One group of each kind per admission, by the reason for admission.
with groups(archetype, hcfa, hcfa_text, apr, apr_text) as (
  values
    ('surgical', '329', 'MAJOR SMALL & LARGE BOWEL PROCEDURES W MCC', '221', 'MAJOR SMALL & LARGE BOWEL PROCEDURES'),
    ('sepsis', '871', 'SEPTICEMIA OR SEVERE SEPSIS W/O MV >96 HOURS W MCC', '720', 'SEPTICEMIA & DISSEMINATED INFECTIONS'),
    ('cardiac', '291', 'HEART FAILURE & SHOCK W MCC', '194', 'HEART FAILURE'),
    ('respiratory', '189', 'PULMONARY EDEMA & RESPIRATORY FAILURE', '133', 'PULMONARY EDEMA & RESPIRATORY FAILURE'),
    ('neuro', '064', 'INTRACRANIAL HEMORRHAGE OR CEREBRAL INFARCTION W MCC', '045', 'CVA W INFARCT'),
    ('trauma', '963', 'OTHER MULTIPLE SIGNIFICANT TRAUMA W MCC', '912', 'MUSCULOSKELETAL & OTHER PROCEDURES FOR MULTIPLE SIGNIFICANT TRAUMA'),
    ('liver', '432', 'CIRRHOSIS & ALCOHOLIC HEPATITIS W MCC', '279', 'HEPATIC COMA & OTHER MAJOR ACUTE LIVER DISORDERS'),
    ('renal', '682', 'RENAL FAILURE W MCC', '460', 'RENAL FAILURE')
)
select subject_id, hadm_id, 'HCFA' as drg_type, hcfa as drg_code, hcfa_text as description, null as drg_severity, null as drg_mortality from hospital join groups using (archetype)
union all
select subject_id, hadm_id, 'APR', apr, apr_text, 1 + cast(floor(4 * u('drg severity', a)) as bigint), case when dies then 4 else 1 + cast(floor(3 * u('drg mortality', a)) as bigint) end
from hospital join groups using (archetype)
