-- title: Vital signs
-- grain: one row per patient, ICU stay and charting time with any of the listed items
-- keys: subject_id, stay_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - All accepted readings of a sign charted at one time are averaged: invasive and non-invasive pressures together, observed and total respiratory rate together, finger-stick and laboratory glucose together.
--   - The columns ending in _ni hold the non-invasive readings alone.
--   - A reading outside its limits is dropped; the row stays, if need be with no value at all. Limits are strict, except that an oxygen saturation of exactly 100 is accepted. Glucose has no upper limit.
--   - Fahrenheit is converted to Celsius; the mean temperature is rounded to 3 and then to 2 decimals, half away from zero. Nothing else is rounded.
--   - The temperature site is the alphabetically last one charted at that time.
--   - Chart entries outside an ICU stay are left out.
--   - Readings are added as whole billionths, which is exact, so a mean does not depend on the order of the readings.
-- ties: none
with vital_sign_items (itemid, vital_sign, above, below) as (
  values
    (220045, 'heart_rate', 0, 300),    -- Heart Rate
    (220179, 'sbp_ni', 0, 400),        -- Non Invasive Blood Pressure systolic
    (220050, 'sbp_art', 0, 400),       -- Arterial Blood Pressure systolic
    (225309, 'sbp_art', 0, 400),       -- ART BP Systolic
    (220180, 'dbp_ni', 0, 300),        -- Non Invasive Blood Pressure diastolic
    (220051, 'dbp_art', 0, 300),       -- Arterial Blood Pressure diastolic
    (225310, 'dbp_art', 0, 300),       -- ART BP Diastolic
    (220181, 'mbp_ni', 0, 300),        -- Non Invasive Blood Pressure mean
    (220052, 'mbp_art', 0, 300),       -- Arterial Blood Pressure mean
    (225312, 'mbp_art', 0, 300),       -- ART BP Mean
    (220210, 'resp_rate', 0, 70),      -- Respiratory Rate
    (224690, 'resp_rate', 0, 70),      -- Respiratory Rate (Total)
    (223761, 'temp_f', 70, 120),       -- Temperature Fahrenheit
    (223762, 'temp_c', 10, 50),        -- Temperature Celsius
    (224642, 'temp_site', null, null), -- Temperature Site (text)
    (220277, 'spo2', 0, 100),          -- O2 saturation pulseoxymetry (100 itself is accepted, see below)
    (225664, 'glucose', 0, null),      -- Glucose finger stick
    (220621, 'glucose', 0, null),      -- Glucose (serum)
    (226537, 'glucose', 0, null)       -- Glucose (whole blood)
),
accepted_readings as (
  select
    chartevents.subject_id,
    chartevents.stay_id,
    chartevents.charttime,
    vital_sign_items.vital_sign,
    chartevents.value,
    case
      when chartevents.valuenum <= vital_sign_items.above then null
      when chartevents.valuenum < vital_sign_items.below then chartevents.valuenum
      when chartevents.valuenum = 100 and vital_sign_items.vital_sign = 'spo2' then chartevents.valuenum
      when vital_sign_items.vital_sign = 'glucose' then chartevents.valuenum
    end as reading
  from mimiciv_icu.chartevents
  inner join vital_sign_items
    on chartevents.itemid = vital_sign_items.itemid
  where chartevents.stay_id is not null
),
readings as (
  select
    subject_id,
    stay_id,
    charttime,
    vital_sign,
    case when vital_sign = 'temp_site' then value end as temperature_site,
    round(case when vital_sign = 'temp_f' then (reading - 32) / 1.8 else reading end * 1e9) as billionths
  from accepted_readings
)
select
  subject_id,
  stay_id,
  charttime,
  avg(case when vital_sign = 'heart_rate' then billionths end) / 1e9 as heart_rate,
  avg(case when vital_sign = 'sbp_ni' or vital_sign = 'sbp_art' then billionths end) / 1e9 as sbp,
  avg(case when vital_sign = 'dbp_ni' or vital_sign = 'dbp_art' then billionths end) / 1e9 as dbp,
  avg(case when vital_sign = 'mbp_ni' or vital_sign = 'mbp_art' then billionths end) / 1e9 as mbp,
  avg(case when vital_sign = 'sbp_ni' then billionths end) / 1e9 as sbp_ni,
  avg(case when vital_sign = 'dbp_ni' then billionths end) / 1e9 as dbp_ni,
  avg(case when vital_sign = 'mbp_ni' then billionths end) / 1e9 as mbp_ni,
  avg(case when vital_sign = 'resp_rate' then billionths end) / 1e9 as resp_rate,
  round(
    try_cast(
      avg(case when vital_sign = 'temp_f' or vital_sign = 'temp_c' then billionths end) / 1e9 as decimal(18, 3)
    ),
    2
  ) as temperature,
  max(temperature_site) as temperature_site,
  avg(case when vital_sign = 'spo2' then billionths end) / 1e9 as spo2,
  avg(case when vital_sign = 'glucose' then billionths end) / 1e9 as glucose
from readings
group by subject_id, stay_id, charttime
