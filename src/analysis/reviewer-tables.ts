import {
  bcaInterval,
  endsOf,
  familyClusterInterval,
  hierarchicalInterval,
  type Interval,
  percentileInterval,
  seeds,
  studentInterval,
  studentisedInterval,
} from './bootstrap.js';
import { armPairs, cellMean, cellsOf, taskValues } from './cells.js';
import { studentCdf, studentQuantile } from './distributions.js';
import { type AnalysisContext, familiesOf, taskTrialsOf } from './estimates.js';
import { fitRandomIntercept, type MixedData } from './mixed-effects.js';
import { distinct, groupBy, mean, present, standardDeviation } from './moments.js';
import { benjaminiHochberg, holm } from './multiplicity.js';
import {
  detectableEffectSize,
  plannedDeviation,
  tasksNeeded,
  testPower,
  varianceComponents,
} from './power.js';
import { modelLabel } from './published-release.js';
import { rankStability } from './rank-stability.js';
import { intraclassCorrelation, passAtK, passHatK } from './reliability.js';
import { isExactPass, isStrictPass, judgedRows, type RunRow } from './run-row.js';
import { signFlipTest, stratifiedPermutationTest } from './sign-flip.js';
import type { Stratum } from './strata.js';
import type { PrintColumn, Table, TableRow } from './tables.js';

/** The headline under every interval and the sign-flip test. */
export function headlineIntervals(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const pairs = armPairs(stratum.rows);
  const values = taskValues(pairs);
  if (values.length === 0) return undefined;
  const deltas = values.map(({ value }) => value);
  const families = familiesOf(values, context.tasks);
  const { drawing } = context;
  const hierarchical = hierarchicalInterval(taskTrialsOf(pairs, context.tasks), drawing, seeds.task);
  const test = signFlipTest(deltas, { rng: drawing.kind });
  const row = (method: string, units: number, interval: Interval | undefined): TableRow => ({
    method,
    units,
    delta: mean(deltas),
    ...endsOf(interval),
  });
  return {
    title: 'The headline under different 95 % intervals',
    columns: ['method', 'units', 'delta', 'low', 'high'],
    rows: [
      row('Percentile bootstrap over tasks', deltas.length, percentileInterval(deltas, drawing, seeds.task)),
      row('BCa bootstrap over tasks', deltas.length, bcaInterval(deltas, drawing, seeds.task)),
      row(
        'Studentised bootstrap over tasks',
        deltas.length,
        studentisedInterval(deltas, drawing, seeds.task),
      ),
      row('Student t over tasks', deltas.length, studentInterval(deltas)),
      row(
        'Bootstrap over families',
        families.length,
        familyClusterInterval(families, drawing, seeds.followUp),
      ),
      row(
        'Hierarchical bootstrap: families, tasks, trials',
        hierarchical?.effectiveTasks ?? deltas.length,
        hierarchical,
      ),
    ],
    notes: [
      `Paired sign-flip test of no effect, two-sided: p = ${formatP(test.p)}${test.isExact ? ' (exact)' : ` (${(200_000).toLocaleString('en-US')} draws)`}.`,
      'Units of the hierarchical bootstrap: how many independent tasks without trial noise would vary as much.',
    ],
    print: [
      { header: 'Method', from: ['method'] },
      { header: 'Units', from: ['units'], as: 'fixed', digits: 1 },
      { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
    ],
  };
}

function formatP(p: number): string {
  return p < 0.0001 ? p.toExponential(1) : p.toFixed(4);
}

/** Each task's delta with an exact permutation test over its trials, adjusted for the number of tasks. */
export function taskSignificance(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const pairs = armPairs(stratum.rows);
  const values = new Map(taskValues(pairs).map(({ task, value }) => [task, value]));
  const tasks = taskTrialsOf(pairs, context.tasks);
  if (tasks.length === 0) return undefined;
  const tests = tasks.map((task) =>
    stratifiedPermutationTest(task.models, { rng: context.drawing.kind, seed: seeds.task }),
  );
  const pValues = tests.map((test) => test.p);
  const [byHolm, byHochberg] = [holm(pValues), benjaminiHochberg(pValues)];
  const verdict = (delta: number, p: number): string =>
    p > 0.05 || Number.isNaN(p) ? 'unchanged' : delta > 0 ? 'improved' : 'worse';
  const rows = tasks.map((task, index) => {
    const delta = values.get(task.task)!;
    return {
      task: task.task,
      delta,
      p: pValues[index]!,
      holm: byHolm[index]!,
      benjaminiHochberg: byHochberg[index]!,
      verdict: verdict(delta, byHochberg[index]!),
    };
  });
  const count = (name: string): number => rows.filter((row) => row.verdict === name).length;
  return {
    title: 'Effect of skills by task, adjusted for the number of tasks',
    columns: ['task', 'delta', 'p', 'holm', 'benjaminiHochberg', 'verdict'],
    rows: rows.sort((a, b) => b.delta - a.delta),
    notes: [
      `At a false discovery rate of 5 %: ${count('improved')} improved, ${count('unchanged')} unchanged, ${count('worse')} worse.`,
    ],
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Delta', from: ['delta'], as: 'fixed' },
      { header: 'p', from: ['p'], as: 'fixed', digits: 4 },
      { header: 'Holm', from: ['holm'], as: 'fixed', digits: 4 },
      { header: 'Benjamini-Hochberg', from: ['benjaminiHochberg'], as: 'fixed', digits: 4 },
      { header: 'Verdict', from: ['verdict'] },
    ],
  };
}

