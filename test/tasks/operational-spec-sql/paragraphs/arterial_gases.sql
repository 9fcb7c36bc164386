-- text: "FiO2 is that of the gas record (20 to 100 per cent; fractions above 0.2 to 1 are multiplied by 100), else the
--   latest FiO2 charted within the 4 hours before the gas. Without FiO2 there is no ratio."
with specimens as (
  select
    specimen_id,
    min(subject_id) as subject_id,
    max(hadm_id) as hadm_id,
    max(charttime) as charttime,
    max(value) filter (itemid = 52033) as specimen_type, -- Specimen Type
    max(valuenum) filter (itemid = 50821) as po2, -- pO2
    max(valuenum) filter (itemid = 50818) as pco2, -- pCO2
    max(valuenum) filter (itemid = 50820) as ph, -- pH
    max(valuenum) filter (itemid = 50801) as aado2, -- Alveolar-arterial Gradient
    max(case when valuenum > 0.2 and valuenum <= 1 then valuenum * 100 when valuenum between 20 and 100 then valuenum end)
      filter (itemid = 50816) as fio2 -- Oxygen
  from mimiciv_hosp.labevents
  where itemid in (52033, 50821, 50818, 50820, 50801, 50816)
  group by specimen_id
),
charted_fio2 as (
  select
    subject_id,
    charttime,
    max(case when valuenum > 0.2 and valuenum <= 1 then valuenum * 100 when valuenum between 20 and 100 then valuenum end) as fio2
  from mimiciv_icu.chartevents
  where itemid = 223835 -- Inspired O2 Fraction
  group by all
  having fio2 is not null
)
select
  gas.specimen_id,
  gas.subject_id,
  gas.hadm_id,
  gas.charttime,
  gas.po2,
  gas.pco2,
  gas.ph,
  gas.aado2,
  gas.fio2 as fio2_of_record,
  case when gas.charttime - charted.charttime <= interval 4 hours then charted.fio2 end as fio2_charted,
  100 * gas.po2 / coalesce(fio2_of_record, fio2_charted) as pao2fio2
from specimens as gas
asof left join charted_fio2 as charted
  on gas.subject_id = charted.subject_id and gas.charttime >= charted.charttime
where gas.specimen_type = 'ART.'
