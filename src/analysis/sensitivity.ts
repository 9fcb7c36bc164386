import { endsOf, type Interval, percentilesOf, seeds } from './bootstrap.js';
import { armPairs, improvedCount, type Metric, taskValues } from './cells.js';
import { type AnalysisContext, type Effect, taskBalancedEffect } from './estimates.js';
import { byCodePoint, groupBy, mean, present } from './moments.js';
import { isExactPass, isStrictPass, judgedRows, type RunRow } from './run-row.js';
import type { RunSet } from './run-set.js';
import { schemaGeneralisation } from './schema-tables.js';
import { nativeArms, type Stratum } from './strata.js';
import type { Table, TableRow } from './tables.js';
import type { TaskIndex } from './task-facts.js';

/** One other way to reach a claim: rows changed, and what changed. */
interface Alternative {
  readonly analysis: string;
  readonly rows: readonly RunRow[];
  readonly metric?: Metric;
  /** Rows that are not what the headline averages: changed, left out or added. */
  readonly changed: number;
}

const differing = (before: readonly RunRow[], after: readonly RunRow[], metric: Metric): number =>
  after.filter((row, index) => !Object.is(row[metric], before[index]![metric])).length;

/** Rows with a changed value of one metric, beside how many changed. */
function altered(
  analysis: string,
  rows: readonly RunRow[],
  pick: (row: RunRow) => number | null,
  metric: Metric = 'reward',
): Alternative {
  const after = rows.map((row) => ({ ...row, [metric]: pick(row) }));
  return { analysis, rows: after, metric, changed: differing(rows, after, metric) };
}

function filtered(analysis: string, rows: readonly RunRow[], keeps: (row: RunRow) => boolean): Alternative {
  const kept = rows.filter(keeps);
  return { analysis, rows: kept, changed: rows.length - kept.length };
}

/** The first attempt's reward instead of the one that replaced it; a first attempt that was never scored stays out. */
export function withFirstAttempt(row: RunRow): RunRow {
  return row.firstAttempt === undefined ? row : { ...row, reward: row.firstAttempt.reward };
}

/** Reward over the declared value columns only; the reward itself where no match rates or columns are known. */
export function declaredReward(row: RunRow, tasks: TaskIndex): number | null {
  const columns = tasks.get(row.task)?.valueColumns;
  const rates = Object.keys(row.matchRates);
  if (columns === undefined || rates.length === 0 || row.reward === null) return row.reward;
  return mean(columns.map((column) => (Object.hasOwn(row.matchRates, column) ? row.matchRates[column]! : 0)));
}

function rewardAlternatives(rows: readonly RunRow[], tasks: TaskIndex): readonly Alternative[] {
  const asShare = (passes: (row: RunRow) => boolean) => (row: RunRow) =>
    row.reward === null ? null : passes(row) ? 1 : 0;
  const robustKnown = rows.some((row) => row.rewardRobust !== null);
  return [
    { analysis: 'Headline', rows, changed: 0 },
    altered('First attempts instead of replaced ones', rows, (row) => withFirstAttempt(row).reward),
    filtered('Failures left out', rows, (row) => row.failure === null),
    altered('Unjudged runs as zero', rows, (row) => row.reward ?? 0),
    altered('Declared value columns only', rows, (row) => declaredReward(row, tasks)),
    ...(robustKnown
      ? [altered('Reward by the robust reader', rows, (row) => row.rewardRobust ?? row.reward)]
      : []),
    filtered('Publishable runs only', rows, (row) => row.integrity.isPublishable),
    ...(rows.some((row) => row.hasOpenedSkill !== null)
      ? [
          filtered(
            'With-skill runs in which the skill was opened',
            rows,
            (row) => row.condition !== 'with-skill' || row.hasOpenedSkill !== false,
          ),
        ]
      : []),
    altered('Strict passes, the thresholds of each task', rows, asShare(isStrictPass)),
    altered('Exact passes, full match on every scored column', rows, asShare(isExactPass)),
  ];
}

function nmaeAlternatives(rows: readonly RunRow[]): readonly Alternative[] {
  // A task without ordered columns has no nMAE in either arm, whatever failed.
  const ordered = new Set(rows.filter((row) => row.orderedNmae !== null).map((row) => row.task));
  return [
    { analysis: 'Ordered nMAE, headline', rows, metric: 'orderedNmae', changed: 0 },
    altered(
      'Ordered nMAE, failures at 1',
      rows,
      (row) =>
        row.reward !== null && (row.failure !== null || row.errors > 0)
          ? ordered.has(row.task)
            ? 1
            : null
          : row.orderedNmae,
      'orderedNmae',
    ),
    altered(
      'Ordered nMAE, failures and missing keys at 1',
      rows,
      (row) => nmaeWithCoverage(row, ordered.has(row.task)),
      'orderedNmae',
    ),
  ];
}