/** Deltas with tasks random and models fixed (effect-coded, so the first coefficient is the mean over models). */
export function mixedEffects(stratum: Stratum): Table | undefined {
  const pairs = armPairs(stratum.rows);
  const models = distinct(pairs.map((pair) => pair.model));
  const tasks = distinct(pairs.map((pair) => pair.task)).length;
  if (models.length < 2) return undefined;
  const effectCode = (model: string): readonly number[] =>
    models.slice(0, -1).map((other) => (model === models.at(-1) ? -1 : model === other ? 1 : 0));
  const data: MixedData = {
    y: pairs.map((pair) => pair.delta),
    x: pairs.map((pair) => [1, ...effectCode(pair.model)]),
    group: pairs.map((pair) => pair.task),
  };
  const fit = fitRandomIntercept(data);
  if (fit === undefined) return undefined;
  const withinDegrees = pairs.length - tasks - (models.length - 1);
  const row = (term: string, weights: readonly number[], degrees: number): TableRow => {
    const estimate = weights.reduce((sum, weight, a) => sum + weight * fit.coefficients[a]!, 0);
    const spread = Math.sqrt(
      weights.reduce(
        (sum, left, a) =>
          sum + weights.reduce((inner, right, b) => inner + left * right * fit.covariance[a]![b]!, 0),
        0,
      ),
    );
    const half = studentQuantile(0.975, degrees) * spread;
    return {
      term,
      estimate,
      standardError: spread,
      degrees,
      low: estimate - half,
      high: estimate + half,
      p: 2 * studentCdf(-Math.abs(estimate / spread), degrees),
    };
  };
  const deviation = (term: string, value: number): TableRow => ({
    term,
    estimate: value,
    standardError: null,
    degrees: null,
    low: null,
    high: null,
    p: null,
  });
  return {
    title: 'Mixed-effects view of the skill deltas: task random, model fixed (REML)',
    columns: ['term', 'estimate', 'standardError', 'degrees', 'low', 'high', 'p'],
    rows: [
      row('Mean effect of skills', [1, ...models.slice(1).map(() => 0)], tasks - 1),
      ...models.map((model) => row(`${modelLabel(model)} - mean`, [0, ...effectCode(model)], withinDegrees)),
      deviation('SD between tasks', fit.groupDeviation),
      deviation('SD within tasks (models, trials)', fit.residualDeviation),
    ],
    print: [
      { header: 'Term', from: ['term'] },
      { header: 'Estimate', from: ['estimate', 'low', 'high'], as: 'estimate' },
      { header: 'SE', from: ['standardError'], as: 'fixed' },
      { header: 'df', from: ['degrees'] },
      { header: 'p', from: ['p'], as: 'fixed', digits: 4 },
    ],
  };
}

