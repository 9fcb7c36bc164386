-- One table of what happens now and then in a unit stay: how many of each kind, and when, in minutes. Each table of
-- eICU that only lists such events takes its kind from here. `n` numbers the events of a kind within a stay.
with kinds(kind, share, per_day, at_least) as (
  values
    ('diagnosis', 0.98, 1.6, 2), ('treatment', 0.95, 2.4, 2), ('medication', 0.94, 5, 8), ('history', 0.93, 0, 4), ('note', 0.97, 1.6, 5),
    ('plan', 0.98, 2, 8), ('goal', 0.4, 0.3, 1), ('provider', 0.95, 0.3, 1), ('admission drug', 0.25, 0, 6), ('allergy', 0.4, 0, 1),
    ('culture', 0.06, 0.4, 1), ('nurse care', 0.55, 8, 2), ('assessment', 0.45, 24, 5), ('infectious', 0.03, 0.2, 1), ('custom lab', 0.02, 0.2, 1)
)
select unit.i, patientunitstayid, kind, archetype, n, cast(unit.i as bigint) * 2000 + n as key,
  cast(floor(unitdischargeoffset * u('event ' || kind, cast(unit.i as bigint) * 2000 + n) * u('early ' || kind, cast(unit.i as bigint) * 2000 + n)) as bigint) as minute,
  infection, resp, cardio, renal, dies
from unit, kinds,
  unnest(generate_series(1, cast(least(1999, at_least + floor((at_least + per_day * los_hours / 24.0) * u('events ' || kind, unit.i))) as bigint))) numbered(n)
where u('has ' || kind, unit.i) < share
