import { armPairs, cellsOf, summaryOf } from './cells.js';
import { byCodePoint, mean } from './moments.js';
import type { RunRow } from './run-row.js';
import type { Table } from './tables.js';

/** One row per run: what every other table is computed from. Match rates are JSON. */
export function runTable(rows: readonly RunRow[]): Table {
  return {
    title: 'Runs',
    columns: [
      'runId',
      'campaign',
      'part',
      'task',
      'condition',
      'schema',
      'agent',
      'model',
      'effort',
      'protocol',
      'dataset',
      'trial',
      'publishable',
      'isolated',
      'canaries',
      'lint',
      'returnCode',
      'failure',
      'failureReason',
      'attempts',
      'seconds',
      'passed',
      'failed',
      'errors',
      'reward',
      'rewardRobust',
      'keyPrecision',
      'keyRecall',
      'keyF1',
      'extraKeys',
      'truthRows',
      'orderedNmae',
      'orderedColumns',
      'inputTokens',
      'cachedInputTokens',
      'outputTokens',
      'cost',
      'cliVersion',
      'openedSkill',
      'matchRates',
    ],
    rows: rows.map((row) => ({
      runId: row.runId,
      campaign: row.campaign,
      part: row.part,
      task: row.task,
      condition: row.condition,
      schema: row.schema,
      agent: row.agent,
      model: row.model,
      effort: row.effort,
      protocol: row.protocol,
      dataset: row.dataset,
      trial: row.trial,
      publishable: flag(row.integrity.isPublishable),
      isolated: flag(row.integrity.isIsolated),
      canaries: flag(row.integrity.hasCleanCanaries),
      lint: flag(row.integrity.hasCleanLint),
      returnCode: row.returnCode,
      failure: row.failure,
      failureReason: row.failureReason,
      attempts: row.attempts,
      seconds: row.seconds,
      passed: row.passedChecks,
      failed: row.failedChecks,
      errors: row.errors,
      reward: row.reward,
      rewardRobust: row.rewardRobust,
      keyPrecision: row.keyPrecision,
      keyRecall: row.keyRecall,
      keyF1: row.keyF1,
      extraKeys: row.extraKeys,
      truthRows: row.truthRows,
      orderedNmae: row.orderedNmae,
      orderedColumns: row.orderedColumns,
      inputTokens: row.tokens?.input ?? null,
      cachedInputTokens: row.tokens?.cachedInput ?? null,
      outputTokens: row.tokens?.output ?? null,
      cost: row.cost,
      cliVersion: row.harness.cliVersion,
      openedSkill: flag(row.hasOpenedSkill),
      matchRates: JSON.stringify(row.matchRates),
    })),
  };
}

const flag = (value: boolean | null): string | null => (value === null ? null : value ? 'true' : 'false');
const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** One row per cell. */
export function cellTable(rows: readonly RunRow[]): Table {
  return {
    title: 'Cells',
    columns: [
      'task',
      'condition',
      'schema',
      'model',
      'runs',
      'unjudged',
      'meanReward',
      'sdReward',
      'medianReward',
      'minReward',
      'maxReward',
      'meanKeyPrecision',
      'meanKeyF1',
      'meanOrderedNmae',
      'orderedColumns',
      'failedChecks',
      'errors',
      'extraKeys',
    ],
    rows: cellsOf(rows).map((cell) => {
      const summary = summaryOf(cell);
      return {
        task: cell.task,
        condition: cell.condition,
        schema: cell.schema,
        model: cell.model,
        ...Object.fromEntries(
          Object.entries(summary).map(([name, value]) => [name, numberOrNull(value as number)]),
        ),
      };
    }),
  };
}

/** One row per task and model: both arms and the delta. */
export function nativeDeltaTable(rows: readonly RunRow[]): Table | undefined {
  const pairs = armPairs(rows);
  if (pairs.length === 0) return undefined;
  return {
    title: 'Native skill deltas by task and model',
    columns: ['task', 'model', 'noSkill', 'withSkill', 'delta', 'noSkillRuns', 'withSkillRuns'],
    rows: pairs.map((pair) => ({
      task: pair.task,
      model: pair.model,
      noSkill: pair.baseline,
      withSkill: pair.treatment,
      delta: pair.delta,
      noSkillRuns: pair.baselineCell.rows.length,
      withSkillRuns: pair.treatmentCell.rows.length,
    })),
  };
}

/** The weakest cells and those whose trials differ most: where to look first. */
export function cellsToLookAt(rows: readonly RunRow[], listed = 12): Table | undefined {
  const cells = cellsOf(rows)
    .map((cell) => ({ cell, summary: summaryOf(cell) }))
    .filter(({ summary }) => !Number.isNaN(summary.meanReward));
  if (cells.length === 0) return undefined;
  type Entry = (typeof cells)[number];
  const name = ({ cell }: Entry): string => [cell.task, cell.condition, cell.schema, cell.model].join(' / ');
  const spread = ({ summary }: Entry): number => summary.maxReward - summary.minReward;
  const pick = (why: string, order: (a: Entry, b: Entry) => number) =>
    [...cells]
      .sort((a, b) => order(a, b) || byCodePoint(name(a), name(b)))
      .slice(0, listed)
      .map((entry) => ({
        cell: name(entry),
        why,
        runs: entry.summary.runs,
        reward: entry.summary.meanReward,
        min: entry.summary.minReward,
        max: entry.summary.maxReward,
      }));
  return {
    title: 'Cells to look at',
    columns: ['cell', 'why', 'runs', 'reward', 'min', 'max'],
    rows: [
      ...pick('weakest', (a, b) => a.summary.meanReward - b.summary.meanReward),
      ...pick('widest range of trials', (a, b) => spread(b) - spread(a)),
    ],
  };
}

/** Mean tokens, cost and seconds by model and condition, beside the reward. */
export function costTable(rows: readonly RunRow[]): Table | undefined {
  const metered = rows.filter((row) => row.tokens !== null || row.seconds !== null);
  if (metered.length === 0) return undefined;
  const cells = cellsOf(metered.map((row) => ({ ...row, task: '' })));
  const averageOf = (
    members: readonly RunRow[],
    pick: (row: RunRow) => number | null | undefined,
  ): number | null => {
    const values = members.flatMap((row) => pick(row) ?? []);
    return values.length === 0 ? null : mean(values);
  };
  return {
    title: 'Mean reward, time, tokens and cost of a run',
    columns: [
      'model',
      'condition',
      'schema',
      'runs',
      'reward',
      'seconds',
      'inputTokens',
      'cachedInputTokens',
      'outputTokens',
      'cost',
    ],
    rows: cells.map((cell) => ({
      model: cell.model,
      condition: cell.condition,
      schema: cell.schema,
      runs: cell.rows.length,
      reward: averageOf(cell.rows, (row) => row.reward),
      seconds: averageOf(cell.rows, (row) => row.seconds),
      inputTokens: averageOf(cell.rows, (row) => row.tokens?.input),
      cachedInputTokens: averageOf(cell.rows, (row) => row.tokens?.cachedInput),
      outputTokens: averageOf(cell.rows, (row) => row.tokens?.output),
      cost: averageOf(cell.rows, (row) => row.cost),
    })),
  };
}