/** What counts as a pass, besides the reward itself. */
const passes: readonly (readonly [string, (row: RunRow) => boolean])[] = [
  ['strict', isStrictPass],
  ['exact', isExactPass],
  ['reward90', (row) => (row.reward ?? 0) >= 0.9],
];

/** How far one trial tells what another will give: ICC, spread within cells, pass@k and pass^k. */
export function trialReliability(stratum: Stratum): Table | undefined {
  const cells = cellsOf(judgedRows(stratum.rows)).filter((cell) => cell.rows.length > 1);
  if (cells.length === 0) return undefined;
  const groups = groupBy(cells, (cell) => [cell.condition, cell.schema, cell.model].join('\u0000'));
  const rows = [...groups.values()].map((members): TableRow => {
    const rewards = members.map((cell) => present(cell.rows.map((row) => row.reward)));
    const icc = intraclassCorrelation(rewards);
    const { condition, schema, model } = members[0]!;
    const k = Math.min(...members.map((cell) => cell.rows.length));
    const over = (passed: (row: RunRow) => boolean, chance: typeof passAtK, draws: number): number =>
      mean(members.map((cell) => chance(cell.rows.length, cell.rows.filter(passed).length, draws)));
    return {
      arm: `${condition}${schema === 'native' ? '' : `/${schema}`} / ${modelLabel(model)}`,
      cells: members.length,
      trials: k,
      sdWithin: Math.sqrt(mean(rewards.map((values) => standardDeviation(values) ** 2))),
      icc: icc?.single ?? null,
      ...endsOf(icc),
      iccMean: icc?.average ?? null,
      ...Object.fromEntries(
        passes.flatMap(([name, passed]) => [
          [`${name}PassAt1`, over(passed, passAtK, 1)],
          [`${name}PassAtK`, over(passed, passAtK, k)],
          [`${name}PassHatK`, over(passed, passHatK, k)],
        ]),
      ),
    };
  });
  const passColumns = passes.flatMap(([name]) =>
    ['PassAt1', 'PassAtK', 'PassHatK'].map((suffix) => `${name}${suffix}`),
  );
  const passPrint = passes.flatMap(([name]): readonly PrintColumn[] => {
    const label = name === 'reward90' ? 'reward ≥ 0.9' : name;
    return [
      { header: `${label} pass@1`, from: [`${name}PassAt1`], as: 'fixed' },
      { header: `${label} pass@k`, from: [`${name}PassAtK`], as: 'fixed' },
      { header: `${label} pass^k`, from: [`${name}PassHatK`], as: 'fixed' },
    ];
  });
  return {
    title: 'Reliability of trials',
    columns: ['arm', 'cells', 'trials', 'sdWithin', 'icc', 'low', 'high', 'iccMean', ...passColumns],
    rows,
    notes: ['k is the number of trials of a cell. ICC: one-way random effects, trials within tasks.'],
    print: [
      { header: 'Arm', from: ['arm'] },
      { header: 'Cells', from: ['cells'] },
      { header: 'k', from: ['trials'] },
      { header: 'SD within cells', from: ['sdWithin'], as: 'fixed' },
      { header: 'ICC of one trial', from: ['icc', 'low', 'high'], as: 'estimate' },
      { header: 'ICC of the mean', from: ['iccMean'], as: 'fixed' },
      ...passPrint,
    ],
  };
}

