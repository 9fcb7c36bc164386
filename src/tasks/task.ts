import type { DatabaseKind } from '../datasets/source-schema.js';
import type { ConditionName } from './condition.js';

export type { DatabaseKind } from '../datasets/source-schema.js';

export type TaskMode = 'standard' | 'raw';

/** What an output must look like and how it is judged. */
export interface OutputContract {
  /** Join truth and output; ordered. */
  readonly keyColumns: readonly string[];
  /** Every column the output file must have. */
  readonly requiredColumns: readonly string[];
  /** Headline columns, ordered. */
  readonly valueColumns: readonly string[];
  /** Columns that enter the reward, ordered; derived from the lists above (see `scoredColumnsOf`). */
  readonly scoredColumns: readonly string[];
  /** Absolute tolerance per column, in the column's own unit (seconds for times); absent means 0. */
  readonly tolerance: Readonly<Record<string, number>>;
  /** Share of reference keys that must be present, for the coverage check. */
  readonly rowCoverageThreshold: number;
  /** Match rate every scored column must reach, for the accuracy checks. */
  readonly accuracyThreshold: number;
}

/** One text of one skill: `skills/<name>/<variant>/SKILL.md` of a family. */
export interface Skill {
  readonly name: string;
  /** `common`, or the mode or database the text is written for. */
  readonly variant: string;
  readonly family: string;
  /** Absolute folder that holds exactly one file, `SKILL.md`. */
  readonly folder: string;
  /** What agents match on; from the front matter. */
  readonly description: string;
  /** The whole file, front matter included. */
  readonly text: string;
  /** The text after the front matter. */
  readonly body: string;
}

/** What the conditions may add to the instruction. Never holds a reference value. */
export interface TaskMaterial {
  /** Every text of every skill of the benchmark, in task order of first use, then by variant. */
  readonly library: readonly Skill[];
  /** The skill texts that stand first in the library for their name: the published pool of `with-skill-all`. */
  readonly pool: readonly Skill[];
  /** The control skill of each decoy mapping; undefined where the mapping has none for this task. */
  readonly decoys: { readonly published: Skill | undefined; readonly far: Skill | undefined };
  /** Text of the reference query, or undefined when its file does not exist. */
  readonly referenceSql: string | undefined;
  /** Text of the operational specification, or undefined when there is none. */
  readonly operationalSpec: string | undefined;
}

/** One task of the benchmark, as its files state it. */
export interface Task {
  readonly name: string;
  readonly family: string;
  /** Name of the family in words, for tables and reports. */
  readonly familyTitle: string;
  /** Kind of clinical concept, for example `severity score`. */
  readonly kind: string;
  /** `standard` keeps intermediate concepts, `raw` leaves source tables only. */
  readonly mode: TaskMode;
  readonly database: DatabaseKind;
  readonly title: string;
  readonly difficulty: 'medium' | 'hard' | 'expert';
  readonly tags: readonly string[];
  /** What one row of the output stands for. */
  readonly grain: string;
  readonly contract: OutputContract;
  /** Schema-qualified relations that the published benchmark configures as removed. */
  readonly removesPublished: readonly string[];
  /** Key of the reference: `benchmark/references/<database>/<key>.sql`, or `references/<key>.sql` of an own family. */
  readonly reference: string;
  /** Absolute path of the reference query; the file need not exist. */
  readonly referenceFile: string;
  /** Conditions whose material exists, in the order of `conditionNames`. */
  readonly conditions: readonly ConditionName[];
  /** The task's own instruction text, with `{output_path}` and `{db_path}` still in place. */
  readonly instruction: string;
  /** Absolute path of the instruction, for findings that name a file. */
  readonly instructionFile: string;
  /** The task's own skills, in the order in which they are placed. */
  readonly skills: readonly Skill[];
  /** Skill folders of the task, absolute, each holding one `SKILL.md`. */
  readonly skillFolders: readonly { readonly name: string; readonly folder: string }[];
  readonly material: TaskMaterial;
}
