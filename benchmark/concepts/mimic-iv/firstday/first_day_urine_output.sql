-- title: Urine output of the first day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.urine_output
-- citation: none
-- conventions:
--   - The first day runs from ICU admission to 24 hours later, both ends included; unlike the other first-day tables nothing before admission counts.
--   - The total in mL is not scaled to 24 hours, so short stays look oliguric; it can be zero or negative.
--   - A stay without urine output in the window has a missing value, not 0.
-- ties: none
select
  icustays.subject_id,
  icustays.stay_id,
  sum(cast(urine_output.urineoutput as decimal(38, 10)))::double as urineoutput
from mimiciv_icu.icustays
left join mimiciv_derived.urine_output
  on icustays.stay_id = urine_output.stay_id
  and urine_output.charttime >= icustays.intime
  and urine_output.charttime <= icustays.intime + interval '1 day'
group by icustays.subject_id, icustays.stay_id
