-- title: Prescriptions of systemic antibiotics
-- grain: one row per matching prescription, repeated for each ICU stay in which it started (equal prescriptions give equal rows)
-- keys: subject_id, hadm_id, stay_id, starttime, stoptime, antibiotic, route
-- sources: mimiciv_hosp.prescriptions, mimiciv_icu.icustays
-- citation: Johnson et al. 2018, JAMIA (MIMIC code repository)
-- conventions:
--   - a prescription matches when its drug text contains one of the names, in upper or lower case, and its drug and route are an accepted pair
--   - eye, ear and topical routes are left out, as are creams, gels, eye ointments and desensitization; a prescription without a route never counts
--   - a drug typed as BASE does not make a pair accepted, but is kept when another prescription of the same drug and route does
--   - the list holds a few antifungals and topical names and lacks several agents (ertapenem, imipenem, daptomycin); it is kept as published, the spelling cephapririn included
--   - the ICU stay is the one of the admission in which the prescription starts, from intime (included) to outtime (excluded); empty outside the ICU
-- ties: none

with antibiotic_names(name) as (
  values
    ('adoxa'), ('ala-tet'), ('alodox'), ('amikacin'), ('amikin'), ('amoxicill'),
    ('amphotericin'), ('ampicillin'), ('ancef'), ('anidulafungin'), ('augmentin'),
    ('avelox'), ('avidoxy'), ('axetil'), ('azactam'), ('azithromycin'), ('aztreonam'),
    ('bactocill'), ('bactrim'), ('bactroban'), ('bethkis'), ('biaxin'), ('bicillin l-a'),
    ('cayston'), ('cedax'), ('cefaclor'), ('cefadroxil'), ('cefazolin'), ('cefdinir'),
    ('cefditoren'), ('cefepime'), ('cefotan'), ('cefotaxime'), ('cefotetan'), ('cefoxitin'),
    ('cefpirome'), ('cefpodoxime'), ('cefprozil'), ('ceftaroline'), ('ceftazidime'),
    ('ceftibuten'), ('ceftin'), ('ceftriaxone'), ('cefuroxime'), ('cephalexin'),
    ('cephalothin'), ('cephapririn'), ('chloramphenicol'), ('cipro'), ('ciprofloxacin'),
    ('claforan'), ('clarithromycin'), ('clavulanate'), ('cleocin'), ('clindamycin'),
    ('cubicin'),
    ('dicloxacillin'), ('dirithromycin'), ('doryx'), ('doxycy'), ('duricef'), ('dynacin'),
    ('ery-tab'), ('eryc'), ('eryped'), ('erythrocin'), ('erythromycin'), ('factive'),
    ('flagyl'), ('fortaz'), ('furadantin'), ('garamycin'), ('gentamicin'), ('kanamycin'),
    ('keflex'), ('kefzol'), ('ketek'),
    ('levaquin'), ('levofloxacin'), ('lincocin'), ('linezolid'), ('macrobid'),
    ('macrodantin'), ('maxipime'), ('mefoxin'), ('meropenem'), ('methicillin'),
    ('metronidazole'), ('minocin'), ('minocycline'), ('monodox'), ('monurol'), ('morgidox'),
    ('moxatag'), ('moxifloxacin'), ('mupirocin'), ('myrac'),
    ('nafcillin'), ('neomycin'), ('nicazel doxy 30'), ('nitrofurantoin'), ('norfloxacin'),
    ('noroxin'), ('ocudox'), ('ofloxacin'), ('omnicef'), ('oracea'), ('oraxyl'),
    ('oxacillin'), ('panixine'), ('pc pen vk'), ('pce dispertab'), ('pediazole'),
    ('penicillin'), ('periostat'), ('pfizerpen'), ('piperacillin'), ('primsol'),
    ('proquin'),
    ('raniclor'), ('rifadin'), ('rifampin'), ('rocephin'), ('septra'), ('septra ds'),
    ('smz-tmp'), ('solodyn'), ('spectracef'), ('streptomycin'), ('sulfadiazine'),
    ('sulfamethoxazole'), ('sulfatrim'), ('sulfisoxazole'), ('suprax'), ('synercid'),
    ('tazicef'), ('tazobactam'), ('tetracycline'), ('timentin'), ('tobramycin'),
    ('trimethoprim'), ('unasyn'), ('vancocin'), ('vancomycin'), ('vantin'), ('vibativ'),
    ('vibra-tabs'), ('vibramycin'), ('zinacef'), ('zithromax'), ('zosyn'), ('zyvox')
),

systemic_prescriptions as (
  select distinct
    drug,
    route
  from mimiciv_hosp.prescriptions
  where drug_type <> 'BASE'
    and route not in ('OU', 'OS', 'OD', 'AU', 'AS', 'AD', 'TP')
    and not contains(lower(route), 'ear')
    and not contains(lower(route), 'eye')
    and not contains(lower(drug), 'cream')
    and not contains(lower(drug), 'desensitization')
    and not contains(lower(drug), 'ophth oint')
    and not contains(lower(drug), 'gel')
),

accepted_pairs as (
  select distinct
    systemic_prescriptions.drug,
    systemic_prescriptions.route
  from systemic_prescriptions
  inner join antibiotic_names
    on contains(lower(systemic_prescriptions.drug), antibiotic_names.name)
)

select
  prescriptions.subject_id,
  prescriptions.hadm_id,
  icustays.stay_id,
  prescriptions.drug as antibiotic,
  prescriptions.route,
  prescriptions.starttime,
  prescriptions.stoptime
from mimiciv_hosp.prescriptions as prescriptions
inner join accepted_pairs
  on prescriptions.drug = accepted_pairs.drug
  and prescriptions.route = accepted_pairs.route
left join mimiciv_icu.icustays as icustays
  on prescriptions.hadm_id = icustays.hadm_id
  and prescriptions.starttime >= icustays.intime
  and prescriptions.starttime < icustays.outtime
