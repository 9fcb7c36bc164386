-- SIRS per ICU stay as a person might write it from the instruction alone: the window is right, but temperature is
-- read from the Celsius item only, PaCO2 and bands are forgotten, and stays without any chart entry drop out.
copy (
  with vitals as (
    select
      icustays.subject_id,
      icustays.hadm_id,
      icustays.stay_id,
      icustays.intime,
      min(chartevents.valuenum) filter (chartevents.itemid = 223762) as temperature_min, -- Temperature Celsius
      max(chartevents.valuenum) filter (chartevents.itemid = 223762) as temperature_max,
      max(chartevents.valuenum) filter (chartevents.itemid = 220045) as heart_rate_max, -- Heart Rate
      max(chartevents.valuenum) filter (chartevents.itemid = 220210) as resp_rate_max -- Respiratory Rate
    from mimiciv_icu.icustays as icustays
    inner join mimiciv_icu.chartevents as chartevents
      on icustays.stay_id = chartevents.stay_id
      and chartevents.charttime between icustays.intime - interval 6 hours and icustays.intime + interval 24 hours
    where chartevents.itemid in (223762, 220045, 220210)
    group by all
  ),
  white_cells as (
    select
      vitals.stay_id,
      min(labevents.valuenum) as wbc_min,
      max(labevents.valuenum) as wbc_max
    from vitals
    inner join mimiciv_hosp.labevents as labevents
      on vitals.hadm_id = labevents.hadm_id
      and labevents.charttime between vitals.intime - interval 6 hours and vitals.intime + interval 24 hours
    where labevents.itemid = 51301 -- White Blood Cells
    group by vitals.stay_id
  ),
  points as (
    select
      vitals.subject_id,
      vitals.hadm_id,
      vitals.stay_id,
      case when temperature_min < 36 or temperature_max > 38 then 1 else 0 end as temp_score,
      case when heart_rate_max > 90 then 1 else 0 end as heart_rate_score,
      case when resp_rate_max > 20 then 1 else 0 end as resp_score,
      case when wbc_min < 4 or wbc_max > 12 then 1 else 0 end as wbc_score
    from vitals
    left join white_cells
      on vitals.stay_id = white_cells.stay_id
  )
  select
    subject_id,
    hadm_id,
    stay_id,
    temp_score + heart_rate_score + resp_score + wbc_score as sirs,
    temp_score,
    heart_rate_score,
    resp_score,
    wbc_score
  from points
) to './output.csv' (header);
