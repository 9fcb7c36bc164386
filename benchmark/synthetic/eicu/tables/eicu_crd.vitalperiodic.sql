select 900000000000 + key as vitalperiodicid, patientunitstayid, charted_offset as observationoffset, case when hr % 4 = 0 then round(temperature_c, 1) end as temperature,
  spo2 as sao2, heart_rate as heartrate, resp_rate as respiration,
  case when has_arterial_line then round(1.5 * mean_pressure + 2) end as systemicsystolic, case when has_arterial_line then round(0.76 * mean_pressure) end as systemicdiastolic,
  case when has_arterial_line then mean_pressure end as systemicmean
from flow
