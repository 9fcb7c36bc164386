import type { TaskFacts } from './task-facts.js';

/**
 * The 28 tasks of the published release and the sets of its campaigns: facts of 2026 that no later edit of a task may
 * change, needed to recompute the published tables from the published runs.
 */
interface PublishedFamily {
  readonly label: string;
  readonly keys: { readonly 'mimic-iv'?: string; readonly eicu?: string };
  readonly value: string;
  /** Required columns that the reward averages beside the value columns. */
  readonly further?: string;
  readonly standard?: string;
  readonly raw: string;
}

const families: Readonly<Record<string, PublishedFamily>> = {
  apsiii: {
    label: 'APS III',
    keys: { 'mimic-iv': 'stay_id' },
    value:
      'apsiii hr_score mbp_score temp_score resp_rate_score pao2_aado2_score hematocrit_score wbc_score creatinine_score uo_score bun_score sodium_score albumin_score bilirubin_score glucose_score acidbase_score gcs_score',
    standard: 'mimic-apsiii-24h',
    raw: 'mimic-apsiii-24h-raw',
  },
  charlson: {
    label: 'Charlson',
    keys: { 'mimic-iv': 'hadm_id' },
    value:
      'charlson_comorbidity_index age_score myocardial_infarct congestive_heart_failure peripheral_vascular_disease cerebrovascular_disease dementia chronic_pulmonary_disease rheumatic_disease peptic_ulcer_disease mild_liver_disease diabetes_without_cc diabetes_with_cc paraplegia renal_disease malignant_cancer severe_liver_disease metastatic_solid_tumor aids',
    raw: 'mimic-charlson-raw',
  },
  'creatinine-baseline': {
    label: 'Baseline creatinine',
    keys: { 'mimic-iv': 'hadm_id' },
    value: 'scr_baseline ckd mdrd_est',
    further: 'gender age scr_min',
    standard: 'mimic-creatinine-baseline',
    raw: 'mimic-creatinine-baseline-raw',
  },
  gcs: {
    label: 'GCS',
    keys: { eicu: 'patientunitstayid', 'mimic-iv': 'stay_id' },
    value: 'gcs_min gcs_motor gcs_verbal gcs_eyes',
    raw: 'eicu-gcs mimic-gcs-24h-raw',
  },
  kdigo: {
    label: 'KDIGO AKI',
    keys: { 'mimic-iv': 'stay_id' },
    value: 'aki_stage aki_stage_creat aki_stage_uo aki_stage_crrt',
    standard: 'mimic-kdigo-48h',
    raw: 'mimic-kdigo-48h-raw',
  },
  meld: {
    label: 'MELD',
    keys: { 'mimic-iv': 'stay_id' },
    value: 'meld',
    standard: 'mimic-meld-24h',
    raw: 'mimic-meld-24h-raw',
  },
  oasis: {
    label: 'OASIS',
    keys: { eicu: 'patientunitstayid', 'mimic-iv': 'stay_id' },
    value:
      'oasis preiculos_score age_score gcs_score heart_rate_score mbp_score resp_rate_score temp_score urineoutput_score mechvent_score electivesurgery_score',
    standard: 'mimic-oasis-24h',
    raw: 'eicu-oasis mimic-oasis-24h-raw',
  },
  sapsii: {
    label: 'SAPS-II',
    keys: { 'mimic-iv': 'stay_id' },
    value:
      'sapsii age_score hr_score sysbp_score temp_score pao2fio2_score uo_score bun_score wbc_score potassium_score sodium_score bicarbonate_score bilirubin_score gcs_score comorbidity_score admissiontype_score',
    standard: 'mimic-sapsii-24h',
    raw: 'mimic-sapsii-24h-raw',
  },
  sepsis3: {
    label: 'Sepsis-3',
    keys: { 'mimic-iv': 'stay_id' },
    value: 'sepsis3 sofa_score respiration coagulation liver cardiovascular cns renal',
    further: 'antibiotic_time culture_time suspected_infection_time sofa_time',
    raw: 'mimic-sepsis3-raw',
  },
  sirs: {
    label: 'SIRS',
    keys: { 'mimic-iv': 'stay_id' },
    value: 'sirs temp_score heart_rate_score resp_score wbc_score',
    raw: 'mimic-sirs-24h-raw',
  },
  sofa: {
    label: 'SOFA',
    keys: { 'mimic-iv': 'stay_id' },
    value: 'sofa respiration coagulation liver cardiovascular cns renal',
    standard: 'mimic-sofa-24h',
    raw: 'mimic-sofa-24h-raw',
  },
  'suspicion-infection': {
    label: 'Suspected infection',
    keys: { 'mimic-iv': 'subject_id ab_id' },
    value: 'suspected_infection positive_culture specimen',
    further: 'antibiotic antibiotic_time suspected_infection_time culture_time',
    standard: 'mimic-suspicion-infection',
    raw: 'mimic-suspicion-infection-raw',
  },
  'urine-output-rate': {
    label: 'Urine-output rate',
    keys: { 'mimic-iv': 'stay_id charttime' },
    value: 'uo_mlkghr_6hr uo_mlkghr_12hr uo_mlkghr_24hr urineoutput_6hr urineoutput_12hr urineoutput_24hr',
    further: 'weight uo uo_tm_6hr uo_tm_12hr uo_tm_24hr',
    standard: 'mimic-urine-output-rate',
    raw: 'mimic-urine-output-rate-raw',
  },
  'vasopressor-equivalents': {
    label: 'Vasopressor equivalents',
    keys: { 'mimic-iv': 'stay_id starttime' },
    value: 'norepinephrine_equivalent_dose',
    further: 'endtime',
    standard: 'mimic-vasopressor-equivalents',
    raw: 'mimic-vasopressor-equivalents-raw',
  },
  ventilation: {
    label: 'Ventilation',
    keys: { 'mimic-iv': 'stay_id ventilation_seq' },
    value: 'ventilation_status',
    further: 'starttime endtime',
    standard: 'mimic-ventilation',
    raw: 'mimic-ventilation-raw',
  },
};

