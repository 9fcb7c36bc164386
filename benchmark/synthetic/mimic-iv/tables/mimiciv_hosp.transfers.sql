-- Emergency department, the ward before the unit where there was time for one, each ICU stay, the ward after, discharge.
with units as (
  select a, min(intime) as first_intime, max(outtime) as last_outtime from stay group by a
), places as (
  select hospital.*, first_intime, last_outtime,
    case archetype when 'surgical' then 'Med/Surg' when 'cardiac' then 'Medicine/Cardiology' when 'neuro' then 'Neurology' when 'trauma' then 'Med/Surg/Trauma' else 'Medicine' end as ward,
    admission_type in ('EW EMER.', 'EU OBSERVATION', 'OBSERVATION ADMIT') as has_emergency
  from hospital left join units using (a)
)
select subject_id, hadm_id, 980000000 + a * 10 as transfer_id, 'ED' as eventtype, 'Emergency Department' as careunit,
  admittime - to_minutes(cast(60 + floor(300 * u('ed', a)) as bigint)) as intime, admittime as outtime from places where has_emergency
union all
select subject_id, hadm_id, 980000000 + a * 10 + 1, 'admit', ward, admittime, coalesce(first_intime, dischtime) from places where first_intime is null or first_intime > admittime + to_hours(2)
union all
select stay.subject_id, stay.hadm_id, stay_id, case when stay.intime = first_intime and first_intime <= stay.admittime + to_hours(2) then 'admit' else 'transfer' end,
  case archetype when 'surgical' then pick(['Surgical Intensive Care Unit (SICU)', 'Cardiac Vascular Intensive Care Unit (CVICU)'], 'unit', i)
    when 'cardiac' then pick(['Coronary Care Unit (CCU)', 'Cardiac Vascular Intensive Care Unit (CVICU)'], 'unit', i)
    when 'neuro' then 'Neuro Surgical Intensive Care Unit (Neuro SICU)' when 'trauma' then 'Trauma SICU (TSICU)'
    else pick(['Medical Intensive Care Unit (MICU)', 'Medical/Surgical Intensive Care Unit (MICU/SICU)'], 'unit', i) end, stay.intime, stay.outtime
from stay join units using (a)
union all
-- three in ten go to theatre or another ward in between
select subject_id, hadm_id, 980000000 + a * 10 + 7, 'transfer', pick(['PACU', 'Med/Surg', 'Discharge Lounge'], 'third place', a), last_outtime, least(last_outtime + to_hours(3), dischtime)
from places where not dies and dischtime > last_outtime + to_hours(6) and u('third place', a) < 0.4
union all
select subject_id, hadm_id, 980000000 + a * 10 + 8, 'transfer', ward, case when u('third place', a) < 0.4 and dischtime > last_outtime + to_hours(6) then last_outtime + to_hours(3) else last_outtime end, dischtime
from places where not dies and dischtime > last_outtime + to_hours(1)
union all
select subject_id, hadm_id, 980000000 + a * 10 + 9, 'discharge', null, dischtime, null from places
