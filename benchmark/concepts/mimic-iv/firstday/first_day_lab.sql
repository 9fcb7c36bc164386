-- title: Extremes of laboratory values on the first ICU day
-- grain: one row per ICU stay
-- keys: stay_id
-- sources: mimiciv_icu.icustays, mimiciv_derived.complete_blood_count, mimiciv_derived.chemistry, mimiciv_derived.blood_differential, mimiciv_derived.coagulation, mimiciv_derived.enzyme
-- citation: none
-- conventions:
--   - The first day runs from 6 hours before ICU admission to 24 hours after it, both ends included, also when the stay ended earlier.
--   - Results are matched by patient, so a result of a neighbouring stay or of the ward counts when its time falls into the window.
--   - Glucose, haematocrit, haemoglobin and electrolytes are laboratory values only; the blood gas analyser is not used.
--   - The white cell count is the one of the complete blood count, CK-MB the one of the enzyme table (above zero only).
--   - A stay without a result has a row with missing values.
-- ties: none
with first_day as (
  select
    subject_id,
    stay_id,
    intime - interval 6 hours as starttime,
    intime + interval 24 hours as endtime
  from mimiciv_icu.icustays
),
blood_counts as (
  select
    first_day.stay_id,
    min(complete_blood_count.hematocrit) as hematocrit_min,
    max(complete_blood_count.hematocrit) as hematocrit_max,
    min(complete_blood_count.hemoglobin) as hemoglobin_min,
    max(complete_blood_count.hemoglobin) as hemoglobin_max,
    min(complete_blood_count.platelet) as platelets_min,
    max(complete_blood_count.platelet) as platelets_max,
    min(complete_blood_count.wbc) as wbc_min,
    max(complete_blood_count.wbc) as wbc_max
  from first_day
  inner join mimiciv_derived.complete_blood_count
    on first_day.subject_id = complete_blood_count.subject_id
    and complete_blood_count.charttime >= first_day.starttime
    and complete_blood_count.charttime <= first_day.endtime
  group by first_day.stay_id
),
chemistries as (
  select
    first_day.stay_id,
    min(chemistry.albumin) as albumin_min,
    max(chemistry.albumin) as albumin_max,
    min(chemistry.globulin) as globulin_min,
    max(chemistry.globulin) as globulin_max,
    min(chemistry.total_protein) as total_protein_min,
    max(chemistry.total_protein) as total_protein_max,
    min(chemistry.aniongap) as aniongap_min,
    max(chemistry.aniongap) as aniongap_max,
    min(chemistry.bicarbonate) as bicarbonate_min,
    max(chemistry.bicarbonate) as bicarbonate_max,
    min(chemistry.bun) as bun_min,
    max(chemistry.bun) as bun_max,
    min(chemistry.calcium) as calcium_min,
    max(chemistry.calcium) as calcium_max,
    min(chemistry.chloride) as chloride_min,
    max(chemistry.chloride) as chloride_max,
    min(chemistry.creatinine) as creatinine_min,
    max(chemistry.creatinine) as creatinine_max,
    min(chemistry.glucose) as glucose_min,
    max(chemistry.glucose) as glucose_max,
    min(chemistry.sodium) as sodium_min,
    max(chemistry.sodium) as sodium_max,
    min(chemistry.potassium) as potassium_min,
    max(chemistry.potassium) as potassium_max
  from first_day
  inner join mimiciv_derived.chemistry
    on first_day.subject_id = chemistry.subject_id
    and chemistry.charttime >= first_day.starttime
    and chemistry.charttime <= first_day.endtime
  group by first_day.stay_id
),
differentials as (
  select
    first_day.stay_id,
    min(blood_differential.basophils_abs) as abs_basophils_min,
    max(blood_differential.basophils_abs) as abs_basophils_max,
    min(blood_differential.eosinophils_abs) as abs_eosinophils_min,
    max(blood_differential.eosinophils_abs) as abs_eosinophils_max,
    min(blood_differential.lymphocytes_abs) as abs_lymphocytes_min,
    max(blood_differential.lymphocytes_abs) as abs_lymphocytes_max,
    min(blood_differential.monocytes_abs) as abs_monocytes_min,
    max(blood_differential.monocytes_abs) as abs_monocytes_max,
    min(blood_differential.neutrophils_abs) as abs_neutrophils_min,
    max(blood_differential.neutrophils_abs) as abs_neutrophils_max,
    min(blood_differential.atypical_lymphocytes) as atyps_min,
    max(blood_differential.atypical_lymphocytes) as atyps_max,
    min(blood_differential.bands) as bands_min,
    max(blood_differential.bands) as bands_max,
    min(blood_differential.immature_granulocytes) as imm_granulocytes_min,
    max(blood_differential.immature_granulocytes) as imm_granulocytes_max,
    min(blood_differential.metamyelocytes) as metas_min,
    max(blood_differential.metamyelocytes) as metas_max,
    min(blood_differential.nrbc) as nrbc_min,
    max(blood_differential.nrbc) as nrbc_max
  from first_day
  inner join mimiciv_derived.blood_differential
    on first_day.subject_id = blood_differential.subject_id
    and blood_differential.charttime >= first_day.starttime
    and blood_differential.charttime <= first_day.endtime
  group by first_day.stay_id
),
coagulations as (
  select
    first_day.stay_id,
    min(coagulation.d_dimer) as d_dimer_min,
    max(coagulation.d_dimer) as d_dimer_max,
    min(coagulation.fibrinogen) as fibrinogen_min,
    max(coagulation.fibrinogen) as fibrinogen_max,
    min(coagulation.thrombin) as thrombin_min,
    max(coagulation.thrombin) as thrombin_max,
    min(coagulation.inr) as inr_min,
    max(coagulation.inr) as inr_max,
    min(coagulation.pt) as pt_min,
    max(coagulation.pt) as pt_max,
    min(coagulation.ptt) as ptt_min,
    max(coagulation.ptt) as ptt_max
  from first_day
  inner join mimiciv_derived.coagulation
    on first_day.subject_id = coagulation.subject_id
    and coagulation.charttime >= first_day.starttime
    and coagulation.charttime <= first_day.endtime
  group by first_day.stay_id
),
enzymes as (
  select
    first_day.stay_id,
    min(enzyme.alt) as alt_min,
    max(enzyme.alt) as alt_max,
    min(enzyme.alp) as alp_min,
    max(enzyme.alp) as alp_max,
    min(enzyme.ast) as ast_min,
    max(enzyme.ast) as ast_max,
    min(enzyme.amylase) as amylase_min,
    max(enzyme.amylase) as amylase_max,
    min(enzyme.bilirubin_total) as bilirubin_total_min,
    max(enzyme.bilirubin_total) as bilirubin_total_max,
    min(enzyme.bilirubin_direct) as bilirubin_direct_min,
    max(enzyme.bilirubin_direct) as bilirubin_direct_max,
    min(enzyme.bilirubin_indirect) as bilirubin_indirect_min,
    max(enzyme.bilirubin_indirect) as bilirubin_indirect_max,
    min(enzyme.ck_cpk) as ck_cpk_min,
    max(enzyme.ck_cpk) as ck_cpk_max,
    min(enzyme.ck_mb) as ck_mb_min,
    max(enzyme.ck_mb) as ck_mb_max,
    min(enzyme.ggt) as ggt_min,
    max(enzyme.ggt) as ggt_max,
    min(enzyme.ld_ldh) as ld_ldh_min,
    max(enzyme.ld_ldh) as ld_ldh_max
  from first_day
  inner join mimiciv_derived.enzyme
    on first_day.subject_id = enzyme.subject_id
    and enzyme.charttime >= first_day.starttime
    and enzyme.charttime <= first_day.endtime
  group by first_day.stay_id
)
select
  first_day.subject_id,
  first_day.stay_id,
  blood_counts.hematocrit_min,
  blood_counts.hematocrit_max,
  blood_counts.hemoglobin_min,
  blood_counts.hemoglobin_max,
  blood_counts.platelets_min,
  blood_counts.platelets_max,
  blood_counts.wbc_min,
  blood_counts.wbc_max,
  chemistries.albumin_min,
  chemistries.albumin_max,
  chemistries.globulin_min,
  chemistries.globulin_max,
  chemistries.total_protein_min,
  chemistries.total_protein_max,
  chemistries.aniongap_min,
  chemistries.aniongap_max,
  chemistries.bicarbonate_min,
  chemistries.bicarbonate_max,
  chemistries.bun_min,
  chemistries.bun_max,
  chemistries.calcium_min,
  chemistries.calcium_max,
  chemistries.chloride_min,
  chemistries.chloride_max,
  chemistries.creatinine_min,
  chemistries.creatinine_max,
  chemistries.glucose_min,
  chemistries.glucose_max,
  chemistries.sodium_min,
  chemistries.sodium_max,
  chemistries.potassium_min,
  chemistries.potassium_max,
  differentials.abs_basophils_min,
  differentials.abs_basophils_max,
  differentials.abs_eosinophils_min,
  differentials.abs_eosinophils_max,
  differentials.abs_lymphocytes_min,
  differentials.abs_lymphocytes_max,
  differentials.abs_monocytes_min,
  differentials.abs_monocytes_max,
  differentials.abs_neutrophils_min,
  differentials.abs_neutrophils_max,
  differentials.atyps_min,
  differentials.atyps_max,
  differentials.bands_min,
  differentials.bands_max,
  differentials.imm_granulocytes_min,
  differentials.imm_granulocytes_max,
  differentials.metas_min,
  differentials.metas_max,
  differentials.nrbc_min,
  differentials.nrbc_max,
  coagulations.d_dimer_min,
  coagulations.d_dimer_max,
  coagulations.fibrinogen_min,
  coagulations.fibrinogen_max,
  coagulations.thrombin_min,
  coagulations.thrombin_max,
  coagulations.inr_min,
  coagulations.inr_max,
  coagulations.pt_min,
  coagulations.pt_max,
  coagulations.ptt_min,
  coagulations.ptt_max,
  enzymes.alt_min,
  enzymes.alt_max,
  enzymes.alp_min,
  enzymes.alp_max,
  enzymes.ast_min,
  enzymes.ast_max,
  enzymes.amylase_min,
  enzymes.amylase_max,
  enzymes.bilirubin_total_min,
  enzymes.bilirubin_total_max,
  enzymes.bilirubin_direct_min,
  enzymes.bilirubin_direct_max,
  enzymes.bilirubin_indirect_min,
  enzymes.bilirubin_indirect_max,
  enzymes.ck_cpk_min,
  enzymes.ck_cpk_max,
  enzymes.ck_mb_min,
  enzymes.ck_mb_max,
  enzymes.ggt_min,
  enzymes.ggt_max,
  enzymes.ld_ldh_min,
  enzymes.ld_ldh_max
from first_day
left join blood_counts
  on first_day.stay_id = blood_counts.stay_id
left join chemistries
  on first_day.stay_id = chemistries.stay_id
left join differentials
  on first_day.stay_id = differentials.stay_id
left join coagulations
  on first_day.stay_id = coagulations.stay_id
left join enzymes
  on first_day.stay_id = enzymes.stay_id
