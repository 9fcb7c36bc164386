/** Machine-readable kind of a failed evaluation. */
export type EvaluationErrorKind =
  | 'output-missing'
  | 'output-not-a-file'
  | 'output-too-large'
  | 'output-unreadable'
  | 'output-empty'
  | 'key-column-missing'
  | 'key-type'
  | 'column-type'
  | 'column-name-clash'
  | 'limit-exceeded'
  | 'evaluator-failed'
  | 'reference-missing'
  | 'reference-invalid';

export interface EvaluationCheck {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
}

/** How one scored column came out. */
export interface ColumnMatch {
  /** How the published rules compared the column; `absent` when the output lacks it. */
  readonly comparison: 'numeric' | 'temporal' | 'text' | 'absent';
  readonly matched: number;
  /** Reference rows, extra keys and repeated rows together. */
  readonly total: number;
  /** matched / total, unrounded. */
  readonly matchRate: number;
  readonly robustMatched: number;
  readonly robustTotal: number;
  readonly robustMatchRate: number;
}

/**
 * Why reference rows of one column do not match under the per-cell rules: each such row counts once, under the first
 * kind that fits. Together with `ColumnMatch.robustMatched` the counts add up to the reference's rows.
 */
export interface MismatchKinds {
  /** The key is not in the output. */
  readonly rowMissing: number;
  /** Null instead of a value. */
  readonly valueMissing: number;
  /** A value instead of null. */
  readonly valueUnexpected: number;
  /** The cell is no number, or no date-time. */
  readonly unparsable: number;
  /** The negative of the right number. */
  readonly sign: number;
  /** The right number, rounded or cut to fewer decimals. */
  readonly rounding: number;
  /** Off by the factor that most wrong numbers of the column share. */
  readonly constantFactor: number;
  /** Off by the difference that most wrong numbers of the column share. */
  readonly constantOffset: number;
  /** Off by the time that most wrong date-times of the column share. */
  readonly timeShift: number;
  /** The right label but for letter case, blanks and punctuation. */
  readonly labelSpelling: number;
  /** Lower, or earlier. */
  readonly tooLow: number;
  /** Higher, or later. */
  readonly tooHigh: number;
  /** Another label. */
  readonly different: number;
  /** The first row of the key is right, a later row of the same key is not. */
  readonly contradictory: number;
}

/** How often other columns are wrong where the first scored column is: which component explains a wrong total. */
export interface ComponentMismatches {
  readonly column: string;
  /** Reference rows of existing keys in which that column does not match. */
  readonly rows: number;
  /** Of these, rows in which the other column does not match either. */
  readonly wrongWith: Readonly<Record<string, number>>;
}

/** The verdict on one output; holds no row values, so it may be stored in results and reports. */
export interface Evaluation {
  readonly task: string;
  readonly dataset: string | null;
  /** Mean of the column match rates, 8 decimals; 0 when the evaluation failed. */
  readonly reward: number;
  /** The same under the per-cell rules that repair the published reader's weak points. */
  readonly rewardRobust: number;
  readonly matchRates: Readonly<Record<string, number>>;
  /** Counts behind the match rates, per scored column; empty when the output could not be read. */
  readonly columns: Readonly<Record<string, ColumnMatch>>;
  readonly checks: readonly EvaluationCheck[];
  readonly strictPass: boolean;
  readonly keyPrecision: number;
  readonly keyRecall: number;
  readonly keyF1: number;
  readonly extraKeys: number;
  readonly missingKeys: number;
  readonly duplicateKeys: number;
  /** Distinct keys of the output. */
  readonly uniqueKeys: number;
  readonly truthRows: number;
  readonly outputRows: number;
  /** Ordered-value nMAE as published; null where the specification says so. */
  readonly orderedNmae: number | null;
  /** nMAE with its coverage and with unreadable outputs as 1. */
  readonly nmae: { readonly value: number | null; readonly columns: number; readonly coverage: number };
  readonly mismatchKinds: Readonly<Record<string, MismatchKinds>>;
  /**
   * Counts of reference rows by reference value and output value, for columns of at most 12 whole numbers or labels.
   * Output values that the reference does not have stand together as `(other)`; `(null)` and `(no row)` likewise.
   */
  readonly confusion: Readonly<
    Record<string, readonly { readonly truth: string; readonly output: string; readonly rows: number }[]>
  >;
  /** Null when only one column is scored, or nothing was diagnosed. */
  readonly components: ComponentMismatches | null;
  readonly errorKind: EvaluationErrorKind | null;
  readonly error: string | null;
}

/** Rows for the local viewer only; stored with mode 0600 and never exported (promise P7). */
export interface EvaluationExamples {
  readonly columns: Readonly<
    Record<
      string,
      readonly {
        readonly keys: readonly (string | null)[];
        readonly truth: string | null;
        readonly output: string | null;
      }[]
    >
  >;
}
