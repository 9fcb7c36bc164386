-- ICU stays and what is wrong with the patient: one severity, spread over seven organ systems by the reason for
-- admission. Of ten stays, eight are first ones, the ninth is a second admission of the first patient and the
-- tenth a second stay of the second patient within one admission.
with numbered as (
  select i,
    (i // 10) * 8 + case i % 10 when 8 then 0 when 9 then 1 else i % 10 end as p,
    case when i % 10 = 8 then 1 else 0 end as seq,
    case when i % 10 = 9 then 1 else 0 end as part
  from range(getvariable('stays')) stays(i)
), leaning(archetype, resp, cardio, renal, liver, coag, neuro, infection) as (
  values
    ('surgical', 0.00, 0.15, 0.00, -0.15, 0.05, -0.10, -0.10),
    ('sepsis', 0.15, 0.30, 0.20, 0.05, 0.10, 0.05, 0.60),
    ('cardiac', 0.10, 0.30, 0.10, 0.00, 0.00, -0.05, -0.10),
    ('respiratory', 0.45, 0.00, 0.00, -0.05, 0.00, 0.00, 0.25),
    ('neuro', 0.05, -0.05, -0.10, -0.10, 0.00, 0.50, 0.00),
    ('trauma', 0.15, 0.10, 0.00, 0.00, 0.15, 0.15, 0.00),
    ('liver', 0.05, 0.10, 0.20, 0.60, 0.40, 0.15, 0.15),
    ('renal', 0.05, 0.05, 0.75, 0.00, 0.05, 0.00, 0.10)
), severe as (
  select numbered.i, numbered.part, admission.*, clip(0.30 + 0.25 * z('severity', i), 0.02, 1) as severity, leaning.* exclude (archetype)
  from numbered join admission using (p, seq) join leaning using (archetype)
), systems as (
  select severe.* exclude (resp, cardio, renal, liver, coag, neuro, infection),
    coalesce(pinned.resp, clip(0.8 * severity - 0.12 + severe.resp + 0.18 * z('resp', i), 0, 1.2)) as resp,
    coalesce(pinned.cardio, clip(0.8 * severity - 0.12 + severe.cardio + 0.18 * z('cardio', i), 0, 1.2)) as cardio,
    coalesce(pinned.renal, clip(0.8 * severity - 0.12 + severe.renal + 0.20 * z('renal', i), 0, 1.2)) as renal,
    coalesce(pinned.liver, clip(0.8 * severity - 0.16 + severe.liver + 0.18 * z('liver', i), 0, 1.2)) as liver,
    coalesce(pinned.coag, clip(0.8 * severity - 0.14 + severe.coag + 0.20 * z('coag', i), 0, 1.2)) as coag,
    coalesce(pinned.neuro, clip(0.8 * severity - 0.12 + severe.neuro + 0.20 * z('neuro', i), 0, 1.2)) as neuro,
    coalesce(pinned.infection, clip(0.8 * severity - 0.12 + severe.infection + 0.18 * z('infection', i), 0, 1.2)) as infection
  from severe left join pinned using (i)
), course as (
  select systems.*,
    -- hours in hospital before the unit: covers every pre-ICU class of OASIS
    case
      when u('before', a) < 0.12 then 0.02 + 0.14 * u('delay', a)
      when u('before', a) < 0.58 then 0.2 + 4.7 * u('delay', a) * u('delay', a)
      when u('before', a) < 0.76 then 5 + 18 * u('delay', a)
      when u('before', a) < 0.97 then 24 + 190 * u('delay', a) * u('delay', a)
      else 313 + 200 * u('delay', a) end as hours_before,
    coalesce(cast(pinned.los_hours as bigint), cast(floor(6 + 40 * u('los', i)
      + 330 * u('long', i) * u('long', i) * u('long', i) * u('long', i) * u('long', i)
      + 70 * severity * u('sick', i)) as bigint)) as los_hours,
    u('death', i) < 0.01 + 0.95 * severity * severity * severity as dies
  from systems left join pinned using (i)
), timed as (
  select *,
    lag(los_hours) over (partition by a order by part) as earlier_los_hours,
    lag(hours_before) over (partition by a order by part) as earlier_hours_before
  from course
), placed as (
  select * exclude (earlier_los_hours, earlier_hours_before, dies),
    admittime + to_seconds(cast(3600 * case part
      when 0 then hours_before
      else earlier_hours_before + earlier_los_hours + 20 + 60 * u('return', i) end as bigint)) as intime,
    -- who returns to the unit within one admission has survived the first stay
    dies and not (part = 0 and i % 10 = 1 and i + 8 < getvariable('stays')) as dies
  from timed
)
select placed.*,
  930000001 + i as stay_id,
  intime + to_seconds(placed.los_hours * 3600 + cast(3000 * u('out', i) as bigint)) as outtime,
  coalesce(pinned.is_intubated = 1, placed.resp > 0.55 or placed.neuro > 0.8 or (archetype = 'surgical' and u('tube', i) < 0.8) or u('tube', i) < 0.09) as is_intubated,
  coalesce(cast(pinned.tube_hour as bigint),
    case when archetype = 'surgical' or u('tube start', i) < 0.55 then 0 else 1 + cast(floor(14 * u('tube at', i)) as bigint) end) as tube_hour,
  coalesce(cast(pinned.tube_hours as bigint), cast(floor(case when archetype = 'surgical' and placed.resp < 0.6 then 4 + 12 * u('tube hours', i)
    else 16 + 150 * placed.resp * u('tube hours', i) end) as bigint)) as tube_hours,
  coalesce(pinned.has_tracheostomy = 1, u('trach', i) < 0.03) as has_tracheostomy,
  coalesce(pinned.has_mask = 1, placed.resp > 0.35 and u('mask', i) < 0.35) as has_mask,
  coalesce(pinned.has_high_flow = 1, placed.resp > 0.30 and u('flow', i) < 0.45) as has_high_flow,
  u('hamilton', i) < 0.3 as is_hamilton,
  coalesce(pinned.has_arterial_line = 1, placed.cardio > 0.5 or u('line', i) < 0.24) as has_arterial_line,
  severity > 0.3 or u('foley', i) < 0.5 as has_catheter,
  placed.cardio > 0.55 and u('pressor', i) < 0.9 as has_pressor,
  coalesce(pinned.has_crrt = 1, placed.renal > 0.92 and u('crrt', i) < 0.6) as has_crrt,
  coalesce(pinned.has_dialysis = 1, placed.renal > 0.7 and u('crrt', i) >= 0.6) as has_dialysis,
  coalesce(pinned.has_gases = 1, u('gases', i) < 0.31 or placed.resp > 0.55) as has_gases,
  coalesce(pinned.has_liver_panel = 1, u('liver panel', i) < 0.42 or placed.liver > 0.4) as has_liver_panel,
  placed.infection >= 1.2 or (placed.infection > 0.35 and u('infected', i) < 0.9) as has_antibiotics
from placed left join pinned using (i)
