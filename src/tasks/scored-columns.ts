/**
 * Identifiers that a task may require in an output but that never enter the score: they are given, not worked
 * out. Source: the published benchmark's fixed identifier set.
 */
export const identifierColumns: readonly string[] = [
  'subject_id',
  'hadm_id',
  'stay_id',
  'patientunitstayid',
  'patienthealthsystemstayid',
  'uniquepid',
];

/** The column lists of a task from which the scored columns follow. */
export interface ColumnLists {
  readonly keyColumns: readonly string[];
  /** Headline columns, ordered. */
  readonly valueColumns: readonly string[];
  /** Schema of the output file; absent means no more than the headline columns. */
  readonly requiredColumns?: readonly string[] | undefined;
  /** When present, exactly these are scored. */
  readonly scoredColumns?: readonly string[] | undefined;
  /** Further names that are never scored. */
  readonly nonScoringColumns?: readonly string[] | undefined;
}

/**
 * The columns that enter the reward, in order and without repetition.
 *
 * An explicit list wins. Otherwise the headline columns come first, then every other required column that is
 * neither a key nor an identifier nor excluded by name: time stamps, labels and intermediate values weigh as much
 * as the headline values.
 */
export function scoredColumnsOf(lists: ColumnLists): readonly string[] {
  if (lists.scoredColumns !== undefined) return [...new Set(lists.scoredColumns)];
  const excluded = new Set([...lists.keyColumns, ...identifierColumns, ...(lists.nonScoringColumns ?? [])]);
  const extras = (lists.requiredColumns ?? []).filter((name) => !excluded.has(name));
  return [...new Set([...lists.valueColumns, ...extras])];
}
