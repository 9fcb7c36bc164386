import type { OutputContract } from '../tasks/task.js';
import type { ColumnMatch, Evaluation, EvaluationCheck, EvaluationErrorKind } from './evaluation.js';
import { meanOfRates, round8 } from './rounding.js';
import type { Score } from './score.js';

/** What a verdict is about. */
export interface Subject {
  readonly task: string;
  readonly dataset: string | null;
  readonly contract: OutputContract;
  /** Columns of the ordered-value metric (0: it is undefined for this task). */
  readonly orderedColumns: number;
}

/** The verdict on an output that could not be scored at all. */
export function failedEvaluation(
  { task, dataset, contract, orderedColumns }: Subject,
  kind: EvaluationErrorKind,
  reason: string,
  truthRows = 0,
): Evaluation {
  const isAbsent = kind === 'output-missing' || kind === 'reference-missing';
  return {
    task,
    dataset,
    reward: 0,
    rewardRobust: 0,
    matchRates: isAbsent ? {} : zeroRates(contract),
    columns: {},
    checks: kind === 'output-missing' ? [outputExists(false)] : [],
    strictPass: false,
    ...noKeys,
    missingKeys: truthRows,
    truthRows,
    outputRows: 0,
    orderedNmae: null,
    nmae: { value: orderedColumns === 0 ? null : 1, columns: orderedColumns, coverage: 0 },
    mismatchKinds: {},
    confusion: {},
    components: null,
    errorKind: kind,
    error: reason,
  };
}

const noKeys = {
  keyPrecision: 0,
  keyRecall: 0,
  keyF1: 0,
  extraKeys: 0,
  duplicateKeys: 0,
  uniqueKeys: 0,
} as const;

function zeroRates({ scoredColumns }: OutputContract): Record<string, number> {
  return Object.fromEntries(scoredColumns.map((name) => [name, 0]));
}

function outputExists(passed: boolean): EvaluationCheck {
  return {
    name: 'output exists',
    passed,
    detail: passed ? 'The file is there.' : 'There is no output file.',
  };
}

export interface ScoredOutput {
  readonly header: readonly string[];
  readonly score: Score;
  readonly truthRows: number;
  /** Sum over the ordered columns of their mean errors over the pairs; null when there are no pairs. */
  readonly orderedErrors: number | null;
}

/** The verdict on an output that was compared with its reference. */
export function scoredEvaluation(subject: Subject, scored: ScoredOutput): Evaluation {
  const { contract, orderedColumns } = subject;
  const { score, truthRows, header } = scored;
  const { error } = score.published;
  const columns = columnMatches(contract, scored);
  const rates = columns.map(([, { matchRate }]) => round8(matchRate));
  const robustRates = columns.map(([, { robustMatchRate }]) => round8(robustMatchRate));
  const checks = error === null ? checksOf(contract, header, score, truthRows, columns) : [];
  const mean = scored.orderedErrors === null ? null : scored.orderedErrors / orderedColumns;
  return {
    task: subject.task,
    dataset: subject.dataset,
    reward: meanOfRates(rates),
    rewardRobust: meanOfRates(robustRates),
    matchRates: Object.fromEntries(columns.map(([name, { matchRate }]) => [name, round8(matchRate)])),
    columns: Object.fromEntries(columns),
    checks,
    strictPass: error === null && checks.every(({ passed }) => passed),
    ...(error === null ? keyMeasures(score, truthRows) : noKeys),
    missingKeys: score.missingKeys,
    truthRows,
    outputRows: score.outputRows,
    orderedNmae: orderedColumns === 0 || score.hasWrongKeys ? null : mean,
    nmae: {
      value: orderedColumns === 0 ? null : (mean ?? 1),
      columns: orderedColumns,
      coverage: truthRows === 0 ? 0 : score.keysInTruth / truthRows,
    },
    mismatchKinds: {},
    confusion: {},
    components: null,
    errorKind: error?.kind ?? null,
    error: error?.reason ?? null,
  };
}

/** Precision is the stored, rounded one, as in the published run records; recall and F1 follow from it. */
function keyMeasures(score: Score, truthRows: number) {
  const { uniqueKeys, keysInTruth, published } = score;
  const keyPrecision = uniqueKeys === 0 ? 0 : round8(keysInTruth / uniqueKeys);
  const keyRecall = truthRows === 0 ? 0 : keysInTruth / truthRows;
  const sum = keyPrecision + keyRecall;
  return {
    keyPrecision,
    keyRecall,
    keyF1: sum > 0 ? (2 * keyPrecision * keyRecall) / sum : 0,
    extraKeys: published.extraKeys,
    duplicateKeys: published.duplicateRows,
    uniqueKeys,
  };
}

type NamedMatch = readonly [name: string, match: ColumnMatch];

/** One per scored column, in their order; nothing matches under published rules that failed. */
function columnMatches(contract: OutputContract, { score, truthRows }: ScoredOutput): readonly NamedMatch[] {
  const { published, robust } = score;
  const total = published.error === null ? truthRows + published.extraKeys + published.duplicateRows : 0;
  const robustTotal = truthRows + robust.extraKeys + robust.duplicateRows;
  const rate = (matched: number, of: number) => (of === 0 ? 0 : matched / of);
  return contract.scoredColumns.map((name) => {
    const i = score.pairing.columns.findIndex(({ truth }) => truth.name === name);
    const matched = published.error === null ? (score.columns[i]?.matched ?? 0) : 0;
    const robustMatched = score.robustMatched[i] ?? 0;
    return [
      name,
      {
        comparison: published.comparisons[i] ?? 'absent',
        matched,
        total,
        matchRate: rate(matched, total),
        robustMatched,
        robustTotal,
        robustMatchRate: rate(robustMatched, robustTotal),
      },
    ];
  });
}

function checksOf(
  contract: OutputContract,
  header: readonly string[],
  score: Score,
  truthRows: number,
  columns: readonly NamedMatch[],
): readonly EvaluationCheck[] {
  const present = new Set(header);
  const absent = contract.requiredColumns.filter((name) => !present.has(name));
  const coverage = truthRows === 0 ? 0 : score.keysInTruth / truthRows;
  return [
    outputExists(true),
    {
      name: 'output is a valid CSV',
      passed: score.outputRows >= 1,
      detail: `${score.outputRows} data rows.`,
    },
    {
      name: 'required columns present',
      passed: absent.length === 0,
      detail: absent.length === 0 ? 'All columns are there.' : `Missing: ${absent.join(', ')}.`,
    },
    {
      name: 'row coverage',
      passed: coverage >= contract.rowCoverageThreshold,
      detail: `${score.keysInTruth} of ${truthRows} reference keys, needed ${contract.rowCoverageThreshold}.`,
    },
    ...columns.map(([name, { matched, total, matchRate }]) => ({
      name: `accuracy: ${name}`,
      passed: matchRate >= contract.accuracyThreshold,
      detail: `${matched} of ${total} match, needed ${contract.accuracyThreshold}.`,
    })),
  ];
}
