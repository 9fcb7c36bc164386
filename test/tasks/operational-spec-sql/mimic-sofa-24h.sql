with gases as (
  select
    icustay.stay_id,
    gas.pao2fio2,
    exists (
      select 1
      from paragraph.invasive_ventilation as episode
      where episode.stay_id = icustay.stay_id and gas.charttime between episode.starttime and episode.endtime
    ) as is_ventilated
  from mimiciv_icu.icustays as icustay
  join paragraph.arterial_gases as gas
    on gas.subject_id = icustay.subject_id
    and gas.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
),
oxygenation as (
  select
    stay_id,
    min(pao2fio2) filter (is_ventilated) as ratio_ventilated,
    min(pao2fio2) filter (not is_ventilated) as ratio_other
  from gases
  group by all
),
labs as (
  select
    icustay.stay_id,
    min(valuenum) filter (itemid = 51265) as platelet_min, -- Platelet Count
    max(valuenum) filter (itemid = 50885) as bilirubin_max, -- Bilirubin, Total
    max(valuenum) filter (itemid = 50912) as creatinine_max -- Creatinine
  from mimiciv_icu.icustays as icustay
  join mimiciv_hosp.labevents as lab
    on lab.subject_id = icustay.subject_id
    and lab.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where itemid in (51265, 50885, 50912)
  group by all
),
gcs as (
  select icustay.stay_id, min(total) as gcs_min
  from mimiciv_icu.icustays as icustay
  join paragraph.gcs_moments as moment
    on moment.stay_id = icustay.stay_id
    and moment.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
pressures as (
  select icustay.stay_id, min(mbp) as mbp_min
  from mimiciv_icu.icustays as icustay
  join paragraph.vital_signs as vital
    on vital.stay_id = icustay.stay_id
    and vital.charttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  group by all
),
infusions as (
  select
    icustay.stay_id,
    max(rate) filter (itemid = 221662) as dopamine, -- Dopamine
    max(rate) filter (itemid = 221289) as epinephrine, -- Epinephrine
    max(rate) filter (itemid = 221906) as norepinephrine, -- Norepinephrine
    max(rate) filter (itemid = 221653) as dobutamine -- Dobutamine
  from mimiciv_icu.icustays as icustay
  join mimiciv_icu.inputevents as infusion
    on infusion.stay_id = icustay.stay_id
    and infusion.starttime between icustay.intime - interval 6 hours and icustay.intime + interval 24 hours
  where itemid in (221662, 221289, 221906, 221653)
  group by all
),
urine as (
  select icustay.stay_id, sum(volume) as urineoutput
  from mimiciv_icu.icustays as icustay
  join paragraph.urine_volumes as urine
    on urine.stay_id = icustay.stay_id
    and urine.charttime between icustay.intime and icustay.intime + interval 24 hours
  group by all
),
scores as (
  select
    icustay.subject_id,
    icustay.hadm_id,
    icustay.stay_id,
    case
      when ratio_ventilated < 100 then 4
      when ratio_ventilated < 200 then 3
      when ratio_other < 300 then 2
      when ratio_other < 400 then 1
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
    greatest(
      case
        when creatinine_max >= 5 then 4
        when creatinine_max >= 3.5 then 3
        when creatinine_max >= 2 then 2
        when creatinine_max >= 1.2 then 1
        else 0
      end,
      case when urineoutput < 200 then 4 when urineoutput < 500 then 3 else 0 end
    ) as renal
  from mimiciv_icu.icustays as icustay
  left join oxygenation using (stay_id)
  left join labs using (stay_id)
  left join gcs using (stay_id)
  left join pressures using (stay_id)
  left join infusions using (stay_id)
  left join urine using (stay_id)
)
select
  subject_id,
  hadm_id,
  stay_id,
  respiration + coagulation + liver + cardiovascular + cns + renal as sofa,
  * exclude (subject_id, hadm_id, stay_id)
from scores