/** nMAE over all reference rows: what was not found counts 1. */
function nmaeWithCoverage(row: RunRow, hasOrdered: boolean): number | null {
  if (!hasOrdered || row.reward === null) return null;
  if (row.failure !== null || row.errors > 0 || row.orderedNmae === null) return 1;
  const found = row.keyRecall ?? 1;
  return found * row.orderedNmae + (1 - found);
}

function effectRow(alternative: Alternative, effect: Effect): TableRow {
  return {
    analysis: alternative.analysis,
    noSkill: effect.baseline,
    withSkill: effect.treatment,
    estimate: effect.delta,
    ...endsOf(effect.interval),
    improvedTasks: effect.improved,
    tasks: effect.tasks,
    changedRuns: alternative.changed,
  };
}

/**
 * Difference of the plain means over runs, every run weighing the same; the interval resamples tasks with all their
 * runs.
 */
export function microEffect(rows: readonly RunRow[], context: AnalysisContext): TableRow | undefined {
  const tasks = [...groupBy(judgedRows(rows), (row) => row.task).entries()].sort(([a], [b]) =>
    byCodePoint(a, b),
  );
  const sums = tasks.map(([, members]) => {
    const arm = (condition: string): readonly number[] =>
      members.filter((row) => row.condition === condition).map((row) => row.reward);
    const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
    const [without, withSkill] = [arm('no-skill'), arm('with-skill')];
    return [sum(without), without.length, sum(withSkill), withSkill.length] as const;
  });
  const complete = sums.filter(([, without, , withSkill]) => without > 0 && withSkill > 0);
  if (complete.length === 0) return undefined;
  // Index lists, not row lists: this runs once per resample.
  const armMeans = (picked: Iterable<number>): readonly [number, number] => {
    let [a, n, b, m] = [0, 0, 0, 0];
    for (const index of picked) {
      const sum = complete[index]!;
      a += sum[0];
      n += sum[1];
      b += sum[2];
      m += sum[3];
    }
    return [a / n, b / m];
  };
  const [noSkill, withSkill] = armMeans(complete.keys());
  const interval = microInterval(complete.length, context, (picked) => {
    const [without, withIt] = armMeans(picked);
    return withIt - without;
  });
  return {
    analysis: 'Micro means, every run weighing the same',
    noSkill,
    withSkill,
    estimate: withSkill - noSkill,
    low: interval.low,
    high: interval.high,
    improvedTasks: improvedCount(complete.map(([a, n, b, m]) => b / m - a / n)),
    tasks: complete.length,
    changedRuns: 0,
  };
}

function microInterval(
  units: number,
  context: AnalysisContext,
  statistic: (picked: Uint32Array) => number,
): Interval {
  const indices = context.drawing.draws(units, seeds.task);
  const draws = new Float64Array(context.drawing.resamples);
  for (let draw = 0; draw < draws.length; draw += 1)
    draws[draw] = statistic(indices.subarray(draw * units, (draw + 1) * units));
  return percentilesOf(draws);
}

function ratioRows(
  stratum: Stratum,
  context: AnalysisContext,
  printed: RunSet['printedProbeMeans'],
): readonly TableRow[] {
  const alternatives: readonly (readonly [string, Stratum])[] = [
    ['headline', stratum],
    ['first attempts', { ...stratum, rows: stratum.rows.map(withFirstAttempt) }],
    ['failures left out', { ...stratum, rows: stratum.rows.filter((row) => row.failure === null) }],
  ];
  return alternatives.flatMap(([name, changed]) =>
    (schemaGeneralisation(changed, context, printed)?.effects ?? [])
      .filter((effect) => effect.schema !== 'native')
      .map((effect) => ({
        analysis: `Robustness ratio ${effect.schema}, ${name}`,
        noSkill: effect.noSkill,
        withSkill: effect.withSkill,
        estimate: effect.ratio ?? null,
        ...endsOf(effect.ratioInterval),
        improvedTasks: effect.positive ?? null,
        tasks: effect.tasks,
        changedRuns:
          name === 'first attempts'
            ? stratum.rows.filter((row) => row.schema === effect.schema && row.firstAttempt !== undefined)
                .length
            : name === 'headline'
              ? 0
              : stratum.rows.filter((row) => row.schema === effect.schema && row.failure !== null).length,
      })),
  );
}

