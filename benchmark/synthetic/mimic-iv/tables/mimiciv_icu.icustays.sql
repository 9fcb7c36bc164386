select subject_id, hadm_id, stay_id,
  case archetype when 'surgical' then pick(['Surgical Intensive Care Unit (SICU)', 'Cardiac Vascular Intensive Care Unit (CVICU)'], 'unit', i)
    when 'cardiac' then pick(['Coronary Care Unit (CCU)', 'Cardiac Vascular Intensive Care Unit (CVICU)'], 'unit', i)
    when 'neuro' then 'Neuro Surgical Intensive Care Unit (Neuro SICU)' when 'trauma' then 'Trauma SICU (TSICU)'
    else pick(['Medical Intensive Care Unit (MICU)', 'Medical/Surgical Intensive Care Unit (MICU/SICU)'], 'unit', i) end as first_careunit,
  first_careunit as last_careunit, intime, outtime,
  epoch(outtime - intime) / 86400.0 as los
from stay
