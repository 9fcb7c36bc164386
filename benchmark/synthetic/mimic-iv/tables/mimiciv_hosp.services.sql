with first_service as (
  select *, case archetype
      when 'surgical' then pick(['SURG', 'CSURG', 'VSURG', 'TSURG', 'ORTHO'], 'service', a) when 'cardiac' then pick(['CMED', 'CSURG'], 'service', a)
      when 'neuro' then pick(['NMED', 'NSURG'], 'service', a) when 'trauma' then 'TRAUM' else pick(['MED', 'MED', 'OMED'], 'service', a) end as service
  from hospital
)
select subject_id, hadm_id, admittime + to_minutes(1) as transfertime, null as prev_service, service as curr_service from first_service
union all
select subject_id, hadm_id, admittime + to_hours(30), service, case when service = 'MED' then 'SURG' else 'MED' end
from first_service where u('transfer of service', a) < 0.12 and dischtime > admittime + to_hours(40)
