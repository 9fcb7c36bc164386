select subject_id, hadm_id, pharmacy_id, 'SYN' || cast(subject_id as varchar) || '-' || cast(key as varchar) as poe_id, starttime, stoptime,
  drug_type, drug, '000000' as gsn, '0' as ndc, dose as dose_val_rx, unit as dose_unit_rx, 2 as doses_per_24_hrs, route
from drug_order
