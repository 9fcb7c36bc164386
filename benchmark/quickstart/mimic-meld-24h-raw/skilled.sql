-- MELD-Na per ICU stay from source tables, written after reading the skill meld-score (text for source tables).
-- The window begins 6 hours before admission, the usual convention for first-day laboratory values of this database.
copy (
  with windows as (
    select
      subject_id,
      hadm_id,
      stay_id,
      intime - interval 6 hours as window_start,
      intime + interval 24 hours as window_end
    from mimiciv_icu.icustays
  ),
  labs as (
    select
      windows.stay_id,
      max(labevents.valuenum) filter (labevents.itemid = 50912) as creatinine, -- Creatinine
      max(labevents.valuenum) filter (labevents.itemid = 50885) as bilirubin, -- Bilirubin, Total
      max(labevents.valuenum) filter (labevents.itemid = 51237) as inr, -- INR(PT)
      min(labevents.valuenum) filter (labevents.itemid = 50983) as sodium -- Sodium
    from windows
    inner join mimiciv_hosp.labevents as labevents
      on windows.subject_id = labevents.subject_id
      and labevents.charttime between windows.window_start and windows.window_end
    where labevents.itemid in (50912, 50885, 51237, 50983)
      and labevents.valuenum > 0
    group by windows.stay_id
  ),
  dialysis_items as (
    select itemid
    from mimiciv_icu.d_items
    where category = 'Dialysis'
      or label = 'Hemodialysis'
      or (category = 'Access Lines - Invasive' and label ilike 'dialysis catheter%')
  ),
  dialysis_records as (
    select
      stay_id,
      charttime as starttime,
      charttime as endtime
    from mimiciv_icu.chartevents
    where itemid in (select itemid from dialysis_items)
      and value is not null
    union all
    select
      stay_id,
      starttime,
      endtime
    from mimiciv_icu.procedureevents
    where itemid in (select itemid from dialysis_items)
  ),
  dialysis as (
    select distinct windows.stay_id
    from windows
    inner join dialysis_records
      on windows.stay_id = dialysis_records.stay_id
      and dialysis_records.starttime between windows.window_start and windows.window_end
  ),
  inputs as (
    select
      windows.subject_id,
      windows.hadm_id,
      windows.stay_id,
      -- creatinine counts as 4.0 above 4.0 and on dialysis; a missing laboratory value contributes its minimum
      case
        when dialysis.stay_id is not null then 4.0
        else least(greatest(coalesce(labs.creatinine, 1), 1), 4.0)
      end as creatinine,
      greatest(coalesce(labs.bilirubin, 1), 1) as bilirubin,
      greatest(coalesce(labs.inr, 1), 1) as inr,
      least(greatest(coalesce(labs.sodium, 137), 125), 137) as sodium
    from windows
    left join labs
      on windows.stay_id = labs.stay_id
    left join dialysis
      on windows.stay_id = dialysis.stay_id
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
