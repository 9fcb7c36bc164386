-- Drug orders of ICU admissions and ward admissions: antibiotics and cardiovascular drugs by how infected the patient
-- is, and the ninety commonest other drugs by how often admissions with an ICU stay have them (`drug`), more of them
-- in longer admissions.
with chosen(n, drug, route, drug_type, dose, unit, share, infection_share, hours) as (
  values
    (1, 'Vancomycin', 'IV', 'MAIN', '1000', 'mg', 0.08, 0.75, 72), (2, 'Piperacillin-Tazobactam', 'IV', 'MAIN', '4.5', 'g', 0.03, 0.45, 72),
    (3, 'CefePIME', 'IV', 'MAIN', '2', 'g', 0.02, 0.35, 96), (4, 'CeftriaXONE', 'IV', 'MAIN', '1', 'g', 0.05, 0.3, 72),
    (5, 'MetRONIDAZOLE (FLagyl)', 'IV', 'MAIN', '500', 'mg', 0.03, 0.25, 72), (6, 'Levofloxacin', 'PO/NG', 'MAIN', '750', 'mg', 0.04, 0.2, 120),
    (7, 'CefazoLIN', 'IV', 'MAIN', '2', 'g', 0.2, 0.05, 24), (8, 'Meropenem', 'IV', 'MAIN', '1000', 'mg', 0.01, 0.15, 120),
    (9, 'Azithromycin', 'PO', 'MAIN', '500', 'mg', 0.03, 0.12, 96), (10, 'Vancomycin', 'IV', 'BASE', '200', 'mL', 0.01, 0.02, 24),
    (11, 'Erythromycin 0.5% Ophth Oint', 'BOTH EYES', 'MAIN', '0.5', 'in', 0.03, 0.03, 48), (12, 'Mupirocin Ointment 2%', 'TP', 'MAIN', '1', 'Appl', 0.03, 0.05, 48),
    (13, 'Lisinopril', 'PO/NG', 'MAIN', '10', 'mg', 0.15, 0.1, 96), (14, 'Captopril', 'PO/NG', 'MAIN', '6.25', 'mg', 0.04, 0.02, 48),
    (15, 'Enalaprilat', 'IV', 'MAIN', '1.25', 'mg', 0.02, 0.01, 24), (16, 'Aspirin', 'PO/NG', 'MAIN', '81', 'mg', 0.35, 0.2, 120),
    (17, 'Ketorolac', 'IV', 'MAIN', '15', 'mg', 0.1, 0.02, 24), (18, 'Ibuprofen', 'PO', 'MAIN', '400', 'mg', 0.08, 0.03, 48),
    (20, 'Pantoprazole', 'IV', 'MAIN', '40', 'mg', 0.4, 0.4, 96)
), placed as (
  select chosen.* exclude (share, infection_share), stay.subject_id, stay.hadm_id, stay.intime, stay.i * 100 + chosen.n as key,
    -- the worst infections are always treated, and soon
    case when stay.infection >= 1.2 and chosen.n = 1 then 1 when stay.has_antibiotics then infection_share else share end as probability,
    case when stay.infection >= 1.2 and chosen.n = 1 then 1 + 5 * u('ordered', stay.i * 100 + chosen.n)
      else -8 + 30 * u('ordered', stay.i * 100 + chosen.n) end as start_hour
  from stay, chosen
  union all
  select chosen.* exclude (share, infection_share), subject_id, hadm_id, admittime, (100000000 + a) * 100 + chosen.n, share, -8 + 30 * u('ordered', (100000000 + a) * 100 + chosen.n)
  from hospital, chosen where seq = -1
), repeated as (
  select drug.drug, drug.route, drug.drug_type, drug.dose, drug.unit, hospital.subject_id, hospital.hadm_id, admittime, dischtime,
    (200000000 + a) * 100000 + drug.n * 100 + again as key
  from hospital, drug,
    unnest(generate_series(0, cast(floor(2 * (drug.orders - 0.5) * u('orders', a * 1000 + drug.n) * case seq when -1 then 0.4 else least(3, 0.35 + epoch(dischtime - admittime) / 86400 / 7) end) as bigint))) orders(again)
  where u('drug', a * 1000 + drug.n) < drug.share * case seq when -1 then 0.6 else 0.55 + 0.9 * u('many drugs', a) end
)
select subject_id, hadm_id, 990000000000 + key as pharmacy_id, drug, route, drug_type, dose, unit, key,
  date_trunc('hour', intime) + to_hours(cast(floor(start_hour) as bigint)) as starttime,
  date_trunc('hour', intime) + to_hours(cast(floor(start_hour + hours * (0.3 + u('ordered for', key))) as bigint)) as stoptime
from placed where u('prescribed', key) < probability
union all
select subject_id, hadm_id, 990000000000000 + key, drug, route, drug_type, dose, unit, key,
  date_trunc('hour', admittime + to_seconds(cast(epoch(dischtime - admittime) * 0.9 * u('drug start', key) as bigint))),
  date_trunc('hour', admittime + to_seconds(cast(epoch(dischtime - admittime) * 0.9 * u('drug start', key) as bigint))) + to_hours(cast(4 + floor(44 * u('drug hours', key)) as bigint))
from repeated
