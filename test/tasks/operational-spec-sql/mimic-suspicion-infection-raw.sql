with names(text_of_name) as (
  values
    ('adoxa'), ('ala-tet'), ('alodox'), ('amikacin'), ('amikin'), ('amoxicill'), ('amphotericin'),
    ('ampicillin'), ('ancef'), ('anidulafungin'), ('augmentin'), ('avelox'), ('avidoxy'), ('axetil'),
    ('azactam'), ('azithromycin'), ('aztreonam'), ('bactocill'), ('bactrim'), ('bactroban'), ('bethkis'),
    ('biaxin'), ('bicillin l-a'), ('cayston'), ('cedax'), ('cefaclor'), ('cefadroxil'), ('cefazolin'),
    ('cefdinir'), ('cefditoren'), ('cefepime'), ('cefotan'), ('cefotaxime'), ('cefotetan'), ('cefoxitin'),
    ('cefpirome'), ('cefpodoxime'), ('cefprozil'), ('ceftaroline'), ('ceftazidime'), ('ceftibuten'), ('ceftin'),
    ('ceftriaxone'), ('cefuroxime'), ('cephalexin'), ('cephalothin'), ('cephapririn'), ('chloramphenicol'),
    ('cipro'), ('claforan'), ('clarithromycin'), ('clavulanate'), ('cleocin'), ('clindamycin'), ('cubicin'),
    ('dicloxacillin'), ('dirithromycin'), ('doryx'), ('doxycy'), ('duricef'), ('dynacin'), ('ery-tab'), ('eryc'),
    ('eryped'), ('erythrocin'), ('erythromycin'), ('factive'), ('flagyl'), ('fortaz'), ('furadantin'),
    ('garamycin'), ('gentamicin'), ('kanamycin'), ('keflex'), ('kefzol'), ('ketek'), ('levaquin'),
    ('levofloxacin'), ('lincocin'), ('linezolid'), ('macrobid'), ('macrodantin'), ('maxipime'), ('mefoxin'),
    ('meropenem'), ('methicillin'), ('metronidazole'), ('minocin'), ('minocycline'), ('monodox'), ('monurol'),
    ('morgidox'), ('moxatag'), ('moxifloxacin'), ('mupirocin'), ('myrac'), ('nafcillin'), ('neomycin'),
    ('nicazel doxy 30'), ('nitrofurantoin'), ('norfloxacin'), ('noroxin'), ('ocudox'), ('ofloxacin'),
    ('omnicef'), ('oracea'), ('oraxyl'), ('oxacillin'), ('panixine'), ('pc pen vk'), ('pce dispertab'),
    ('pediazole'), ('penicillin'), ('periostat'), ('pfizerpen'), ('piperacillin'), ('primsol'), ('proquin'),
    ('raniclor'), ('rifadin'), ('rifampin'), ('rocephin'), ('septra'), ('smz-tmp'), ('solodyn'), ('spectracef'),
    ('streptomycin'), ('sulfadiazine'), ('sulfamethoxazole'), ('sulfatrim'), ('sulfisoxazole'), ('suprax'),
    ('synercid'), ('tazicef'), ('tazobactam'), ('tetracycline'), ('timentin'), ('tobramycin'), ('trimethoprim'),
    ('unasyn'), ('vancocin'), ('vancomycin'), ('vantin'), ('vibativ'), ('vibra-tabs'), ('vibramycin'),
    ('zinacef'), ('zithromax'), ('zosyn'), ('zyvox')
),
qualifying as (
  select distinct drug, route
  from mimiciv_hosp.prescriptions as prescription
  where drug_type <> 'BASE'
    and exists (select 1 from names where contains(lower(prescription.drug), text_of_name))
    and route is not null
    and route not in ('OU', 'OS', 'OD', 'AU', 'AS', 'AD', 'TP')
    and not contains(lower(route), 'eye')
    and not contains(lower(route), 'ear')
    and not contains(lower(drug), 'cream')
    and not contains(lower(drug), 'gel')
    and not contains(lower(drug), 'ophth')
    and not contains(lower(drug), 'desensitization')
),
antibiotics as (
  select
    prescription.subject_id,
    prescription.hadm_id,
    icustay.stay_id,
    prescription.drug as antibiotic,
    prescription.starttime,
    prescription.stoptime
  from mimiciv_hosp.prescriptions as prescription
  join qualifying using (drug, route)
  left join mimiciv_icu.icustays as icustay
    on icustay.hadm_id = prescription.hadm_id
    and prescription.starttime >= icustay.intime
    and prescription.starttime < icustay.outtime
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
