select subject_id, any_value(gender) as gender, any_value(anchor_age) as anchor_age, any_value(anchor_year) as anchor_year,
  any_value(anchor_year_group) as anchor_year_group,
  coalesce(cast(min(dischtime) filter (where dies) as date),
    case when u('later death', any_value(p)) < 0.1 then cast(max(dischtime) + to_days(cast(20 + floor(300 * u('later', any_value(p))) as integer)) as date) end) as dod
from hospital group by subject_id
