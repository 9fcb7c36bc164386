-- Dates of lines and catheters, charted each shift.
with lines as (
  select stay.*, unnest([
    {itemid: 225754, used: u('20 gauge', i) < 0.67}, {itemid: 225755, used: u('18 gauge', i) < 0.54},
    {itemid: 224288, used: has_arterial_line}, {itemid: 224290, used: has_arterial_line}, {itemid: 224287, used: has_arterial_line},
    {itemid: 224280, used: has_pressor}, {itemid: 224282, used: has_pressor}, {itemid: 224279, used: has_pressor},
    {itemid: 224186, used: u('picc', i) < 0.12}, {itemid: 224184, used: u('picc', i) < 0.12}, {itemid: 229352, used: has_catheter}
  ], recursive := true) from stay
)
select subject_id, hadm_id, stay_id, 1 + i % 40 as caregiver_id, date_trunc('hour', intime) + to_hours(1 + 12 * shift) as charttime,
  date_trunc('hour', intime) + to_hours(2 + 12 * shift) as storetime, itemid, date_trunc('day', intime) as value, 'Date' as valueuom, 0 as warning
from lines, unnest(generate_series(0, los_hours // 12)) shifts(shift) where used