const words = (text: string | undefined): readonly string[] =>
  text === undefined || text === '' ? [] : text.split(' ');

function factsOf(family: string, content: PublishedFamily): readonly TaskFacts[] {
  const tasks = (names: string | undefined, mode: 'standard' | 'raw'): readonly TaskFacts[] =>
    words(names).map((name): TaskFacts => {
      const database = name.startsWith('eicu-') ? 'eicu' : 'mimic-iv';
      return {
        name,
        family,
        familyLabel: content.label,
        mode,
        database,
        keyColumns: words(content.keys[database]),
        valueColumns: words(content.value),
        scoredColumns: words(`${content.value} ${content.further ?? ''}`.trim()),
      };
    });
  return [...tasks(content.standard, 'standard'), ...tasks(content.raw, 'raw')];
}

/** Facts of the 28 published tasks, by family, then name. */
export const publishedTasks: readonly TaskFacts[] = Object.entries(families).flatMap(([family, content]) =>
  [...factsOf(family, content)].sort((a, b) => (a.name < b.name ? -1 : 1)),
);

/** Tasks of the operational-spec control and of the replications, in the published order. */
export const sentinelTasks: readonly string[] = words(
  'mimic-urine-output-rate-raw mimic-ventilation mimic-creatinine-baseline-raw mimic-suspicion-infection ' +
    'mimic-vasopressor-equivalents-raw mimic-oasis-24h mimic-sepsis3-raw mimic-sofa-24h-raw',
);

/** Tasks of the raw-SQL and decoy controls, in the published order. */
export const controlTasks: readonly string[] = words(
  'mimic-urine-output-rate mimic-urine-output-rate-raw mimic-meld-24h mimic-meld-24h-raw ' +
    'mimic-suspicion-infection mimic-suspicion-infection-raw mimic-creatinine-baseline ' +
    'mimic-creatinine-baseline-raw mimic-ventilation eicu-oasis',
);

/**
 * Task means of the transformed-schema probe without skills (gpt-5.4-mini, 26 MIMIC-IV tasks) as printed: the runs
 * behind them were not published.
 */
export const publishedProbeMeans: Readonly<Record<'obfuscated' | 'restructured', number>> = {
  obfuscated: 0.561,
  restructured: 0.557,
};

/** Distinct runs that the profiles of the published campaigns plan, by label of the release summary. */
export const publishedPlannedRuns: Readonly<Record<string, number>> = {
  'Codex primary': 760,
  'Claude sentinel': 190,
};

/** Labels of models as the published tables print them. */
const modelLabels: Readonly<Record<string, string>> = {
  'gpt-5.4-mini': 'GPT 5.4 Mini',
  'gpt-5.5': 'GPT 5.5',
  opus: 'Claude Opus',
  sonnet: 'Claude Sonnet',
  'gpt-oss:20b': 'gpt-oss-20b local',
};

/** The label of a model: as published where it was, else its own name. */
export function modelLabel(model: string): string {
  return Object.hasOwn(modelLabels, model) ? modelLabels[model]! : model;
}
