-- Half of the units let the cuff measure every half hour.
select 900000000000 + key * 2 + half as vitalaperiodicid, patientunitstayid, charted_offset + 30 * half as observationoffset, round(1.5 * mean_pressure + 2) as noninvasivesystolic,
  round(0.75 * mean_pressure) as noninvasivediastolic, mean_pressure as noninvasivemean
from flow, unnest([0, 1]) halves(half) where (not has_arterial_line or hr % 4 = 0) and (half = 0 or u('every half hour', i) < 0.5)
