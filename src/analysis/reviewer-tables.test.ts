import { describe, expect, it } from 'vitest';
import { testPower } from './power.js';
import { resampler } from './random-stream.js';
import {
  headlineIntervals,
  mixedEffects,
  powerTable,
  rankTable,
  taskSignificance,
  trialReliability,
} from './reviewer-tables.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import type { Table } from './tables.js';
import { taskIndexOf } from './task-facts.js';

const names = ['t1', 't2', 't3', 't4'];
const context = { tasks: taskIndexOf(factsFor(names)), drawing: resampler({ resamples: 400 }) };
const cells = {
  t1: [
    [0.1, 0.2],
    [0.5, 0.6],
  ],
  t2: [
    [0.3, 0.3],
    [0.4, 0.6],
  ],
  t3: [
    [0.5, 0.4],
    [0.5, 0.4],
  ],
  t4: [
    [0.2, 0.1],
    [0.9, 0.8],
  ],
} as const;
/** By how much more the second model gains: 0.1 on average. */
const gains: Readonly<Record<string, number>> = { t1: 0.12, t2: 0.08, t3: 0.12, t4: 0.08 };
const rows = [
  ...armsOf(cells, { model: 'm1' }),
  ...armsOf(cells, { model: 'm2' }).map((row) => ({
    ...row,
    reward: row.condition === 'with-skill' ? row.reward! + gains[row.task]! : row.reward,
  })),
];
const [stratum] = strataOf(rows);
const labels = (table: Table | undefined): readonly unknown[] =>
  table!.rows.map((row) => row[table!.columns[0]!]);

describe('tables for a careful reviewer', () => {
  it('shows the headline under six intervals around one estimate', () => {
    const table = headlineIntervals(stratum!, context)!;
    expect(table.rows).toHaveLength(6);
    // Task deltas of m1 are 0.4, 0.2, 0, 0.7; m2 adds 0.1 on average: mean 0.325 + 0.05.
    for (const row of table.rows) {
      expect(row.delta).toBeCloseTo(0.375, 12);
      expect(Number(row.low)).toBeLessThan(0.375);
      expect(Number(row.high)).toBeGreaterThan(0.375);
    }
    // All four values are positive: only the observed signs and their mirror image reach the mean.
    expect(table.notes![0]).toContain('p = 0.1250 (exact)');
  });

  it('adjusts task tests for their number', () => {
    const table = taskSignificance(stratum!, context)!;
    for (const row of table.rows) {
      expect(Number(row.holm)).toBeGreaterThanOrEqual(Number(row.benjaminiHochberg));
      expect(Number(row.benjaminiHochberg)).toBeGreaterThanOrEqual(Number(row.p));
    }
    expect(labels(table)).toEqual(['t4', 't1', 't2', 't3']);
  });

  it('finds the model difference that was put in, and the spread between and within tasks', () => {
    const table = mixedEffects(stratum!)!;
    const estimate = (label: string): number =>
      Number(table.rows.find((row) => row.term === label)!.estimate);
    expect(estimate('Mean effect of skills')).toBeCloseTo(0.375, 6);
    expect(estimate('m1 - mean')).toBeCloseTo(-0.05, 6);
    expect(estimate('m2 - mean')).toBeCloseTo(0.05, 6);
    // Task means 0.46, 0.24, 0.06, 0.74; residuals +-0.01. Mean squares 2 x 0.2579 / 3 between tasks and 8 x 0.0001 / 3
    // within; balanced REML is the analysis of variance: (0.171933 - 0.000267) / 2 and 0.000267.
    expect(estimate('SD between tasks')).toBeCloseTo(0.29297, 4);
    expect(estimate('SD within tasks (models, trials)')).toBeCloseTo(0.01633, 5);
    expect(mixedEffects(strataOf(armsOf(cells))[0]!)).toBeUndefined();
  });

  it('reports reliability by arm and power by plan', () => {
    expect(labels(trialReliability(stratum!))).toEqual([
      'no-skill / m1',
      'with-skill / m1',
      'no-skill / m2',
      'with-skill / m2',
    ]);
    const power = powerTable(stratum!, context)!;
    const of = (plan: string) => power.rows.find((row) => row.plan === plan)!;
    expect(Number(of('8 tasks x 1 trials').detectable80)).toBeGreaterThan(
      Number(of('28 tasks x 1 trials').detectable80),
    );
    expect(Number(of('8 tasks x 1 trials').detectable80)).toBeGreaterThan(
      Number(of('8 tasks x 10 trials').detectable80),
    );
  });

  it('ranks models on the tasks they share', () => {
    const table = rankTable([stratum!], 'with-skill', context)!;
    expect(labels(table)).toEqual(['m2 (campaign)', 'm1 (campaign)']);
    expect(table.rows[0]).toMatchObject({ tasks: 4, rank: 1, best: 1 });
  });
});

