with charted as (
  select
    stay_id,
    charttime,
    bool_or(itemid in (
      224688, -- Respiratory Rate (Set)
      224689, -- Respiratory Rate (spontaneous)
      224690, -- Respiratory Rate (Total)
      224684, -- Tidal Volume (set)
      224685, -- Tidal Volume (observed)
      224686, -- Tidal Volume (spontaneous)
      224687, -- Minute Volume
      224696, -- Plateau Pressure
      220339, -- PEEP set
      224700, -- Total PEEP Level
      223835, -- Inspired O2 Fraction
      224691, -- Flow Rate (L/min)
      223848, -- Ventilator Type
      223849, -- Ventilator Mode
      229314 -- Ventilator Mode (Hamilton)
    )) as has_ventilator_charting,
    bool_or(itemid in (
      223834, -- O2 Flow
      227287, -- O2 Flow (additional cannula)
      227582 -- BiPap O2 Flow
    )) as has_oxygen_flow,
    min(value) filter (itemid = 226732) as device, -- O2 Delivery Device(s)
    max(value) filter (itemid = 223849) as mode,
    max(value) filter (itemid = 229314) as hamilton_mode
  from mimiciv_icu.chartevents
  where itemid in (
      224688, 224689, 224690, 224684, 224685, 224686, 224687, 224696, 220339, 224700, 223835, 224691, 223848, 223849,
      229314, 223834, 227287, 227582, 226732
    )
    and value is not null
    and stay_id is not null
  group by all
),
moments as (
  select
    stay_id,
    charttime,
    case when has_oxygen_flow then trim(device) end as device,
    mode,
    hamilton_mode
  from charted
  where has_ventilator_charting or has_oxygen_flow
),
statuses as (
  select
    stay_id,
    charttime,
    case
      when device in ('Tracheostomy tube', 'Trach mask') then 'Tracheostomy'
      when device = 'Endotracheal tube'
        or mode ilike '%CMV%' or mode ilike '%SIMV%' or mode ilike '%MMV%' or mode like 'PCV+%' or mode = 'P-CMV'
        or mode = 'PRES/AC' or mode like 'PRVC%' or mode like 'APRV%' or mode like 'APV%' or mode = 'VOL/AC'
        or mode = 'PSV/SBT' or mode in ('SYNCHRON MASTER', 'SYNCHRON SLAVE', 'Apnea Ventilation', 'Ambient')
        or mode like 'CPAP/%'
        or hamilton_mode in ('APRV', 'APV (cmv)', 'APV (simv)', 'Ambient', '(S) CMV', 'P-CMV', 'SIMV', 'P-SIMV', 'VS', 'ASV')
        then 'InvasiveVent'
      when device in ('Bipap mask', 'CPAP mask') or hamilton_mode in ('DuoPaP', 'NIV', 'NIV-ST') then 'NonInvasiveVent'
      when device = 'High flow nasal cannula' then 'HFNC'
      when device in (
        'Non-rebreather', 'Face tent', 'Aerosol-cool', 'Venti mask', 'Medium conc mask', 'Ultrasonic neb', 'Vapomist',
        'Oxymizer', 'High flow neb', 'Nasal cannula'
      ) then 'SupplementalOxygen'
      when device = 'None' then 'None'
    end as ventilation_status
  from moments
),
ordered as (
  select
    *,
    lag(charttime) over (partition by stay_id, ventilation_status order by charttime) as previous_of_status,
    lag(ventilation_status) over (partition by stay_id order by charttime) as previous_status,
    lead(charttime) over (partition by stay_id order by charttime) as next_moment
  from statuses
  where ventilation_status is not null
),
numbered as (
  select
    *,
    count(*) filter (
      previous_status is null
      or previous_status <> ventilation_status
      or charttime - previous_of_status >= interval 14 hours
    ) over (partition by stay_id order by charttime) as episode
  from ordered
),
episodes as (
  select
    stay_id,
    episode,
    min(charttime) as starttime,
    max(case when next_moment - charttime < interval 14 hours then next_moment else charttime end) as endtime,
    min(ventilation_status) as ventilation_status
  from numbered
  group by all
  having min(charttime) < max(charttime)
)
select
  stay_id,
  row_number() over (partition by stay_id order by starttime) as ventilation_seq,
  starttime,
  endtime,
  ventilation_status
from episodes
