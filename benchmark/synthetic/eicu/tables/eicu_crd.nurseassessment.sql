select 900000000000 + key as nurseassessid, patientunitstayid, minute as nurseassessoffset, minute + 20 as nurseassessentryoffset,
  'flowsheet|Flowsheet Cell Labels|Nursing Assessment|' || split_part(cell, ': ', 1) || '|' || split_part(cell, ': ', 2) || '|' || split_part(cell, ': ', 2) as cellattributepath,
  split_part(cell, ': ', 1) as celllabel, split_part(cell, ': ', 2) as cellattribute, split_part(cell, ': ', 3) as cellattributevalue
from (select *, pick(['Neurologic: Level of Consciousness: alert', 'Neurologic: Motor Strength: +5-Normal', 'Respiratory: Cough: strong', 'Cardiovascular: Edema: none', 'Gastrointestinal: Bowel Sounds: present',
  'Genitourinary: Urine Color: yellow', 'Integumentary: Skin Color: pink', 'Pain: Pain Assessment: 0/10'], 'assessment', key) as cell from event where kind = 'assessment')
