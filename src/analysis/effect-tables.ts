import {
  endsOf,
  familyBalancedInterval,
  familyClusterInterval,
  percentileInterval,
  seeds,
} from './bootstrap.js';
import { type ArmPair, armPairs, improvedCount, type TaskValue, taskValues } from './cells.js';
import {
  type AnalysisContext,
  type Effect,
  familiesOf,
  modelEffect,
  taskBalancedEffect,
} from './estimates.js';
import { mean } from './moments.js';
import { modelLabel } from './published-release.js';
import type { Stratum } from './strata.js';
import type { PrintColumn, Table, TableRow } from './tables.js';

const effectColumns = ['noSkill', 'withSkill', 'delta', 'low', 'high', 'improvedTasks', 'tasks'] as const;

const effectPrint: readonly PrintColumn[] = [
  { header: 'No skill', from: ['noSkill'], as: 'fixed' },
  { header: 'With skill', from: ['withSkill'], as: 'fixed' },
  { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
];

/** The columns of an effect, without label. */
export function effectCells(effect: Effect): TableRow {
  return {
    noSkill: effect.baseline,
    withSkill: effect.treatment,
    delta: effect.delta,
    ...endsOf(effect.interval),
    improvedTasks: effect.improved,
    tasks: effect.tasks,
  };
}

function labelledEffects(
  column: string,
  effects: readonly (readonly [string, Effect | undefined])[],
): readonly TableRow[] {
  return effects.flatMap(([label, effect]) =>
    effect === undefined ? [] : [{ [column]: label, ...effectCells(effect) }],
  );
}

/** Table 3: effect of skills with the native schema on reward, key F1 and ordered nMAE. */
export function nativeSkillEffect(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const { rows } = stratum;
  const balanced = (metric: 'reward' | 'keyF1' | 'orderedNmae'): Effect | undefined =>
    taskBalancedEffect(rows, context, { metric });
  const effects = labelledEffects('measure', [
    ...stratum.models.map(
      (model) => [`Reward / ${modelLabel(model)}`, modelEffect(rows, model, context)] as const,
    ),
    ['Reward / task-balanced', balanced('reward')],
    ['Key F1 / task-balanced', balanced('keyF1')],
    ['Ordered nMAE / task-balanced', balanced('orderedNmae')],
  ]);
  if (effects.length === 0) return undefined;
  const unjudged = rows.filter((row) => row.reward === null).length;
  return {
    title: 'Effect of skills with the native schema; 95 % percentile bootstrap over tasks',
    columns: ['measure', ...effectColumns],
    rows: effects,
    print: [
      { header: 'Measure', from: ['measure'] },
      ...effectPrint,
      { header: 'Improved tasks', from: ['improvedTasks', 'tasks'], as: 'count' },
    ],
    ...(unjudged === 0 ? {} : { notes: [`${unjudged} unjudged runs are in no mean.`] }),
  };
}

/** Tables 26, 28 and 29: models of one campaign, and their task-balanced mean. */
export function modelSkillEffect(
  stratum: Stratum,
  context: AnalysisContext,
  title: string,
  seed: number = seeds.task,
): Table | undefined {
  const effects = labelledEffects('model', [
    ...stratum.models.map(
      (model) => [modelLabel(model), modelEffect(stratum.rows, model, context, { seed })] as const,
    ),
    ['Task-balanced mean', taskBalancedEffect(stratum.rows, context, { seed })],
  ]);
  if (effects.length === 0) return undefined;
  // One model is its own task-balanced mean.
  const rows = stratum.models.length === 1 ? effects.slice(0, 1) : effects;
  return {
    title,
    columns: ['model', ...effectColumns],
    rows,
    print: [
      { header: 'Model', from: ['model'] },
      ...effectPrint,
      { header: 'Positive tasks', from: ['improvedTasks', 'tasks'], as: 'count' },
    ],
  };
}

/** Task deltas ordered by size; equal ones by task. */
export function rankedDeltas(stratum: Stratum, direction: 'descending' | 'ascending'): readonly TaskValue[] {
  const sign = direction === 'descending' ? -1 : 1;
  return [...taskValues(armPairs(stratum.rows))].sort((a, b) => sign * (a.value - b.value));
}

/** Tables 16 and 17: the tasks that gain most, or lose most or gain least. */
export function extremeDeltas(
  stratum: Stratum,
  direction: 'descending' | 'ascending',
  listed = 6,
): Table | undefined {
  const ranked = rankedDeltas(stratum, direction);
  if (ranked.length === 0) return undefined;
  return {
    title: direction === 'descending' ? 'Largest gains from skills' : 'Largest declines or smallest gains',
    columns: ['task', 'delta'],
    rows: ranked.slice(0, listed).map(({ task, value }) => ({ task, delta: value })),
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Mean delta', from: ['delta'], as: 'fixed' },
    ],
  };
}

