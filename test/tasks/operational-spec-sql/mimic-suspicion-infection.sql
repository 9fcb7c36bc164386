with antibiotics as (
  select subject_id, hadm_id, stay_id, antibiotic, starttime, stoptime
  from mimiciv_derived.antibiotic
),
numbered as (
  select
    *,
    starttime as antibiotic_time,
    row_number() over (
      partition by subject_id
      order by starttime nulls first, stoptime nulls first, antibiotic nulls first, hadm_id nulls first, stay_id nulls first
    ) as ab_id
  from antibiotics
),
cultures as (
  select
    micro_specimen_id,
    max(subject_id) as subject_id,
    max(chartdate) as chartdate,
    max(charttime) as charttime,
    max(spec_type_desc) as specimen,
    max(case when org_name is not null and org_name not in ('', 'NEGATIVE') then 1 else 0 end) as positive_culture
  from mimiciv_hosp.microbiologyevents
  group by micro_specimen_id
),
pairs as (
  select
    antibiotic.subject_id,
    antibiotic.ab_id,
    culture.*  exclude (subject_id),
    case
      when charttime is not null then antibiotic_time > charttime and antibiotic_time <= charttime + interval 72 hours
      else date_diff('day', chartdate, antibiotic_time) between 0 and 3
    end as is_before,
    case
      when charttime is not null then antibiotic_time < charttime and antibiotic_time >= charttime - interval 24 hours
      else date_diff('day', chartdate, antibiotic_time) between -1 and 0
    end as is_after
  from numbered as antibiotic
  join cultures as culture using (subject_id)
),
before as (
  select *, coalesce(charttime, chartdate) as culture_time
  from pairs
  where is_before
  qualify row_number() over (
    partition by subject_id, ab_id
    order by chartdate, charttime nulls first, micro_specimen_id
  ) = 1
),
after as (
  select *, coalesce(charttime, chartdate) as culture_time
  from pairs
  where is_after
  qualify row_number() over (
    partition by subject_id, ab_id
    order by chartdate, charttime nulls first, micro_specimen_id
  ) = 1
)
select
  antibiotic.subject_id,
  stay_id,
  hadm_id,
  antibiotic.ab_id,
  antibiotic,
  antibiotic_time,
  (coalesce(before.specimen, after.specimen) is not null)::int as suspected_infection,
  case when coalesce(before.specimen, after.specimen) is not null then coalesce(before.culture_time, antibiotic_time) end
    as suspected_infection_time,
  coalesce(before.culture_time, after.culture_time) as culture_time,
  coalesce(before.specimen, after.specimen) as specimen,
  coalesce(before.positive_culture, after.positive_culture) as positive_culture
from numbered as antibiotic
left join before using (subject_id, ab_id)
left join after using (subject_id, ab_id)
