-- MELD-Na per ICU stay as a person might write it from the instruction alone: the first-day tables are found, but
-- dialysis is not considered, sodium adjusts every score, nothing is rounded, and a missing value gives no score.
copy (
  with initial as (
    select
      icustays.subject_id,
      icustays.hadm_id,
      icustays.stay_id,
      10 * (
        0.957 * ln(greatest(lab.creatinine_max, 1))
        + 0.378 * ln(greatest(lab.bilirubin_total_max, 1))
        + 1.120 * ln(greatest(lab.inr_max, 1))
        + 0.643
      ) as score,
      137 - least(greatest(lab.sodium_min, 125), 137) as sodium_term
    from mimiciv_icu.icustays as icustays
    left join mimiciv_derived.first_day_lab as lab
      on icustays.stay_id = lab.stay_id
    where lab.creatinine_max is not null and lab.bilirubin_total_max is not null and lab.inr_max is not null
  )
  select
    subject_id,
    hadm_id,
    stay_id,
    score + 1.32 * sodium_term - 0.033 * score * sodium_term as meld
  from initial
) to './output.csv' (header);
