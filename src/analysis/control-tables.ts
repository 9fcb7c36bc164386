import { endsOf, type Interval, percentileInterval, seeds, studentInterval } from './bootstrap.js';
import { armPairs, type Cell, cellMean, cellsOf, taskValues } from './cells.js';
import { rankedDeltas } from './effect-tables.js';
import type { AnalysisContext } from './estimates.js';
import { byCodePoint, distinct, groupBy, mean, present } from './moments.js';
import { controlTasks, modelLabel, sentinelTasks } from './published-release.js';
import type { RunRow } from './run-row.js';
import type { Stratum } from './strata.js';
import type { PrintColumn, Table, TableRow } from './tables.js';
import { databaseLabel } from './task-facts.js';

/** Mean over models of the native cell means, by task, of one condition. */
function nativeTaskMeans(rows: readonly RunRow[], condition: string): ReadonlyMap<string, number> {
  const cells = cellsOf(rows.filter((row) => row.schema === 'native' && row.condition === condition));
  return new Map(
    [...groupBy(cells, (cell) => cell.task)].flatMap(([task, members]) => {
      const values = present(members.map((cell) => cellMean(cell, 'reward')));
      return values.length === 0 ? [] : [[task, mean(values)] as const];
    }),
  );
}

/** Task means of the three arms around an operational specification. */
interface SpecTask {
  readonly task: string;
  readonly noSkill: number;
  readonly spec: number;
  readonly withSkill: number;
}

/** Tasks that have all three arms: published ones in the published order, then others ascending. */
function specTasks(stratum: Stratum): readonly SpecTask[] {
  const [noSkill, spec, withSkill] = ['no-skill', 'operational-spec', 'with-skill'].map((condition) =>
    nativeTaskMeans(stratum.rows, condition),
  );
  const names = [...spec!.keys()].filter((task) => noSkill!.has(task) && withSkill!.has(task));
  const rank = (task: string): number => {
    const place = sentinelTasks.indexOf(task);
    return place < 0 ? sentinelTasks.length : place;
  };
  return names
    .sort((a, b) => rank(a) - rank(b) || byCodePoint(a, b))
    .map((task) => ({
      task,
      noSkill: noSkill!.get(task)!,
      spec: spec!.get(task)!,
      withSkill: withSkill!.get(task)!,
    }));
}

/** Half-width of the symmetric bound within which the 90 % t interval lies: two one-sided tests at 5 %. */
export function equivalenceBound(values: readonly number[]): number | null {
  const interval = studentInterval(values, 0.9);
  return interval === undefined ? null : Math.max(Math.abs(interval.low), Math.abs(interval.high));
}

function differenceCells(values: readonly number[], interval: Interval | undefined): TableRow {
  return {
    delta: mean(values),
    ...endsOf(interval),
    equivalenceBound: equivalenceBound(values),
  };
}

/** Table 4: does a complete specification close the gap that the skill closes? */
export function operationalSpecControl(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const tasks = specTasks(stratum);
  if (tasks.length === 0) return undefined;
  const comparison = (
    label: string,
    minuend: (task: SpecTask) => number,
    subtrahend: (task: SpecTask) => number,
  ): TableRow => {
    const values = tasks.map((task) => minuend(task) - subtrahend(task));
    return {
      comparison: label,
      tasks: tasks.length,
      from: mean(tasks.map(subtrahend)),
      to: mean(tasks.map(minuend)),
      ...differenceCells(values, percentileInterval(values, context.drawing, seeds.followUp)),
    };
  };
  return {
    title: 'Operational-specification control; 95 % percentile bootstrap over tasks',
    columns: ['comparison', 'tasks', 'from', 'to', 'delta', 'low', 'high', 'equivalenceBound'],
    rows: [
      comparison(
        'Operational spec - no skill',
        (task) => task.spec,
        (task) => task.noSkill,
      ),
      comparison(
        'Targeted skill - operational spec',
        (task) => task.withSkill,
        (task) => task.spec,
      ),
    ],
    notes: ['The equivalence bound is the smallest margin that two one-sided t tests at 5 % would support.'],
    print: [
      { header: 'Comparison', from: ['comparison'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'From', from: ['from'], as: 'fixed' },
      { header: 'To', from: ['to'], as: 'fixed' },
      { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
      { header: 'Equivalence bound', from: ['equivalenceBound'], as: 'fixed' },
    ],
  };
}

/** Table 25: the same by task. */
export function operationalSpecByTask(stratum: Stratum): Table | undefined {
  const tasks = specTasks(stratum);
  if (tasks.length === 0) return undefined;
  return {
    title: 'Operational-specification control by task',
    columns: ['task', 'noSkill', 'spec', 'withSkill', 'specMinusNoSkill', 'withSkillMinusSpec'],
    rows: tasks.map((task) => ({
      ...task,
      specMinusNoSkill: task.spec - task.noSkill,
      withSkillMinusSpec: task.withSkill - task.spec,
    })),
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'No skill', from: ['noSkill'], as: 'fixed' },
      { header: 'Op. spec', from: ['spec'], as: 'fixed' },
      { header: 'Targeted', from: ['withSkill'], as: 'fixed' },
      { header: 'Spec - no skill', from: ['specMinusNoSkill'], as: 'fixed' },
      { header: 'Targeted - spec', from: ['withSkillMinusSpec'], as: 'fixed' },
    ],
  };
}

