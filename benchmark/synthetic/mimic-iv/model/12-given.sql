-- What is given besides continuous drugs: boluses, fluids, nutrition, by how often stays of the open demo have each.
select stay.i, subject_id, hadm_id, stay_id, weight_kg, given_item.itemid, category, unit, rate_unit,
  (stay.i * 100 + n) * 1000 + again as key,
  date_trunc('minute', intime) + to_minutes(cast(floor(60 * los_hours * u('given at', (stay.i * 100 + n) * 1000 + again)) as bigint)) as starttime,
  round(amount * (0.5 + u('given amount', (stay.i * 100 + n) * 1000 + again)), 1) as amount,
  case when rate is null then 1 else 60 end as minutes, rate
from stay, (select *, row_number() over (order by itemid, category) as n from given_item) as given_item,
  unnest(generate_series(0, cast(floor(per_day * least(los_hours, 240) / 24.0 * (0.5 + u('given times', stay.i * 100 + n))) as bigint))) times(again)
where u('is given', stay.i * 100 + n) < share
