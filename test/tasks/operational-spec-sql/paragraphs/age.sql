-- text: the anchor age plus the time from the first of January of the anchor year to the admission, one year being 365.242 days
select
  hadm_id,
  subject_id,
  gender,
  anchor_age + epoch(admittime - make_timestamp(anchor_year, 1, 1, 0, 0, 0)) / 86400 / 365.242 as age
from mimiciv_hosp.admissions
join mimiciv_hosp.patients using (subject_id)
