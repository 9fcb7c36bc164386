with exams as (
  select patientunitstayid, charted_offset, key, i, hr, eyes + motor + verbal as gcs, weight_kg, heart_rate from flow where hr % 24 = 3
), lines as (
  select patientunitstayid, charted_offset, key, unnest([
    {path: 'notes/Progress Notes/Physical Exam/Physical Exam Obtain Options/Performed - Structured', value: 'Performed - Structured', shown: 'Performed - Structured', used: true},
    {path: 'notes/Progress Notes/Physical Exam/Physical Exam/Neurologic/GCS/Score/scored', value: 'scored', shown: 'scored', used: u('exam', i) < 0.6},
    {path: 'notes/Progress Notes/Physical Exam/Physical Exam/Neurologic/GCS/' || cast(gcs as varchar), value: cast(gcs as varchar), shown: cast(gcs as varchar), used: u('exam', i) < 0.6},
    {path: 'notes/Progress Notes/Physical Exam/Physical Exam/Constitutional/Vital Sign and Physiological Data/HR/HR Current', value: 'HR Current', shown: shortest(heart_rate), used: true},
    {path: 'notes/Progress Notes/Physical Exam/Physical Exam/Constitutional/Weight and I&O/Weight (kg)/Admission', value: 'Admission', shown: shortest(weight_kg), used: true}
  ], recursive := true) from exams
)
select 900000000000 + key * 10 + row_number() over (partition by key order by path) as physicalexamid, patientunitstayid,
  charted_offset as physicalexamoffset, path as physicalexampath, value as physicalexamvalue, shown as physicalexamtext
from lines where used
