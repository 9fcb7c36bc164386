select 900000000000 + key as respcareid, patientunitstayid, charted_offset as respcarestatusoffset, 1 as currenthistoryseqnum,
  case when support = 'tube' and hr % 12 = tube_hour % 12 then 'Oral ETT' when support = 'tracheostomy' then 'Tracheostomy'
    when support = 'none' and u('no airway', i) < 0.1 then 'No Artificial Airway' end as airwaytype,
  case when support = 'tube' and u('size', i) < 0.5 then pick(['7.0', '7.5', '8.0'], 'size', i) end as airwaysize,
  case when support = 'tube' then pick(['Right', 'Center', 'Left', '23'], 'position', key) end as airwayposition,
  case when support = 'tube' and u('cuff', key) < 0.3 then 25 end as cuffpressure,
  tube_hour * 60 as ventstartoffset, 0 as ventendoffset
from flow where hr % 4 = 0 and (support in ('tube', 'tracheostomy', 'mask') or (support = 'none' and u('respiratory care', i) < 0.15 and hr < 24))
