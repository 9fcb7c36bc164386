select 900000000000 + key as vitalaperiodicid, patientunitstayid, charted_offset as observationoffset, round(1.4 * mean_pressure + 4) as noninvasivesystolic,
  round(0.75 * mean_pressure) as noninvasivediastolic, mean_pressure as noninvasivemean
from flow where not has_arterial_line or hr % 4 = 0
