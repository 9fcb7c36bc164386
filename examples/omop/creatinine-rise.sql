with creatinine as (
  select
    m.visit_occurrence_id,
    m.measurement_datetime,
    m.measurement_id,
    case m.unit_concept_id
      when 8749 then m.value_as_number / 88.4  -- micromole per litre
      else m.value_as_number                   -- 8840, milligram per decilitre
    end as value
  from cdm.measurement m
  where m.measurement_concept_id = 3016723  -- Creatinine [Mass/volume] in Serum or Plasma
    and m.value_as_number is not null
),

per_visit as (
  select
    v.visit_occurrence_id,
    arg_min(c.value, (c.measurement_datetime, c.measurement_id)) as baseline,
    max(c.value) as peak
  from cdm.visit_occurrence v
  left join creatinine c
    on c.visit_occurrence_id = v.visit_occurrence_id
    and c.measurement_datetime between v.visit_start_datetime and v.visit_end_datetime
  where v.visit_concept_id = 9201  -- Inpatient Visit
  group by v.visit_occurrence_id
)

select
  visit_occurrence_id,
  round(baseline, 3) as baseline,
  round(peak, 3) as peak,
  case
    when peak >= 3.0 * baseline or (peak >= 4.0 and peak > baseline) then 3
    when peak >= 2.0 * baseline then 2
    when peak >= 1.5 * baseline or peak - baseline >= 0.3 then 1
    when peak is not null then 0
  end as stage
from per_visit