/** Table 13: all tasks by delta, with their membership in the control subsets. */
export function controlSubsets(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const ranked = rankedDeltas(stratum, 'descending');
  if (ranked.length === 0) return undefined;
  const tasksWith = (...conditions: readonly string[]): ReadonlySet<string> =>
    new Set(stratum.rows.filter((row) => conditions.includes(row.condition)).map((row) => row.task));
  const isPublished = stratum.protocol === 'published-2026';
  const control = isPublished ? new Set(controlTasks) : tasksWith('with-skill-decoy', 'with-skill-rawsql');
  const sentinel = isPublished ? new Set(sentinelTasks) : tasksWith('operational-spec');
  return {
    title: 'Tasks of the control subsets, and effect of the targeted skill',
    columns: ['task', 'mode', 'database', 'delta', 'inControls', 'inOperationalSpec'],
    rows: ranked.map(({ task, value }) => {
      const facts = context.tasks.get(task);
      return {
        task,
        mode: facts?.mode ?? null,
        database: facts === undefined ? null : databaseLabel(facts.database),
        delta: value,
        inControls: control.has(task) ? 'yes' : '',
        inOperationalSpec: sentinel.has(task) ? 'yes' : '',
      };
    }),
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Mode', from: ['mode'] },
      { header: 'Database', from: ['database'] },
      { header: 'Delta', from: ['delta'], as: 'fixed' },
      { header: 'Decoy/raw SQL', from: ['inControls'] },
      { header: 'Op. spec', from: ['inOperationalSpec'] },
    ],
  };
}

const controlLabels: readonly (readonly [string, string])[] = [
  ['with-skill-rawsql', 'Raw SQL'],
  ['with-skill-decoy', 'Decoy'],
  ['with-skill-all', 'All skills'],
];

/** A control cell with both arms of its task and model. */
interface ControlCell {
  readonly task: string;
  readonly model: string;
  readonly control: Cell;
  readonly noSkill: number;
  readonly withSkill: number;
  readonly controlMean: number;
}

function controlCellsOf(stratum: Stratum, condition: string): readonly ControlCell[] {
  const arms = new Map(armPairs(stratum.rows).map((pair) => [`${pair.task}\u0000${pair.model}`, pair]));
  const cells = cellsOf(stratum.rows.filter((row) => row.schema === 'native' && row.condition === condition));
  return cells.flatMap((control) => {
    const pair = arms.get(`${control.task}\u0000${control.model}`);
    const controlMean = cellMean(control, 'reward');
    if (pair === undefined || Number.isNaN(controlMean)) return [];
    return [
      {
        task: control.task,
        model: control.model,
        control,
        noSkill: pair.baseline,
        withSkill: pair.treatment,
        controlMean,
      },
    ];
  });
}

