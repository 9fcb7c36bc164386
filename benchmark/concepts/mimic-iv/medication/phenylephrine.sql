-- title: Phenylephrine infusions
-- grain: one row per infusion record (row of inputevents)
-- keys: stay_id, starttime, endtime, linkorderid
-- sources: mimiciv_icu.inputevents
-- citation: none
-- conventions:
--   - the rate is in mcg/kg/min; a rate charted in mcg/min is divided by the patient weight (no weight, no rate)
--   - rates in any other unit are kept as charted
--   - every record counts: boluses, rewritten orders and records without a rate are kept
-- ties: none

select
  stay_id,
  linkorderid,
  case
    when rateuom = 'mcg/min' then rate / patientweight
    else rate
  end as vaso_rate,
  amount as vaso_amount,
  starttime,
  endtime
from mimiciv_icu.inputevents
where itemid in (
    221749 -- Phenylephrine
  )
