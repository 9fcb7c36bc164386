select subject_id, 'SYN' || cast(subject_id as varchar) || '-' || cast(key * 4 + dose_number as varchar) as emar_id, 1 + key % 5000 * 4 + dose_number as emar_seq,
  '1.1' as parent_field_ordinal, 'Scheduled' as administration_type, pharmacy_id, dose as dose_due, unit as dose_due_unit,
  case when u('not given', key * 4 + dose_number) < 0.08 then null else dose end as dose_given, unit as dose_given_unit, drug as product_description, route
from drug_order, unnest(generate_series(0, cast(floor(3 * u('doses', key)) as bigint))) doses(dose_number)
where drug_type = 'MAIN' and u('recorded', key) < 0.66
