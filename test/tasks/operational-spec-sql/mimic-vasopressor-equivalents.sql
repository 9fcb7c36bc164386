with infusions as (
  select
    stay_id,
    starttime,
    endtime,
    itemid,
    case
      when itemid = 221906 and rateuom = 'mg/kg/min' and patientweight <> 1 then rate * 1000
      when itemid = 221749 and rateuom = 'mcg/min' then rate / patientweight
      when itemid = 222315 and rateuom = 'units/min' then rate * 60
      else rate
    end as rate
  from mimiciv_icu.inputevents
  where itemid in (
    221906, -- Norepinephrine
    221289, -- Epinephrine
    221749, -- Phenylephrine
    221662, -- Dopamine
    222315, -- Vasopressin
    221653, -- Dobutamine
    221986 -- Milrinone
  )
),
moments as (
  select stay_id, starttime as moment from infusions
  union
  select stay_id, endtime from infusions
),
intervals as (
  select stay_id, moment as starttime, lead(moment) over (partition by stay_id order by moment) as endtime
  from moments
  qualify endtime is not null
),
running as (
  -- the highest combination has the highest rate of each agent
  select
    span.stay_id,
    span.starttime,
    span.endtime,
    max(rate) filter (itemid = 221906) as norepinephrine,
    max(rate) filter (itemid = 221289) as epinephrine,
    max(rate) filter (itemid = 221749) as phenylephrine,
    max(rate) filter (itemid = 221662) as dopamine,
    max(rate) filter (itemid = 222315) as vasopressin
  from intervals as span
  join infusions as infusion
    on infusion.stay_id = span.stay_id
    and infusion.starttime <= span.starttime
    and infusion.endtime >= span.endtime
  group by all
)
select
  stay_id,
  starttime,
  endtime,
  round(
    coalesce(norepinephrine, 0) + coalesce(epinephrine, 0) + coalesce(phenylephrine, 0) / 10 + coalesce(dopamine, 0) / 100
    + coalesce(vasopressin, 0) * 2.5 / 60,
    4
  ) as norepinephrine_equivalent_dose
from running
where coalesce(norepinephrine, epinephrine, phenylephrine, dopamine, vasopressin) is not null
