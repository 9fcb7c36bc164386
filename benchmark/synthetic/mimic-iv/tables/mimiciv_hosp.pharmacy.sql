select subject_id, hadm_id, pharmacy_id, 'SYN' || cast(subject_id as varchar) || '-' || cast(key as varchar) as poe_id, starttime, stoptime,
  drug as medication, 'Unit Dose' as proc_type, pick(['Discontinued via patient discharge', 'Expired', 'Discontinued'], 'order status', key) as status,
  starttime - to_minutes(30) as entertime, starttime - to_minutes(20) as verifiedtime, route, pick(['BID', 'DAILY', 'TID', 'Q6H:PRN', 'ONCE', 'ASDIR'], 'frequency', key) as frequency,
  2 as doses_per_24_hrs, 1 as duration, 'Doses' as duration_interval
from drug_order where drug_type = 'MAIN'
