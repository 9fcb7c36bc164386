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
  select numbered.i, numbered.part, admission.*, clip(0.335 + 0.26 * z('severity', i), 0.02, 1) as severity, leaning.* exclude (archetype)
  from numbered join admission using (p, seq) join leaning using (archetype)
), systems as (
  select * exclude (resp, cardio, renal, liver, coag, neuro, infection),
    clip(0.8 * severity - 0.12 + resp + 0.18 * z('resp', i), 0, 1.2) as resp,
    clip(0.8 * severity - 0.12 + cardio + 0.18 * z('cardio', i), 0, 1.2) as cardio,
    clip(0.8 * severity - 0.12 + renal + 0.20 * z('renal', i), 0, 1.2) as renal,
    clip(0.8 * severity - 0.16 + liver + 0.18 * z('liver', i), 0, 1.2) as liver,
    clip(0.8 * severity - 0.14 + coag + 0.20 * z('coag', i), 0, 1.2) as coag,
    clip(0.8 * severity - 0.12 + neuro + 0.20 * z('neuro', i), 0, 1.2) as neuro,
    clip(0.8 * severity - 0.12 + infection + 0.18 * z('infection', i), 0, 1.2) as infection
  from severe
), course as (
  select *,
    -- hours in hospital before the unit: covers every pre-ICU class of OASIS
    case
      when u('before', a) < 0.10 then 0.02 + 0.14 * u('delay', a)
      when u('before', a) < 0.45 then 0.2 + 4.7 * u('delay', a)
      when u('before', a) < 0.78 then 5 + 18 * u('delay', a)
      when u('before', a) < 0.95 then 24 + 190 * u('delay', a)
      else 313 + 200 * u('delay', a) end as hours_before,
    cast(floor(6 + 40 * u('los', i)
      + 330 * u('long', i) * u('long', i) * u('long', i) * u('long', i) * u('long', i)
      + 70 * severity * u('sick', i)) as bigint) as los_hours,
    u('death', i) < 0.01 + 0.8 * severity * severity * severity as dies
  from systems
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
select *,
  930000001 + i as stay_id,
  intime + to_seconds(los_hours * 3600 + cast(3000 * u('out', i) as bigint)) as outtime,
  resp > 0.55 or neuro > 0.8 or (archetype = 'surgical' and u('tube', i) < 0.7) or u('tube', i) < 0.06 as is_intubated,
  case when archetype = 'surgical' or u('tube start', i) < 0.55 then 0 else 1 + cast(floor(14 * u('tube at', i)) as bigint) end as tube_hour,
  cast(floor(case when archetype = 'surgical' and resp < 0.6 then 4 + 12 * u('tube hours', i)
    else 16 + 150 * resp * u('tube hours', i) end) as bigint) as tube_hours,
  u('trach', i) < 0.03 as has_tracheostomy,
  resp > 0.35 and u('mask', i) < 0.35 as has_mask,
  resp > 0.30 and u('flow', i) < 0.45 as has_high_flow,
  u('hamilton', i) < 0.3 as is_hamilton,
  cardio > 0.5 or u('line', i) < 0.2 as has_arterial_line,
  severity > 0.3 or u('foley', i) < 0.5 as has_catheter,
  cardio > 0.55 and u('pressor', i) < 0.9 as has_pressor,
  renal > 0.92 and u('crrt', i) < 0.6 as has_crrt,
  renal > 0.7 and u('crrt', i) >= 0.6 as has_dialysis,
  u('gases', i) < 0.28 or resp > 0.55 as has_gases,
  u('liver panel', i) < 0.42 or liver > 0.4 as has_liver_panel,
  infection > 0.35 and u('infected', i) < 0.9 as has_antibiotics
from placed
