-- text: "Sum the urine volumes of a stay at each chart time: … a positive volume of irrigant in is subtracted."
select
  stay_id,
  charttime,
  sum(case when itemid = 227488 and value > 0 then -value else value end) as volume
from mimiciv_icu.outputevents
where itemid in (
  226557, -- R Ureteral Stent
  226558, -- L Ureteral Stent
  226559, -- Foley
  226560, -- Void
  226561, -- Condom Cath
  226563, -- Suprapubic
  226564, -- R Nephrostomy
  226565, -- L Nephrostomy
  226567, -- Straight Cath
  226584, -- Ileoconduit
  227488, -- GU Irrigant Volume In
  227489 -- GU Irrigant/Urine Volume Out
)
group by all