/** Every claim beside itself under other choices; what a reader should look at before quoting the headline. */
export function sensitivityTable(
  stratum: Stratum,
  context: AnalysisContext,
  printed: RunSet['printedProbeMeans'] = {},
): Table | undefined {
  const arms = nativeArms(stratum.rows);
  const hasArms = armPairs(arms).length > 0;
  const micro = hasArms ? microEffect(arms, context) : undefined;
  const rows = [
    ...[...rewardAlternatives(arms, context.tasks), ...nmaeAlternatives(arms)].flatMap((alternative) => {
      const effect = taskBalancedEffect(alternative.rows, context, {
        metric: alternative.metric ?? 'reward',
      });
      return effect === undefined ? [] : [effectRow(alternative, effect)];
    }),
    ...(micro === undefined ? [] : [micro]),
    ...ratioRows(stratum, context, printed),
  ];
  if (rows.length === 0) return undefined;
  return {
    title: 'Sensitivity of the claims',
    columns: [
      'analysis',
      'noSkill',
      'withSkill',
      'estimate',
      'low',
      'high',
      'improvedTasks',
      'tasks',
      'changedRuns',
    ],
    rows,
    notes: sensitivityNotes(stratum),
    print: [
      { header: 'Analysis', from: ['analysis'] },
      { header: 'No skill', from: ['noSkill'], as: 'fixed' },
      { header: 'With skill', from: ['withSkill'], as: 'fixed' },
      { header: 'Delta or ratio', from: ['estimate', 'low', 'high'], as: 'estimate' },
      { header: 'Improved tasks', from: ['improvedTasks', 'tasks'], as: 'count' },
      { header: 'Runs changed', from: ['changedRuns'] },
    ],
  };
}

function sensitivityNotes(stratum: Stratum): readonly string[] {
  const replaced = stratum.rows.filter((row) => row.firstAttempt !== undefined);
  const notes = ['Improved tasks of the pass analyses are those whose share of passes rose.'];
  if (stratum.protocol === 'published-2026' && replaced.length > 0)
    notes.push(
      'Superseded attempts are published for the with-skill arm of the transformed schemas only: the other arm may ' +
        'have had replaced attempts too, so the first-attempt ratio is one-sided.',
    );
  return notes;
}

/** The headline without each family in turn, and without each task in turn. */
export function leaveOneOut(
  stratum: Stratum,
  context: AnalysisContext,
  unit: 'family' | 'task',
): Table | undefined {
  const values = taskValues(armPairs(stratum.rows));
  const groupOf = (task: string): string =>
    unit === 'task' ? task : (context.tasks.get(task)?.family ?? task);
  const groups = groupBy(values, ({ task }) => groupOf(task));
  if (groups.size < 2) return undefined;
  const headline = mean(values.map(({ value }) => value));
  const rows = [...groups.entries()]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, members]) => {
      const kept = values.filter(({ task }) => groupOf(task) !== name).map(({ value }) => value);
      return {
        without: name,
        tasksLeft: kept.length,
        ownDelta: mean(members.map(({ value }) => value)),
        delta: mean(kept),
        change: mean(kept) - headline,
        improvedTasks: improvedCount(kept),
      };
    });
  return {
    title: `The headline without each ${unit}`,
    columns: ['without', 'tasksLeft', 'ownDelta', 'delta', 'change', 'improvedTasks'],
    rows,
    notes: [
      `Headline ${headline.toFixed(3)}; without one ${unit} from ${Math.min(...present(rows.map((row) => row.delta))).toFixed(3)} to ${Math.max(...present(rows.map((row) => row.delta))).toFixed(3)}.`,
    ],
    print: [
      { header: 'Without', from: ['without'] },
      { header: 'Tasks left', from: ['tasksLeft'] },
      { header: 'Its own delta', from: ['ownDelta'], as: 'fixed' },
      { header: 'Delta', from: ['delta'], as: 'fixed' },
      { header: 'Change', from: ['change'], as: 'fixed' },
      { header: 'Improved tasks', from: ['improvedTasks', 'tasksLeft'], as: 'count' },
    ],
  };
}
