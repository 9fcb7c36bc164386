select 900000000000 + key as noteid, patientunitstayid, minute as noteoffset, minute + 8 as noteenteredoffset, case when n < 4 then 'Admission' else 'Comprehensive Progress' end as notetype,
  'notes/Progress Notes/' || path as notepath, split_part(path, '/', -1) as notevalue, 'SYNTHETIC: ' || split_part(path, '/', -1) as notetext
from (select *, pick(['Assessment and Plan/View Options/System View', 'Social History / Family History/Social History/Social History', 'Allergies / Preadmission Medications/Allergies/No', 'Review of Systems/ROS not obtainable',
  'Subjective/CC / HPI/History of Present Illness/HPI', 'Assessment and Plan/Critical Care Time/30-74 minutes'], 'note', key) as path from event where kind = 'note')
