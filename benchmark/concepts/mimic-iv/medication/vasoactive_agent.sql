-- title: Timeline of vasoactive infusions
-- grain: one row per ICU stay and piece of time between two consecutive starts or ends of infusions, repeated when several records of one drug cover the piece
-- keys: stay_id, starttime, endtime
-- sources: mimiciv_derived.dopamine, mimiciv_derived.epinephrine, mimiciv_derived.norepinephrine, mimiciv_derived.phenylephrine, mimiciv_derived.vasopressin, mimiciv_derived.dobutamine, mimiciv_derived.milrinone
-- citation: none
-- conventions:
--   - a stay's timeline is cut at every start and every end of any of the seven infusions
--   - pieces without a running drug are kept, with all rates empty; neighbouring pieces with equal rates are not merged
--   - a record counts in every piece it covers completely
--   - overlapping records of one drug are not added up: the piece is repeated for each of them, and for each combination across drugs
--   - a record without a rate cuts the timeline and shows as empty
-- ties: none

with infusions as materialized (
  select 'dopamine' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.dopamine
  union all
  select 'epinephrine' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.epinephrine
  union all
  select 'norepinephrine' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.norepinephrine
  union all
  select 'phenylephrine' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.phenylephrine
  union all
  select 'vasopressin' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.vasopressin
  union all
  select 'dobutamine' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.dobutamine
  union all
  select 'milrinone' as drug, stay_id, starttime, endtime, vaso_rate
  from mimiciv_derived.milrinone
),

cut_times as (
  select stay_id, starttime as cut_time
  from infusions
  union
  select stay_id, endtime as cut_time
  from infusions
),

-- The number of a piece is the number of the cut that opens it.
numbered_cuts as materialized (
  select
    stay_id,
    cut_time,
    row_number() over stay_cuts as piece,
    lead(cut_time) over stay_cuts as next_cut_time
  from cut_times
  window stay_cuts as (partition by stay_id order by cut_time nulls first)
),

-- An infusion opens at one cut and closes at a later one, so it covers the
-- pieces from the first up to, but not including, the second.
covered_pieces as materialized (
  select
    infusions.drug,
    infusions.stay_id,
    unnest(range(opening_cut.piece, closing_cut.piece)) as piece,
    infusions.vaso_rate
  from infusions
  inner join numbered_cuts as opening_cut
    on infusions.stay_id = opening_cut.stay_id
    and infusions.starttime = opening_cut.cut_time
  inner join numbered_cuts as closing_cut
    on infusions.stay_id = closing_cut.stay_id
    and infusions.endtime = closing_cut.cut_time
)

select
  numbered_cuts.stay_id,
  numbered_cuts.cut_time as starttime,
  numbered_cuts.next_cut_time as endtime,
  dopamine.vaso_rate as dopamine,
  epinephrine.vaso_rate as epinephrine,
  norepinephrine.vaso_rate as norepinephrine,
  phenylephrine.vaso_rate as phenylephrine,
  vasopressin.vaso_rate as vasopressin,
  dobutamine.vaso_rate as dobutamine,
  milrinone.vaso_rate as milrinone
from numbered_cuts
left join covered_pieces as dopamine
  on numbered_cuts.stay_id = dopamine.stay_id
  and numbered_cuts.piece = dopamine.piece
  and dopamine.drug = 'dopamine'
left join covered_pieces as epinephrine
  on numbered_cuts.stay_id = epinephrine.stay_id
  and numbered_cuts.piece = epinephrine.piece
  and epinephrine.drug = 'epinephrine'
left join covered_pieces as norepinephrine
  on numbered_cuts.stay_id = norepinephrine.stay_id
  and numbered_cuts.piece = norepinephrine.piece
  and norepinephrine.drug = 'norepinephrine'
left join covered_pieces as phenylephrine
  on numbered_cuts.stay_id = phenylephrine.stay_id
  and numbered_cuts.piece = phenylephrine.piece
  and phenylephrine.drug = 'phenylephrine'
left join covered_pieces as vasopressin
  on numbered_cuts.stay_id = vasopressin.stay_id
  and numbered_cuts.piece = vasopressin.piece
  and vasopressin.drug = 'vasopressin'
left join covered_pieces as dobutamine
  on numbered_cuts.stay_id = dobutamine.stay_id
  and numbered_cuts.piece = dobutamine.piece
  and dobutamine.drug = 'dobutamine'
left join covered_pieces as milrinone
  on numbered_cuts.stay_id = milrinone.stay_id
  and numbered_cuts.piece = milrinone.piece
  and milrinone.drug = 'milrinone'
where numbered_cuts.next_cut_time is not null
