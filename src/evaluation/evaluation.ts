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

/** Kinds of mismatch in one column: counts of reference rows. */
export interface MismatchKinds {
  readonly rowMissing: number;
  readonly valueMissing: number;
  readonly valueUnexpected: number;
  readonly unparsable: number;
  readonly tooLow: number;
  readonly tooHigh: number;
  readonly different: number;
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
  /** For columns with at most 12 distinct reference values: counts by "reference value" -> "output value". */
  readonly confusion: Readonly<
    Record<string, readonly { readonly truth: string; readonly output: string; readonly rows: number }[]>
  >;
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
