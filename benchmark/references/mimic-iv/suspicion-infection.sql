-- title: Suspicion of infection
-- grain: one row per antibiotic prescription (row of antibiotic)
-- keys: subject_id, ab_id
-- sources: mimiciv_derived.antibiotic, mimiciv_hosp.microbiologyevents
-- citation: Seymour et al. 2016, JAMA; Singer et al. 2016, JAMA
-- conventions:
--   - an infection is suspected when a culture was taken in the 72 hours before the antibiotic started, or else in the 24 hours after it
--   - the kept culture is the earliest of its window, not the nearest; a culture before goes ahead of one after
--   - a culture timed exactly at the start of the antibiotic fits neither window
--   - a culture with a date but no time fits before if the antibiotic started on that day or the 3 days after, and after if it started on that day or the day before
--   - on one date a culture without a time goes ahead of one with a time
--   - cultures are matched by patient, whatever the admission or ICU stay
--   - a culture is positive when an organism is named, except organism item 90856 (NEGATIVE); positivity is not needed for suspicion
--   - the time of suspicion is that of the culture before, or the antibiotic's start if there is only a culture after
--   - a culture without a specimen text gives no suspicion, although its time and result are shown
--   - an antibiotic without a start time never has a culture
-- ties: antibiotics of a patient equal in start, stop and drug are numbered by hadm_id, then stay_id; cultures of equal date and time by micro_specimen_id (all with empty values first)
-- deviations:
--   - on one date a culture without a time goes ahead of one with a time; the concept has it the other way round
with numbered_antibiotics as (
  select
    subject_id,
    hadm_id,
    stay_id,
    antibiotic,
    starttime as antibiotic_time,
    date_trunc('day', starttime) as antibiotic_date,
    row_number() over (
      partition by subject_id
      order by
        starttime nulls first,
        stoptime nulls first,
        antibiotic nulls first,
        hadm_id nulls first,
        stay_id nulls first
    ) as ab_id
  from mimiciv_derived.antibiotic
),

cultures as (
  select
    micro_specimen_id,
    max(subject_id) as subject_id,
    cast(max(chartdate) as date) as chartdate,
    max(charttime) as charttime,
    max(spec_type_desc) as specimen,
    max(
      case
        when org_name is not null
          and org_name <> ''
          and org_itemid <> 90856 -- NEGATIVE
          then 1
        else 0
      end
    ) as positive_culture
  from mimiciv_hosp.microbiologyevents
  group by micro_specimen_id
),

-- Cultures with a time and cultures with a date only follow their own rules
-- and are joined apart; an OR over both would be far slower.
matching_cultures as materialized (
  select
    numbered_antibiotics.subject_id,
    numbered_antibiotics.ab_id,
    numbered_antibiotics.antibiotic_time > cultures.charttime as taken_before,
    numbered_antibiotics.antibiotic_time < cultures.charttime as taken_after,
    cultures.chartdate,
    cultures.charttime,
    cultures.micro_specimen_id,
    cultures.specimen,
    cultures.positive_culture
  from numbered_antibiotics
  inner join cultures
    on numbered_antibiotics.subject_id = cultures.subject_id
    and numbered_antibiotics.antibiotic_time >= cultures.charttime - interval 24 hour
    and numbered_antibiotics.antibiotic_time <= cultures.charttime + interval 72 hour
  union all
  select
    numbered_antibiotics.subject_id,
    numbered_antibiotics.ab_id,
    numbered_antibiotics.antibiotic_date >= cultures.chartdate as taken_before,
    numbered_antibiotics.antibiotic_date <= cultures.chartdate as taken_after,
    cultures.chartdate,
    cultures.charttime,
    cultures.micro_specimen_id,
    cultures.specimen,
    cultures.positive_culture
  from numbered_antibiotics
  inner join cultures
    on numbered_antibiotics.subject_id = cultures.subject_id
    and numbered_antibiotics.antibiotic_date >= cultures.chartdate - interval 1 day
    and numbered_antibiotics.antibiotic_date <= cultures.chartdate + interval 3 day
  where cultures.charttime is null
),

culture_before as (
  select
    subject_id,
    ab_id,
    coalesce(charttime, cast(chartdate as timestamp)) as culture_time,
    specimen,
    positive_culture
  from matching_cultures
  where taken_before
  qualify row_number() over (
    partition by subject_id, ab_id
    order by
      chartdate nulls first,
      charttime nulls first,
      micro_specimen_id nulls first
  ) = 1
),

culture_after as (
  select
    subject_id,
    ab_id,
    coalesce(charttime, cast(chartdate as timestamp)) as culture_time,
    specimen,
    positive_culture
  from matching_cultures
  where taken_after
  qualify row_number() over (
    partition by subject_id, ab_id
    order by
      chartdate nulls first,
      charttime nulls first,
      micro_specimen_id nulls first
  ) = 1
)

select
  numbered_antibiotics.subject_id,
  numbered_antibiotics.stay_id,
  numbered_antibiotics.hadm_id,
  numbered_antibiotics.ab_id,
  numbered_antibiotics.antibiotic,
  numbered_antibiotics.antibiotic_time,
  case
    when coalesce(culture_before.specimen, culture_after.specimen) is null then 0
    else 1
  end as suspected_infection,
  case
    when coalesce(culture_before.specimen, culture_after.specimen) is not null
      then coalesce(culture_before.culture_time, numbered_antibiotics.antibiotic_time)
  end as suspected_infection_time,
  coalesce(culture_before.culture_time, culture_after.culture_time) as culture_time,
  coalesce(culture_before.specimen, culture_after.specimen) as specimen,
  coalesce(culture_before.positive_culture, culture_after.positive_culture) as positive_culture
from numbered_antibiotics
left join culture_before
  on numbered_antibiotics.subject_id = culture_before.subject_id
  and numbered_antibiotics.ab_id = culture_before.ab_id
left join culture_after
  on numbered_antibiotics.subject_id = culture_after.subject_id
  and numbered_antibiotics.ab_id = culture_after.ab_id
