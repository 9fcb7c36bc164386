-- title: Sepsis-3, earliest time per ICU stay
-- grain: one row per ICU stay with sepsis
-- keys: stay_id
-- sources: mimiciv_derived.sofa, mimiciv_derived.suspicion_of_infection
-- citation: Singer et al. 2016, JAMA; Seymour et al. 2016, JAMA
-- conventions:
--   - sepsis is a suspected infection with a SOFA score of 2 or more (worst of the last 24 hours) between 48 hours before and 24 hours after the time of suspicion, both ends included
--   - the SOFA score before admission is taken as 0
--   - only infections whose antibiotic started in the ICU stay count
--   - the earliest infection is chosen first (time of suspicion, then antibiotic, then culture) and the earliest SOFA hour in its window second, so the SOFA hour may precede the suspicion and need not be the worst
-- ties: infections of a stay equal in all three times differ in no output column

with organ_dysfunction as (
  select
    stay_id,
    endtime as sofa_time,
    sofa_24hours as sofa_score,
    respiration_24hours as respiration,
    coagulation_24hours as coagulation,
    liver_24hours as liver,
    cardiovascular_24hours as cardiovascular,
    cns_24hours as cns,
    renal_24hours as renal
  from mimiciv_derived.sofa
  where sofa_24hours >= 2
),

suspected_infections as (
  select
    subject_id,
    stay_id,
    antibiotic_time,
    culture_time,
    suspected_infection_time,
    max(suspected_infection) as suspected_infection
  from mimiciv_derived.suspicion_of_infection
  where stay_id is not null
    and suspected_infection_time is not null
  group by
    subject_id,
    stay_id,
    antibiotic_time,
    culture_time,
    suspected_infection_time
),

infections_with_dysfunction as (
  select
    suspected_infections.subject_id,
    suspected_infections.stay_id,
    suspected_infections.antibiotic_time,
    suspected_infections.culture_time,
    suspected_infections.suspected_infection_time,
    suspected_infections.suspected_infection,
    min(organ_dysfunction.sofa_time) as sofa_time
  from suspected_infections
  inner join organ_dysfunction
    on suspected_infections.stay_id = organ_dysfunction.stay_id
    and organ_dysfunction.sofa_time >= suspected_infections.suspected_infection_time - interval 48 hour
    and organ_dysfunction.sofa_time <= suspected_infections.suspected_infection_time + interval 24 hour
  group by
    suspected_infections.subject_id,
    suspected_infections.stay_id,
    suspected_infections.antibiotic_time,
    suspected_infections.culture_time,
    suspected_infections.suspected_infection_time,
    suspected_infections.suspected_infection
),

first_infection as (
  select
    subject_id,
    stay_id,
    antibiotic_time,
    culture_time,
    suspected_infection_time,
    suspected_infection,
    sofa_time
  from infections_with_dysfunction
  qualify row_number() over (
    partition by stay_id
    order by
      suspected_infection_time nulls first,
      antibiotic_time nulls first,
      culture_time nulls first,
      sofa_time nulls first,
      subject_id
  ) = 1
)

select
  first_infection.subject_id,
  first_infection.stay_id,
  first_infection.antibiotic_time,
  first_infection.culture_time,
  first_infection.suspected_infection_time,
  first_infection.sofa_time,
  organ_dysfunction.sofa_score,
  organ_dysfunction.respiration,
  organ_dysfunction.coagulation,
  organ_dysfunction.liver,
  organ_dysfunction.cardiovascular,
  organ_dysfunction.cns,
  organ_dysfunction.renal,
  organ_dysfunction.sofa_score >= 2
    and first_infection.suspected_infection = 1 as sepsis3
from first_infection
inner join organ_dysfunction
  on first_infection.stay_id = organ_dysfunction.stay_id
  and first_infection.sofa_time = organ_dysfunction.sofa_time
