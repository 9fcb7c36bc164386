with scored as (
  select unit.*, cast(clip(round(22 + 75 * severity + 8 * z('aps', i)), 0, 200) as bigint) as physiology, clip(0.8 * severity * severity * severity, 0.005, 0.97) as risk from unit where has_apache
)
select 900000000000 + i * 10 + version as apachepatientresultsid, patientunitstayid, pick(['internal medicine', 'critical care medicine (CCM)', 'cardiology'], 'speciality', i) as physicianspeciality,
  pick(['I', 'II', 'III', 'IV', 'Unknown'], 'intervention', i) as physicianinterventioncategory, physiology as acutephysiologyscore, physiology + case when anchor_age > 74 then 17 when anchor_age > 59 then 11 else 5 end as apachescore,
  ['IV', 'IVa'][version] as apacheversion, cast(round(risk * 0.6, 6) as varchar) as predictedicumortality, case when dies then 'EXPIRED' else 'ALIVE' end as actualicumortality,
  round(2 + 4 * severity, 3) as predictediculos, round(unitdischargeoffset / 1440.0, 4) as actualiculos, cast(round(risk, 6) as varchar) as predictedhospitalmortality, case when dies then 'EXPIRED' else 'ALIVE' end as actualhospitalmortality,
  round(6 + 9 * severity, 3) as predictedhospitallos, round((unitdischargeoffset - hospitaladmitoffset) / 1440.0, 4) as actualhospitallos, 0 as preopmi, 0 as preopcardiaccath, 0 as ptcawithin24h,
  round(unitdischargeoffset / 1440.0, 4) as unabridgedunitlos, round((unitdischargeoffset - hospitaladmitoffset) / 1440.0, 4) as unabridgedhosplos,
  case when is_intubated then round(tube_hours / 24.0, 2) end as actualventdays, case when is_intubated then round(2 + 4 * resp, 3) end as predventdays, case when is_intubated then round(tube_hours / 24.0, 2) end as unabridgedactualventdays
from scored, unnest([1, 2]) versions(version)
