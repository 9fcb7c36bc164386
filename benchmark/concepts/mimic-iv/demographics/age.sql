-- title: Age at hospital admission
-- grain: one row per hospital admission whose patient is known
-- keys: hadm_id
-- sources: mimiciv_hosp.admissions, mimiciv_hosp.patients
-- citation: none
-- conventions:
--   - Age is a fraction of years: the anchor age plus the exact time from 1 January of the anchor year to admission, in years of 365.242 days.
--   - Limits such as "50 years or younger" act on that fraction, so a patient aged 50.3 is older than 50.
--   - The anchor age is taken as stored; nothing is rounded, capped or left out, and an admission before the anchor year gives less than the anchor age.
--   - Admissions of patients who are missing from the patient table are left out.
-- ties: none
select
  admissions.subject_id,
  admissions.hadm_id,
  admissions.admittime,
  patients.anchor_age,
  patients.anchor_year,
  patients.anchor_age
    + date_diff('microsecond', make_timestamp(patients.anchor_year, 1, 1, 0, 0, 0), admissions.admittime)
    / 31556908800000.0  -- microseconds in a year of 365.242 days
    as age
from mimiciv_hosp.admissions
inner join mimiciv_hosp.patients
  on admissions.subject_id = patients.subject_id
