-- title: Oxygen flow and oxygen delivery devices
-- grain: one row per patient and charting time with an oxygen flow
-- keys: subject_id, charttime
-- sources: mimiciv_icu.chartevents
-- citation: Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - only times with a charted oxygen flow appear; a device charted without a flow at the same time is lost
--   - the flow of BiPap counts as the main oxygen flow
--   - of several entries of one flow at one time the one stored last counts
--   - a flow entry counts if its text is present, even when it holds no number
--   - devices are numbered alphabetically, a device charted without text first; the fifth and later ones are dropped and repeated devices take several places
--   - flows and devices are matched by patient and time, so the stay is the highest stay charted with the flow, or with the device when the flow has none
-- ties: flow entries stored at the same time: the higher number, then the higher stay_id, counts

with oxygen_charting as materialized (
  select
    subject_id,
    stay_id,
    charttime,
    storetime,
    itemid,
    value,
    valuenum
  from mimiciv_icu.chartevents
  where itemid in (
    223834, -- O2 Flow
    227582, -- BiPap O2 Flow, counted as O2 Flow
    227287, -- O2 Flow (additional cannula)
    226732 -- O2 Delivery Device(s)
  )
),

latest_flows as (
  select
    subject_id,
    stay_id,
    charttime,
    itemid = 227287 as is_additional,
    valuenum
  from oxygen_charting
  where itemid in (223834, 227582, 227287)
    and value is not null
  qualify row_number() over (
    partition by subject_id, charttime, is_additional
    order by
      storetime desc nulls last,
      valuenum desc nulls last,
      stay_id desc nulls last
  ) = 1
),

devices as (
  select
    subject_id,
    charttime,
    max(stay_id) as stay_id,
    list(value order by value asc nulls first) as device_names
  from oxygen_charting
  where itemid = 226732
  group by subject_id, charttime
),

flows_with_devices as (
  select
    latest_flows.subject_id,
    coalesce(latest_flows.stay_id, devices.stay_id) as stay_id,
    latest_flows.charttime,
    latest_flows.is_additional,
    latest_flows.valuenum,
    devices.device_names[1] as device_1,
    devices.device_names[2] as device_2,
    devices.device_names[3] as device_3,
    devices.device_names[4] as device_4
  from latest_flows
  left join devices
    on latest_flows.subject_id = devices.subject_id
    and latest_flows.charttime = devices.charttime
)

select
  subject_id,
  max(stay_id) as stay_id,
  charttime,
  max(case when not is_additional then valuenum end) as o2_flow,
  max(case when is_additional then valuenum end) as o2_flow_additional,
  max(device_1) as o2_delivery_device_1,
  max(device_2) as o2_delivery_device_2,
  max(device_3) as o2_delivery_device_3,
  max(device_4) as o2_delivery_device_4
from flows_with_devices
group by subject_id, charttime
