select subject_id, hadm_id, stay_id, 6.0 as meld
from mimiciv_icu.icustays
