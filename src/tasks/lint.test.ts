import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { benchmarkFolder, packageRoot } from '../support/home.js';
import { instructionFindings } from './lint/instruction-rules.js';
import { type Finding, lintContent } from './lint.js';
import { loadTasks } from './load-tasks.js';

/** One violation in one file of the shipped content: text that is replaced, and the rule that must see it. */
interface Planted {
  readonly rule: string;
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** File of the finding, when it is another one. */
  readonly seenIn?: string;
  /** Text whose line the finding must name, where it is not line 1. */
  readonly at?: string;
}

const meld = 'families/meld';
const planted: readonly Planted[] = [
  {
    rule: 'skill-unfinished',
    file: 'families/sirs/skills/sirs-criteria/common/SKILL.md',
    from: '## Traps',
    to: '## Traps\n\nTO BE WRITTEN: what goes wrong.',
    at: 'TO BE WRITTEN',
  },
  {
    rule: 'instruction-native-schema',
    file: 'families/apsiii/tasks/mimic-apsiii-24h.md',
    from: /$/,
    to: '\nSee mimiciv_icu.\n',
    at: 'See mimiciv_icu.',
  },
  {
    rule: 'instruction-item-id',
    file: 'families/kdigo/tasks/mimic-kdigo-48h.md',
    from: 'Missing data mean',
    to: 'Creatinine is 50912. Missing data mean',
    at: '50912',
  },
  {
    rule: 'instruction-sql',
    file: 'families/oasis/tasks/mimic-oasis-24h.md',
    from: 'Compute the',
    to: 'Start with select stay_id from mimiciv_icu.icustays. Compute the',
    at: 'Start with select',
  },
  {
    rule: 'instruction-code',
    file: 'families/charlson/tasks/mimic-charlson-raw.md',
    from: 'All diagnoses of',
    to: 'Dementia is F03. All diagnoses of',
    at: 'Dementia is F03',
  },
  {
    rule: 'instruction-base-table-claim',
    file: 'families/oasis/tasks/mimic-oasis-24h-raw.md',
    from: 'Derive the concept',
    to: 'Only base tables exist. Derive the concept',
    at: 'Only base tables',
  },
  {
    rule: 'instruction-table-name',
    file: 'families/sofa/tasks/mimic-sofa-24h.md',
    from: 'A component without',
    to: 'Rates are in inputevents. A component without',
    at: 'inputevents',
  },
  {
    rule: 'instruction-columns',
    file: 'families/sofa/tasks/mimic-sofa-24h-raw.md',
    from: '`liver`, ',
    to: '',
  },
  {
    rule: 'instruction-raw-notice',
    file: 'families/sirs/tasks/mimic-sirs-24h-raw.md',
    from: 'Derived shortcut tables',
    to: 'Some tables',
  },
  {
    rule: 'skill-sql',
    file: 'families/ventilation/skills/ventilation-classification/standard/SKILL.md',
    from: '## Windows',
    to: '```sql\nstatus\n```\n\n## Windows',
    at: '```sql',
  },
  {
    rule: 'skill-derived-query',
    file: 'families/ventilation/skills/ventilation-classification/raw/SKILL.md',
    from: 'Bring the items of one stay',
    to: 'Read from mimiciv_derived.age. Bring the items of one stay',
    at: 'mimiciv_derived.age',
  },
  {
    rule: 'skill-precomputed',
    file: 'families/sapsii/skills/sapsii-score/common/SKILL.md',
    from: '## Windows',
    to: 'Run scripts/sapsii.\n\n## Windows',
    at: 'scripts/sapsii',
  },
  {
    rule: 'skill-schema-name',
    file: 'families/apsiii/skills/apsiii-score/common/SKILL.md',
    from: '## Windows',
    to: 'Read main.labs.\n\n## Windows',
    at: 'main.labs',
  },
  {
    rule: 'skill-notice',
    file: 'families/gcs/skills/gcs-calculation/eicu/SKILL.md',
    from: 'neither a precomputed',
    to: 'no precomputed',
  },
  {
    rule: 'skill-section',
    file: 'families/gcs/skills/gcs-calculation/mimic-iv/SKILL.md',
    from: '## Units',
    to: '## Measures',
  },
  {
    rule: 'skill-length',
    file: 'families/sepsis3/skills/sepsis-3-cohort/common/SKILL.md',
    from: /$/,
    to: `\n${'more words '.repeat(300)}\n`,
  },
  {
    rule: 'skill-query',
    file: 'families/creatinine-baseline/skills/baseline-creatinine/common/SKILL.md',
    from: 'men:    (75',
    to: 'select 1 as men\n```\n\n```\nmen:    (75',
  },
  {
    rule: 'skill-removed-relation',
    file: 'families/suspicion-infection/skills/suspicion-of-infection/common/SKILL.md',
    from: 'an intermediate table of systemic antibiotics',
    to: 'the table `antibiotic`',
    at: '`antibiotic`',
  },
  {
    rule: 'skill-variant',
    file: 'families/sofa/skills/sofa-score/raw/SKILL.md',
    from: 'Venous gases look',
    to: 'Venous samples look',
  },
  {
    rule: 'skill-tier',
    file: 'families/sirs/skills/sirs-criteria/common/SKILL.md',
    from: 'tier: community',
    to: 'tier: validated',
  },
  {
    rule: 'spec-sql',
    file: 'families/apsiii/operational-spec/mimic-apsiii-24h.md',
    from: '### Total',
    to: '```sql\n```\n\n### Total',
  },
  {
    rule: 'spec-query',
    file: 'families/apsiii/operational-spec/mimic-apsiii-24h-raw.md',
    from: '### Total',
    to: 'Join hosp.stays.\n\n### Total',
  },
  {
    rule: 'spec-native-schema',
    file: 'families/kdigo/operational-spec/mimic-kdigo-48h.md',
    from: '### CRRT stage',
    to: 'In eicu_crd too.\n\n### CRRT stage',
  },
  {
    rule: 'spec-reference-code',
    file: 'families/kdigo/operational-spec/mimic-kdigo-48h-raw.md',
    from: '### CRRT stage',
    to: 'As in mimic-code.\n\n### CRRT stage',
  },
  {
    rule: 'spec-item-id',
    file: 'families/oasis/operational-spec/mimic-oasis-24h.md',
    from: '### Total',
    to: 'Heart rate is 220045.\n\n### Total',
  },
  {
    rule: 'spec-table-name',
    file: 'families/oasis/operational-spec/mimic-oasis-24h-raw.md',
    from: '### Total',
    to: 'Use outputevents.\n\n### Total',
  },
  {
    rule: 'spec-columns',
    file: 'families/sofa/operational-spec/mimic-sofa-24h.md',
    from: /`cns`/g,
    to: 'cns',
  },
  {
    rule: 'decoy-own',
    file: 'decoys/published.toml',
    from: 'mimic-meld-24h = "kdigo-aki-staging/raw"',
    to: 'mimic-meld-24h = "meld-score/raw"',
  },
  {
    rule: 'decoy-far',
    file: 'decoys/far.toml',
    from: 'mimic-suspicion-infection = "urine-output-rate/raw"',
    to: 'mimic-suspicion-infection = "sepsis-3-cohort/common"',
  },
  {
    rule: 'decoy-target',
    file: 'families/charlson/skills/comorbidity-score/common/SKILL.md',
    from: 'Neither index measures acute severity.',
    to: 'Neither index measures acute severity, see `sofa-score`.',
    seenIn: 'decoys/far.toml',
  },
  {
    rule: 'rawsql-incomplete',
    file: 'families/kdigo/family.toml',
    from: 'reference_concepts = ["kdigo_stages"]',
    to: 'reference_concepts = []',
    seenIn: 'references/mimic-iv/kdigo-48h.sql',
  },
  {
    rule: 'contract-column',
    file: 'references/mimic-iv/gcs-24h.sql',
    from: /as gcs_min\b/g,
    to: 'as gcs_low',
  },
  {
    rule: 'reference-query',
    file: 'references/mimic-iv/sapsii-24h.sql',
    from: /mimiciv_icu\.icustays/g,
    to: 'mimiciv_icu.stays',
  },
  {
    rule: 'contract-tolerance',
    file: 'families/ventilation/family.toml',
    from: /$/,
    to: 'tolerance = { ventilation_status = 1.0 }\n',
    seenIn: 'references/mimic-iv/ventilation.sql',
  },
  {
    rule: 'fact-missing',
    file: `${meld}/skills/meld-score/raw/SKILL.md`,
    from: 'between about 6 and 40',
    to: 'below 41',
  },
  {
    rule: 'fact-skill',
    file: `${meld}/facts.toml`,
    from: /$/,
    to: '\n[[facts]]\nid = "made-up"\nstatement = "x"\nskill = "meld-scores"\nplaces = [{ section = "Traps", quote = "xxx" }]\n',
  },
  {
    rule: 'intended-input',
    file: 'families/intended-inputs.toml',
    from: 'mimiciv_derived.urine_output.urineoutput',
    to: 'mimiciv_derived.urine_output_rate.uo',
  },
  {
    rule: 'provenance-tasks',
    file: 'families/charlson/provenance.toml',
    from: '"mimic-charlson-raw"',
    to: '"mimic-charlson"',
  },
  {
    rule: 'provenance-reviewer',
    file: 'families/sirs/provenance.toml',
    from: 'by = "C2"\ndate',
    to: 'by = "C9"\ndate',
  },
  {
    rule: 'provenance-asset',
    file: 'families/sofa/provenance.toml',
    from: 'asset = "mimic-code"',
    to: 'asset = "mimic-codes"',
  },
  {
    rule: 'provenance-status',
    file: 'families/kdigo/provenance.toml',
    from: 'not yet reviewed by a clinician',
    to: 'reviewed by a clinician',
  },
  {
    rule: 'review-stale',
    file: 'families/gcs/provenance.toml',
    from: '[[changelog]]',
    to: `[[reviews]]\nby = "C1"\ndate = "2026-11-29"\nscope = ["clinical-accuracy"]\nnotes = ""\ncontent_sha256 = "${'0'.repeat(64)}"\n\n[[changelog]]`,
  },
];

