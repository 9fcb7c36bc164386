-- Hospital admissions: the first one with an ICU stay (0) for everyone, a second one (1) for one patient in eight
-- and an earlier one on a ward only (-1) for four in eight.
with sequence as (
  select *, 0 as seq from person
  union all
  select *, 1 as seq from person
  where p % 8 = 0 and (p // 8) * 10 + 8 < getvariable('stays')
  union all
  select *, -1 as seq from person where p % 8 in (2, 3, 4, 5)
), keyed as (
  select *, p * 4 + seq + 1 as a from sequence
), drawn as (
  select *, u('archetype', a) as drawn_archetype, u('type', a) as drawn_type from keyed
), kinds as (
  select *,
    case
      when drawn_archetype < 0.22 then 'surgical'
      when drawn_archetype < 0.44 then 'sepsis'
      when drawn_archetype < 0.64 then 'cardiac'
      when drawn_archetype < 0.72 then 'respiratory'
      when drawn_archetype < 0.82 then 'neuro'
      when drawn_archetype < 0.89 then 'trauma'
      when drawn_archetype < 0.95 then 'liver'
      else 'renal' end as archetype
  from drawn
)
select
  p, seq, a, subject_id, 920000001 + a as hadm_id, gender, anchor_age, anchor_year, anchor_year_group,
  height_cm, weight_kg, archetype,
  case
    when archetype = 'surgical' and drawn_type < 0.4 then 'ELECTIVE'
    when archetype = 'surgical' and drawn_type < 0.75 then 'SURGICAL SAME DAY ADMISSION'
    when seq = -1 and drawn_type < 0.2 then 'EU OBSERVATION'
    when seq = -1 and drawn_type < 0.3 then 'AMBULATORY OBSERVATION'
    when drawn_type < 0.06 then 'ELECTIVE'
    when drawn_type < 0.22 then 'URGENT'
    when drawn_type < 0.32 then 'OBSERVATION ADMIT'
    when drawn_type < 0.36 then 'DIRECT EMER.'
    when drawn_type < 0.38 then 'DIRECT OBSERVATION'
    else 'EW EMER.' end as admission_type,
  date_trunc('minute', make_timestamp(anchor_year, 1, 1, 0, 0, 0)
    + to_seconds(cast(86400 * (320 * u('day', p)
      + case seq when 1 then 90 + 300 * u('gap', a) when -1 then -40 - 200 * u('gap', a) else 0 end) as bigint))) as admittime,
  case when anchor_year_group <= '2014 - 2016' and u('coding', a) < 0.85 then 9 else 10 end as icd_version
from kinds
