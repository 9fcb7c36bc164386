-- text: "Weights are the positive values charted as admission weight or daily weight, in kg … The first admission weight of
--   a stay starts 2 hours before ICU admission whenever it was charted; every other weight starts at its chart time. In the
--   order of these starts each weight ends where the next begins; the last one ends 2 hours after ICU discharge. When the
--   earliest start lies after ICU admission, the earliest weight also holds from 2 hours before ICU admission to that start."
with charted as (
  select
    icustay.stay_id,
    icustay.intime,
    icustay.outtime,
    charttime,
    valuenum as weight,
    itemid = 226512 as is_admission_weight -- Admission Weight (Kg)
  from mimiciv_icu.chartevents as chart
  join mimiciv_icu.icustays as icustay using (stay_id)
  where itemid in (226512, 224639) -- Admission Weight (Kg), Daily Weight
    and valuenum > 0
),
started as (
  select
    *,
    case
      when is_admission_weight and row_number() over (partition by stay_id, is_admission_weight order by charttime) = 1
        then intime - interval 2 hours
      else charttime
    end as starttime
  from charted
),
ended as (
  select
    stay_id,
    intime,
    starttime,
    coalesce(lead(starttime) over (partition by stay_id order by starttime), outtime + interval 2 hours) as endtime,
    weight
  from started
)
select stay_id, starttime, endtime, weight
from ended
union all
select stay_id, min(intime) - interval 2 hours, min(starttime), arg_min(weight, starttime)
from ended
group by stay_id
having min(starttime) > min(intime)
