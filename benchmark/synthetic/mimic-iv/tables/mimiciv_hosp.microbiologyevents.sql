with cultures(n, spec_itemid, specimen, test_itemid, test, share, infection_share) as (
  values
    (1, 70012, 'BLOOD CULTURE', 90201, 'Blood Culture, Routine', 0.15, 0.85), (2, 70012, 'BLOOD CULTURE', 90201, 'Blood Culture, Routine', 0.05, 0.6),
    (3, 70079, 'URINE', 90039, 'URINE CULTURE', 0.2, 0.6), (4, 70062, 'SPUTUM', 90055, 'RESPIRATORY CULTURE', 0.04, 0.35),
    (5, 70091, 'MRSA SCREEN', 90189, 'MRSA SCREEN', 0.4, 0.5), (6, 70070, 'SWAB', 90046, 'WOUND CULTURE', 0.03, 0.06),
    (7, 70064, 'STOOL', 90221, 'C. difficile PCR', 0.03, 0.1)
), taken as (
  select cultures.*, subject_id, hadm_id, intime, (i * 10 + n) * 10 + day as key,
    date_trunc('minute', intime) + to_minutes(cast(floor(60 * case when infection >= 1.2 and n = 1 then 5 * u('culture time', i * 10 + n)
      else -14 + 40 * u('culture time', i * 10 + n) end) + 1440 * day as bigint)) as culture_time
  -- once around admission, and again on later days
  from stay, cultures, unnest(generate_series(0, least(los_hours // 24, 7))) days(day)
  where u('culture', (i * 10 + n) * 10 + day) < case when infection >= 1.2 and n = 1 then 1 when has_antibiotics then infection_share else share end * case day when 0 then 1 else 0.45 end
), grown as (
  select *, specimen <> 'MRSA SCREEN' and u('growth', key) < 0.25 as is_positive, isolate
  from taken, unnest([1, 2]) isolates(isolate)
)
select 995000000000 + key * 10 + isolate as microevent_id, subject_id, hadm_id, 995000000000 + key as micro_specimen_id,
  date_trunc('day', culture_time) as chartdate,
  -- one specimen in twenty has a date but no time
  case when u('dated only', key) < 0.05 then null else culture_time end as charttime,
  spec_itemid, specimen as spec_type_desc, 1 as test_seq, date_trunc('day', culture_time) + to_days(2) as storedate,
  culture_time + to_hours(50) as storetime, test_itemid, test as test_name,
  case when is_positive then [80002, 80004, 80023, 80026, 80053][1 + cast(floor(5 * u('organism', key)) as integer)]
    when u('cancelled', key) < 0.02 then 90856 end as org_itemid,
  case when is_positive then ['ESCHERICHIA COLI', 'KLEBSIELLA PNEUMONIAE', 'STAPH AUREUS COAG +', 'PSEUDOMONAS AERUGINOSA', 'ENTEROCOCCUS SP.'][1 + cast(floor(5 * u('organism', key)) as integer)]
    when u('cancelled', key) < 0.02 then 'CANCELLED' end as org_name,
  case when is_positive then isolate end as isolate_num,
  case when is_positive then [90004, 90012][isolate] end as ab_itemid,
  case when is_positive then ['AMPICILLIN', 'GENTAMICIN'][isolate] end as ab_name,
  case when is_positive then pick(['S', 'S', 'R', 'I'], 'resistance', key * 10 + isolate) end as interpretation,
  case when is_positive then null else 'SYNTHETIC: no growth.' end as comments
from grown where isolate = 1 or is_positive
