-- Patients. Subject ids from 900,000,001 on: real MIMIC-IV ids have eight digits.
-- Ten stays belong to eight patients (see stay), so persons follow from the number of stays.
select
  p,
  900000001 + p as subject_id,
  case when u('sex', p) < 0.44 then 'F' else 'M' end as gender,
  -- ages over 89 are one group in MIMIC-IV, stored as 91
  coalesce(cast(pinned.anchor_age as bigint), case when u('over 89', p) < 0.04 then 91
    else cast(floor(clip(64 + 17 * z('age', p), 18, 89)) as bigint) end) as anchor_age,
  2110 + cast(floor(85 * u('year', p)) as bigint) as anchor_year,
  pick(['2008 - 2010', '2011 - 2013', '2014 - 2016', '2017 - 2019', '2020 - 2022'], 'group', p) as anchor_year_group,
  case when u('sex', p) < 0.44 then 162 else 176 end + round(7.5 * z('height', p)) as height_cm,
  round(clip((case when u('sex', p) < 0.44 then 71 else 86 end) * (1 + 0.25 * z('weight', p)), 38, 190), 1) as weight_kg
from range((getvariable('stays') // 10) * 8 + least(getvariable('stays') % 10, 8)) persons(p) left join pinned using (p)
