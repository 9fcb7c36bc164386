-- title: Summary of an ICU stay
-- grain: one row per ICU stay whose admission and patient are known
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_hosp.admissions, mimiciv_hosp.patients
-- citation: none
-- conventions:
--   - Hospital length of stay is in days and not rounded; ICU length of stay is in days, rounded to 3 and then to 2 decimals, half away from zero.
--   - Age is a fraction of years: the anchor age plus the exact time from 1 January of the anchor year to admission, in years of 365.242 days.
--   - Hospital stays are numbered by admission time within a patient, counting only admissions with an ICU stay, so an earlier ward-only admission does not count.
--   - ICU stays are numbered by entry within an admission, so every admission has a first ICU stay.
--   - Equal times share a number, and no number is skipped; patients of all ages are kept.
-- ties: none
with stays as (
  select
    icustays.subject_id,
    icustays.hadm_id,
    icustays.stay_id,
    patients.gender,
    patients.dod,
    admissions.admittime,
    admissions.dischtime,
    date_diff('microsecond', admissions.admittime, admissions.dischtime) / 86400000000.0 as los_hospital,
    patients.anchor_age
      + date_diff('microsecond', make_timestamp(patients.anchor_year, 1, 1, 0, 0, 0), admissions.admittime)
      / 31556908800000.0  -- microseconds in a year of 365.242 days
      as admission_age,
    admissions.race,
    admissions.hospital_expire_flag,
    dense_rank() over (
      partition by admissions.subject_id
      order by admissions.admittime nulls first
    ) as hospstay_seq,
    icustays.intime as icu_intime,
    icustays.outtime as icu_outtime,
    date_diff('microsecond', icustays.intime, icustays.outtime) / 3600000000.0 / 24.0 as icu_days,
    dense_rank() over (
      partition by icustays.hadm_id
      order by icustays.intime nulls first
    ) as icustay_seq
  from mimiciv_icu.icustays
  inner join mimiciv_hosp.admissions
    on icustays.hadm_id = admissions.hadm_id
  inner join mimiciv_hosp.patients
    on icustays.subject_id = patients.subject_id
)
select
  subject_id,
  hadm_id,
  stay_id,
  gender,
  dod,
  admittime,
  dischtime,
  los_hospital,
  admission_age,
  race,
  hospital_expire_flag,
  hospstay_seq,
  hospstay_seq = 1 as first_hosp_stay,
  icu_intime,
  icu_outtime,
  round(try_cast(icu_days as decimal(18, 3)), 2) as los_icu,
  icustay_seq,
  icustay_seq = 1 as first_icu_stay
from stays