/** Table 18: effect by task mode, per model and for the task means. */
export function modeSplit(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const pairs = armPairs(stratum.rows);
  const groups: readonly (readonly [string, readonly ArmPair[]])[] = [
    ...stratum.models.map(
      (model) => [modelLabel(model), pairs.filter((pair) => pair.model === model)] as const,
    ),
    ['Task-balanced mean', pairs],
  ];
  const rows = groups.flatMap(([label, members]) =>
    (['standard', 'raw'] as const).flatMap((mode) => {
      const values = taskValues(members.filter((pair) => context.tasks.get(pair.task)?.mode === mode)).map(
        ({ value }) => value,
      );
      if (values.length === 0) return [];
      const interval = percentileInterval(values, context.drawing, seeds.task);
      return [
        {
          model: label,
          mode,
          tasks: values.length,
          delta: mean(values),
          ...endsOf(interval),
          positiveTasks: improvedCount(values),
        },
      ];
    }),
  );
  if (rows.length === 0) return undefined;
  return {
    title: 'Effect of skills by task mode',
    columns: ['model', 'mode', 'tasks', 'delta', 'low', 'high', 'positiveTasks'],
    rows,
    print: [
      { header: 'Model', from: ['model'] },
      { header: 'Mode', from: ['mode'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'Mean delta', from: ['delta'], as: 'fixed' },
      { header: 'Positive tasks', from: ['positiveTasks', 'tasks'], as: 'count' },
    ],
  };
}

/** Table 19: the headline under three bootstraps. */
export function clusterSensitivity(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const values = taskValues(armPairs(stratum.rows));
  if (values.length === 0) return undefined;
  const deltas = values.map(({ value }) => value);
  const families = familiesOf(values, context.tasks);
  const { drawing } = context;
  const row = (
    analysis: string,
    units: number,
    unit: string,
    delta: number,
    interval: { readonly low: number; readonly high: number } | undefined,
  ): TableRow => ({
    analysis,
    units,
    unit,
    delta,
    ...endsOf(interval),
  });
  return {
    title: 'The headline under bootstraps over tasks and over families',
    columns: ['analysis', 'units', 'unit', 'delta', 'low', 'high'],
    rows: [
      row(
        'Task-cluster bootstrap',
        deltas.length,
        'tasks',
        mean(deltas),
        percentileInterval(deltas, drawing, seeds.task),
      ),
      row(
        'Family-cluster bootstrap',
        families.length,
        'families',
        mean(deltas),
        familyClusterInterval(families, drawing, seeds.followUp),
      ),
      row(
        'Family-balanced bootstrap',
        families.length,
        'families',
        mean(families.map((family) => mean(family.values))),
        familyBalancedInterval(families, drawing, seeds.followUp),
      ),
    ],
    print: [
      { header: 'Analysis', from: ['analysis'] },
      { header: 'Units', from: ['units', 'unit'], as: 'words' },
      { header: 'Mean delta', from: ['delta'], as: 'fixed' },
      { header: '95% interval', from: ['low', 'high'], as: 'range' },
    ],
  };
}

/** Table 21: reward, key-F1 and nMAE deltas by task. */
export function secondaryByTask(stratum: Stratum): Table | undefined {
  const { rows } = stratum;
  const rewards = taskValues(armPairs(rows));
  if (rewards.length === 0) return undefined;
  const byTask = (metric: 'keyF1' | 'orderedNmae'): ReadonlyMap<string, number> =>
    new Map(taskValues(armPairs(rows, { metric })).map(({ task, value }) => [task, value]));
  const [keyF1, nmae] = [byTask('keyF1'), byTask('orderedNmae')];
  const lastModel = stratum.models.at(-1);
  const columnsOf = (task: string): number =>
    Math.max(
      0,
      ...rows
        .filter(
          (row) =>
            row.task === task &&
            row.condition === 'with-skill' &&
            row.schema === 'native' &&
            row.model === lastModel &&
            nmae.has(task),
        )
        .map((row) => row.orderedColumns),
    );
  return {
    title: 'Secondary metrics by task',
    columns: ['task', 'rewardDelta', 'keyF1Delta', 'nmaeDelta', 'orderedColumns'],
    rows: rewards.map(({ task, value }) => ({
      task,
      rewardDelta: value,
      keyF1Delta: keyF1.get(task) ?? null,
      nmaeDelta: nmae.get(task) ?? null,
      orderedColumns: columnsOf(task),
    })),
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Reward delta', from: ['rewardDelta'], as: 'fixed' },
      { header: 'Key F1 delta', from: ['keyF1Delta'], as: 'fixed' },
      { header: 'nMAE delta', from: ['nmaeDelta'], as: 'fixed' },
      { header: 'Ordered columns', from: ['orderedColumns'] },
    ],
  };
}

/** Tables 27 and 31: deltas by task and model, mean descending; a harness label where one is given. */
export function deltasByTask(
  stratum: Stratum,
  title: string,
  harnessLabels?: ReadonlyMap<string, string>,
): Table | undefined {
  const pairs = armPairs(stratum.rows);
  if (pairs.length === 0) return undefined;
  const modelColumns = stratum.models.map((model) => `delta ${model}`);
  return {
    title,
    columns: ['task', ...modelColumns, 'delta', ...(harnessLabels === undefined ? [] : ['harness'])],
    rows: rankedDeltas(stratum, 'descending').map(({ task, value }) => ({
      task,
      ...Object.fromEntries(
        stratum.models.map((model) => [
          `delta ${model}`,
          pairs.find((pair) => pair.task === task && pair.model === model)?.delta ?? null,
        ]),
      ),
      delta: value,
      ...(harnessLabels === undefined ? {} : { harness: harnessLabels.get(task) ?? 'NA' }),
    })),
    print: [
      { header: 'Task', from: ['task'] },
      ...stratum.models.map(
        (model): PrintColumn => ({ header: modelLabel(model), from: [`delta ${model}`], as: 'fixed' }),
      ),
      { header: 'Mean', from: ['delta'], as: 'fixed' },
      ...(harnessLabels === undefined ? [] : [{ header: 'Harness', from: ['harness'] }]),
    ],
  };
}
