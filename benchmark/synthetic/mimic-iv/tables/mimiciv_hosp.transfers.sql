select subject_id, hadm_id, 980000000 + a * 10 as transfer_id, 'admit' as eventtype, 'Emergency Department' as careunit, admittime as intime, dischtime as outtime from hospital
union all
select subject_id, hadm_id, stay_id, 'transfer', 'Intensive Care', intime, outtime from stay
union all
select subject_id, hadm_id, 980000000 + a * 10 + 9, 'discharge', null, dischtime, null from hospital
