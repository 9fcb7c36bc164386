-- text: "Implausible readings are dropped first …"
with plausible as (
  select
    subject_id,
    stay_id,
    charttime,
    case
      when itemid = 220045 -- Heart Rate
        and valuenum > 0 and valuenum < 300 then 'heart rate'
      when itemid in (
        220050, -- Arterial Blood Pressure systolic
        220179, -- Non Invasive Blood Pressure systolic
        225309 -- ART BP Systolic
      ) and valuenum > 0 and valuenum < 400 then 'systolic pressure'
      when itemid in (
        220052, -- Arterial Blood Pressure mean
        220181, -- Non Invasive Blood Pressure mean
        225312 -- ART BP Mean
      ) and valuenum > 0 and valuenum < 300 then 'mean pressure'
      when itemid in (
        220210, -- Respiratory Rate
        224690 -- Respiratory Rate (Total)
      ) and valuenum > 0 and valuenum < 70 then 'respiratory rate'
      when itemid = 223762 -- Temperature Celsius
        and valuenum > 10 and valuenum < 50 then 'temperature'
      when itemid = 223761 -- Temperature Fahrenheit
        and valuenum > 70 and valuenum < 120 then 'temperature'
    end as quantity,
    case when itemid = 223761 then (valuenum - 32) / 1.8 else valuenum end as reading
  from mimiciv_icu.chartevents
  where itemid in (220045, 220050, 220179, 225309, 220052, 220181, 225312, 220210, 224690, 223761, 223762)
)
select
  subject_id,
  stay_id,
  charttime,
  avg(reading) filter (quantity = 'heart rate') as heart_rate,
  avg(reading) filter (quantity = 'systolic pressure') as sbp,
  avg(reading) filter (quantity = 'mean pressure') as mbp,
  avg(reading) filter (quantity = 'respiratory rate') as resp_rate,
  round(avg(reading) filter (quantity = 'temperature'), 2) as temperature
from plausible
where quantity is not null
group by all
