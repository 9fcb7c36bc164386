-- title: Invasive lines with harmonised type and site
-- grain: one row per charted line (row of procedureevents)
-- keys: stay_id, starttime, line_type, line_site, endtime
-- sources: mimiciv_icu.procedureevents, mimiciv_icu.d_items
-- citation: Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - every charted line counts, whatever its status or value; overlapping or consecutive records of one line are not merged
--   - the type is the item's label and the site the charted location, with spelling variants made one; other names stay as charted
-- ties: none

with charted_lines as (
  select
    procedureevents.stay_id,
    d_items.label,
    procedureevents.location,
    procedureevents.starttime,
    procedureevents.endtime
  from mimiciv_icu.procedureevents as procedureevents
  inner join mimiciv_icu.d_items as d_items
    on procedureevents.itemid = d_items.itemid
  where procedureevents.itemid in (
    227719, -- AVA
    225752, -- Arterial Line
    224269, -- CCO PAC
    224267, -- Cordis/Introducer
    224270, -- Dialysis Catheter
    224272, -- IABP line
    226124, -- ICP Catheter
    228169, -- Impella Line
    225202, -- Indwelling Port (PortaCath)
    228286, -- Intraosseous Device
    225204, -- Midline
    224263, -- Multi Lumen
    224560, -- PA Catheter
    224264, -- PICC Line
    225203, -- Pheresis Catheter
    224273, -- Presep Catheter
    225789, -- Sheath (Venous)
    225761, -- Sheath Insertion
    228201, -- Tandem Heart Inflow Line
    228202, -- Tandem Heart Outflow Line
    224268, -- Trauma line
    225199, -- Triple Introducer
    225315, -- Tunneled (Hickman) Line
    225205 -- RIC
  )
)

select
  stay_id,
  case
    when label in ('Arterial Line', 'A-Line') then 'Arterial'
    when label in ('CCO PA Line', 'CCO PAC') then 'Continuous Cardiac Output PA'
    when label in ('Dialysis Catheter', 'Dialysis Line') then 'Dialysis'
    when label in ('Hickman', 'Tunneled (Hickman) Line') then 'Hickman'
    when label in ('IABP', 'IABP line') then 'IABP'
    when label in ('Multi Lumen', 'Multi-lumen') then 'Multi Lumen'
    when label in ('PA Catheter', 'PA line') then 'PA'
    when label in ('PICC Line', 'PICC line') then 'PICC'
    when label in ('Pre-Sep Catheter', 'Presep Catheter') then 'Pre-Sep'
    when label in ('Trauma Line', 'Trauma line') then 'Trauma'
    when label in ('Triple Introducer', 'TripleIntroducer') then 'Triple Introducer'
    when label in ('Portacath', 'Indwelling Port (PortaCath)') then 'Portacath'
    else label
  end as line_type,
  case
    when location in ('Left Antecub', 'Left Antecube') then 'Left Antecube'
    when location in ('Left Axilla', 'Left Axilla.') then 'Left Axilla'
    when location in ('Left Brachial', 'Left Brachial.') then 'Left Brachial'
    when location in ('Left Femoral', 'Left Femoral.') then 'Left Femoral'
    when location in ('Right Antecub', 'Right Antecube') then 'Right Antecube'
    when location in ('Right Axilla', 'Right Axilla.') then 'Right Axilla'
    when location in ('Right Brachial', 'Right Brachial.') then 'Right Brachial'
    when location in ('Right Femoral', 'Right Femoral.') then 'Right Femoral'
    else location
  end as line_site,
  starttime,
  endtime
from charted_lines
