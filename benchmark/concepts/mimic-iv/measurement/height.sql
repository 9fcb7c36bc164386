-- title: Charted height
-- grain: one row per height charted in centimetres, times the inch heights of the same patient and time, and one row per inch height without such a partner; not unique
-- keys: subject_id, charttime, stay_id
-- sources: mimiciv_icu.chartevents
-- citation: none
-- conventions:
--   - Height in centimetres, rounded to 3 and then to 2 decimals, half away from zero; inches are multiplied by 2.54.
--   - A height charted in centimetres wins over one in inches of the same patient and time.
--   - Only heights above 120 and below 230 cm are kept, judged after that choice and after rounding; an implausible centimetre height is not replaced by the inch height.
--   - A height charted in inches alone keeps its value but has no patient, stay and time, so it never reaches a stay.
-- ties: none
with height_items (itemid, centimetres_per_unit) as (
  values
    (226730, 1.0),  -- Height (cm)
    (226707, 2.54)  -- Height, charted in inches
),
height_records as (
  select
    chartevents.subject_id,
    chartevents.stay_id,
    chartevents.charttime,
    height_items.centimetres_per_unit = 1 as in_centimetres,
    round(try_cast(chartevents.valuenum * height_items.centimetres_per_unit as decimal(18, 3)), 2) as height
  from mimiciv_icu.chartevents
  inner join height_items
    on chartevents.itemid = height_items.itemid
  where chartevents.valuenum is not null
),
centimetre_heights as (
  select subject_id, stay_id, charttime, height
  from height_records
  where in_centimetres
),
inch_heights as (
  select subject_id, charttime, height
  from height_records
  where not in_centimetres
),
heights as (
  select
    centimetre_heights.subject_id,
    centimetre_heights.stay_id,
    centimetre_heights.charttime,
    coalesce(centimetre_heights.height, inch_heights.height) as height
  from centimetre_heights
  full outer join inch_heights
    on centimetre_heights.subject_id = inch_heights.subject_id
    and centimetre_heights.charttime = inch_heights.charttime
)
select subject_id, stay_id, charttime, height
from heights
where height > 120
  and height < 230
