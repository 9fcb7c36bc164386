with amounts as (
  select *, case when has_catheter then 2 else 6 end as every,
    urine_ml_per_kg as ml_per_kg_hour
  from flow where hr > 0 and u('urine charted', i) >= 0.08
), cells as (
  select patientunitstayid, charted_offset, key, unnest([
    {path: case when has_catheter then pick(['Urine', 'Urine', 'URINE CATHETER', 'Urinary Catheter Output: Indwelling/Continuous Ure', 'Urine Output-Foley', 'Foley cath'], 'cell', i)
        else pick(['Urine', 'Urine', 'Urine, void:', 'Output (mL)-External Urinary Catheter'], 'cell', i) end,
      number: round(ml_per_kg_hour * weight_kg * every / 5) * 5, is_output: true, used: hr % every = 0},
    {path: 'Stool', number: 150.0, is_output: true, used: u('stool', key) < 0.04},
    {path: 'Urine Count', number: 1.0, is_output: true, used: u('count', key) < 0.02},
    {path: 'NS IVF', number: 75.0, is_output: false, used: hr < 36}
  ], recursive := true) from amounts
)
select 900000000000 + key * 10 + row_number() over (partition by key order by path, number) as intakeoutputid, patientunitstayid,
  charted_offset as intakeoutputoffset, case when is_output then 0 else number end as intaketotal, case when is_output then number else 0 end as outputtotal,
  0 as dialysistotal, case when is_output then -number else number end as nettotal, charted_offset + 5 as intakeoutputentryoffset,
  case when is_output then 'flowsheet|Flowsheet Cell Labels|I&O|Output (ml)|' else 'flowsheet|Flowsheet Cell Labels|I&O|Intake (ml)|Generic Intake (ml)|' end || path as cellpath,
  path as celllabel, number as cellvaluenumeric, shortest(number) as cellvaluetext
from cells where used
