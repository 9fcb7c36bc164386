-- title: Infusions of neuromuscular blockers
-- grain: one row per infusion record with a rate (row of inputevents)
-- keys: stay_id, starttime, endtime, orderid
-- sources: mimiciv_icu.inputevents
-- citation: none
-- conventions:
--   - records without a rate (boluses) are left out
--   - the two drugs are not told apart; rate and amount are kept as charted
-- ties: none

select
  stay_id,
  orderid,
  rate as drug_rate,
  amount as drug_amount,
  starttime,
  endtime
from mimiciv_icu.inputevents
where itemid in (
    222062, -- Vecuronium
    221555 -- Cisatracurium
  )
  and rate is not null
