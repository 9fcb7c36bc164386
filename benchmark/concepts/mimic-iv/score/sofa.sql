-- title: SOFA score for every hour of an ICU stay
-- grain: one row per ICU stay and hour from hour 0 on
-- keys: stay_id, hr
-- sources: mimiciv_icu.icustays, mimiciv_derived.icustay_hourly, mimiciv_derived.bg, mimiciv_derived.ventilation, mimiciv_derived.vitalsign, mimiciv_derived.gcs, mimiciv_derived.enzyme, mimiciv_derived.chemistry, mimiciv_derived.complete_blood_count, mimiciv_derived.urine_output_rate, mimiciv_derived.norepinephrine, mimiciv_derived.epinephrine, mimiciv_derived.dopamine, mimiciv_derived.dobutamine
-- citation: Vincent 1996, Intensive Care Medicine
-- conventions:
--   - Hours end on the full hour of the clock (see icustay_hourly); a measurement belongs to the hour in which it falls, start of the hour not included, end included.
--   - Nothing is carried forward: an hour without a measurement is missing, and only the 24-hour value bridges it.
--   - The 24-hour value of a component is its highest of the hour and the 23 hourly rows before, 0 if all are missing; hours before ICU admission (down to -24) count in it but are not reported.
--   - Laboratory values belong to the hospital admission, arterial blood gases to the patient, all else to the ICU stay.
--   - A gas is ventilated if it lies within an episode of invasive ventilation of the stay, ends included; without ventilation the score is at most 2.
--   - A vasopressor or inotrope counts in an hour if its infusion is running at the end of the hour (started before, stopped then or later), with its highest rate (mcg/kg/min as charted); an infusion that starts and stops within the hour is not seen.
--   - Any epinephrine or norepinephrine rate, even 0, scores at least 3.
--   - Urine output is that of the trailing 24-hour window scaled to 24 hours, used only if its records cover 22 to 30 hours.
-- ties: none
-- the end of the hour of each measurement: a time on the full hour closes that hour
with hourly_pressures as (
  select
    stay_id,
    date_trunc('hour', charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    min(mbp) as meanbp_min
  from mimiciv_derived.vitalsign
  where mbp is not null
  group by all
),
hourly_gcs as (
  select
    stay_id,
    date_trunc('hour', charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    min(gcs) as gcs_min
  from mimiciv_derived.gcs
  group by all
),
hourly_bilirubin as (
  select
    icustays.stay_id,
    date_trunc('hour', enzyme.charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    max(enzyme.bilirubin_total) as bilirubin_max
  from mimiciv_icu.icustays
  inner join mimiciv_derived.enzyme
    on icustays.hadm_id = enzyme.hadm_id
  where enzyme.bilirubin_total is not null
  group by all
),
hourly_creatinine as (
  select
    icustays.stay_id,
    date_trunc('hour', chemistry.charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    max(chemistry.creatinine) as creatinine_max
  from mimiciv_icu.icustays
  inner join mimiciv_derived.chemistry
    on icustays.hadm_id = chemistry.hadm_id
  where chemistry.creatinine is not null
  group by all
),
hourly_platelets as (
  select
    icustays.stay_id,
    date_trunc('hour', complete_blood_count.charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    min(complete_blood_count.platelet) as platelet_min
  from mimiciv_icu.icustays
  inner join mimiciv_derived.complete_blood_count
    on icustays.hadm_id = complete_blood_count.hadm_id
  where complete_blood_count.platelet is not null
  group by all
),
hourly_urine_output as (
  select
    stay_id,
    date_trunc('hour', charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    max(urineoutput_24hr / uo_tm_24hr * 24) as uo_24hr
  from mimiciv_derived.urine_output_rate
  where uo_tm_24hr >= 22
    and uo_tm_24hr <= 30
  group by all
),
invasive_ventilation as (
  select stay_id, starttime, endtime
  from mimiciv_derived.ventilation
  where ventilation_status = 'InvasiveVent'
),
hourly_gases as (
  select
    icustays.stay_id,
    date_trunc('hour', bg.charttime - interval '1 microsecond') + interval '1 hour' as endtime,
    min(case when invasive_ventilation.stay_id is null then bg.pao2fio2ratio end) as pao2fio2ratio_novent,
    min(case when invasive_ventilation.stay_id is not null then bg.pao2fio2ratio end) as pao2fio2ratio_vent
  from mimiciv_icu.icustays
  inner join mimiciv_derived.bg
    on icustays.subject_id = bg.subject_id
  left join invasive_ventilation
    on icustays.stay_id = invasive_ventilation.stay_id
    and bg.charttime >= invasive_ventilation.starttime
    and bg.charttime <= invasive_ventilation.endtime
  where bg.specimen = 'ART.'
    and bg.pao2fio2ratio is not null
  group by all
),
vasoactive_infusions as (
  select stay_id, starttime, endtime, 'epinephrine' as drug, vaso_rate
  from mimiciv_derived.epinephrine
  union all
  select stay_id, starttime, endtime, 'norepinephrine' as drug, vaso_rate
  from mimiciv_derived.norepinephrine
  union all
  select stay_id, starttime, endtime, 'dopamine' as drug, vaso_rate
  from mimiciv_derived.dopamine
  union all
  select stay_id, starttime, endtime, 'dobutamine' as drug, vaso_rate
  from mimiciv_derived.dobutamine
),
-- one row per infusion and full hour of the clock after its start, up to and including its end
running_infusions as (
  select
    stay_id,
    unnest(
      generate_series(
        date_trunc('hour', starttime) + interval '1 hour',
        date_trunc('hour', endtime),
        interval '1 hour'
      )
    ) as endtime,
    drug,
    vaso_rate
  from vasoactive_infusions
),
hourly_rates as (
  select
    stay_id,
    endtime,
    max(case when drug = 'epinephrine' then vaso_rate end) as rate_epinephrine,
    max(case when drug = 'norepinephrine' then vaso_rate end) as rate_norepinephrine,
    max(case when drug = 'dopamine' then vaso_rate end) as rate_dopamine,
    max(case when drug = 'dobutamine' then vaso_rate end) as rate_dobutamine
  from running_infusions
  group by stay_id, endtime
),
hourly_components as (
  select
    icustay_hourly.stay_id,
    icustay_hourly.hr,
    icustay_hourly.endtime - interval '1 hour' as starttime,
    icustay_hourly.endtime,
    pao2fio2ratio_novent,
    pao2fio2ratio_vent,
    rate_epinephrine,
    rate_norepinephrine,
    rate_dopamine,
    rate_dobutamine,
    meanbp_min,
    gcs_min,
    uo_24hr,
    bilirubin_max,
    creatinine_max,
    platelet_min,
    case
      when pao2fio2ratio_vent < 100 then 4
      when pao2fio2ratio_vent < 200 then 3
      when pao2fio2ratio_novent < 300 then 2
      when pao2fio2ratio_vent < 300 then 2
      when pao2fio2ratio_novent < 400 then 1
      when pao2fio2ratio_vent < 400 then 1
      when coalesce(pao2fio2ratio_vent, pao2fio2ratio_novent) is null then null
      else 0
    end as respiration,
    case
      when platelet_min < 20 then 4
      when platelet_min < 50 then 3
      when platelet_min < 100 then 2
      when platelet_min < 150 then 1
      when platelet_min is null then null
      else 0
    end as coagulation,
    case
      when bilirubin_max >= 12.0 then 4
      when bilirubin_max >= 6.0 then 3
      when bilirubin_max >= 2.0 then 2
      when bilirubin_max >= 1.2 then 1
      when bilirubin_max is null then null
      else 0
    end as liver,
    case
      when rate_dopamine > 15 or rate_epinephrine > 0.1 or rate_norepinephrine > 0.1 then 4
      when rate_dopamine > 5 or rate_epinephrine <= 0.1 or rate_norepinephrine <= 0.1 then 3
      when rate_dopamine > 0 or rate_dobutamine > 0 then 2
      when meanbp_min < 70 then 1
      when coalesce(meanbp_min, rate_dopamine, rate_dobutamine, rate_epinephrine, rate_norepinephrine) is null then null
      else 0
    end as cardiovascular,
    case
      when gcs_min >= 13 and gcs_min <= 14 then 1
      when gcs_min >= 10 and gcs_min <= 12 then 2
      when gcs_min >= 6 and gcs_min <= 9 then 3
      when gcs_min < 6 then 4
      when gcs_min is null then null
      else 0
    end as cns,
    case
      when creatinine_max >= 5.0 then 4
      when uo_24hr < 200 then 4
      when creatinine_max >= 3.5 and creatinine_max < 5.0 then 3
      when uo_24hr < 500 then 3
      when creatinine_max >= 2.0 and creatinine_max < 3.5 then 2
      when creatinine_max >= 1.2 and creatinine_max < 2.0 then 1
      when coalesce(uo_24hr, creatinine_max) is null then null
      else 0
    end as renal
  from mimiciv_derived.icustay_hourly
  inner join mimiciv_icu.icustays
    on icustay_hourly.stay_id = icustays.stay_id
  left join hourly_gases
    on icustay_hourly.stay_id = hourly_gases.stay_id
    and icustay_hourly.endtime = hourly_gases.endtime
  left join hourly_rates
    on icustay_hourly.stay_id = hourly_rates.stay_id
    and icustay_hourly.endtime = hourly_rates.endtime
  left join hourly_pressures
    on icustay_hourly.stay_id = hourly_pressures.stay_id
    and icustay_hourly.endtime = hourly_pressures.endtime
  left join hourly_gcs
    on icustay_hourly.stay_id = hourly_gcs.stay_id
    and icustay_hourly.endtime = hourly_gcs.endtime
  left join hourly_urine_output
    on icustay_hourly.stay_id = hourly_urine_output.stay_id
    and icustay_hourly.endtime = hourly_urine_output.endtime
  left join hourly_bilirubin
    on icustay_hourly.stay_id = hourly_bilirubin.stay_id
    and icustay_hourly.endtime = hourly_bilirubin.endtime
  left join hourly_creatinine
    on icustay_hourly.stay_id = hourly_creatinine.stay_id
    and icustay_hourly.endtime = hourly_creatinine.endtime
  left join hourly_platelets
    on icustay_hourly.stay_id = hourly_platelets.stay_id
    and icustay_hourly.endtime = hourly_platelets.endtime
),
-- one tally mark per point, four places per component: marks of several hours laid over one another keep the highest
-- score of each component, so one pass over the 24 rows serves all six
tallied_components as (
  select
    *,
    ((1 << coalesce(respiration, 0)) - 1)
      | (((1 << coalesce(coagulation, 0)) - 1) << 4)
      | (((1 << coalesce(liver, 0)) - 1) << 8)
      | (((1 << coalesce(cardiovascular, 0)) - 1) << 12)
      | (((1 << coalesce(cns, 0)) - 1) << 16)
      | (((1 << coalesce(renal, 0)) - 1) << 20) as tally_marks
  from hourly_components
),
trailing_marks as (
  select
    *,
    bit_or(tally_marks) over (
      partition by stay_id
      order by hr
      rows between 23 preceding and current row
    ) as last_24_rows
  from tallied_components
),
trailing_components as (
  select
    * exclude (tally_marks, last_24_rows),
    cast(bit_count(last_24_rows & 15) as integer) as respiration_24hours,
    cast(bit_count((last_24_rows >> 4) & 15) as integer) as coagulation_24hours,
    cast(bit_count((last_24_rows >> 8) & 15) as integer) as liver_24hours,
    cast(bit_count((last_24_rows >> 12) & 15) as integer) as cardiovascular_24hours,
    cast(bit_count((last_24_rows >> 16) & 15) as integer) as cns_24hours,
    cast(bit_count((last_24_rows >> 20) & 15) as integer) as renal_24hours
  from trailing_marks
  where hr >= 0
)
select
  *,
  respiration_24hours
    + coagulation_24hours
    + liver_24hours
    + cardiovascular_24hours
    + cns_24hours
    + renal_24hours as sofa_24hours
from trailing_components
