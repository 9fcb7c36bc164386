-- Blood draws: before and during each ICU stay, more often the sicker; and on ward admissions.
-- `course` as in hour. A draw gives several specimens (see lab).
with rhythm as (
  select i as episode, subject_id, hadm_id, intime, los_hours, dies, gender, archetype, severity,
    resp, cardio, renal, liver, coag, infection, has_liver_panel, i,
    case when severity > 0.55 then 8 when severity > 0.25 then 12 else 24 end as step
  from stay
  union all
  select 100000000 + a, subject_id, hadm_id, admittime, 48, false, gender, archetype, 0.1,
    0.05, 0.05, case when u('ward kidney', a) < 0.1 then 0.5 else 0.0 end, 0.0, 0.05, 0.1, u('ward panel', a) < 0.5, 100000000 + a, 24
  from admission where seq = -1
), times as (
  select *, hour_offset, episode * 1000 + (hour_offset + 4) // 4 as key
  from rhythm, unnest(generate_series(-4, los_hours, step)) offsets(hour_offset)
)
select *,
  date_trunc('minute', intime + to_seconds(cast(3600 * (hour_offset + 1.5 * u('drawn', key)) as bigint))) as charttime,
  case when hour_offset < 0 then 0.65 when dies then 0.8 + 0.5 * hour_offset / los_hours
    else 1.0 / (1 + greatest(hour_offset - 14, 0) / 48.0) end as course,
  -- kidney function falls over one to two days and recovers slowly
  case when hour_offset < 0 then 0.25 when hour_offset < 40 then 0.35 + 0.65 * hour_offset / 40.0
    when dies then 1.0 else 1.0 / (1 + (hour_offset - 40) / 120.0) end as kidney_course,
  case when gender = 'F' then 0.75 else 0.95 end + 0.12 * z('baseline', episode)
    + case when archetype = 'renal' and u('chronic', episode) < 0.6 then 1.6 + 2.4 * u('stage', episode) else 0 end as baseline_creatinine
from times
