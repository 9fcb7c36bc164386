import { type Cluster, type Interval, percentileInterval, seeds, type TaskTrials } from './bootstrap.js';
import {
  type ArmPair,
  armPairs,
  conditionTaskMeans,
  improvedCount,
  isLowerBetter,
  type Metric,
  type TaskValue,
  taskValues,
} from './cells.js';
import { byCodePoint, groupBy, mean } from './moments.js';
import type { Resampler } from './random-stream.js';
import { judgedRows, type RunRow } from './run-row.js';
import type { TaskIndex } from './task-facts.js';

/** What every table builder needs beside the rows. */
export interface AnalysisContext {
  readonly tasks: TaskIndex;
  readonly drawing: Resampler;
}

/** Two arms compared over tasks. */
export interface Effect {
  readonly baseline: number;
  readonly treatment: number;
  readonly delta: number;
  readonly interval: Interval | undefined;
  readonly improved: number;
  readonly tasks: number;
  /** Task values behind the delta, tasks ascending. */
  readonly values: readonly TaskValue[];
}

/** Task-balanced effect of skills (native): arm means over all tasks of an arm, delta over tasks with both arms. */
export function taskBalancedEffect(
  rows: readonly RunRow[],
  context: AnalysisContext,
  options: { readonly metric?: Metric; readonly seed?: number; readonly schema?: string } = {},
): Effect | undefined {
  const { metric = 'reward', seed = seeds.task, schema = 'native' } = options;
  const pairs = armPairs(rows, { metric, schema });
  if (pairs.length === 0) return undefined;
  const armMean = (condition: string): number =>
    mean(conditionTaskMeans(rows, condition, metric, schema).map(({ value }) => value));
  return effectOf(taskValues(pairs), armMean('no-skill'), armMean('with-skill'), metric, context, seed);
}

/** Effect of one model: arm means over runs, delta over its tasks. */
export function modelEffect(
  rows: readonly RunRow[],
  model: string,
  context: AnalysisContext,
  options: { readonly seed?: number } = {},
): Effect | undefined {
  const own = rows.filter((row) => row.model === model && row.schema === 'native');
  const pairs = armPairs(own);
  if (pairs.length === 0) return undefined;
  const armMean = (condition: string): number =>
    mean(judgedRows(own.filter((row) => row.condition === condition)).map((row) => row.reward));
  return effectOf(
    taskValues(pairs),
    armMean('no-skill'),
    armMean('with-skill'),
    'reward',
    context,
    options.seed ?? seeds.task,
  );
}

function effectOf(
  values: readonly TaskValue[],
  baseline: number,
  treatment: number,
  metric: Metric,
  context: AnalysisContext,
  seed: number,
): Effect {
  const deltas = values.map(({ value }) => value);
  return {
    baseline,
    treatment,
    delta: mean(deltas),
    interval: percentileInterval(deltas, context.drawing, seed),
    improved: improvedCount(deltas, isLowerBetter(metric)),
    tasks: deltas.length,
    values,
  };
}

/** Task values by family, families by name; a task without known family is a family of its own. */
export function familiesOf(values: readonly TaskValue[], tasks: TaskIndex): readonly Cluster[] {
  return [...groupBy(values, ({ task }) => tasks.get(task)?.family ?? task).entries()]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, members]) => ({ name, values: members.map(({ value }) => value) }));
}

/** Rewards of both arms by task and model, for tests and bootstraps that resample trials. */
export function taskTrialsOf(pairs: readonly ArmPair[], tasks: TaskIndex): readonly TaskTrials[] {
  const rewards = (rows: readonly RunRow[]): readonly number[] => judgedRows(rows).map((row) => row.reward);
  return [...groupBy(pairs, (pair) => pair.task).entries()].map(([task, members]) => ({
    task,
    family: tasks.get(task)?.family ?? task,
    models: members.map((pair) => ({
      baseline: rewards(pair.baselineCell.rows),
      treatment: rewards(pair.treatmentCell.rows),
    })),
  }));
}
