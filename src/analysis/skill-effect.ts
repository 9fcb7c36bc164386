import type { RunResult } from '../runs/result.js';
import { endsOf, seeds } from './bootstrap.js';
import { armPairs, cellsOf, summaryOf } from './cells.js';
import { taskBalancedEffect } from './estimates.js';
import { distinct, present } from './moments.js';
import { numericSeed, type RandomKind, resampler } from './random-stream.js';
import { isStrictPass, type RunRow, rowOfResult } from './run-row.js';
import { type Stratum, strataOf } from './strata.js';
import type { Table, TableRow } from './tables.js';

/** Rows of results whatever campaign they come from: the tables below group by what was asked, not by campaign. */
function strataOfResults(results: readonly RunResult[]): readonly Stratum[] {
  return strataOf(results.map((result) => ({ ...rowOfResult(result), campaign: 'all' })));
}

const datasetsOf = (rows: readonly RunRow[]): string => distinct(rows.map((row) => row.dataset)).join('+');

/** The version is a column only where there are several: it then tells the rows apart. */
const identityColumnsOf = (results: readonly RunResult[]): readonly string[] =>
  distinct(results.map((result) => result.benchmarkVersion)).length > 1
    ? [...identityColumns, 'version']
    : identityColumns;

const identity = (stratum: Stratum): TableRow => ({
  agent: stratum.agent,
  effort: stratum.effort,
  protocol: stratum.protocol,
  dataset: datasetsOf(stratum.rows),
  version: stratum.benchmarkVersion,
});
const identityColumns = ['agent', 'effort', 'protocol', 'dataset'] as const;
const folds: readonly string[] = ['model', 'schema', ...identityColumns, 'version'];

const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
/** Standard deviation of the rewards of a cell; one trial has none. */
const spreadOf = ({ runs, unjudged, sdReward }: ReturnType<typeof summaryOf>): number | null =>
  runs - unjudged > 1 ? numberOrNull(sdReward) : null;

/** Reward by cell: one row per task, condition and agent. Unjudged runs are counted beside, never averaged. */
export function rewardByTaskAndCondition(results: readonly RunResult[]): Table {
  return {
    columns: [
      'task',
      'condition',
      'model',
      'schema',
      ...identityColumnsOf(results),
      'runs',
      'unjudged',
      'reward',
      'sd',
      'min',
      'max',
      'keyF1',
      'strictPasses',
    ],
    folds,
    rows: strataOfResults(results).flatMap((stratum) =>
      cellsOf(stratum.rows).map((cell) => {
        const summary = summaryOf(cell);
        return {
          task: cell.task,
          condition: cell.condition,
          model: cell.model,
          schema: cell.schema,
          ...identity(stratum),
          dataset: datasetsOf(cell.rows),
          runs: summary.runs,
          unjudged: summary.unjudged,
          reward: numberOrNull(summary.meanReward),
          sd: spreadOf(summary),
          min: numberOrNull(summary.minReward),
          max: numberOrNull(summary.maxReward),
          keyF1: numberOrNull(summary.meanKeyF1),
          strictPasses: cell.rows.filter(isStrictPass).length,
        };
      }),
    ),
  };
}

/** Skill delta per task and model: with-skill cell mean minus no-skill cell mean, arms compared only with themselves. */
export function skillDeltas(results: readonly RunResult[]): Table {
  return {
    columns: ['task', 'model', 'schema', ...identityColumnsOf(results), 'noSkill', 'withSkill', 'delta'],
    folds,
    rows: strataOfResults(results).flatMap((stratum) =>
      schemasOf(stratum.rows).flatMap((schema) =>
        armPairs(stratum.rows, { schema }).map((pair) => ({
          task: pair.task,
          model: pair.model,
          schema,
          ...identity(stratum),
          dataset: datasetsOf(pair.baselineCell.rows),
          noSkill: pair.baseline,
          withSkill: pair.treatment,
          delta: pair.delta,
        })),
      ),
    ),
  };
}

const schemasOf = (rows: readonly RunRow[]): readonly string[] => distinct(rows.map((row) => row.schema));

/**
 * Task-balanced skill effect: the mean over tasks of the task values (each the mean over models of the deltas), with
 * a percentile bootstrap over tasks. Protocols, datasets and schemas are never pooled.
 */
export function skillEffect(
  results: readonly RunResult[],
  seed: number | string = seeds.task,
  options: { readonly resamples?: number; readonly rng?: RandomKind } = {},
): Table {
  const drawing = resampler(options);
  return {
    columns: [
      ...identityColumnsOf(results),
      'schema',
      'tasks',
      'noSkill',
      'withSkill',
      'delta',
      'low',
      'high',
      'positiveTasks',
    ],
    folds,
    rows: strataOfResults(results).flatMap((stratum) =>
      schemasOf(stratum.rows).flatMap((schema) => {
        const effect = taskBalancedEffect(
          stratum.rows,
          { tasks: new Map(), drawing },
          { schema, seed: numericSeed(seed) },
        );
        if (effect === undefined) return [];
        return [
          {
            ...identity(stratum),
            schema,
            tasks: effect.tasks,
            noSkill: effect.baseline,
            withSkill: effect.treatment,
            delta: effect.delta,
            ...endsOf(effect.interval),
            positiveTasks: effect.improved,
          },
        ];
      }),
    ),
  };
}

/** Reward, strict passes and failures by model and condition, for a first look. */
export function rewardByArm(rows: readonly RunRow[]): Table | undefined {
  if (rows.length === 0) return undefined;
  const cells = cellsOf(rows.map((row) => ({ ...row, task: '' })));
  return {
    title: 'Mean reward over runs by model, condition and schema',
    columns: ['model', 'condition', 'schema', 'runs', 'unjudged', 'reward', 'sd', 'strictPasses'],
    rows: cells.map((cell) => {
      const summary = summaryOf(cell);
      return {
        model: cell.model,
        condition: cell.condition,
        schema: cell.schema,
        runs: summary.runs,
        unjudged: summary.unjudged,
        reward: present([summary.meanReward])[0] ?? null,
        sd: spreadOf(summary),
        strictPasses: cell.rows.filter(isStrictPass).length,
      };
    }),
  };
}