const stratumOf = (of: readonly RunRow[]): Stratum => strataOf(of)[0]!;
const close = (value: number, digits = 6) => expect.closeTo(value, digits);
/** Two-sided p of Student's t with three degrees of freedom, in closed form. */
const twoSidedP3 = (t: number): number => {
  const x = Math.abs(t) / Math.sqrt(3);
  return 1 - (2 / Math.PI) * (x / (1 + x ** 2) + Math.atan(x));
};

describe('the same tables to the cell', () => {
  // Deltas 0.5 and -0.25 without trial noise: two tasks resampled span both.
  const two = stratumOf(armsOf({ t1: [[0], [0.5]], t2: [[0.5], [0.25]] }));
  const empty = stratumOf([rowWith({ reward: 1 })]);

  it('headline intervals', () => {
    const families = { ...context, tasks: taskIndexOf(factsFor(['t1', 't2'], () => ({ family: 'twins' }))) };
    // t(0.975, 1) = 12.706205, standard error half of the distance 0.75.
    const half = 12.706205 * 0.375;
    expect(contentOf(headlineIntervals(two, families))).toEqual({
      title: 'The headline under different 95 % intervals',
      columns: ['method', 'units', 'delta', 'low', 'high'],
      rows: [
        ['Percentile bootstrap over tasks', 2, 0.125, -0.25, 0.5],
        ['BCa bootstrap over tasks', 2, 0.125, -0.25, 0.5],
        ['Studentised bootstrap over tasks', 2, 0.125, null, null],
        ['Student t over tasks', 2, 0.125, close(0.125 - half, 5), close(0.125 + half, 5)],
        // One family: it is drawn every time.
        ['Bootstrap over families', 1, 0.125, 0.125, 0.125],
        ['Hierarchical bootstrap: families, tasks, trials', expect.any(Number), 0.125, -0.25, 0.5],
      ],
      printed: [
        ['Method', 'Units', 'Delta'],
        ['Percentile bootstrap over tasks', '2.0', '0.125 [-0.250, 0.500]'],
        ['BCa bootstrap over tasks', '2.0', '0.125 [-0.250, 0.500]'],
        ['Studentised bootstrap over tasks', '2.0', '0.125'],
        ['Student t over tasks', '2.0', '0.125 [-4.640, 4.890]'],
        ['Bootstrap over families', '1.0', '0.125 [0.125, 0.125]'],
        ['Hierarchical bootstrap: families, tasks, trials', expect.any(String), '0.125 [-0.250, 0.500]'],
      ],
      notes: [
        // Sums of 0.5 and 0.25 with any signs: all are 0.25 or more from 0.
        'Paired sign-flip test of no effect, two-sided: p = 1.0000 (exact).',
        'Units of the hierarchical bootstrap: how many independent tasks without trial noise would vary as much.',
      ],
    });
    expect(headlineIntervals(empty, context)).toBeUndefined();
  });

  const alike = (count: number) =>
    stratumOf(
      armsOf(
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, [[0], [1]]] as const)),
      ),
    );

  it('a small p is printed with its power of ten', () => {
    // All signs alike: 2 of 2^14 and of 2^15 patterns.
    expect(headlineIntervals(alike(14), context)!.notes![0]).toMatch(/: p = 0\.0001 \(exact\)\.$/);
    expect(headlineIntervals(alike(15), context)!.notes![0]).toMatch(/: p = 6\.1e-5 \(exact\)\.$/);
  });

  it('a sampled p is printed with its draws', () => {
    expect(headlineIntervals(alike(17), context)!.notes![0]).toMatch(/: p = \d\.\de-5 \(200,000 draws\)\.$/);
  });

  it('task tests with their verdicts', () => {
    const five = (value: number) => new Array<number>(5).fill(value);
    const tested = stratumOf(
      armsOf({
        t1: [five(0.5), five(1)],
        t2: [[0.5], [0.5]],
        t3: [five(0.5), five(0.25)],
        t4: [[0.5], [0.25]],
      }),
    );
    // Of the 252 ways to choose 5 of 10, two are as far apart. Holm: x 4, x 3 but not less; Benjamini-Hochberg: x 4/2.
    const p = 2 / 252;
    expect(contentOf(taskSignificance(tested, context))).toEqual({
      title: 'Effect of skills by task, adjusted for the number of tasks',
      columns: ['task', 'delta', 'p', 'holm', 'benjaminiHochberg', 'verdict'],
      rows: [
        ['t1', 0.5, close(p), close(4 * p), close(2 * p), 'improved'],
        ['t2', 0, 1, 1, 1, 'unchanged'],
        ['t3', -0.25, close(p), close(4 * p), close(2 * p), 'worse'],
        ['t4', -0.25, 1, 1, 1, 'unchanged'],
      ],
      printed: [
        ['Task', 'Delta', 'p', 'Holm', 'Benjamini-Hochberg', 'Verdict'],
        ['t1', '0.500', '0.0079', '0.0317', '0.0159', 'improved'],
        ['t2', '0.000', '1.0000', '1.0000', '1.0000', 'unchanged'],
        ['t3', '-0.250', '0.0079', '0.0317', '0.0159', 'worse'],
        ['t4', '-0.250', '1.0000', '1.0000', '1.0000', 'unchanged'],
      ],
      notes: ['At a false discovery rate of 5 %: 1 improved, 2 unchanged, 1 worse.'],
    });
    expect(taskSignificance(empty, context)).toBeUndefined();
  });

  it('mixed effects', () => {
    // Balanced: the mean varies with the mean square between tasks over 8 values, a model's deviation with that within.
    const t = 3.182446;
    const [between, within] = [(2 * 0.2579) / 3 / 8, (8 * 0.0001) / 3 / 8].map(Math.sqrt) as [number, number];
    const term = (label: string, estimate: number, se: number) => [
      label,
      close(estimate),
      close(se),
      3,
      close(estimate - t * se, 5),
      close(estimate + t * se, 5),
      close(twoSidedP3(estimate / se)),
    ];
    const deviation = (label: string, value: number) => [
      label,
      close(value, 4),
      null,
      null,
      null,
      null,
      null,
    ];
    const content = contentOf(mixedEffects(stratum!))!;
    expect(content).toMatchObject({
      title: 'Mixed-effects view of the skill deltas: task random, model fixed (REML)',
      columns: ['term', 'estimate', 'standardError', 'degrees', 'low', 'high', 'p'],
      rows: [
        term('Mean effect of skills', 0.375, between),
        term('m1 - mean', -0.05, within),
        term('m2 - mean', 0.05, within),
        deviation('SD between tasks', 0.29297),
        deviation('SD within tasks (models, trials)', 0.01633),
      ],
    });
    expect(content.printed).toEqual([
      ['Term', 'Estimate', 'SE', 'df', 'p'],
      ['Mean effect of skills', '0.375 [-0.092, 0.842]', '0.147', '3', '0.0834'],
      ['m1 - mean', '-0.050 [-0.068, -0.032]', '0.006', '3', twoSidedP3(0.05 / within).toFixed(4)],
      ['m2 - mean', '0.050 [0.032, 0.068]', '0.006', '3', twoSidedP3(0.05 / within).toFixed(4)],
      ['SD between tasks', '0.293', 'NA', 'NA', 'NA'],
      ['SD within tasks (models, trials)', '0.016', 'NA', 'NA', 'NA'],
    ]);
  });

  it('mixed effects of three models, whose deviations add up to nothing', () => {
    const gainOf: Readonly<Record<string, number>> = { m1: -0.1, m2: 0.02, m3: 0.08 };
    const three = Object.entries(gainOf).flatMap(([model, gain]) =>
      armsOf(
        { t1: [[0], [0.3 + gain]], t2: [[0], [0.5 + gain]], t3: [[0.1], [0.3 + gain + 0.01]] },
        { model },
      ),
    );
    const table = mixedEffects(
      stratumOf(three.map((row, index) => ({ ...row, reward: row.reward! + (index % 5) / 1000 }))),
    )!;
    expect(table.rows).toHaveLength(6);
    const estimates = table.rows.slice(1, 4).map((row) => Number(row.estimate));
    expect(estimates[0]! + estimates[1]! + estimates[2]!).toBeCloseTo(0, 10);
    for (const [index, gain] of Object.values(gainOf).entries())
      expect(estimates[index]).toBeCloseTo(gain, 2);
    // 9 cells, 3 tasks, 2 free deviations.
    expect(table.rows.slice(0, 4).map((row) => row.degrees)).toEqual([2, 4, 4, 4]);
  });

  it('reliability: spread, ICC and passes of each kind', () => {
    const passing = { failedChecks: 0, matchRates: { a: 1 } };
    const near = { failedChecks: 0, matchRates: { a: 0.99 } };
    const trials = [
      rowWith({ task: 't1', reward: 0 }),
      rowWith({ task: 't1', trial: 2, reward: 0.5, ...near }),
      rowWith({ task: 't2', reward: 1, ...passing }),
      rowWith({ task: 't2', trial: 2, reward: 1, ...near }),
      // One judged trial tells nothing.
      rowWith({ task: 't3', reward: 1 }),
      rowWith({ task: 't3', trial: 2, reward: null }),
      // A single cell has no ICC.
      rowWith({ task: 't1', schema: 'obfuscated', reward: 0.9 }),
      rowWith({ task: 't1', schema: 'obfuscated', trial: 2, reward: 0.9 }),
      rowWith({ task: 't1', schema: 'obfuscated', trial: 3, reward: 0.3 }),
    ];
    // Cells 0, 0.5 and 1, 1: mean squares 0.5625 between and 0.0625 within, F = 9: (9 - 1)/(9 + 1) and 1 - 1/9. F points
    // 38.5063 (1, 2) and 799.5 (2, 1). Passes of two: strict 1 and 2, exact 0 and 1, reward 0 and 2.
    const kinds = ['strict', 'exact', 'reward90'];
    const obfuscated = [0, 0, 0, 0, 0, 0, close(2 / 3), 1, 0];
    expect(contentOf(trialReliability(stratumOf(trials)))).toEqual({
      title: 'Reliability of trials',
      columns: [
        'arm',
        'cells',
        'trials',
        'sdWithin',
        'icc',
        'low',
        'high',
        'iccMean',
        ...kinds.flatMap((kind) => [`${kind}PassAt1`, `${kind}PassAtK`, `${kind}PassHatK`]),
      ],
      rows: [
        [
          'no-skill / model-a',
          2,
          2,
          close(0.25),
          close(0.8),
          close((9 / 38.5063 - 1) / (9 / 38.5063 + 1), 5),
          close((9 * 799.5 - 1) / (9 * 799.5 + 1), 5),
          close(8 / 9),
          ...[0.75, 1, 0.5, 0.25, 0.5, 0, 0.5, 0.5, 0.5],
        ],
        // 0.9, 0.9, 0.3: mean 0.7, squares 2 x 0.04 + 0.16 over 2.
        [
          'no-skill/obfuscated / model-a',
          1,
          3,
          close(Math.sqrt(0.12)),
          null,
          null,
          null,
          null,
          ...obfuscated,
        ],
      ],
      printed: [
        [
          'Arm',
          'Cells',
          'k',
          'SD within cells',
          'ICC of one trial',
          'ICC of the mean',
          ...['strict', 'exact', 'reward ≥ 0.9'].flatMap((kind) => [
            `${kind} pass@1`,
            `${kind} pass@k`,
            `${kind} pass^k`,
          ]),
        ],
        [
          'no-skill / model-a',
          '2',
          '2',
          '0.250',
          '0.800 [-0.621, 1.000]',
          '0.889',
          ...['0.750', '1.000', '0.500', '0.250', '0.500', '0.000', '0.500', '0.500', '0.500'],
        ],
        [
          'no-skill/obfuscated / model-a',
          '1',
          '3',
          '0.346',
          'NA',
          'NA',
          ...['0.000', '0.000', '0.000', '0.000', '0.000', '0.000', '0.667', '1.000', '0.000'],
        ],
      ],
      notes: ['k is the number of trials of a cell. ICC: one-way random effects, trials within tasks.'],
    });
    expect(trialReliability(empty)).toBeUndefined();
  });

  it('power of plans: detectable deltas have the power that they are named after', () => {
    // Two trials per arm. Deltas 0.375 and -0.25: variance 0.1953125, of which each arm's 0.03125 over two trials is 0.03125.
    const noisy = stratumOf(
      armsOf({
        t1: [
          [0.125, 0.375],
          [0.5, 0.75],
        ],
        t2: [
          [0.375, 0.625],
          [0.125, 0.375],
        ],
      }),
    );
    const [task, trial] = [0.1953125 - 0.03125, 0.0625];
    const content = contentOf(powerTable(noisy, context))!;
    expect(content.title).toBe('Minimal detectable effect and power of planned campaigns');
    expect(content.columns).toEqual([
      'plan',
      'tasks',
      'trials',
      'deviation',
      'detectable80',
      'detectable90',
      'power',
      'tasksNeeded',
    ]);
    expect(content.rows.map((row) => row[0])).toEqual(
      [1, 3, 5, 10].flatMap((trials) =>
        [2, 8, 15, 28, 50].map((tasks) => `${tasks} tasks x ${trials} trials`),
      ),
    );
    for (const [, , trials, deviation] of content.rows as number[][])
      expect(deviation).toBeCloseTo(Math.sqrt(task + trial / trials!), 12);
    // One plan and the next of a smaller deviation: the rest differs by these two alone.
    for (const [, tasks, , deviation, at80, at90, power] of [
      content.rows[1],
      content.rows[6],
    ] as number[][]) {
      expect(testPower(at80!, deviation!, tasks!)).toBeCloseTo(0.8, 5);
      expect(testPower(at90!, deviation!, tasks!)).toBeCloseTo(0.9, 5);
      expect(power).toBeCloseTo(testPower(0.0625, deviation!, tasks!), 12);
    }
    expect(content.printed![0]).toEqual([
      'Plan',
      'SD of a task delta',
      'Detectable, 80 %',
      'Detectable, 90 %',
      'Power for the observed delta',
      'Tasks needed',
    ]);
    const [, , , deviation, at80, at90, power, needed] = content.rows[1] as number[];
    expect(content.printed![2]).toEqual([
      '8 tasks x 1 trials',
      ...[deviation!, at80!, at90!, power!].map((value) => value.toFixed(3)),
      String(needed),
    ]);
    expect(content.notes).toEqual([
      'Two-sided t test over tasks at 5 %. SD of true deltas between tasks 0.405, SD that one trial per arm and model adds 0.250; power and tasks needed (80 %) are for the observed delta 0.062.'.replace(
        '0.062',
        (0.0625).toFixed(3),
      ),
    ]);
    const at = content.rows[0] as number[];
    expect(testPower(0.0625, at[3]!, at[7]!)).toBeGreaterThanOrEqual(0.8);
    expect(testPower(0.0625, at[3]!, at[7]! - 1)).toBeLessThan(0.8);
    expect(powerTable(stratumOf(armsOf({ t1: [[0], [1]] })), context)).toBeUndefined();
  });

  it('reliability: k is what every cell of the arm has, models and schemas apart', () => {
    const cell = (task: string, count: number, model = 'm') =>
      Array.from({ length: count }, (_, index) =>
        rowWith({ task, model, trial: index + 1, reward: index / 4 }),
      );
    const table = trialReliability(stratumOf([...cell('t1', 3), ...cell('t2', 2), ...cell('t1', 4, 'n')]))!;
    expect(table.rows.map((row) => [row.arm, row.cells, row.trials])).toEqual([
      ['no-skill / m', 2, 2],
      ['no-skill / n', 1, 4],
    ]);
  });

  it('mixed effects need two models, and models that do not differ by the same in every task', () => {
    const pair = (gain: number) =>
      armsOf({ t1: [[0], [0.25 + gain]], t2: [[0], [0.75 + gain]] }, { model: `m${gain}` });
    expect(mixedEffects(stratumOf([...pair(0), ...pair(0.125)]))).toBeUndefined();
    expect(mixedEffects(stratumOf(pair(0)))).toBeUndefined();
  });

  it('power: plans by their number of tasks, and none that finds a delta of 0', () => {
    const nine = Array.from({ length: 9 }, (_, index) => [`t${index}`, [[0.5], [index / 8]]] as const);
    const rows = powerTable(stratumOf(armsOf(Object.fromEntries(nine))), context)!.rows;
    expect(rows.slice(0, 5).map((row) => row.tasks)).toEqual([8, 9, 15, 28, 50]);
    expect(new Set(rows.map((row) => row.tasksNeeded))).toEqual(new Set([null]));
  });

  it('ranks on the tasks that every agent has been judged on', () => {
    const ranked = [
      ...armsOf({ t1: [[0.5], [0]], t2: [[0.75], [0]], t3: [[0], [0]] }, { model: 'm1' }),
      ...armsOf({ t1: [[0.25], [1]], t2: [[0.25], [1]] }, { model: 'm2' }),
      rowWith({ task: 't3', model: 'm2', reward: null }),
      rowWith({ task: 't1', model: 'm2', schema: 'obfuscated', reward: 1 }),
      // Never judged without skills: no agent of this ranking.
      rowWith({ task: 't1', model: 'm3', condition: 'with-skill', reward: 1 }),
    ];
    expect(contentOf(rankTable([stratumOf(ranked)], 'no-skill', context))).toEqual({
      title: 'Ranking of agents, no-skill, under resampling of tasks',
      columns: ['agent', 'tasks', 'reward', 'rank', 'low', 'high', 'best', 'kept'],
      rows: [
        ['m1 (campaign)', 2, 0.625, 1, 1, 1, 1, 1],
        ['m2 (campaign)', 2, 0.25, 2, 2, 2, 0, 1],
      ],
      printed: [
        ['Agent', 'Tasks', 'Reward', 'Rank', 'Best in', 'Keeps its rank in'],
        ['m1 (campaign)', '2', '0.625', '1.0 [1.0, 1.0]', '1.000', '1.000'],
        ['m2 (campaign)', '2', '0.250', '2.0 [2.0, 2.0]', '0.000', '1.000'],
      ],
      notes: ['2 tasks that every agent has; mean Kendall tau with the observed ranking 1.000.'],
    });
    expect(rankTable([stratumOf(ranked)], 'operational-spec', context)).toBeUndefined();
  });
});
