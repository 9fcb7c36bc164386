select patientunitstayid, patienthealthsystemstayid, case gender when 'F' then 'Female' else 'Male' end as gender,
  case when anchor_age > 89 then '> 89' when u('no age', p) < 0.004 then null else cast(anchor_age as varchar) end as age,
  pick(['Caucasian', 'Caucasian', 'Caucasian', 'Caucasian', 'African American', 'Hispanic', 'Asian', 'Other/Unknown'], 'race', p) as ethnicity,
  hospitalid, 900001 + i % 60 as wardid,
  case archetype when 'surgical' then 'CABG alone, coronary artery bypass grafting' when 'sepsis' then 'Sepsis, pulmonary'
    when 'cardiac' then 'CHF, congestive heart failure' when 'respiratory' then 'Emphysema/bronchitis'
    when 'neuro' then 'CVA, cerebrovascular accident/stroke' when 'trauma' then 'Head only trauma'
    when 'liver' then 'Bleeding, upper GI' else 'Renal failure, acute' end as apacheadmissiondx,
  case when u('height charted', i) < 0.95 then height_cm end as admissionheight,
  strftime(admittime, '%H:%M:00') as hospitaladmittime24, hospitaladmitoffset,
  unitadmitsource as hospitaladmitsource, 2014 + i % 2 as hospitaldischargeyear, strftime(outtime, '%H:%M:00') as hospitaldischargetime24,
  case when dies then unitdischargeoffset else unitdischargeoffset + cast(floor(60 * (6 + 200 * u('after', a) * u('after', a))) as bigint) end as hospitaldischargeoffset,
  case when dies then 'Death' else pick(['Home', 'Home', 'Skilled Nursing Facility', 'Other Hospital'], 'to', a) end as hospitaldischargelocation,
  case when dies then 'Expired' else 'Alive' end as hospitaldischargestatus,
  case when u('mixed unit', i) < 0.6 then 'Med-Surg ICU' when archetype = 'surgical' then 'SICU' when archetype = 'cardiac' then pick(['Cardiac ICU', 'CCU-CTICU'], 'unit', i) when archetype = 'neuro' then 'Neuro ICU' else pick(['Med-Surg ICU', 'MICU'], 'unit', i) end as unittype,
  strftime(intime, '%H:%M:00') as unitadmittime24, unitadmitsource, 1 + part as unitvisitnumber,
  case when part = 1 then pick(['readmit', 'stepdown/other'], 'readmitted', i) when u('step down', i) < 0.08 then 'stepdown/other' else 'admit' end as unitstaytype,
  case when u('weight charted', i) < 0.94 then weight_kg end as admissionweight,
  case when u('weight charted', i) < 0.6 then round(weight_kg + 1.5 * z('discharge weight', i), 1) end as dischargeweight,
  strftime(outtime, '%H:%M:00') as unitdischargetime24, unitdischargeoffset,
  case when dies then 'Death' else pick(['Floor', 'Step-Down Unit (SDU)', 'Telemetry', 'Home'], 'unit to', i) end as unitdischargelocation,
  case when dies then 'Expired' else 'Alive' end as unitdischargestatus, uniquepid
from unit