/** What a planned campaign could find, from the spread between tasks and trials of this one. */
export function powerTable(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const components = varianceComponents(taskTrialsOf(armPairs(stratum.rows), context.tasks));
  if (components === undefined) return undefined;
  const plans = [...new Set([components.tasks, 8, 15, 28, 50])].sort((a, b) => a - b);
  const sizes = new Map(
    plans.map((tasks) => [tasks, [0.8, 0.9].map((power) => detectableEffectSize(tasks, power))] as const),
  );
  const rows = [1, 3, 5, 10].flatMap((trials) => {
    const deviation = plannedDeviation(components, trials);
    const needed = tasksNeeded(components.delta, deviation);
    return plans.map((tasks) => ({
      plan: `${tasks} tasks x ${trials} trials`,
      tasks,
      trials,
      deviation,
      detectable80: deviation * sizes.get(tasks)![0]!,
      detectable90: deviation * sizes.get(tasks)![1]!,
      power: testPower(components.delta, deviation, tasks),
      tasksNeeded: needed ?? null,
    }));
  });
  return {
    title: 'Minimal detectable effect and power of planned campaigns',
    columns: ['plan', 'tasks', 'trials', 'deviation', 'detectable80', 'detectable90', 'power', 'tasksNeeded'],
    rows,
    notes: [
      `Two-sided t test over tasks at 5 %. SD of true deltas between tasks ${Math.sqrt(components.task).toFixed(3)}, SD that one trial per arm and model adds ${Math.sqrt(components.trial).toFixed(3)}; power and tasks needed (80 %) are for the observed delta ${components.delta.toFixed(3)}.`,
    ],
    print: [
      { header: 'Plan', from: ['plan'] },
      { header: 'SD of a task delta', from: ['deviation'], as: 'fixed' },
      { header: 'Detectable, 80 %', from: ['detectable80'], as: 'fixed' },
      { header: 'Detectable, 90 %', from: ['detectable90'], as: 'fixed' },
      { header: 'Power for the observed delta', from: ['power'], as: 'fixed' },
      { header: 'Tasks needed', from: ['tasksNeeded'] },
    ],
  };
}

/** Agents ranked by native reward on the tasks that all of them have, and how far the ranking depends on the tasks. */
export function rankTable(
  strata: readonly Stratum[],
  condition: string,
  context: AnalysisContext,
): Table | undefined {
  const agents = strata.flatMap((stratum) =>
    stratum.models.flatMap((model) => {
      const cells = cellsOf(
        stratum.rows.filter(
          (row) => row.model === model && row.condition === condition && row.schema === 'native',
        ),
      );
      const values = new Map(
        cells
          .map((cell) => [cell.task, cellMean(cell, 'reward')] as const)
          .filter(([, value]) => !Number.isNaN(value)),
      );
      return values.size === 0 ? [] : [{ name: `${modelLabel(model)} (${stratum.label})`, values }];
    }),
  );
  const common = distinct(agents.flatMap((agent) => [...agent.values.keys()])).filter((task) =>
    agents.every((agent) => agent.values.has(task)),
  );
  const stability = rankStability(
    agents.map(({ name, values }) => ({ name, values: common.map((task) => values.get(task)!) })),
    context.drawing,
    seeds.task,
  );
  if (stability === undefined) return undefined;
  return {
    title: `Ranking of agents, ${condition}, under resampling of tasks`,
    columns: ['agent', 'tasks', 'reward', 'rank', 'low', 'high', 'best', 'kept'],
    rows: stability.agents.map((agent) => ({
      agent: agent.name,
      tasks: common.length,
      reward: agent.mean,
      rank: agent.rank,
      low: agent.low,
      high: agent.high,
      best: agent.best,
      kept: agent.kept,
    })),
    notes: [
      `${common.length} tasks that every agent has; mean Kendall tau with the observed ranking ${stability.kendall.toFixed(3)}.`,
    ],
    print: [
      { header: 'Agent', from: ['agent'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'Reward', from: ['reward'], as: 'fixed' },
      { header: 'Rank', from: ['rank', 'low', 'high'], as: 'estimate', digits: 1 },
      { header: 'Best in', from: ['best'], as: 'fixed' },
      { header: 'Keeps its rank in', from: ['kept'], as: 'fixed' },
    ],
  };
}
