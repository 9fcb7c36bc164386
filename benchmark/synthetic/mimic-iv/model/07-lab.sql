-- Laboratory results by specimen: chemistry 1, blood count 2, coagulation 3, liver and muscle enzymes 4,
-- differential 5 (with the blood count's specimen in life, its own here), cardiac markers 6, inflammation 7.
with drawn as (
  -- what is set beforehand holds until the second day
  select draw.*, case when hour_offset <= 30 then pinned end as set_to,
    0.6 * z('sugar level', episode) + 0.4 * z('glucose', key) + 0.5 * draw.infection * course as sugar
  from draw left join pinned on pinned.i = draw.episode
), levels as (
  select *,
    -- both tails are long, as in wards full of dialysis patients and of small old women
    coalesce(set_to.creatinine, clip(baseline_creatinine * (1 + 6.5 * greatest(renal - 0.22, 0) * kidney_course) * (1 + 0.06 * z('creatinine', key)), 0.2, 14)) as creatinine,
    clip(9.1 + 1.7 * z('marrow', episode) - 1.5 * severity + 0.4 * z('hemoglobin', key) + 1.5, 4.2, 18) as hemoglobin,
    coalesce(set_to.platelet, clip(228 - 165 * coag * course + 76 * z('platelet level', episode) + 9 * z('platelet', key), 6, 900)) as platelet,
    coalesce(set_to.wbc, case when u('neutropenia', episode) < 0.02 then 0.6 + 0.2 * z('wbc', key)
      else clip(8.2 + 10 * infection * course + 3.8 * z('wbc level', episode) + 0.9 * z('wbc', key), 0.2, 60) end) as wbc,
    clip(1.2 + 1.9 * greatest(coag - 0.25, 0) * course + 0.14 * z('inr level', episode) + 0.08 * z('inr', key)
      + case when u('warfarin', episode) < 0.08 then 0.9 else 0 end, 0.8, 9) as inr,
    coalesce(set_to.bilirubin, clip(0.6 + 18 * greatest(liver - 0.42, 0) * course + 0.25 * z('bilirubin', episode), 0.1, 40)) as bilirubin,
    clip(24.8 - 8 * renal * course - 3 * cardio * course + 3 * z('bicarbonate level', episode) + 1.4 * z('bicarbonate', key), 5, 45) as bicarbonate,
    coalesce(set_to.sodium, clip(138.3 + 3.9 * z('sodium level', episode) + 1.5 * z('sodium', key)
      + case when u('salt', episode) < 0.03 then -13 when u('salt', episode) < 0.06 then 14 else 0 end, 108, 172)) as sodium,
    clip(4.05 + 0.4 * z('potassium level', episode) + 0.3 * z('potassium', key) + 0.9 * greatest(renal - 0.5, 0) * course
      - case when u('wasting', episode) < 0.05 then 1.1 else 0 end, 2.1, 7.8) as potassium,
    coalesce(set_to.glucose, clip(128 * (1 + 0.15 * sugar) * (1 + 0.15 * sugar) + 48 * greatest(sugar, 0), 35, 620)) as glucose,
    coalesce(set_to.albumin, clip(3.55 - 1.1 * severity - 0.5 * liver + 0.6 * z('albumin', episode), 1, 5.2)) as albumin
  from drawn
), results as (
  select key, episode, subject_id, hadm_id, charttime, unnest([
    {itemid: 50912, panel: 1, number: round(creatinine, 1), unit: 'mg/dL', low: 0.5, high: 1.2, used: true},
    {itemid: 51006, panel: 1, number: round(coalesce(set_to.urea, clip(creatinine * (19 + 5 * z('bun level', episode)) + 2 + 2.5 * z('bun', key), 3, 200))), unit: 'mg/dL', low: 6, high: 20, used: true},
    {itemid: 50983, panel: 1, number: round(sodium), unit: 'mEq/L', low: 133, high: 145, used: true},
    {itemid: 50971, panel: 1, number: round(potassium, 1), unit: 'mEq/L', low: 3.3, high: 5.1, used: true},
    {itemid: 50902, panel: 1, number: round(sodium - 35 + 2 * z('chloride', key)), unit: 'mEq/L', low: 96, high: 108, used: true},
    {itemid: 50882, panel: 1, number: round(bicarbonate), unit: 'mEq/L', low: 22, high: 32, used: true},
    {itemid: 50868, panel: 1, number: round(35 - bicarbonate + 3 + 1.5 * z('gap', key)), unit: 'mEq/L', low: 8, high: 20, used: true},
    {itemid: 50931, panel: 1, number: round(glucose), unit: 'mg/dL', low: 70, high: 105, used: true},
    {itemid: 50893, panel: 1, number: round(8.5 + 0.5 * z('calcium', key), 1), unit: 'mg/dL', low: 8.4, high: 10.3, used: u('calcium', key) < 0.8},
    {itemid: 50862, panel: 4, number: round(albumin, 1), unit: 'g/dL', low: 3.5, high: 5.2, used: u('albumin', episode) < 0.45 or set_to.albumin is not null},
    {itemid: 50976, panel: 4, number: round(6.1 + 0.5 * z('protein', episode), 1), unit: 'g/dL', low: 6.4, high: 8.3, used: u('protein', episode) < 0.06},
    {itemid: 50930, panel: 4, number: round(2.8 + 0.4 * z('globulin', episode), 1), unit: 'g/dL', low: 2, high: 3.5, used: u('protein', episode) < 0.04},
    {itemid: 51222, panel: 2, number: round(hemoglobin, 1), unit: 'g/dL', low: 12, high: 16, used: true},
    {itemid: 51221, panel: 2, number: round(hemoglobin * 3.02 + 0.5 * z('hematocrit', key), 1), unit: '%', low: 36, high: 48, used: true},
    {itemid: 51265, panel: 2, number: round(platelet), unit: 'K/uL', low: 150, high: 440, used: true},
    {itemid: 51301, panel: 2, number: round(wbc, 1), unit: 'K/uL', low: 4, high: 11, used: true},
    {itemid: 51279, panel: 2, number: round(hemoglobin / 3.05, 2), unit: 'm/uL', low: 4.2, high: 5.4, used: true},
    {itemid: 51248, panel: 2, number: round(30 + 1.8 * z('mch', episode), 1), unit: 'pg', low: 27, high: 32, used: true},
    {itemid: 51249, panel: 2, number: round(33 + z('mchc', key), 1), unit: '%', low: 31, high: 35, used: true},
    {itemid: 51250, panel: 2, number: round(91 + 5 * z('mcv', episode)), unit: 'fL', low: 82, high: 98, used: true},
    {itemid: 51277, panel: 2, number: round(clip(14.8 + 1.6 * z('rdw', episode), 11, 25), 1), unit: '%', low: 10.5, high: 15.5, used: true},
    {itemid: 52159, panel: 2, number: round(48 + 5 * z('rdwsd', episode), 1), unit: 'fL', low: 35, high: 46, used: u('rdwsd', episode) < 0.3},
    {itemid: 51237, panel: 3, number: round(inr, 1), unit: null, low: 0.9, high: 1.1, used: u('coagulation', key) < 0.7},
    {itemid: 51274, panel: 3, number: round(inr * 11.2, 1), unit: 'sec', low: 9.4, high: 12.5, used: u('coagulation', key) < 0.7},
    {itemid: 51275, panel: 3, number: round(clip(30 + 26 * coag * course + 4 * z('ptt', key), 20, 150), 1), unit: 'sec', low: 25, high: 36.5, used: u('coagulation', key) < 0.7},
    {itemid: 51214, panel: 3, number: round(clip(330 - 180 * coag * course + 60 * z('fibrinogen', key), 40, 900)), unit: 'mg/dL', low: 180, high: 400, used: u('fibrinogen', key) < 0.12},
    {itemid: 51196, panel: 3, number: round(clip(900 + 3000 * coag + 400 * z('dimer', key), 150, 10000)), unit: 'ng/mL FEU', low: 0, high: 500, used: u('dimer', key) < 0.03},
    {itemid: 51297, panel: 3, number: round(16 + 3 * z('thrombin', key), 1), unit: 'sec', low: 10.3, high: 16.6, used: u('thrombin', key) < 0.01},
    {itemid: 50885, panel: 4, number: round(bilirubin, 1), unit: 'mg/dL', low: 0, high: 1.5, used: has_liver_panel},
    {itemid: 50883, panel: 4, number: round(bilirubin * 0.6, 1), unit: 'mg/dL', low: 0, high: 0.3, used: has_liver_panel and u('direct', key) < 0.08 and bilirubin > 0.3},
    {itemid: 50884, panel: 4, number: round(bilirubin * 0.4, 1), unit: 'mg/dL', low: null, high: null, used: has_liver_panel and u('direct', key) < 0.08 and bilirubin > 0.3},
    {itemid: 50861, panel: 4, number: round(clip(28 + 600 * greatest(liver - 0.4, 0) * course + 9 * z('alt', key), 5, 5000)), unit: 'IU/L', low: 0, high: 40, used: has_liver_panel},
    {itemid: 50878, panel: 4, number: round(clip(34 + 750 * greatest(liver - 0.4, 0) * course + 11 * z('ast', key), 6, 6000)), unit: 'IU/L', low: 0, high: 40, used: has_liver_panel},
    {itemid: 50863, panel: 4, number: round(clip(85 + 70 * liver + 20 * z('alp', episode), 20, 900)), unit: 'IU/L', low: 35, high: 105, used: has_liver_panel},
    {itemid: 50954, panel: 4, number: round(clip(240 + 200 * severity + 40 * z('ldh', key), 90, 4000)), unit: 'IU/L', low: 94, high: 250, used: has_liver_panel and u('ldh', key) < 0.4},
    {itemid: 50867, panel: 4, number: round(clip(60 + 20 * z('amylase', key), 8, 900)), unit: 'IU/L', low: 0, high: 100, used: has_liver_panel and u('amylase', key) < 0.1},
    {itemid: 50927, panel: 4, number: round(clip(60 + 120 * liver + 20 * z('ggt', key), 8, 900)), unit: 'IU/L', low: 5, high: 36, used: has_liver_panel and u('ggt', key) < 0.04},
    {itemid: 50910, panel: 6, number: round(clip(150 + 500 * cardio + 60 * z('ck', key), 15, 9000)), unit: 'IU/L', low: 29, high: 201, used: u('ck', key) < 0.2},
    {itemid: 50911, panel: 6, number: round(clip(3 + 14 * cardio + 2 * z('ckmb', key), 0, 400)), unit: 'ng/mL', low: 0, high: 10, used: u('ck', key) < 0.15},
    {itemid: 51003, panel: 6, number: round(clip(0.01 + 0.6 * greatest(cardio - 0.3, 0) + 0.03 * z('troponin', key), 0.01, 25), 2), unit: 'ng/mL', low: 0, high: 0.01, used: u('troponin', key) < case when archetype = 'cardiac' then 0.6 else 0.15 end},
    {itemid: 50963, panel: 6, number: round(clip(800 + 6000 * cardio + 500 * z('bnp', key), 20, 70000)), unit: 'pg/mL', low: 0, high: 450, used: u('bnp', key) < 0.05},
    {itemid: 50889, panel: 7, number: round(clip(20 + 160 * infection * course + 15 * z('crp', key), 0.3, 450), 1), unit: 'mg/L', low: 0, high: 5, used: u('crp', key) < 0.05},
    {itemid: 51256, panel: 5, number: round(clip(74 + 12 * infection * course + 6 * z('neutrophils', key), 5, 96), 1), unit: '%', low: 34, high: 71, used: u('differential', key) < 0.35},
    {itemid: 51244, panel: 5, number: round(clip(14 - 5 * infection * course + 3 * z('lymphocytes', key), 0.5, 80), 1), unit: '%', low: 19, high: 53, used: u('differential', key) < 0.35},
    {itemid: 51254, panel: 5, number: round(clip(6 + 2 * z('monocytes', key), 0, 30), 1), unit: '%', low: 5, high: 13, used: u('differential', key) < 0.35},
    {itemid: 51200, panel: 5, number: round(clip(1.2 + z('eosinophils', key), 0, 20), 1), unit: '%', low: 1, high: 7, used: u('differential', key) < 0.35},
    {itemid: 51146, panel: 5, number: round(clip(0.3 + 0.2 * z('basophils', key), 0, 3), 1), unit: '%', low: 0, high: 1, used: u('differential', key) < 0.35},
    {itemid: 51301, panel: 5, number: round(wbc, 1), unit: 'K/uL', low: 4, high: 11, used: u('differential', key) < 0.35},
    {itemid: 51144, panel: 5, number: round(clip(4 + 22 * infection * course + 4 * z('bands', key), 0, 60)), unit: '%', low: 0, high: 5, used: u('bands', key) < 0.08},
    {itemid: 51143, panel: 5, number: round(clip(1 + z('atypical', key), 0, 10)), unit: '%', low: 0, high: 0, used: u('bands', key) < 0.04},
    {itemid: 51251, panel: 5, number: round(clip(1 + z('metas', key), 0, 10)), unit: '%', low: 0, high: 0, used: u('bands', key) < 0.05},
    {itemid: 51257, panel: 5, number: round(clip(0.5 + z('nrbc', key), 0, 10)), unit: '%', low: 0, high: 0, used: u('bands', key) < 0.03},
    {itemid: 52135, panel: 5, number: round(clip(0.8 + 0.5 * z('immature', key), 0, 10), 1), unit: '%', low: 0, high: 0.6, used: u('differential', key) < 0.1},
    {itemid: 52075, panel: 5, number: round(wbc * 0.76, 2), unit: 'K/uL', low: 1.6, high: 6.1, used: u('differential', key) < 0.1},
    {itemid: 51133, panel: 5, number: round(wbc * 0.14, 2), unit: 'K/uL', low: 1.2, high: 3.7, used: u('differential', key) < 0.1},
    {itemid: 52074, panel: 5, number: round(wbc * 0.06, 2), unit: 'K/uL', low: 0.2, high: 0.8, used: u('differential', key) < 0.1},
    {itemid: 52073, panel: 5, number: round(wbc * 0.012, 2), unit: 'K/uL', low: 0.04, high: 0.54, used: u('differential', key) < 0.1},
    {itemid: 52069, panel: 5, number: round(wbc * 0.003, 2), unit: 'K/uL', low: 0.01, high: 0.08, used: u('differential', key) < 0.1}
  ], recursive := true)
  from levels
)
select subject_id, hadm_id, charttime, 940000000000 + key * 10 + panel as specimen_id, itemid, unit, low, high,
  -- one result in 250 is a text without a number
  case when u('unusable', key * 100000 + itemid) < 0.004 then null else number end as number,
  case when u('unusable', key * 100000 + itemid) < 0.004 then null else shortest(number) end as value
from results where used
