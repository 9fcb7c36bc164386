with reasons(archetype, path) as (
  values ('surgical', 'Operative|Diagnosis|Cardiovascular|CABG alone, coronary artery bypass grafting'), ('sepsis', 'Non-operative|Diagnosis|Cardiovascular|Sepsis, pulmonary'),
    ('cardiac', 'Non-operative|Diagnosis|Cardiovascular|CHF, congestive heart failure'), ('respiratory', 'Non-operative|Diagnosis|Respiratory|Emphysema/bronchitis'),
    ('neuro', 'Non-operative|Diagnosis|Neurologic|CVA, cerebrovascular accident/stroke'), ('trauma', 'Non-operative|Diagnosis|Trauma|Head only trauma'),
    ('liver', 'Non-operative|Diagnosis|Gastrointestinal|Bleeding, upper GI'), ('renal', 'Non-operative|Diagnosis|Genitourinary|Renal failure, acute')
), lines as (
  select i, patientunitstayid, unnest(['All Diagnosis|' || path, 'Was the patient admitted from the O.R. or went to the O.R. within 4 hours of admission?|' || case archetype when 'surgical' then 'Yes' else 'No' end]) as path, generate_subscripts([1, 2], 1) as n
  from unit join reasons using (archetype) where has_apache
)
select 900000000000 + i * 10 + n as admissiondxid, patientunitstayid, 30 as admitdxenteredoffset, 'admission diagnosis|' || path as admitdxpath, split_part(path, '|', -1) as admitdxname, split_part(path, '|', -1) as admitdxtext
from lines