describe('words of plain English', () => {
  it('are no query: "select", "from" and "with" may stand in an instruction', async () => {
    const [task] = await loadTasks();
    if (task === undefined) throw new RangeError('There is no task.');
    const instruction = `${task.instruction}\nSelect adult patients from hospital admissions. Select the worst value.\n`;
    await using session = await DuckSession.open();
    expect(await instructionFindings(session, { ...task, instruction }, ['icustays'])).toEqual([]);
    for (const query of [
      'with s as (select 1 as x) select x from icustays.',
      'select gender, anchor_age from mimiciv_hosp.patients where gender is not null.',
      'SELECT gender FROM patients.',
      '`select gender from patients`',
    ]) {
      const text = `${task.instruction}\nFor example: ${query}\n`;
      expect(
        await instructionFindings(session, { ...task, instruction: text }, ['icustays']),
        query,
      ).toContainEqual(expect.objectContaining({ rule: 'instruction-sql' }));
    }
  });
});

describe('the shipped content', () => {
  it('has no finding', async () => {
    expect(await lintContent()).toEqual([]);
  });
});

describe('a violation of each rule is caught:', () => {
  let folder: string;
  let findings: readonly Finding[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-lint-'));
    await cp(benchmarkFolder(), folder, { recursive: true });
    for (const { rule, file, from, to } of planted) {
      const path = join(folder, file);
      const text = await readFile(path, 'utf8');
      const changed = text.replace(from, to);
      expect(changed, `${rule}: nothing to replace in ${file}`).not.toBe(text);
      await writeFile(path, changed);
    }
    await writeFile(join(folder, 'families/sapsii/tasks/card.md'), '# Design notes\n');
    await rm(join(folder, 'families/oasis/notes.md'));
    await rm(join(folder, 'references/eicu/gcs.sql'));
    findings = await lintContent({ contentFolder: folder });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(planted.map((each) => [each.rule, each] as const))('%s', async (rule, { file, seenIn, at }) => {
    const path = join(folder, seenIn ?? file);
    const caught = findings.filter((finding) => finding.file === path && finding.rule === rule);
    expect(caught, JSON.stringify(findings.filter((finding) => finding.file === path))).not.toEqual([]);
    if (at === undefined) return;
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(caught[0]?.line).toBe(lines.findIndex((line) => line.includes(at)) + 1);
  });

  it.each([
    ['stray-file', 'families/sapsii/tasks/card.md'],
    ['family-record', 'families/oasis/notes.md'],
    ['reference-file', 'references/eicu/gcs.sql'],
  ])('%s (a whole file)', (rule, file) => {
    expect(findings).toContainEqual(expect.objectContaining({ rule, file: join(folder, file) }));
  });

  it('and nothing is found in untouched files', () => {
    const touched = new Set(
      [
        ...planted.flatMap(({ file, seenIn }) => [file, ...(seenIn === undefined ? [] : [seenIn])]),
        'families/sapsii/tasks/card.md',
        'families/oasis/notes.md',
        'references/eicu/gcs.sql',
      ].map((file) => join(folder, file)),
    );
    expect(findings.filter((finding) => !touched.has(finding.file))).toEqual([]);
  });

  it('(no rule is left out)', async () => {
    const sources = [join(packageRoot(), 'src/tasks/lint.ts')];
    for (const name of await readdir(join(packageRoot(), 'src/tasks/lint'))) {
      if (!name.endsWith('.test.ts')) sources.push(join(packageRoot(), 'src/tasks/lint', name));
    }
    const texts = await Promise.all(sources.map((file) => readFile(file, 'utf8')));
    const rules = texts.flatMap((text) =>
      [...text.matchAll(/(?:rule: |add\(\s*|finding\(\s*)'([a-z]+-[a-z-]+)'/g)].map(([, rule]) => rule ?? ''),
    );
    const shownElsewhere = [
      'content-invalid',
      'database-absent',
      'decoy-superset',
      'stray-file',
      'family-record',
      'reference-file',
    ];
    const shown = [...planted.map(({ rule }) => rule), ...shownElsewhere];
    expect([...new Set(rules)].filter((rule) => !shown.includes(rule))).toEqual([]);
    expect(rules.length).toBeGreaterThan(35);
  });

  it('content that cannot be loaded is one finding with its place', async () => {
    const file = join(folder, 'families/meld/tasks/mimic-meld-24h.toml');
    await writeFile(file, 'title = "x"\ndatabase = \n');
    expect(await lintContent({ contentFolder: folder })).toEqual([
      expect.objectContaining({ rule: 'content-invalid', file, line: 2 }),
    ]);
  });
});
