-- Values of single hours of the stays that are partly set beforehand (see pinned).
pivot (select case_number * 10 + 3 as i, cast(unnest(generate_series(from_hour, to_hour)) as bigint) as hr, quantity, value
  from pinned_value where from_hour is not null)
on quantity using first(value) group by i, hr
