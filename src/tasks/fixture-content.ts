import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** For tests only: a benchmark folder with two small families, deleted on disposal. */
export interface FixtureContent extends AsyncDisposable {
  /** Acts as `benchmark/`. */
  readonly folder: string;
  /** Writes or replaces a file below the folder. */
  write(path: string, text: string): Promise<void>;
}

const skill = (name: string, body: string): string => `---
name: ${name}
description: Tells how ${name} is worked out. Use it in tests of the content formats.
license: MIT
compatibility: Written for tests.
metadata:
  version: "1.0"
  tier: community
  category: clinical
  sources: made up for tests
---

# ${name}

${body}
`;

const files: Readonly<Record<string, string>> = {
  'families/shock/family.toml': `title = "Shock index"
kind = "severity score"

[mimic-iv]
reference = "shock-24h"
reference_concepts = ["shock"]
grain = "one row per ICU stay"
key_columns = ["stay_id"]
required_columns = ["stay_id", "shock_index", "measured_at"]
value_columns = ["shock_index"]
tolerance = { shock_index = 0.01 }
`,
  'families/shock/tasks/mimic-shock-24h.toml': `title = "Shock index, first ICU day"
database = "mimic-iv"
mode = "standard"
difficulty = "medium"
tags = ["clinical"]
row_coverage_threshold = 1.0
accuracy_threshold = 1.0
removes = ["mimiciv_derived.shock"]
skills = ["shock-index/standard"]
`,
  'families/shock/tasks/mimic-shock-24h.md':
    '# Shock index\n\nWrite it to `{output_path}` from {db_path} with the columns:\n\n`stay_id`, `shock_index`, `measured_at`\n',
  'families/shock/tasks/mimic-shock-24h-raw.toml': `title = "Shock index, first ICU day (source tables only)"
database = "mimic-iv"
mode = "raw"
difficulty = "hard"
removes = ["mimiciv_derived.shock"]
skills = ["shock-index/raw"]
`,
  'families/shock/tasks/mimic-shock-24h-raw.md':
    '# Shock index (source tables only)\n\nWrite it to `{output_path}` with the columns:\n\n`stay_id`, `shock_index`, `measured_at`\n',
  'families/shock/skills/shock-index/standard/SKILL.md': skill(
    'shock-index',
    'Divide heart rate by systolic pressure, from the table of vital signs.',
  ),
  'families/shock/skills/shock-index/raw/SKILL.md': skill(
    'shock-index',
    'Divide heart rate by systolic pressure, both taken from chartevents.',
  ),
  'families/shock/operational-spec/mimic-shock-24h.md':
    '## Rules\n\nThe index is the heart rate divided by the systolic pressure.\n',
  'families/frailty/family.toml': `title = "Frailty"
kind = "comorbidity index"

[eicu]
reference = "frailty"
grain = "one row per ICU stay"
key_columns = ["patientunitstayid"]
required_columns = ["patientunitstayid", "frailty"]
value_columns = ["frailty"]
`,
  'families/frailty/tasks/eicu-frailty.toml': `title = "Frailty (eICU)"
database = "eicu"
mode = "raw"
difficulty = "medium"
skills = ["frailty-score/common"]
`,
  'families/frailty/tasks/eicu-frailty.md':
    '# Frailty\n\nWrite it to `{output_path}` with the columns:\n\n`patientunitstayid`, `frailty`\n',
  'families/frailty/skills/frailty-score/common/SKILL.md': skill(
    'frailty-score',
    'Count the deficits of the list and divide them by its length.',
  ),
  'decoys/published.toml':
    'name = "published"\nreason = "near"\n\n[decoys]\nmimic-shock-24h = "frailty-score/common"\n',
  'decoys/far.toml': 'name = "far"\nreason = "far"\n\n[decoys]\neicu-frailty = "shock-index/raw"\n',
  'concepts/mimic-iv/score/shock.sql': '-- title: Shock\n-- keys: stay_id\n\nselect 1 as stay_id;\n',
  'references/mimic-iv/shock-24h.sql': '-- title: Shock\nselect stay_id\nfrom mimiciv_derived.shock\n\n',
};

/** Writes the fixture into a new temporary folder. */
export async function fixtureContent(): Promise<FixtureContent> {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-content-'));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return {
    folder,
    write,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The text of a fixture file, to be changed by a test. */
export function fixtureText(path: string): string {
  const text = files[path];
  if (text === undefined) throw new RangeError(`no fixture file ${path}`);
  return text;
}
