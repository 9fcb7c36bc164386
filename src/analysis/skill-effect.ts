import type { RunResult } from '../runs/result.js';
import { mean, standardDeviation, taskBootstrap } from './bootstrap.js';
import type { Table } from './tables.js';

type Judged = RunResult & { readonly reward: number };

function judged(results: readonly RunResult[]): readonly Judged[] {
  return results.filter((result): result is Judged => result.reward !== null);
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

const sorted = (keys: Iterable<string>): readonly string[] => [...keys].sort();

/** What is held fixed when two conditions are compared. */
const armOf = (result: RunResult): string =>
  [
    result.cell.schema,
    result.cell.protocol,
    result.cell.dataset,
    result.cell.agent,
    result.cell.model ?? 'default',
    result.cell.effort,
  ].join(' ');

/** Reward by cell: one row per task, condition and agent. Unjudged runs are counted beside, never averaged. */
export function rewardByTaskAndCondition(results: readonly RunResult[]): Table {
  const cells = groupBy(results, (result) =>
    [result.cell.task, armOf(result), result.cell.condition].join('\u0000'),
  );
  return {
    columns: [
      'task',
      'condition',
      'agent',
      'model',
      'schema',
      'protocol',
      'dataset',
      'runs',
      'unjudged',
      'reward',
      'sd',
      'min',
      'max',
      'keyF1',
      'strictPasses',
    ],
    rows: sorted(cells.keys()).map((key) => {
      const runs = cells.get(key)!;
      const rewards = judged(runs).map((run) => run.reward);
      const { cell } = runs[0]!;
      const some = rewards.length > 0;
      return {
        task: cell.task,
        condition: cell.condition,
        agent: cell.agent,
        model: cell.model ?? 'default',
        schema: cell.schema,
        protocol: cell.protocol,
        dataset: cell.dataset,
        runs: runs.length,
        unjudged: runs.length - rewards.length,
        reward: some ? mean(rewards) : null,
        sd: some ? standardDeviation(rewards) : null,
        min: some ? Math.min(...rewards) : null,
        max: some ? Math.max(...rewards) : null,
        keyF1: some ? mean(judged(runs).map((run) => run.evaluation?.keyF1 ?? 0)) : null,
        strictPasses: judged(runs).filter((run) => run.evaluation?.strictPass === true).length,
      };
    }),
  };
}

/** Skill delta per task: with-skill cell mean minus no-skill cell mean, arms compared only with themselves. */
export function skillDeltas(results: readonly RunResult[]): Table {
  const tasks = groupBy(judged(results), (result) => [result.cell.task, armOf(result)].join('\u0000'));
  const rows = sorted(tasks.keys()).flatMap((key) => {
    const runs = tasks.get(key)!;
    const rewards = (condition: string): readonly number[] =>
      runs.filter((run) => run.cell.condition === condition).map((run) => run.reward);
    const [without, withSkill] = [rewards('no-skill'), rewards('with-skill')];
    if (without.length === 0 || withSkill.length === 0) return [];
    const { cell } = runs[0]!;
    return [
      {
        task: cell.task,
        agent: cell.agent,
        model: cell.model ?? 'default',
        schema: cell.schema,
        protocol: cell.protocol,
        dataset: cell.dataset,
        noSkill: mean(without),
        withSkill: mean(withSkill),
        delta: mean(withSkill) - mean(without),
      },
    ];
  });
  return {
    columns: ['task', 'agent', 'model', 'schema', 'protocol', 'dataset', 'noSkill', 'withSkill', 'delta'],
    rows,
  };
}

/**
 * Task-balanced skill effect: the mean over tasks of the task values (each the mean over models of the deltas), with
 * a percentile bootstrap over tasks. Protocols, datasets and schemas are never pooled.
 */
export function skillEffect(results: readonly RunResult[], seed: number | string = 20260504): Table {
  const deltas = skillDeltas(results).rows;
  const strata = groupBy(deltas, (row) => [row.agent, row.schema, row.protocol, row.dataset].join('\u0000'));
  return {
    columns: [
      'agent',
      'schema',
      'protocol',
      'dataset',
      'tasks',
      'noSkill',
      'withSkill',
      'delta',
      'low',
      'high',
      'positiveTasks',
    ],
    rows: sorted(strata.keys()).map((key) => {
      const rows = strata.get(key)!;
      const byTask = groupBy(rows, (row) => String(row.task));
      const valuesOf = (column: 'noSkill' | 'withSkill' | 'delta'): readonly number[] =>
        sorted(byTask.keys()).map((task) => mean(byTask.get(task)!.map((row) => Number(row[column]))));
      const values = valuesOf('delta');
      const interval = taskBootstrap(values, { seed })!;
      return {
        agent: rows[0]!.agent!,
        schema: rows[0]!.schema!,
        protocol: rows[0]!.protocol!,
        dataset: rows[0]!.dataset!,
        tasks: values.length,
        noSkill: mean(valuesOf('noSkill')),
        withSkill: mean(valuesOf('withSkill')),
        delta: mean(values),
        low: interval.low,
        high: interval.high,
        // A task within 1e-9 of zero is neither a gain nor a loss.
        positiveTasks: values.filter((value) => value > 1e-9).length,
      };
    }),
  };
}
