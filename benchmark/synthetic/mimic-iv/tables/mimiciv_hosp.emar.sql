-- Two thirds of the orders have administrations on record, one to three each.
select subject_id, hadm_id, 'SYN' || cast(subject_id as varchar) || '-' || cast(key * 4 + dose_number as varchar) as emar_id, 1 + key % 5000 * 4 + dose_number as emar_seq,
  'SYN' || cast(subject_id as varchar) || '-' || cast(key as varchar) as poe_id, pharmacy_id, starttime + to_minutes(dose_number * 480 + cast(floor(50 * u('given', key * 4 + dose_number)) as bigint)) as charttime,
  drug as medication, case when u('not given', key * 4 + dose_number) < 0.08 then 'Not Given' when route = 'IV DRIP' then 'Started' when u('flushed', key) < 0.05 then 'Flushed' else 'Administered' end as event_txt,
  starttime + to_minutes(dose_number * 480) as scheduletime,
  starttime + to_minutes(dose_number * 480 + 60) as storetime
from drug_order, unnest(generate_series(0, cast(floor(3 * u('doses', key)) as bigint))) doses(dose_number)
where drug_type = 'MAIN' and u('recorded', key) < 0.66
