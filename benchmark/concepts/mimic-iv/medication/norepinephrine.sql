-- title: Norepinephrine infusions
-- grain: one row per infusion record (row of inputevents)
-- keys: stay_id, starttime, endtime, linkorderid
-- sources: mimiciv_icu.inputevents
-- citation: none
-- conventions:
--   - the rate is in mcg/kg/min; a rate charted in mg/kg/min is multiplied by 1000
--   - a rate charted in mg/kg/min with a patient weight of exactly 1 is a mislabelled mcg/kg/min rate and is kept
--   - rates in any other unit are kept as charted
--   - every record counts: boluses, rewritten orders and records without a rate are kept
-- ties: none

select
  stay_id,
  linkorderid,
  case
    when rateuom = 'mg/kg/min' and patientweight = 1 then rate
    when rateuom = 'mg/kg/min' then rate * 1000.0
    else rate
  end as vaso_rate,
  amount as vaso_amount,
  starttime,
  endtime
from mimiciv_icu.inputevents
where itemid in (
    221906 -- Norepinephrine
  )
