-- SIRS per ICU stay, written after reading the skill sirs-criteria.
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
  readings as (
    select
      windows.stay_id,
      chartevents.charttime,
      -- several readings of one moment count as their mean
      avg(
        case
          when chartevents.itemid = 223761 and chartevents.valuenum between 70 and 120 then (chartevents.valuenum - 32) / 1.8 -- Fahrenheit
          when chartevents.itemid = 223762 and chartevents.valuenum between 10 and 50 then chartevents.valuenum -- Celsius
        end
      ) as temperature,
      avg(chartevents.valuenum) filter (
        chartevents.itemid = 220045 and chartevents.valuenum > 0 and chartevents.valuenum < 300 -- Heart Rate
      ) as heart_rate,
      avg(chartevents.valuenum) filter (
        chartevents.itemid in (220210, 224690) and chartevents.valuenum > 0 and chartevents.valuenum < 70 -- Respiratory Rate, Respiratory Rate (Total)
      ) as resp_rate
    from windows
    inner join mimiciv_icu.chartevents as chartevents
      on windows.stay_id = chartevents.stay_id
      and chartevents.charttime between windows.window_start and windows.window_end
    where chartevents.itemid in (223761, 223762, 220045, 220210, 224690)
    group by all
  ),
  vitals as (
    select
      stay_id,
      min(round(temperature, 2)) as temperature_min,
      max(round(temperature, 2)) as temperature_max,
      max(heart_rate) as heart_rate_max,
      max(resp_rate) as resp_rate_max
    from readings
    group by stay_id
  ),
  arterial_specimens as (
    select distinct specimen_id
    from mimiciv_hosp.labevents
    where itemid = 52033 -- Specimen Type
      and value = 'ART.'
  ),
  labs as (
    select
      windows.stay_id,
      min(labevents.valuenum) filter (
        labevents.itemid = 50818 and labevents.specimen_id in (select specimen_id from arterial_specimens) -- pCO2
      ) as pco2_min,
      min(labevents.valuenum) filter (labevents.itemid in (51300, 51301) and labevents.valuenum > 0) as wbc_min, -- WBC Count, White Blood Cells
      max(labevents.valuenum) filter (labevents.itemid in (51300, 51301) and labevents.valuenum > 0) as wbc_max,
      max(labevents.valuenum) filter (labevents.itemid = 51144) as bands_max -- Bands
    from windows
    inner join mimiciv_hosp.labevents as labevents
      on windows.subject_id = labevents.subject_id
      and labevents.charttime between windows.window_start and windows.window_end
    where labevents.itemid in (50818, 51300, 51301, 51144)
    group by windows.stay_id
  ),
  points as (
    select
      windows.subject_id,
      windows.hadm_id,
      windows.stay_id,
      -- a comparison with a missing value is not true, so missing data score 0
      case when temperature_min < 36 or temperature_max > 38 then 1 else 0 end as temp_score,
      case when heart_rate_max > 90 then 1 else 0 end as heart_rate_score,
      case when resp_rate_max > 20 or pco2_min < 32 then 1 else 0 end as resp_score,
      case when wbc_min < 4 or wbc_max > 12 or bands_max > 10 then 1 else 0 end as wbc_score
    from windows
    left join vitals
      on windows.stay_id = vitals.stay_id
    left join labs
      on windows.stay_id = labs.stay_id
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
