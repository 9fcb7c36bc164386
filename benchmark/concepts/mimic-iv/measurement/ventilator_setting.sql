-- title: Ventilator settings and measured ventilator values
-- grain: one row per patient and charting time with any of the listed items
-- keys: subject_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - only entries with a text and an ICU stay count
--   - several values at one time count with the highest (for texts the last one alphabetically)
--   - FiO2 is given in percent: 0.20 to 1 is taken as a fraction and multiplied by 100, 20 to 100 is kept, anything else is dropped; exactly 1 therefore means 100 %
--   - PEEP below 0 or above 100 cmH2O is dropped; the set and the total PEEP share one column
--   - no other value is checked; a row remains even if all its values were dropped
-- ties: none

select
  subject_id,
  max(stay_id) as stay_id,
  charttime,
  max(case when itemid = 224688 then valuenum end) as respiratory_rate_set, -- Respiratory Rate (Set)
  max(case when itemid = 224690 then valuenum end) as respiratory_rate_total, -- Respiratory Rate (Total)
  max(case when itemid = 224689 then valuenum end) as respiratory_rate_spontaneous, -- Respiratory Rate (spontaneous)
  max(case when itemid = 224687 then valuenum end) as minute_volume, -- Minute Volume
  max(case when itemid = 224684 then valuenum end) as tidal_volume_set, -- Tidal Volume (set)
  max(case when itemid = 224685 then valuenum end) as tidal_volume_observed, -- Tidal Volume (observed)
  max(case when itemid = 224686 then valuenum end) as tidal_volume_spontaneous, -- Tidal Volume (spontaneous)
  max(case when itemid = 224696 then valuenum end) as plateau_pressure, -- Plateau Pressure
  max(
    case
      when itemid in (
        220339, -- PEEP set
        224700 -- Total PEEP Level
      )
      and valuenum between 0 and 100
        then valuenum
    end
  ) as peep,
  max(
    case
      when itemid <> 223835 then null -- Inspired O2 Fraction
      when valuenum between 0.20 and 1 then valuenum * 100
      when valuenum between 20 and 100 then valuenum
    end
  ) as fio2,
  max(case when itemid = 224691 then valuenum end) as flow_rate, -- Flow Rate (L/min)
  max(case when itemid = 223849 then value end) as ventilator_mode, -- Ventilator Mode
  max(case when itemid = 229314 then value end) as ventilator_mode_hamilton, -- Ventilator Mode (Hamilton)
  max(case when itemid = 223848 then value end) as ventilator_type -- Ventilator Type
from mimiciv_icu.chartevents
where itemid in (
    224688, 224690, 224689, 224687, 224684, 224685, 224686, 224696,
    220339, 224700, 223835, 224691, 223849, 229314, 223848
  )
  and value is not null
  and stay_id is not null
group by subject_id, charttime
