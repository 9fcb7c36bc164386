select 900000000000 + i as cpleolid, patientunitstayid, unitdischargeoffset // 2 as cpleolsaveoffset, unitdischargeoffset // 2 - 30 as cpleoldiscussionoffset, 'True' as activeupondischarge
from unit where dies and u('discussed', i) < 0.1
