import { byCodePoint, groupBy, mean, median, present, standardDeviation, total } from './moments.js';
import { judgedRows, type RunRow } from './run-row.js';

/** Metrics that a cell averages. */
export type Metric = 'reward' | 'keyF1' | 'keyPrecision' | 'orderedNmae';

/** Metrics for which less is better. */
export function isLowerBetter(metric: Metric): boolean {
  return metric === 'orderedNmae';
}

/** All rows of one campaign with equal task, condition, schema and model. */
export interface Cell {
  readonly task: string;
  readonly condition: string;
  readonly schema: string;
  readonly model: string;
  readonly rows: readonly RunRow[];
}

/** Cells ordered by task, schema, model, condition. */
export function cellsOf(rows: readonly RunRow[]): readonly Cell[] {
  const key = (row: RunRow): string => [row.task, row.schema, row.model, row.condition].join('\u0000');
  return [...groupBy(rows, key).entries()]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([, members]) => {
      const { task, condition, schema, model } = members[0]!;
      return { task, condition, schema, model, rows: members };
    });
}

/** Mean of a metric over the rows of a cell that have it; NaN when none has. */
export function cellMean(cell: Cell, metric: Metric): number {
  return mean(present(cell.rows.map((row) => row[metric])));
}

/** Every cell value of the specification. */
export interface CellSummary {
  readonly runs: number;
  readonly unjudged: number;
  readonly meanReward: number;
  readonly sdReward: number;
  readonly medianReward: number;
  readonly minReward: number;
  readonly maxReward: number;
  readonly meanKeyPrecision: number;
  readonly meanKeyF1: number;
  readonly meanOrderedNmae: number;
  readonly orderedColumns: number;
  readonly failedChecks: number;
  readonly errors: number;
  readonly extraKeys: number;
}

export function summaryOf(cell: Cell): CellSummary {
  const rewards = judgedRows(cell.rows).map((row) => row.reward);
  const some = rewards.length > 0;
  return {
    runs: cell.rows.length,
    unjudged: cell.rows.length - rewards.length,
    meanReward: mean(rewards),
    sdReward: some ? standardDeviation(rewards) : Number.NaN,
    medianReward: median(rewards),
    minReward: some ? Math.min(...rewards) : Number.NaN,
    maxReward: some ? Math.max(...rewards) : Number.NaN,
    meanKeyPrecision: cellMean(cell, 'keyPrecision'),
    meanKeyF1: cellMean(cell, 'keyF1'),
    meanOrderedNmae: cellMean(cell, 'orderedNmae'),
    orderedColumns: Math.max(0, ...cell.rows.map((row) => row.orderedColumns)),
    failedChecks: total(cell.rows.map((row) => row.failedChecks)),
    errors: total(cell.rows.map((row) => row.errors)),
    extraKeys: total(cell.rows.map((row) => row.extraKeys)),
  };
}

/** Two arms of one task and model. */
export interface ArmPair {
  readonly task: string;
  readonly model: string;
  readonly baseline: number;
  readonly treatment: number;
  /** Treatment minus baseline. */
  readonly delta: number;
  readonly baselineCell: Cell;
  readonly treatmentCell: Cell;
}

export interface PairOptions {
  readonly baseline?: string;
  readonly treatment?: string;
  readonly schema?: string;
  readonly metric?: Metric;
}

/**
 * Cell means of two conditions (default no-skill and with-skill) by task and model, native schema unless told
 * otherwise, only where both exist and have the metric. Ordered by task, then model.
 */
export function armPairs(rows: readonly RunRow[], options: PairOptions = {}): readonly ArmPair[] {
  const { baseline = 'no-skill', treatment = 'with-skill', schema = 'native', metric = 'reward' } = options;
  return pairCells(
    cellsOf(rows.filter((row) => row.schema === schema && row.condition === baseline)),
    cellsOf(rows.filter((row) => row.schema === schema && row.condition === treatment)),
    metric,
  );
}

/** Pairs cells of two lists by task and model. */
export function pairCells(
  baselineCells: readonly Cell[],
  treatmentCells: readonly Cell[],
  metric: Metric,
): readonly ArmPair[] {
  const key = (cell: Cell): string => `${cell.task}\u0000${cell.model}`;
  const treatments = new Map(treatmentCells.map((cell) => [key(cell), cell]));
  return baselineCells.flatMap((baselineCell) => {
    const treatmentCell = treatments.get(key(baselineCell));
    if (treatmentCell === undefined) return [];
    const baseline = cellMean(baselineCell, metric);
    const treatment = cellMean(treatmentCell, metric);
    if (Number.isNaN(baseline) || Number.isNaN(treatment)) return [];
    const { task, model } = baselineCell;
    return [{ task, model, baseline, treatment, delta: treatment - baseline, baselineCell, treatmentCell }];
  });
}

export interface TaskValue {
  readonly task: string;
  readonly value: number;
}

/** Mean over models of a per-model value, tasks ascending. */
export function taskValues(
  pairs: readonly ArmPair[],
  pick: (pair: ArmPair) => number = (pair) => pair.delta,
): readonly TaskValue[] {
  return [...groupBy(pairs, (pair) => pair.task).entries()]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([task, members]) => ({ task, value: mean(members.map(pick)) }));
}

/** Task means (over the model cells) of one condition, tasks ascending; tasks without any value are left out. */
export function conditionTaskMeans(
  rows: readonly RunRow[],
  condition: string,
  metric: Metric = 'reward',
  schema = 'native',
): readonly TaskValue[] {
  const cells = cellsOf(rows.filter((row) => row.schema === schema && row.condition === condition));
  return [...groupBy(cells, (cell) => cell.task).entries()].flatMap(([task, members]) => {
    const values = present(members.map((cell) => cellMean(cell, metric)));
    return values.length === 0 ? [] : [{ task, value: mean(values) }];
  });
}

/** A delta within this distance of zero is neither a gain nor a loss. */
export const countTolerance = 1e-9;

/** How many values are better than zero: above it, or below it where less is better. */
export function improvedCount(values: readonly number[], lowerIsBetter = false): number {
  return values.filter((value) => (lowerIsBetter ? -value : value) > countTolerance).length;
}
