-- title: Episodes of respiratory support
-- grain: one row per ICU stay and uninterrupted span of one kind of respiratory support
-- keys: stay_id, starttime
-- sources: mimiciv_derived.ventilator_setting, mimiciv_derived.oxygen_delivery
-- citation: Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - each charting time gets one status, decided in the order tracheostomy, invasive ventilation, non-invasive ventilation, high-flow nasal cannula, supplemental oxygen, none; times without any of these are ignored
--   - only the first oxygen device of a time counts; modes outside the lists (such as Standby and SPONT) give no status
--   - texts are compared exactly, trailing blanks included
--   - a new episode starts at the first charting time of the stay, when the status differs from that of the preceding time, or when this status was last charted 14 hours ago or earlier
--   - an episode ends at the next charting time of the stay if that comes in less than 14 hours, otherwise at its own last charting time, so neighbouring episodes touch
--   - an episode charted at a single time is dropped and its neighbours are not joined
--   - the status None (no support) forms episodes like any other
-- ties: none (a stay has one status per charting time)

with charted_support as (
  select
    coalesce(ventilator_setting.stay_id, oxygen_delivery.stay_id) as stay_id,
    coalesce(ventilator_setting.charttime, oxygen_delivery.charttime) as charttime,
    ventilator_setting.ventilator_mode as mode,
    ventilator_setting.ventilator_mode_hamilton as mode_hamilton,
    oxygen_delivery.o2_delivery_device_1 as device
  from mimiciv_derived.ventilator_setting as ventilator_setting
  full join mimiciv_derived.oxygen_delivery as oxygen_delivery
    on ventilator_setting.stay_id = oxygen_delivery.stay_id
    and ventilator_setting.charttime = oxygen_delivery.charttime
),

classified as (
  select
    stay_id,
    charttime,
    case
      when device in ('Tracheostomy tube', 'Trach mask ')
        then 'Tracheostomy'
      when device = 'Endotracheal tube'
        or mode in (
          '(S) CMV', 'APRV', 'APRV/Biphasic+ApnPress', 'APRV/Biphasic+ApnVol',
          'APV (cmv)', 'Ambient', 'Apnea Ventilation', 'CMV', 'CMV/ASSIST',
          'CMV/ASSIST/AutoFlow', 'CMV/AutoFlow', 'CPAP/PPS', 'CPAP/PSV',
          'CPAP/PSV+Apn TCPL', 'CPAP/PSV+ApnPres', 'CPAP/PSV+ApnVol', 'MMV',
          'MMV/AutoFlow', 'MMV/PSV', 'MMV/PSV/AutoFlow', 'P-CMV', 'PCV+',
          'PCV+/PSV', 'PCV+Assist', 'PRES/AC', 'PRVC/AC', 'PRVC/SIMV',
          'PSV/SBT', 'SIMV', 'SIMV/AutoFlow', 'SIMV/PRES', 'SIMV/PSV',
          'SIMV/PSV/AutoFlow', 'SIMV/VOL', 'SYNCHRON MASTER',
          'SYNCHRON SLAVE', 'VOL/AC'
        )
        or mode_hamilton in (
          'APRV', 'APV (cmv)', 'Ambient', '(S) CMV', 'P-CMV', 'SIMV',
          'APV (simv)', 'P-SIMV', 'VS', 'ASV'
        )
        then 'InvasiveVent'
      when device in ('Bipap mask ', 'CPAP mask ')
        or mode_hamilton in ('DuoPaP', 'NIV', 'NIV-ST')
        then 'NonInvasiveVent'
      when device = 'High flow nasal cannula'
        then 'HFNC'
      when device in (
        'Non-rebreather', 'Face tent', 'Aerosol-cool', 'Venti mask ',
        'Medium conc mask ', 'Ultrasonic neb', 'Vapomist', 'Oxymizer',
        'High flow neb', 'Nasal cannula'
      )
        then 'SupplementalOxygen'
      when device = 'None'
        then 'None'
    end as ventilation_status
  from charted_support
  where stay_id is not null
    and charttime is not null
),

with_neighbours as (
  select
    stay_id,
    charttime,
    ventilation_status,
    lag(charttime) over (
      partition by stay_id, ventilation_status
      order by charttime
    ) as same_status_before,
    lag(ventilation_status) over stay_times as status_before,
    lead(charttime) over stay_times as charttime_after
  from classified
  where ventilation_status is not null
  window stay_times as (partition by stay_id order by charttime)
),

numbered as (
  select
    stay_id,
    charttime,
    ventilation_status,
    case
      when charttime_after < charttime + interval 14 hour then charttime_after
      else charttime
    end as support_until,
    sum(
      case
        when status_before is null then 1
        when charttime >= same_status_before + interval 14 hour then 1
        when status_before <> ventilation_status then 1
        else 0
      end
    ) over (
      partition by stay_id
      order by charttime
      rows between unbounded preceding and current row
    ) as episode
  from with_neighbours
)

select
  stay_id,
  min(charttime) as starttime,
  max(support_until) as endtime,
  ventilation_status
from numbered
group by stay_id, episode, ventilation_status
having min(charttime) <> max(charttime)
