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
  join mimiciv_icu.icustays as icustay
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
    order by chartdate, charttime nulls last, micro_specimen_id
  ) = 1
),
after as (
  select *, coalesce(charttime, chartdate) as culture_time
  from pairs
  where is_after
  qualify row_number() over (
    partition by subject_id, ab_id
    order by chartdate, charttime nulls last, micro_specimen_id
  ) = 1
),
suspected as (
  select
    antibiotic.stay_id,
    antibiotic.subject_id,
    antibiotic_time,
    coalesce(before.culture_time, after.culture_time) as culture_time,
    coalesce(before.culture_time, antibiotic_time) as suspected_infection_time
  from numbered as antibiotic
  left join before using (subject_id, ab_id)
  left join after using (subject_id, ab_id)
  where coalesce(before.specimen, after.specimen) is not null
),
bounds as (
  select
    stay_id,
    min(charttime) as first_heart_rate,
    max(charttime) as last_heart_rate,
    case
      when date_trunc('hour', min(charttime)) = min(charttime) then min(charttime)
      else date_trunc('hour', min(charttime)) + interval 1 hour
    end as end_of_hour_0
  from mimiciv_icu.chartevents
  where itemid = 220045 -- Heart Rate
    and stay_id is not null
  group by all
),
hours as (
  select
    icustay.subject_id,
    icustay.hadm_id,
    stay_id,
    hr,
    end_of_hour_0 + to_hours(hr - 1) as hour_start,
    end_of_hour_0 + to_hours(hr) as hour_end
  from (
    select stay_id, end_of_hour_0,
      unnest(generate_series(-24, ceil(epoch(last_heart_rate - end_of_hour_0) / 3600)::bigint)) as hr
    from bounds
  )
  join mimiciv_icu.icustays as icustay using (stay_id)
),
oxygenation as (
  select
    stay_id,
    hr,
    min(pao2fio2) filter (is_ventilated) as ratio_ventilated,
    min(pao2fio2) filter (not is_ventilated) as ratio_other
  from (
    select
      hours.stay_id,
      hr,
      pao2fio2,
      exists (
        select 1
        from paragraph.invasive_ventilation as episode
        where episode.stay_id = hours.stay_id and gas.charttime between episode.starttime and episode.endtime
      ) as is_ventilated
    from hours
    join paragraph.arterial_gases as gas
      on gas.subject_id = hours.subject_id and gas.charttime > hour_start and gas.charttime <= hour_end
  )
  group by all
),
labs as (
  select
    stay_id,
    hr,
    min(valuenum) filter (itemid = 51265) as platelet_min, -- Platelet Count
    max(valuenum) filter (itemid = 50885) as bilirubin_max, -- Bilirubin, Total
    max(valuenum) filter (itemid = 50912) as creatinine_max -- Creatinine
  from hours
  join (select * from mimiciv_hosp.labevents where itemid in (51265, 50885, 50912)) as lab
    on lab.hadm_id = hours.hadm_id and lab.charttime > hour_start and lab.charttime <= hour_end
  group by all
),
gcs as (
  select hours.stay_id, hr, min(total) as gcs_min
  from hours
  join paragraph.gcs_moments as moment
    on moment.stay_id = hours.stay_id and moment.charttime > hour_start and moment.charttime <= hour_end
  group by all
),
pressures as (
  select hours.stay_id, hr, min(mbp) as mbp_min
  from hours
  join paragraph.vital_signs as vital
    on vital.stay_id = hours.stay_id and vital.charttime > hour_start and vital.charttime <= hour_end
  group by all
),
infusions as (
  select
    hours.stay_id,
    hr,
    max(rate) filter (itemid = 221662) as dopamine, -- Dopamine
    max(rate) filter (itemid = 221289) as epinephrine, -- Epinephrine
    max(case when rateuom = 'mg/kg/min' then rate * 1000 else rate end) filter (itemid = 221906) as norepinephrine, -- Norepinephrine
    max(rate) filter (itemid = 221653) as dobutamine -- Dobutamine
  from hours
  join (select * from mimiciv_icu.inputevents where itemid in (221662, 221289, 221906, 221653)) as infusion
    on infusion.stay_id = hours.stay_id and infusion.starttime < hour_end and infusion.endtime >= hour_end
  group by all
),
urine_covered as (
  select
    *,
    epoch(charttime - lag(charttime) over (partition by stay_id order by charttime)) / 3600 as covered
  from paragraph.urine_volumes
),
urine_rolling as (
  select
    stay_id,
    charttime,
    sum(volume) over past_23 as volume_24,
    sum(covered) over past_23 as covered_24
  from urine_covered
  window past_23 as (partition by stay_id order by charttime range between interval 23 hours preceding and current row)
),
urine as (
  select
    hours.stay_id,
    hr,
    min(volume_24 / covered_24 * 24) filter (covered_24 between 22 and 30) as urine_24
  from hours
  join urine_rolling on urine_rolling.stay_id = hours.stay_id and charttime > hour_start and charttime <= hour_end
  group by all
),
hourly as (
  select
    hours.stay_id,
    hours.subject_id,
    hours.hr,
    hour_end,
    case
      when ratio_ventilated < 100 then 4
      when ratio_ventilated < 200 then 3
      when least(ratio_ventilated, ratio_other) < 300 then 2
      when least(ratio_ventilated, ratio_other) < 400 then 1
      else 0
    end as respiration,
    case when platelet_min < 20 then 4 when platelet_min < 50 then 3 when platelet_min < 100 then 2 when platelet_min < 150 then 1 else 0 end
      as coagulation,
    case when bilirubin_max >= 12 then 4 when bilirubin_max >= 6 then 3 when bilirubin_max >= 2 then 2 when bilirubin_max >= 1.2 then 1 else 0 end
      as liver,
    case
      when dopamine > 15 or epinephrine > 0.1 or norepinephrine > 0.1 then 4
      when dopamine > 5 or epinephrine > 0 or norepinephrine > 0 then 3
      when dopamine > 0 or dobutamine > 0 then 2
      when mbp_min < 70 then 1
      else 0
    end as cardiovascular,
    case when gcs_min < 6 then 4 when gcs_min < 10 then 3 when gcs_min < 13 then 2 when gcs_min < 15 then 1 else 0 end as cns,
    case
      when creatinine_max >= 5 then 4
      when urine_24 < 200 then 4
      when creatinine_max >= 3.5 then 3
      when urine_24 < 500 then 3
      when creatinine_max >= 2 then 2
      when creatinine_max >= 1.2 then 1
      else 0
    end as renal
  from hours
  left join oxygenation using (stay_id, hr)
  left join labs using (stay_id, hr)
  left join gcs using (stay_id, hr)
  left join pressures using (stay_id, hr)
  left join infusions using (stay_id, hr)
  left join urine using (stay_id, hr)
),
rolling as (
  select
    stay_id,
    hr,
    hour_end as sofa_time,
    max(respiration) over past_day as respiration,
    max(coagulation) over past_day as coagulation,
    max(liver) over past_day as liver,
    max(cardiovascular) over past_day as cardiovascular,
    max(cns) over past_day as cns,
    max(renal) over past_day as renal
  from hourly
  window past_day as (partition by stay_id order by hr rows between 23 preceding and current row)
),
totals as (
  select *, respiration + coagulation + liver + cardiovascular + cns + renal as sofa_score
  from rolling
  where hr >= 0
),
matched as (
  select *
  from suspected
  join totals using (stay_id)
  where sofa_score >= 2
    and sofa_time between suspected_infection_time - interval 48 hours and suspected_infection_time + interval 24 hours
  qualify row_number() over (
    partition by stay_id
    order by suspected_infection_time nulls first, antibiotic_time nulls first, culture_time nulls first, sofa_time nulls first
  ) = 1
)
select
  subject_id,
  stay_id,
  antibiotic_time,
  culture_time,
  suspected_infection_time,
  sofa_time,
  sofa_score,
  respiration,
  coagulation,
  liver,
  cardiovascular,
  cns,
  renal,
  true as sepsis3
from matched
