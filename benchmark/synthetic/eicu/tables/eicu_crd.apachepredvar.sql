select 900000000 + i as apachepredvarid, patientunitstayid, 1 as sicuday, 0 as saps3day1, 0 as saps3today, 0 as saps3yesterday,
  case gender when 'F' then 1 else 0 end as gender, 0 as teachtype, 1 + i % 4 as region, 12 as bedcount, 1 as admitsource, 3 as graftcount, 0 as meds,
  cast(clip(round(5.6 - 4.5 * neuro), 1, 5) as bigint) as verbal, cast(clip(round(6.7 - 4.8 * neuro), 1, 6) as bigint) as motor, cast(clip(round(4.5 - 3.5 * neuro), 1, 4) as bigint) as eyes,
  least(anchor_age, 90) as age, upper(archetype) as admitdiagnosis, 0 as thrombolytics, dies::bigint as diedinhospital, (u('aids', p) < 0.01)::bigint as aids,
  (liver > 0.9)::bigint as hepaticfailure, 0 as lymphoma, (u('metastatic', p) < 0.03)::bigint as metastaticcancer, 0 as leukemia, 0 as immunosuppression,
  (archetype = 'liver')::bigint as cirrhosis,
  -- filled for surgical stays only, as in eICU
  case when archetype = 'surgical' then (admission_type <> 'EW EMER.' and u('elective', i) < 0.85)::bigint end as electivesurgery,
  1 as activetx, part as readmit, 0 as ima, 0 as midur, is_intubated::bigint as ventday1, 0 as oobventday1,
  (is_intubated and tube_hour = 0)::bigint as oobintubday1, (u('diabetes', p) < 0.25)::bigint as diabetes, 1 as managementsystem,
  -round(hospitaladmitoffset / 1440.0, 2) as var03hspxlos, -1 as pao2, -1 as fio2, -1 as ejectfx, -1 as creatinine, 4 as dischargelocation, 1 as visitnumber, -1 as amilocation
from unit where has_apache
