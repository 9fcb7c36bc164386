/** Which kind of source database a task reads. */
export type DatabaseKind = 'mimic-iv' | 'eicu';

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

/** One task of the benchmark, as its files state it. */
export interface Task {
  readonly name: string;
  readonly family: string;
  /** `standard` keeps intermediate concepts, `raw` leaves source tables only. */
  readonly mode: 'standard' | 'raw';
  readonly database: DatabaseKind;
  readonly title: string;
  readonly difficulty: 'medium' | 'hard' | 'expert';
  readonly contract: OutputContract;
  /** Schema-qualified relations that the published benchmark configures as removed. */
  readonly removesPublished: readonly string[];
  /** Key of the reference: `benchmark/references/<database>/<key>.sql`. */
  readonly reference: string;
  readonly conditions: readonly string[];
  /** The task's own instruction text, with `{output_path}` and `{db_path}` still in place. */
  readonly instruction: string;
  /** Skill folders of the task, absolute, each holding one `SKILL.md`. */
  readonly skillFolders: readonly { readonly name: string; readonly folder: string }[];
}
