-- Discharge and death of each admission.
with last_stay as (
  select a, max(outtime) as last_outtime, bool_or(dies) as dies from stay group by a
)
select admission.*, coalesce(dies, false) as dies,
  case when dies then last_outtime
    when last_outtime is not null then last_outtime + to_seconds(cast(3600 * (6 + 200 * u('after', a) * u('after', a)) as bigint))
    else admittime + to_seconds(cast(86400 * (1 + 6 * u('after', a)) as bigint)) end as dischtime
from admission left join last_stay using (a)
