-- title: Vasopressin infusions
-- grain: one row per infusion record (row of inputevents)
-- keys: stay_id, starttime, endtime, linkorderid
-- sources: mimiciv_icu.inputevents
-- citation: none
-- conventions:
--   - the rate is in units/hour; a rate charted in units/min is multiplied by 60
--   - rates in any other unit are kept as charted
--   - every record counts: boluses, rewritten orders and records without a rate are kept
-- ties: none

select
  stay_id,
  linkorderid,
  case
    when rateuom = 'units/min' then rate * 60.0
    else rate
  end as vaso_rate,
  amount as vaso_amount,
  starttime,
  endtime
from mimiciv_icu.inputevents
where itemid in (
    222315 -- Vasopressin
  )
