/** Facts that the published benchmark states in words: reviews, reviewers, licences (tables 7, 8 and 12). */
export interface ReviewRecord {
  readonly task: string;
  readonly reviewers: readonly [string, string];
  readonly basis: string;
}

/** A task family's kept convention and what it does to validity (table 9). */
export interface ValidityCaveat {
  readonly family: string;
  readonly convention: string;
  readonly caveat: string;
}

/** A published package of evidence (table 14). */
export interface EvidencePackage {
  readonly archive: string;
  readonly contents: string;
  readonly runs: number;
  readonly bytes: number;
  readonly sha256: string;
}

export const reviewers: readonly { readonly id: string; readonly credentials: string }[] = [
  { id: 'C1', credentials: 'physician (MD, MS), surgeon, registry and administrative-data researcher' },
  {
    id: 'C2',
    credentials:
      'physician-researcher (MD, PhD), intensivist and emergency physician, clinical epidemiologist',
  },
  { id: 'C3', credentials: 'physician, doctoral candidate in clinical AI' },
  {
    id: 'C4',
    credentials: 'physician-researcher (MD, PhD), medical-school faculty, clinical AI and ICU data',
  },
];

const reviewsByFamily: Readonly<Record<string, readonly [string, string]>> = {
  apsiii: ['C1', 'C4'],
  charlson: ['C1', 'C4'],
  'creatinine-baseline': ['C1', 'C4'],
  gcs: ['C1', 'C4'],
  kdigo: ['C1', 'C4'],
  meld: ['C2', 'C4'],
  oasis: ['C2', 'C4'],
  sapsii: ['C2', 'C4'],
  sepsis3: ['C2', 'C4'],
  sirs: ['C2', 'C4'],
  sofa: ['C3', 'C2'],
  'suspicion-infection': ['C3', 'C2'],
  'urine-output-rate': ['C3', 'C2'],
  'vasopressor-equivalents': ['C3', 'C2'],
  ventilation: ['C3', 'C2'],
};

const definitionFamilies = ['creatinine-baseline', 'kdigo', 'sirs', 'vasopressor-equivalents'];

/** The published review of a task; undefined for a task that was not in the release. */
export function publishedReview(task: string, family: string): ReviewRecord | undefined {
  const pair = Object.hasOwn(reviewsByFamily, family) ? reviewsByFamily[family] : undefined;
  if (pair === undefined) return undefined;
  const basis = task.startsWith('eicu-')
    ? 'eICU concept conventions'
    : definitionFamilies.includes(family)
      ? 'public clinical definitions'
      : family === 'sepsis3'
        ? 'Sepsis-3/MIT-LCP conventions'
        : 'MIT-LCP concept conventions';
  return { task, reviewers: pair, basis };
}

export const assetTerms: readonly {
  readonly asset: string;
  readonly role: string;
  readonly terms: string;
}[] = [
  { asset: 'Code, tasks, evaluator, skills', role: 'benchmark', terms: 'MIT' },
  {
    asset: 'MIMIC-IV v3.1',
    role: 'source data of 26 tasks',
    terms: 'PhysioNet credentialed access; no redistribution of source or derived databases',
  },
  {
    asset: 'eICU-CRD v2.0',
    role: 'source data of 2 tasks',
    terms: 'PhysioNet credentialed access; no redistribution of source or derived databases',
  },
  {
    asset: 'MIT-LCP concept conventions',
    role: 'definitions behind the references',
    terms: 'credited, provenance per task',
  },
  {
    asset: 'Evidence packages',
    role: 'results for re-analysis',
    terms: 'open; row-level outputs and tool outputs withheld, originals private',
  },
];

export const conditionGlossary: readonly {
  readonly condition: string;
  readonly receives: string;
  readonly purpose: string;
}[] = [
  { condition: 'no-skill', receives: 'instruction and database', purpose: 'baseline' },
  {
    condition: 'with-skill',
    receives: 'the reviewed skills of the task',
    purpose: 'does procedural knowledge help?',
  },
  {
    condition: 'with-skill-all',
    receives: 'every skill of the benchmark',
    purpose: 'is the right one found in a library?',
  },
  {
    condition: 'with-skill-decoy',
    receives: 'one skill of another family',
    purpose: 'does any clinical text help?',
  },
  {
    condition: 'with-skill-rawsql',
    receives: 'the reference SQL in a plain wrapper',
    purpose: 'does content without prose explain the gain?',
  },
  {
    condition: 'operational-spec',
    receives: 'a complete written specification, no skill',
    purpose: 'was the task underspecified?',
  },
];
