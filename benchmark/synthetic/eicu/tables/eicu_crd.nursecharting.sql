with vitals as (
  select patientunitstayid, charted_offset as minute, key, unnest([
    {kind: 'Vital Signs', label: 'Heart Rate', name: 'Heart Rate', value: shortest(heart_rate), used: true},
    {kind: 'Vital Signs', label: 'Respiratory Rate', name: 'Respiratory Rate', value: shortest(resp_rate), used: true},
    {kind: 'Vital Signs', label: 'O2 Saturation', name: 'O2 Saturation', value: shortest(spo2), used: true},
    {kind: 'Vital Signs', label: 'Non-Invasive BP', name: 'Non-Invasive BP Systolic', value: shortest(round(1.5 * mean_pressure + 2)), used: not has_arterial_line or hr % 4 = 0},
    {kind: 'Vital Signs', label: 'Non-Invasive BP', name: 'Non-Invasive BP Diastolic', value: shortest(round(0.75 * mean_pressure)), used: not has_arterial_line or hr % 4 = 0},
    {kind: 'Vital Signs', label: 'Non-Invasive BP', name: 'Non-Invasive BP Mean', value: shortest(mean_pressure), used: not has_arterial_line or hr % 4 = 0},
    {kind: 'Vital Signs', label: 'Invasive BP', name: 'Invasive BP Systolic', value: shortest(round(1.5 * mean_pressure + 2)), used: has_arterial_line},
    {kind: 'Vital Signs', label: 'Invasive BP', name: 'Invasive BP Diastolic', value: shortest(round(0.76 * mean_pressure)), used: has_arterial_line},
    {kind: 'Vital Signs', label: 'Invasive BP', name: 'Invasive BP Mean', value: shortest(round(mean_pressure + 2 * z('art', key))), used: has_arterial_line and u('map label', i) < 0.7},
    {kind: 'Other Vital Signs and Infusions', label: 'MAP (mmHg)', name: 'Value', value: ' ' || shortest(mean_pressure), used: has_arterial_line and u('map label', i) >= 0.7 and u('map label', i) < 0.85},
    {kind: 'Other Vital Signs and Infusions', label: 'Arterial Line MAP (mmHg)', name: 'Value', value: shortest(mean_pressure), used: has_arterial_line and u('map label', i) >= 0.85},
    {kind: 'Vital Signs', label: 'Temperature', name: 'Temperature (C)', value: shortest(round(temperature_c, 1)), used: hr % 4 = 0},
    {kind: 'Vital Signs', label: 'Temperature', name: 'Temperature (F)', value: shortest(round(temperature_c * 1.8 + 32, 1)), used: hr % 4 = 0 and u('fahrenheit', i) < 0.8},
    {kind: 'Vital Signs', label: 'Temperature', name: 'Temperature Location', value: pick(['ORAL', 'Axillary', 'TEMPORAL'], 'site', i), used: hr % 4 = 0},
    {kind: 'Other', label: 'Heart Rate', name: 'Heart Rate', value: '20', used: u('other category', key) < 0.003},
    -- what real charts hold besides numbers
    {kind: 'Vital Signs', label: 'Heart Rate', name: 'Heart Rate', value: pick(['unable', '', '999', '0', ' 88 '], 'dirt', key), used: u('dirt heart', key) < 0.004},
    {kind: 'Vital Signs', label: 'Respiratory Rate', name: 'Respiratory Rate', value: pick(['vent', '0', '120'], 'dirt', key), used: u('dirt resp', key) < 0.004}
  ], recursive := true)
  from flow where is_charted
), coma as (
  select patientunitstayid, charted_offset as minute, key, unnest([
    {kind: 'Scores', label: 'Glasgow coma score', name: 'GCS Total', value: cast(case when u('gcs slip', key) < 0.01 then 0 else eyes + motor + verbal end as varchar), used: gcs_style in ('total and components', 'total')},
    {kind: 'Scores', label: 'Glasgow coma score', name: 'Eyes', value: cast(eyes as varchar), used: gcs_style in ('total and components', 'components')},
    {kind: 'Scores', label: 'Glasgow coma score', name: 'Motor', value: cast(motor as varchar), used: gcs_style in ('total and components', 'components') and u('motor charted', key) >= 0.03},
    {kind: 'Scores', label: 'Glasgow coma score', name: 'Verbal', value: case when support = 'tube' then '1' else cast(verbal as varchar) end, used: gcs_style in ('total and components', 'components') and u('verbal charted', key) >= 0.03},
    {kind: 'Other Vital Signs and Infusions', label: 'Score (Glasgow Coma Scale)', name: 'Value', value: cast(eyes + motor + verbal as varchar), used: gcs_style = 'other label'},
    {kind: 'Scores', label: 'Pain Score/Goal', name: 'Pain Score', value: cast(cast(floor(6 * u('pain', key)) as bigint) as varchar), used: u('pain charted', key) < 0.5},
    {kind: 'Scores', label: 'Glasgow coma score', name: 'GCS total', value: '3', used: u('wrong name', key) < 0.01}
  ], recursive := true)
  from flow where hr % 4 = 0
), early as (
  -- charted before the unit, within and beyond the six hours that the GCS reference looks back
  select patientunitstayid, -cast(floor(500 * u('early', key)) as bigint) as minute, key, 'Scores' as kind, 'Glasgow coma score' as label,
    'GCS Total' as name, cast(eyes + motor + verbal as varchar) as value, true as used
  from flow where hr = 0 and gcs_style = 'total' and u('charted before', i) < 0.2
), together as (
  select * from vitals union all by name select * from coma union all by name select * from early
)
select 900000000000 + row_number() over (order by patientunitstayid, minute, kind, label, name, value, key) as nursingchartid, patientunitstayid,
  minute as nursingchartoffset, minute + cast(floor(30 * u('entered', key)) as bigint) as nursingchartentryoffset,
  kind as nursingchartcelltypecat, label as nursingchartcelltypevallabel, name as nursingchartcelltypevalname,
  nullif(value, '') as nursingchartvalue
from together where used