/** Table 22: matched-context controls, averaged over task-model cells, intervals over tasks. */
export function matchedControls(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const rows = controlLabels.flatMap(([condition, label]) => {
    const cells = controlCellsOf(stratum, condition);
    if (cells.length === 0) return [];
    const overTasks = (pick: (cell: ControlCell) => number): Interval | undefined =>
      percentileInterval(
        [...groupBy(cells, (cell) => cell.task)]
          .sort(([a], [b]) => byCodePoint(a, b))
          .map(([, members]) => mean(members.map(pick))),
        context.drawing,
        seeds.task,
      );
    const toTargeted = overTasks((cell) => cell.controlMean - cell.withSkill);
    const toNoSkill = overTasks((cell) => cell.controlMean - cell.noSkill);
    return [
      {
        control: label,
        tasks: distinct(cells.map((cell) => cell.task)).length,
        noSkill: mean(cells.map((cell) => cell.noSkill)),
        targeted: mean(cells.map((cell) => cell.withSkill)),
        controlMean: mean(cells.map((cell) => cell.controlMean)),
        minusTargeted: mean(cells.map((cell) => cell.controlMean - cell.withSkill)),
        minusTargetedLow: toTargeted?.low ?? null,
        minusTargetedHigh: toTargeted?.high ?? null,
        minusNoSkill: mean(cells.map((cell) => cell.controlMean - cell.noSkill)),
        minusNoSkillLow: toNoSkill?.low ?? null,
        minusNoSkillHigh: toNoSkill?.high ?? null,
      },
    ];
  });
  if (rows.length === 0) return undefined;
  const print: readonly PrintColumn[] = [
    { header: 'Control', from: ['control'] },
    { header: 'Tasks', from: ['tasks'] },
    { header: 'No skill', from: ['noSkill'], as: 'fixed' },
    { header: 'Targeted', from: ['targeted'], as: 'fixed' },
    { header: 'Control mean', from: ['controlMean'], as: 'fixed' },
    {
      header: 'Control - targeted',
      from: ['minusTargeted', 'minusTargetedLow', 'minusTargetedHigh'],
      as: 'estimate',
    },
    {
      header: 'Control - no skill',
      from: ['minusNoSkill', 'minusNoSkillLow', 'minusNoSkillHigh'],
      as: 'estimate',
    },
  ];
  return { title: 'Matched-context controls', columns: print.flatMap((column) => column.from), rows, print };
}

/** The same by task, model and control. */
export function controlsByTask(stratum: Stratum): Table | undefined {
  const rows = [...controlLabels, ['operational-spec', 'Operational spec'] as const].flatMap(([condition]) =>
    controlCellsOf(stratum, condition).map((cell) => ({
      task: cell.task,
      model: cell.model,
      condition,
      noSkillMean: cell.noSkill,
      withSkillMean: cell.withSkill,
      controlMean: cell.controlMean,
      controlMinusNoSkill: cell.controlMean - cell.noSkill,
      controlMinusWithSkill: cell.controlMean - cell.withSkill,
      controlRuns: cell.control.rows.length,
    })),
  );
  if (rows.length === 0) return undefined;
  return { title: 'Control cells with both arms', columns: Object.keys(rows[0]!), rows };
}

/** Supplementary: all skills against the targeted one, by task, difference ascending. */
export function allSkillsProbe(stratum: Stratum): Table | undefined {
  const cells = controlCellsOf(stratum, 'with-skill-all');
  if (cells.length === 0) return undefined;
  const rows = [...groupBy(cells, (cell) => cell.task)]
    .map(([task, members]) => {
      const of = (pick: (cell: ControlCell) => number): number => mean(members.map(pick));
      return {
        task,
        noSkill: of((cell) => cell.noSkill),
        targeted: of((cell) => cell.withSkill),
        allSkills: of((cell) => cell.controlMean),
        allMinusTargeted: of((cell) => cell.controlMean - cell.withSkill),
      };
    })
    .sort((a, b) => a.allMinusTargeted - b.allMinusTargeted || byCodePoint(a.task, b.task));
  return { title: 'All skills instead of the targeted one', columns: Object.keys(rows[0]!), rows };
}

/** Supplementary: native deltas by task with both arm means, descending. */
export function deltasWithArms(stratum: Stratum): Table | undefined {
  const pairs = armPairs(stratum.rows);
  if (pairs.length === 0) return undefined;
  const arm = (pick: (pair: (typeof pairs)[number]) => number): ReadonlyMap<string, number> =>
    new Map(taskValues(pairs, pick).map(({ task, value }) => [task, value]));
  const [noSkill, withSkill] = [arm((pair) => pair.baseline), arm((pair) => pair.treatment)];
  return {
    title: `Effect of skills by task: ${stratum.models.map(modelLabel).join(', ')}`,
    columns: ['task', 'noSkill', 'withSkill', 'delta'],
    rows: rankedDeltas(stratum, 'descending').map(({ task, value }) => ({
      task,
      noSkill: noSkill.get(task)!,
      withSkill: withSkill.get(task)!,
      delta: value,
    })),
  };
}
