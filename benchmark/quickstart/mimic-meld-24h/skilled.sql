-- MELD-Na per ICU stay, written after reading the skill meld-score (text for databases with intermediate tables).
copy (
  with inputs as (
    select
      icustays.subject_id,
      icustays.hadm_id,
      icustays.stay_id,
      -- creatinine counts as 4.0 above 4.0 and on dialysis; a missing laboratory value contributes its minimum
      case
        when rrt.dialysis_present = 1 then 4.0
        else least(greatest(coalesce(lab.creatinine_max, 1), 1), 4.0)
      end as creatinine,
      greatest(coalesce(lab.bilirubin_total_max, 1), 1) as bilirubin,
      greatest(coalesce(lab.inr_max, 1), 1) as inr,
      least(greatest(coalesce(lab.sodium_min, 137), 125), 137) as sodium
    from mimiciv_icu.icustays as icustays
    left join mimiciv_derived.first_day_lab as lab
      on icustays.stay_id = lab.stay_id
    left join mimiciv_derived.first_day_rrt as rrt
      on icustays.stay_id = rrt.stay_id
  ),
  sums as (
    select
      *,
      0.957 * ln(creatinine) + 0.378 * ln(bilirubin) + 1.120 * ln(inr) + 0.643 as total
    from inputs
  ),
  initial as (
    select
      *,
      case when total > 4 then 40 else 10 * round(total, 1) end as score
    from sums
  )
  select
    subject_id,
    hadm_id,
    stay_id,
    case
      when score > 11 then score + 1.32 * (137 - sodium) - 0.033 * score * (137 - sodium)
      else score
    end as meld
  from initial
) to './output.csv' (header);
