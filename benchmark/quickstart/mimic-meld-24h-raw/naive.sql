-- MELD-Na per ICU stay from source tables as a person might write it from the instruction alone: laboratory values
-- of the admission in the first 24 hours, no dialysis, sodium adjusts every score, a missing value gives no score.
copy (
  with labs as (
    select
      icustays.stay_id,
      max(labevents.valuenum) filter (labevents.itemid = 50912) as creatinine, -- Creatinine
      max(labevents.valuenum) filter (labevents.itemid = 50885) as bilirubin, -- Bilirubin, Total
      max(labevents.valuenum) filter (labevents.itemid = 51237) as inr, -- INR(PT)
      min(labevents.valuenum) filter (labevents.itemid = 50983) as sodium -- Sodium
    from mimiciv_icu.icustays as icustays
    inner join mimiciv_hosp.labevents as labevents
      on icustays.hadm_id = labevents.hadm_id
      and labevents.charttime between icustays.intime and icustays.intime + interval 24 hours
    where labevents.itemid in (50912, 50885, 51237, 50983)
    group by icustays.stay_id
  ),
  initial as (
    select
      icustays.subject_id,
      icustays.hadm_id,
      icustays.stay_id,
      10 * (
        0.957 * ln(greatest(labs.creatinine, 1))
        + 0.378 * ln(greatest(labs.bilirubin, 1))
        + 1.120 * ln(greatest(labs.inr, 1))
        + 0.643
      ) as score,
      137 - least(greatest(labs.sodium, 125), 137) as sodium_term
    from mimiciv_icu.icustays as icustays
    inner join labs
      on icustays.stay_id = labs.stay_id
    where labs.creatinine is not null and labs.bilirubin is not null and labs.inr is not null
  )
  select
    subject_id,
    hadm_id,
    stay_id,
    score + 1.32 * sodium_term - 0.033 * score * sodium_term as meld
  from initial
) to './output.csv' (header);
