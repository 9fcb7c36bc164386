-- title: Weight of the patient over the ICU stay
-- grain: one row per usable weight record, and at most one more per ICU stay for the time before its first record; not unique
-- keys: stay_id, starttime, endtime
-- sources: mimiciv_icu.icustays, mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - Any charted weight above zero is used as charted, without an upper limit, rounding or change of unit.
--   - The first admission weight of a stay holds from 2 hours before ICU admission, whenever it was charted; every other weight holds from its charting.
--   - A weight holds until the next one starts, the last one until 2 hours after ICU discharge; a weight charted later than that ends before it starts.
--   - When the first weight of a stay starts after ICU admission, it is also taken for the time from 2 hours before admission to its start, as one more row.
--   - Daily weights charted earlier than 2 hours before admission stay in the sequence and come before the admission weight.
-- ties: admission weights charted at the same time are numbered by weight ascending; records that start at the same time are ordered admission before daily weight, then by weight ascending
with weight_items (itemid, weight_type) as (
  values
    (226512, 'admit'),  -- Admission Weight (Kg)
    (224639, 'daily')   -- Daily Weight
),
weight_records as (
  select
    chartevents.stay_id,
    chartevents.charttime,
    weight_items.weight_type,
    chartevents.valuenum as weight,
    row_number() over (
      partition by chartevents.stay_id, weight_items.weight_type
      order by chartevents.charttime nulls first, chartevents.valuenum
    ) as record_number
  from mimiciv_icu.chartevents
  inner join weight_items
    on chartevents.itemid = weight_items.itemid
  where chartevents.valuenum > 0
),
started_weights as (
  select
    icustays.stay_id,
    icustays.intime,
    icustays.outtime,
    case
      when weight_records.weight_type = 'admit' and weight_records.record_number = 1
        then icustays.intime - interval 2 hours
      else weight_records.charttime
    end as starttime,
    weight_records.weight,
    weight_records.weight_type
  from weight_records
  inner join mimiciv_icu.icustays
    on weight_records.stay_id = icustays.stay_id
),
ordered_weights as (
  select
    started_weights.*,
    lead(starttime, 1, outtime + interval 2 hours) over stay_order as endtime,
    row_number() over stay_order as weight_number
  from started_weights
  window stay_order as (
    partition by stay_id
    order by starttime nulls first, weight_type, weight
  )
)
select stay_id, starttime, endtime, weight, weight_type
from ordered_weights
union all
select stay_id, intime - interval 2 hours as starttime, starttime as endtime, weight, weight_type
from ordered_weights
where weight_number = 1
  and intime < starttime
