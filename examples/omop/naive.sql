-- A first try at the task: it takes every value as milligrams per decilitre.
select
  v.visit_occurrence_id,
  arg_min(m.value_as_number, m.measurement_datetime) as baseline,
  max(m.value_as_number) as peak,
  case
    when max(m.value_as_number) >= 3.0 * arg_min(m.value_as_number, m.measurement_datetime) then 3
    when max(m.value_as_number) >= 2.0 * arg_min(m.value_as_number, m.measurement_datetime) then 2
    when max(m.value_as_number) >= 1.5 * arg_min(m.value_as_number, m.measurement_datetime) then 1
    else 0
  end as stage
from cdm.visit_occurrence v
left join cdm.measurement m
  on m.visit_occurrence_id = v.visit_occurrence_id and m.measurement_concept_id = 3016723
where v.visit_concept_id = 9201
group by v.visit_occurrence_id
