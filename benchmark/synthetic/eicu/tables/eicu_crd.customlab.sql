select 900000000000 + key as customlabid, patientunitstayid, minute as labotheroffset, 4 as labothertypeid, 'osmolality' as labothername, cast(280 + cast(floor(30 * u('osmolality', key)) as integer) as varchar) as labotherresult,
  cast(280 + cast(floor(30 * u('osmolality', key)) as integer) as varchar) as labothervaluetext
from event where kind = 'custom lab'
