-- title: Urine output
-- grain: one row per ICU stay and chart time with at least one urine output record
-- keys: stay_id, charttime
-- sources: mimiciv_icu.outputevents
-- citation: none
-- conventions:
--   - Volumes are in mL as charted, and everything charted at one time in one stay is added up.
--   - Irrigation fluid that goes in is subtracted, so the output of a time can be negative; an irrigation volume charted as zero or below keeps its sign.
--   - No volume is rejected as implausible, and records outside the ICU stay's admission and discharge times count.
-- ties: none
with urine_items (itemid, direction) as (
  values
    (226559, 'out'),  -- Foley
    (226560, 'out'),  -- Void
    (226561, 'out'),  -- Condom Cath
    (226584, 'out'),  -- Ileoconduit
    (226563, 'out'),  -- Suprapubic
    (226564, 'out'),  -- R Nephrostomy
    (226565, 'out'),  -- L Nephrostomy
    (226567, 'out'),  -- Straight Cath
    (226557, 'out'),  -- R Ureteral Stent
    (226558, 'out'),  -- L Ureteral Stent
    (227488, 'in'),   -- GU Irrigant Volume In
    (227489, 'out')   -- GU Irrigant/Urine Volume Out
),
urine_records as (
  select
    outputevents.stay_id,
    outputevents.charttime,
    case
      when urine_items.direction = 'in' and outputevents.value > 0 then -outputevents.value
      else outputevents.value
    end as volume
  from mimiciv_icu.outputevents
  inner join urine_items
    on outputevents.itemid = urine_items.itemid
)
select
  stay_id,
  charttime,
  sum(cast(volume as decimal(38, 10)))::double as urineoutput
from urine_records
group by stay_id, charttime
