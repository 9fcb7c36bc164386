-- text: "Invasive ventilation is an episode of the status InvasiveVent. Each chart time of a ventilator setting or
--   measurement, a ventilator mode or an oxygen flow has the first status that fits …"
with charted as (
  select
    stay_id,
    charttime,
    bool_or(itemid in (
      223834, -- O2 Flow
      227287, -- O2 Flow (additional cannula)
      227582 -- BiPap O2 Flow
    )) as has_oxygen_flow,
    bool_or(itemid <> 226732 and itemid not in (223834, 227287, 227582)) as has_ventilator_charting,
    min(value) filter (itemid = 226732) as device, -- O2 Delivery Device(s)
    bool_or(
      itemid = 223849 and value not in ('Standby', 'SPONT', 'CPAP') -- Ventilator Mode
      or itemid = 229314 and value not in ('Standby', 'SPONT', 'CPAP', 'DuoPaP', 'NIV', 'NIV-ST') -- Ventilator Mode (Hamilton)
    ) as has_invasive_mode,
    bool_or(itemid = 229314 and value in ('DuoPaP', 'NIV', 'NIV-ST')) as has_mask_mode
  from mimiciv_icu.chartevents
  where value is not null
    and itemid in (
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
      229314, -- Ventilator Mode (Hamilton)
      223834, -- O2 Flow
      227287, -- O2 Flow (additional cannula)
      227582, -- BiPap O2 Flow
      226732 -- O2 Delivery Device(s)
    )
  group by all
),
statuses as (
  select
    stay_id,
    charttime,
    case
      when has_oxygen_flow and device in ('Tracheostomy tube', 'Trach mask ') then 'Tracheostomy'
      when has_oxygen_flow and device = 'Endotracheal tube' or has_invasive_mode then 'InvasiveVent'
      when has_oxygen_flow and device not in ('T-piece', 'Other') or has_mask_mode then 'another status'
    end as status
  from charted
  where has_oxygen_flow or has_ventilator_charting
),
ordered as (
  select
    *,
    lag(status) over (partition by stay_id order by charttime) as previous_status,
    lag(charttime) over (partition by stay_id, status order by charttime) as previous_of_status,
    lead(charttime) over (partition by stay_id order by charttime) as next_time
  from statuses
  where status is not null
),
numbered as (
  select
    *,
    count(*) filter (
      previous_status is distinct from status or charttime - previous_of_status >= interval 14 hours
    ) over (partition by stay_id order by charttime) as episode
  from ordered
)
select
  stay_id,
  min(charttime) as starttime,
  max(case when next_time - charttime < interval 14 hours then next_time else charttime end) as endtime
from numbered
where status = 'InvasiveVent'
group by stay_id, episode
having min(charttime) < max(charttime)
