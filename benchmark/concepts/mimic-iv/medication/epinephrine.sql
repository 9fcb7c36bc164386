-- title: Epinephrine infusions
-- grain: one row per infusion record (row of inputevents)
-- keys: stay_id, starttime, endtime, linkorderid
-- sources: mimiciv_icu.inputevents
-- citation: none
-- conventions:
--   - the rate is taken as charted, intended as mcg/kg/min; the charted unit is not checked
--   - every record counts: boluses, rewritten orders and records without a rate are kept
-- ties: none

select
  stay_id,
  linkorderid,
  rate as vaso_rate,
  amount as vaso_amount,
  starttime,
  endtime
from mimiciv_icu.inputevents
where itemid in (
    221289 -- Epinephrine
  )
