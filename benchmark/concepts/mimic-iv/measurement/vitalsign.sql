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
--   - Means add exactly (10 decimals), so they do not depend on the order of the readings.
-- ties: none
with vital_sign_items (itemid, vital_sign, above, below) as (
  values
    (220045, 'heart_rate', 0, 300),      -- Heart Rate
    (220179, 'sbp_ni', 0, 400),          -- Non Invasive Blood Pressure systolic
    (220050, 'sbp_invasive', 0, 400),    -- Arterial Blood Pressure systolic
    (225309, 'sbp_invasive', 0, 400),    -- ART BP Systolic
    (220180, 'dbp_ni', 0, 300),          -- Non Invasive Blood Pressure diastolic
    (220051, 'dbp_invasive', 0, 300),    -- Arterial Blood Pressure diastolic
    (225310, 'dbp_invasive', 0, 300),    -- ART BP Diastolic
    (220181, 'mbp_ni', 0, 300),          -- Non Invasive Blood Pressure mean
    (220052, 'mbp_invasive', 0, 300),    -- Arterial Blood Pressure mean
    (225312, 'mbp_invasive', 0, 300),    -- ART BP Mean
    (220210, 'resp_rate', 0, 70),        -- Respiratory Rate
    (224690, 'resp_rate', 0, 70),        -- Respiratory Rate (Total)
    (223761, 'temperature_f', 70, 120),  -- Temperature Fahrenheit
    (223762, 'temperature_c', 10, 50),   -- Temperature Celsius
    (224642, 'temperature_site', null, null),  -- Temperature Site (text)
    (220277, 'spo2', 0, null),           -- O2 saturation pulseoxymetry (up to and including 100)
    (225664, 'glucose', 0, null),        -- Glucose finger stick
    (220621, 'glucose', 0, null),        -- Glucose (serum)
    (226537, 'glucose', 0, null)         -- Glucose (whole blood)
),
readings as (
  select
    chartevents.subject_id,
    chartevents.stay_id,
    chartevents.charttime,
    vital_sign_items.vital_sign,
    case when vital_sign_items.vital_sign = 'temperature_site' then chartevents.value end as temperature_site,
    cast(
      case
        when vital_sign_items.vital_sign = 'temperature_site' then null
        when chartevents.valuenum <= vital_sign_items.above then null
        when chartevents.valuenum >= vital_sign_items.below then null
        when vital_sign_items.vital_sign = 'spo2' and chartevents.valuenum > 100 then null
        when vital_sign_items.vital_sign = 'temperature_f' then (chartevents.valuenum - 32) / 1.8
        else chartevents.valuenum
      end
      as decimal(38, 10)
    ) as accepted_value
  from mimiciv_icu.chartevents
  inner join vital_sign_items
    on chartevents.itemid = vital_sign_items.itemid
  where chartevents.stay_id is not null
)
select
  subject_id,
  stay_id,
  charttime,
  avg(case when vital_sign = 'heart_rate' then accepted_value end) as heart_rate,
  avg(case when vital_sign in ('sbp_ni', 'sbp_invasive') then accepted_value end) as sbp,
  avg(case when vital_sign in ('dbp_ni', 'dbp_invasive') then accepted_value end) as dbp,
  avg(case when vital_sign in ('mbp_ni', 'mbp_invasive') then accepted_value end) as mbp,
  avg(case when vital_sign = 'sbp_ni' then accepted_value end) as sbp_ni,
  avg(case when vital_sign = 'dbp_ni' then accepted_value end) as dbp_ni,
  avg(case when vital_sign = 'mbp_ni' then accepted_value end) as mbp_ni,
  avg(case when vital_sign = 'resp_rate' then accepted_value end) as resp_rate,
  round(
    try_cast(
      avg(case when vital_sign in ('temperature_f', 'temperature_c') then accepted_value end) as decimal(18, 3)
    ),
    2
  ) as temperature,
  max(temperature_site) as temperature_site,
  avg(case when vital_sign = 'spo2' then accepted_value end) as spo2,
  avg(case when vital_sign = 'glucose' then accepted_value end) as glucose
from readings
group by subject_id, stay_id, charttime
