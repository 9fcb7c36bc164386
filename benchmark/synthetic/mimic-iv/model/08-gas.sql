-- Blood gases: every four to nine hours over the first three days of stays that have them; a few venous ones, for
-- lactate and pH, in a third of the others.
with times as (
  select hour.*, infection, cardio, stay.has_gases, u('specimen', key) as drawn
  from hour join stay using (i, stay_id, hadm_id, subject_id)
  where hr between 1 and 72
    and (stay.has_gases and hr % (case when support in ('tube', 'mask') then 4 else 9 end) = 1
      or not stay.has_gases and u('venous gases', i) < 0.72 and hr % 14 = 2)
), gases as (
  select times.*, oxygen_ratio,
    coalesce(oxygen_ratio, clip(435 - 305 * resp_now + 35 * z('ratio', key), 45, 560)) as ratio,
    coalesce(pinned.pco2, clip(36.5 + 7 * resp_now + 4.5 * z('pco2 level', i) + 4 * z('pco2', key) + case when archetype = 'respiratory' then 9 else 0 end, 18, 110)) as pco2,
    coalesce(gas_bicarbonate, clip(25.2 - 5.5 * renal_now - 4 * cardio_now + 2.2 * z('bicarbonate level', i) + 1.6 * z('base', key), 6, 42)) as bicarbonate,
    case when oxygen_ratio is not null then 'ART.' when not times.has_gases then 'VEN.' when drawn < 0.80 then 'ART.' when drawn < 0.92 then 'VEN.' when drawn < 0.96 then 'MIX.' when drawn < 0.98 then 'CENTRAL VENOUS.' end as specimen
  from times left join pinned using (i)
), panels as (
  select *,
    round(case when specimen = 'ART.' then clip(ratio * fio2 / 100, 38, 520) else clip(38 + 5 * z('venous', key), 20, 60) end) as po2,
    -- Henderson and Hasselbalch, by a rational approximation of the logarithm near its usual value
    clip(7.40 + 0.434 * 2 * (bicarbonate / (0.6 * pco2) - 1) / (bicarbonate / (0.6 * pco2) + 1), 6.8, 7.7) as ph
  from gases
)
select subject_id, hadm_id, date_trunc('minute', charttime + to_minutes(cast(floor(40 * u('gas time', key)) as bigint))) as charttime,
  950000000000 + key as specimen_id, key,
  unnest([
    {itemid: 52033, number: null::double, unit: null::varchar, value: specimen, used: specimen is not null},
    {itemid: 50821, number: po2, unit: 'mm Hg', value: shortest(po2), used: u('no po2', key) >= case when has_gases then 0.04 else 0.8 end},
    {itemid: 50818, number: round(pco2), unit: 'mm Hg', value: shortest(round(pco2)), used: true},
    {itemid: 50820, number: round(ph, 2), unit: 'units', value: shortest(round(ph, 2)), used: true},
    {itemid: 50802, number: round(1.1 * (bicarbonate - 24.5)), unit: 'mEq/L', value: shortest(round(1.1 * (bicarbonate - 24.5))), used: true},
    {itemid: 50804, number: round(bicarbonate + 1.2), unit: 'mEq/L', value: shortest(round(bicarbonate + 1.2)), used: true},
    {itemid: 50803, number: round(bicarbonate), unit: 'mEq/L', value: shortest(round(bicarbonate)), used: u('gas bicarbonate', key) < 0.05},
    {itemid: 50817, number: clip(round(98 - 12 * resp_now), 50, 100), unit: '%', value: shortest(clip(round(98 - 12 * resp_now), 50, 100)), used: u('gas so2', key) < 0.3},
    {itemid: 50813, number: round(clip(1.3 + 3.8 * greatest(cardio_now - 0.2, 0) + 0.4 * z('lactate', key), 0.4, 18), 1), unit: 'mmol/L',
      value: shortest(round(clip(1.3 + 3.8 * greatest(cardio_now - 0.2, 0) + 0.4 * z('lactate', key), 0.4, 18), 1)), used: u('gas lactate', key) < 0.6},
    {itemid: 50816, number: case when u('gas fraction', key) < 0.1 then fio2 / 100 else fio2 end, unit: '%',
      value: shortest(case when u('gas fraction', key) < 0.1 then fio2 / 100 else fio2 end), used: u('gas fio2', key) < 0.4 and has_gases},
    {itemid: 50801, number: round(clip(fio2 / 100 * 713 - pco2 / 0.8 - po2, 1, 680)), unit: 'mm Hg',
      value: shortest(round(clip(fio2 / 100 * 713 - pco2 / 0.8 - po2, 1, 680))), used: (u('gas fio2', key) < 0.25 or oxygen_ratio is not null) and has_gases and fio2 >= 50},
    {itemid: 50809, number: glucose, unit: 'mg/dL', value: shortest(glucose), used: u('gas glucose', key) < 0.4},
    {itemid: 50824, number: round(138 + 4 * z('gas sodium', i)), unit: 'mEq/L', value: shortest(round(138 + 4 * z('gas sodium', i))), used: u('gas sodium', key) < 0.25},
    {itemid: 50822, number: round(4.2 + 0.5 * z('gas potassium', key), 1), unit: 'mEq/L', value: shortest(round(4.2 + 0.5 * z('gas potassium', key), 1)), used: u('gas potassium', key) < 0.35},
    {itemid: 50806, number: round(104 + 4 * z('gas chloride', key)), unit: 'mEq/L', value: shortest(round(104 + 4 * z('gas chloride', key))), used: u('gas sodium', key) < 0.25},
    {itemid: 50808, number: round(1.12 + 0.07 * z('gas calcium', key), 2), unit: 'mmol/L', value: shortest(round(1.12 + 0.07 * z('gas calcium', key), 2)), used: u('gas calcium', key) < 0.4},
    {itemid: 50811, number: round(10.2 + 1.6 * z('gas hemoglobin', i), 1), unit: 'g/dL', value: shortest(round(10.2 + 1.6 * z('gas hemoglobin', i), 1)), used: u('gas hemoglobin', key) < 0.25},
    {itemid: 50810, number: round(31 + 5 * z('gas hemoglobin', i)), unit: '%', value: shortest(round(31 + 5 * z('gas hemoglobin', i))), used: u('gas hemoglobin', key) < 0.25},
    {itemid: 50805, number: 1.0, unit: '%', value: '1', used: u('gas carboxy', key) < 0.03},
    {itemid: 50814, number: 0.0, unit: '%', value: '0', used: u('gas carboxy', key) < 0.03},
    {itemid: 50825, number: round(36.8 + 0.6 * z('gas temperature', key), 1), unit: '°C', value: shortest(round(36.8 + 0.6 * z('gas temperature', key), 1)), used: u('gas temperature', key) < 0.3},
    {itemid: 50815, number: 4.0, unit: 'L/min', value: '4', used: support = 'oxygen' and u('gas flow', key) < 0.2},
    {itemid: 50819, number: 5.0, unit: 'cm H2O', value: '5', used: support = 'tube' and u('gas peep', key) < 0.3}
  ], recursive := true)
from panels
