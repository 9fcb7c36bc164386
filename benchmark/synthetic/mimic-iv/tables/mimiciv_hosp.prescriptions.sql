with drugs(n, drug, route, drug_type, dose, unit, share, infection_share, hours) as (
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
    (19, 'Heparin', 'SC', 'MAIN', '5000', 'UNIT', 0.7, 0.7, 120), (20, 'Pantoprazole', 'IV', 'MAIN', '40', 'mg', 0.4, 0.4, 96),
    (21, 'Furosemide', 'IV', 'MAIN', '20', 'mg', 0.4, 0.3, 48), (22, 'Sodium Chloride 0.9%', 'IV', 'BASE', '1000', 'mL', 0.8, 0.8, 12)
), ordered as (
  select drugs.*, stay.subject_id, stay.hadm_id, stay.intime, stay.i * 100 + drugs.n as key, stay.i as episode,
    case when stay.has_antibiotics then infection_share else share end as probability
  from stay, drugs
  union all
  select drugs.*, hospital.subject_id, hospital.hadm_id, hospital.admittime, (100000000 + hospital.a) * 100 + drugs.n, 100000000 + hospital.a, share
  from hospital, drugs where seq = -1
)
select subject_id, hadm_id, 990000000000 + key as pharmacy_id,
  date_trunc('hour', intime) + to_hours(cast(floor(-8 + 30 * u('ordered', key)) as bigint)) as starttime,
  date_trunc('hour', intime) + to_hours(cast(floor(-8 + 30 * u('ordered', key)) + hours * (0.3 + u('ordered for', key)) as bigint)) as stoptime,
  drug_type, drug, '000000' as gsn, '0' as ndc, dose as dose_val_rx, unit as dose_unit_rx, 2 as doses_per_24_hrs, route
from ordered where u('prescribed', key) < probability
