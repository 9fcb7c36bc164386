-- title: Lowest Glasgow Coma Scale of the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.gcs
-- citation: Teasdale and Jennett 1974, Lancet; Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - the first day runs from 6 hours before admission to the ICU to 24 hours after it, both ends included
--   - the components are those of the charting time with the lowest total, so they need not add up to it
--   - an intubated patient has verbal 0 and total 15; a verbal 0 is a value, not missing
--   - a missing total or component counts as normal (total 15, motor 6, verbal 5, eyes 4), each on its own
-- ties: charting times of equal total: the earliest, then the lowest motor, verbal, eyes and gcs_unable, empty values last
-- deviations:
--   - first_day_gcs picks among charting times of equal total in no fixed order
--   - first_day_gcs leaves a missing total or component empty
--   - hadm_id is added and gcs_unable is left out

with first_day_charting as (
  select
    icustays.stay_id,
    gcs.charttime,
    gcs.gcs,
    gcs.gcs_motor,
    gcs.gcs_verbal,
    gcs.gcs_eyes,
    gcs.gcs_unable
  from mimiciv_icu.icustays as icustays
  inner join mimiciv_derived.gcs as gcs
    on icustays.stay_id = gcs.stay_id
    and gcs.charttime >= icustays.intime - interval 6 hour
    and gcs.charttime <= icustays.intime + interval 1 day
),

lowest_total as (
  select
    stay_id,
    gcs,
    gcs_motor,
    gcs_verbal,
    gcs_eyes
  from first_day_charting
  qualify row_number() over (
    partition by stay_id
    order by
      gcs asc nulls first,
      charttime asc nulls last,
      gcs_motor asc nulls last,
      gcs_verbal asc nulls last,
      gcs_eyes asc nulls last,
      gcs_unable asc nulls last
  ) = 1
)

select
  icustays.subject_id,
  icustays.hadm_id,
  icustays.stay_id,
  coalesce(lowest_total.gcs, 15) as gcs_min,
  coalesce(lowest_total.gcs_motor, 6) as gcs_motor,
  coalesce(lowest_total.gcs_verbal, 5) as gcs_verbal,
  coalesce(lowest_total.gcs_eyes, 4) as gcs_eyes
from mimiciv_icu.icustays as icustays
left join lowest_total
  on icustays.stay_id = lowest_total.stay_id
