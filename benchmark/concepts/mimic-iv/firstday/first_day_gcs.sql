-- title: Lowest Glasgow Coma Scale of the first day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.gcs
-- citation: Teasdale 1974, Lancet
-- conventions:
--   - The first day runs from 6 hours before to 24 hours after ICU admission, both ends included, whatever the time of discharge.
--   - The components come from the same charting as the lowest total.
--   - Intubated patients have a total of 15 (see gcs), so the components of a total of 15 can be those of an intubated patient.
--   - A stay without any GCS in the window has a row with missing values.
-- ties: among chartings that share the lowest total the latest one is taken
with lowest_chartings as (
  select
    icustays.stay_id,
    gcs.gcs,
    gcs.gcs_motor,
    gcs.gcs_verbal,
    gcs.gcs_eyes,
    gcs.gcs_unable
  from mimiciv_icu.icustays
  inner join mimiciv_derived.gcs
    on icustays.stay_id = gcs.stay_id
    and gcs.charttime >= icustays.intime - interval '6 hours'
    and gcs.charttime <= icustays.intime + interval '1 day'
  qualify row_number() over (
    partition by icustays.stay_id
    order by gcs.gcs asc nulls first, gcs.charttime desc
  ) = 1
)
select
  icustays.subject_id,
  icustays.stay_id,
  lowest_chartings.gcs as gcs_min,
  lowest_chartings.gcs_motor,
  lowest_chartings.gcs_verbal,
  lowest_chartings.gcs_eyes,
  lowest_chartings.gcs_unable
from mimiciv_icu.icustays
left join lowest_chartings
  on icustays.stay_id = lowest_chartings.stay_id
