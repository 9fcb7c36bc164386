select 900000000000 + key as cplgoalid, patientunitstayid, minute as cplgoaloffset, pick(['Hemodynamic stability', 'Respiratory', 'Activity-Safety', 'Other'], 'goal', key) as cplgoalcategory,
  pick(['Blood pressure within 10% of baseline', 'Maintain oxygen saturation', 'Patient remains free of falls', null], 'goal', key) as cplgoalvalue, 'Active' as cplgoalstatus, 'True' as activeupondischarge
from event where kind = 'goal'
