import { describe, expect, it } from 'vitest';
import {
  figureConfig,
  palette,
  rewardHeatmap,
  schemaUrl,
  shapes,
  skillDeltaForest,
  skillDeltaHeatmap,
} from './figures.js';
import { resampler } from './random-stream.js';
import { armMeans, rewardAgainst, schemaSlopes, scoreDistributions } from './reward-figures.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { type Stratum, strataOf } from './strata.js';
import { taskIndexOf } from './task-facts.js';

/* Figures are Vega-Lite specifications: their data by hand, and how the data are drawn, word by word. */

const stratumOf = (rows: readonly RunRow[]): Stratum => strataOf(rows)[0]!;
const context = {
  tasks: taskIndexOf(
    factsFor(['mimic-sofa-24h', 'mimic-gcs', 'eicu-gcs'], (name) => ({
      family: name.includes('sofa') ? 'sofa' : 'gcs',
    })),
  ),
  drawing: resampler({ resamples: 100 }),
};
const framed = { $schema: schemaUrl, config: figureConfig };
const empty = stratumOf([rowWith({ reward: null })]);

describe('the forest of skill deltas', () => {
  const rows = [
    ...armsOf({
      'own-task': [[0.25], [0.5]],
      'mimic-gcs': [
        [0.25, 0.75],
        [0.5, 1],
      ],
      'eicu-gcs': [
        [0, 0],
        [0.75, 0.75],
      ],
      'mimic-sofa-24h': [[0.5, 0.5], [0.25]],
    }),
    ...armsOf({ 'own-task': [[0], [0.5]] }, { campaign: 'other' }),
  ];

  it('has the tasks in clinical groups, with intervals from the trials of each arm', () => {
    // GCS of MIMIC: variances 0.125 and 0.125 of two trials each, so variance 0.125 with 2 degrees of freedom.
    const half = 4.302653 * Math.sqrt(0.125);
    const axis = { labelLimit: 500, grid: true };

    const sort = ['sofa-24h [severity]', 'eicu-gcs [neuro]', 'mimic-gcs [neuro]', 'own-task [other]'];
    const y = { field: 'label', type: 'nominal', sort, title: null, axis };
    const campaigns = ['campaign', 'other'];
    const series = { field: 'campaign', type: 'nominal', title: 'Campaign', sort: campaigns };
    const yOffset = { field: 'campaign', type: 'nominal', sort: campaigns };
    const color = { ...series, scale: { range: palette } };
    expect(skillDeltaForest(strataOf(rows), context)).toEqual({
      ...framed,
      title: 'Effect of skills by task (native schema)',
      width: 520,
      height: { step: 10 },
      data: {
        values: [
          {
            task: 'eicu-gcs',
            campaign: 'campaign',
            delta: 0.75,
            low: 0.75,
            high: 0.75,
            label: 'eicu-gcs [neuro]',
          },
          {
            task: 'mimic-gcs',
            campaign: 'campaign',
            delta: 0.25,
            low: expect.closeTo(0.25 - half, 5),
            high: expect.closeTo(0.25 + half, 5),
            label: 'mimic-gcs [neuro]',
          },
          // Too few trials: no interval.
          {
            task: 'mimic-sofa-24h',
            campaign: 'campaign',
            delta: -0.25,
            low: -0.25,
            high: -0.25,
            label: 'sofa-24h [severity]',
          },
          {
            task: 'own-task',
            campaign: 'campaign',
            delta: 0.25,
            low: 0.25,
            high: 0.25,
            label: 'own-task [other]',
          },
          { task: 'own-task', campaign: 'other', delta: 0.5, low: 0.5, high: 0.5, label: 'own-task [other]' },
        ],
      },
      layer: [
        {
          data: { values: [{ zero: 0 }] },
          mark: { type: 'rule', strokeDash: [4, 4], color: '#666666' },
          encoding: { x: { field: 'zero', type: 'quantitative' } },
        },
        {
          mark: { type: 'bar', height: 1, clip: true },
          encoding: { x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' }, y, yOffset, color },
        },
        {
          mark: { type: 'point', filled: true, size: 46 },
          encoding: {
            x: {
              field: 'delta',
              type: 'quantitative',
              title: 'Reward delta, with skill - no skill (95 % interval of trials)',
              scale: { domain: [-0.8, 0.8] },
            },
            y,
            yOffset,
            color,
            shape: { ...series, scale: { range: shapes } },
          },
        },
      ],
    });
  });

  it('adds the variances of all models, weighs them by their number, and keeps a fixed frame for small deltas', () => {
    const models = [
      ...armsOf(
        {
          t: [
            [0.25, 0.75],
            [0.5, 0.5],
          ],
        },
        { model: 'm1' },
      ),
      ...armsOf(
        {
          t: [
            [0.5, 0.5, 0.5],
            [0.5, 0.5],
          ],
        },
        { model: 'm2' },
      ),
    ];
    const forest = skillDeltaForest(strataOf(models), context) as unknown as {
      height: unknown;
      data: { values: { low: number; high: number }[] };
      layer: { encoding: { x: { scale?: unknown }; color?: { legend?: unknown } } }[];
    };
    // Variance 0.125/2 over two models, 2 + 3 degrees of freedom.
    const half = (2.570582 * Math.sqrt(0.0625)) / 2;
    expect(forest.data.values[0]!.high).toBeCloseTo(half, 5);
    expect(forest.data.values[0]!.low).toBeCloseTo(-half, 5);
    expect(forest.layer[2]!.encoding.x.scale).toEqual({ domain: [-0.6, 0.6] });
    // One campaign: no key, and rows of the usual height.
    expect(forest.layer[2]!.encoding.color!.legend).toBeNull();
    expect(forest.height).toEqual({ step: 20 });
    // One arm with two trials is not enough.
    const lopsided = skillDeltaForest(
      strataOf(armsOf({ t: [[0.5], [0.25, 0.75]] })),
      context,
    ) as typeof forest;
    expect(lopsided.data.values[0]).toMatchObject({ low: 0, high: 0 });
    const campaigns = ['a', 'b', 'c', 'd'].flatMap((campaign) => armsOf({ t: [[0], [1]] }, { campaign }));
    expect((skillDeltaForest(strataOf(campaigns), context) as typeof forest).height).toEqual({ step: 7 });
    expect(skillDeltaForest([empty], context)).toBeUndefined();
  });
});

/** The two layers of a heatmap. */
function heatmapLayers(
  column: string,
  value: string,
  title: string,
  rows: readonly string[],
  columns: readonly string[],
  scale: object,
  dark: string,
) {
  const y = { field: 'label', type: 'nominal', sort: rows, title: null, axis: { labelLimit: 500 } };
  const x = {
    field: column,
    type: 'nominal',
    sort: columns,
    title: null,
    axis: { orient: 'top', labelAngle: -30, labelLimit: 500 },
  };
  return [
    {
      mark: { type: 'rect', stroke: 'white' },
      encoding: { x, y, color: { field: value, type: 'quantitative', title, scale } },
    },
    {
      mark: { type: 'text', fontSize: 10 },
      encoding: {
        x,
        y,
        text: { field: 'text', type: 'nominal' },
        color: { condition: { test: dark, value: 'white' }, value: '#222222' },
      },
    },
  ];
}

describe('heatmaps', () => {
  it('of deltas by task and campaign, signed, with a dash where a campaign has no delta', () => {
    const rows = [
      ...armsOf({ 'own-task': [[0.25], [0.5]], 'mimic-sofa-24h': [[0.5], [0.25]] }),
      ...armsOf({ 'own-task': [[0.5], [0.5]] }, { campaign: 'other' }),
    ];
    const labels = ['sofa-24h [severity]', 'own-task [other]'];
    expect(skillDeltaHeatmap(strataOf(rows), context)).toEqual({
      ...framed,
      title: 'Effect of skills by task and campaign',
      width: { step: 72 },
      height: { step: 18 },
      data: {
        values: [
          { label: labels[0], campaign: 'campaign', delta: -0.25, text: '-0.25' },
          { label: labels[0], campaign: 'other', delta: null, text: '-' },
          { label: labels[1], campaign: 'campaign', delta: 0.25, text: '+0.25' },
          { label: labels[1], campaign: 'other', delta: 0, text: '+0.00' },
        ],
      },
      layer: heatmapLayers(
        'campaign',
        'delta',
        'Delta',
        labels,
        ['campaign', 'other'],
        { domain: [-0.55, 0.55], clamp: true, scheme: 'redblue' },
        "isValid(datum['delta']) && (abs(datum['delta']) >= 0.4)",
      ),
    });
    expect(skillDeltaHeatmap([empty], context)).toBeUndefined();
  });

  it('of mean rewards by task and arm', () => {
    const rows = [
      rowWith({ task: 'eicu-gcs', reward: 0.25 }),
      rowWith({ task: 'eicu-gcs', trial: 2, reward: 0.75 }),
      rowWith({ task: 'eicu-gcs', schema: 'obfuscated', condition: 'with-skill', reward: 1 }),
      rowWith({ task: 'own-task', condition: 'with-skill', reward: null }),
    ];
    const columns = ['no-skill · model-a', 'with-skill (obfuscated) · model-a', 'with-skill · model-a'];
    expect(rewardHeatmap(stratumOf(rows), context)).toEqual({
      ...framed,
      title: 'Mean reward by task and arm: campaign',
      width: { step: 72 },
      height: { step: 18 },
      data: {
        values: [
          { label: 'gcs [neuro]', column: columns[0], reward: 0.5, text: '0.50' },
          { label: 'gcs [neuro]', column: columns[1], reward: 1, text: '1.00' },
          { label: 'own-task [other]', column: columns[2], reward: null, text: '-' },
        ],
      },
      layer: heatmapLayers(
        'column',
        'reward',
        'Reward',
        ['gcs [neuro]', 'own-task [other]'],
        columns,
        { domain: [0, 1], scheme: 'viridis' },
        "isValid(datum['reward']) && (datum['reward'] < 0.55)",
      ),
    });
    expect(rewardHeatmap({ ...empty, rows: [] }, context)).toBeUndefined();
  });
});

describe('slopes across schemas', () => {
  it('has a line per task that all schemas of a condition have, and their mean', () => {
    const obfuscated = { schema: 'obfuscated' } as const;
    const rows = [
      rowWith({ task: 't1', reward: 0.5 }),
      rowWith({ task: 't1', reward: 0.25, ...obfuscated }),
      rowWith({ task: 't2', reward: 1 }),
      rowWith({ task: 't2', reward: 0.75, ...obfuscated }),
      // Only native, only transformed, of a model that has nothing else, and of a condition that is only native.
      rowWith({ task: 't3', reward: 0 }),
      rowWith({ task: 't4', reward: 0, ...obfuscated }),
      rowWith({ task: 't1', model: 'model-b', reward: 0 }),
      rowWith({ task: 't1', condition: 'with-skill', reward: 0 }),
    ];
    const x = {
      field: 'schema',
      type: 'nominal',
      sort: ['native', 'obfuscated', 'restructured'],
      title: null,
      axis: { labelAngle: 0 },
    };
    const y = { field: 'reward', type: 'quantitative', title: 'Mean reward', scale: { domain: [0, 1] } };
    const point = (schema: string, task: string, reward: number, kind: string) => ({
      condition: 'no-skill',
      schema,
      task,
      reward,
      kind,
    });
    expect(schemaSlopes(stratumOf(rows))).toEqual({
      ...framed,
      title: 'Reward across schemas: campaign',
      data: {
        values: [
          point('native', 't1', 0.5, 'task'),
          point('native', 't2', 1, 'task'),
          point('native', 'mean over tasks', 0.75, 'mean'),
          point('obfuscated', 't1', 0.25, 'task'),
          point('obfuscated', 't2', 0.75, 'task'),
          point('obfuscated', 'mean over tasks', 0.5, 'mean'),
        ],
      },
      facet: { column: { field: 'condition', type: 'nominal', title: null } },
      spec: {
        width: 260,
        height: 300,
        layer: [
          {
            transform: [{ filter: "datum.kind === 'task'" }],
            mark: { type: 'line', point: { size: 14 }, strokeWidth: 0.8, opacity: 0.45, color: '#0072B2' },
            encoding: { x, y, detail: { field: 'task', type: 'nominal' } },
          },
          {
            transform: [{ filter: "datum.kind === 'mean'" }],
            mark: { type: 'line', point: { size: 60 }, strokeWidth: 3, color: '#D55E00' },
            encoding: { x, y },
          },
        ],
      },
    });
  });

  it('is nothing without a judged run under another schema', () => {
    expect(schemaSlopes(stratumOf([rowWith({ reward: 1 })]))).toBeUndefined();
    expect(schemaSlopes(stratumOf([rowWith({ reward: null, schema: 'obfuscated' })]))).toBeUndefined();
  });
});

describe('reward against what it used', () => {
  const tokens = (input: number, output: number) => ({ input, cachedInput: 9000, cacheWrite: 9000, output });
  const rows = [
    rowWith({ reward: 0.25, tokens: tokens(100, 20), cost: 1, seconds: 30 }),
    rowWith({ reward: 0.75, trial: 2, tokens: tokens(300, 60), cost: null, seconds: 50 }),
    rowWith({ reward: null, trial: 3, tokens: tokens(9000, 9000), cost: 9, seconds: 9000 }),
    rowWith({ reward: 1, condition: 'with-skill', tokens: null, cost: 0, seconds: null }),
  ];
  const drawn = (measure: 'tokens' | 'cost' | 'seconds') => rewardAgainst(strataOf(rows), measure);

  it.each([
    // (120 + 360)/2: cached input is part of the input.
    ['tokens', 240, 'Input and output tokens of a run (mean of the cell)'],
    ['cost', 1, 'Cost of a run (mean of the cell)'],
    ['seconds', 40, 'Agent seconds of a run (mean of the cell)'],
  ] as const)('%s, over judged runs that say', (measure, used, title) => {
    expect(drawn(measure)).toEqual({
      ...framed,
      title: `Reward against ${measure}`,
      width: 520,
      height: 360,
      data: {
        // A cost of 0 has no place on a logarithmic axis.
        values: [{ task: 'task-a', condition: 'no-skill', series: 'model-a (campaign)', reward: 0.5, used }],
      },
      mark: { type: 'point', filled: true, size: 40, opacity: 0.75 },
      encoding: {
        x: { field: 'used', type: 'quantitative', title, scale: { type: 'log' } },
        y: { field: 'reward', type: 'quantitative', title: 'Mean reward', scale: { domain: [0, 1] } },
        color: { field: 'condition', type: 'nominal', title: 'Condition', scale: { range: palette } },
        shape: { field: 'series', type: 'nominal', title: 'Model', scale: { range: shapes } },
        tooltip: [
          { field: 'task' },
          { field: 'condition' },
          { field: 'series' },
          { field: 'reward' },
          { field: 'used' },
        ],
      },
    });
    expect(rewardAgainst([empty], measure)).toBeUndefined();
  });
});

describe('distributions and means', () => {
  it('counts the rewards of single native runs in twenty bins, the last with its upper end', () => {
    const rows = [
      rowWith({ reward: 1 }),
      rowWith({ reward: 0.96, trial: 2 }),
      rowWith({ reward: 0, trial: 3 }),
      rowWith({ reward: 0.05, trial: 4 }),
      rowWith({ reward: null, trial: 5 }),
      rowWith({ reward: 0.5, schema: 'obfuscated' }),
      rowWith({ reward: 0.5, condition: 'with-skill', model: 'model-b' }),
    ];
    const figure = scoreDistributions(strataOf(rows))!;
    const shares: Readonly<Record<string, Readonly<Record<number, number>>>> = {
      'no-skill model-a': { 0: 0.25, 1: 0.25, 19: 0.5 },
      'with-skill model-b': { 10: 1 },
    };
    expect(figure).toEqual({
      ...framed,
      title: 'Distribution of the reward of single runs (native schema)',
      data: {
        values: Object.entries(shares).flatMap(([arm, counted]) => {
          const [condition, model] = arm.split(' ');
          return Array.from({ length: 20 }, (_, bin) => ({
            from: bin / 20,
            to: (bin + 1) / 20,
            share: counted[bin] ?? 0,
            condition,
            series: `${model} (campaign)`,
          }));
        }),
      },
      facet: {
        row: { field: 'series', type: 'nominal', title: null, header: { labelAngle: 0, labelAlign: 'left' } },
        column: { field: 'condition', type: 'nominal', title: null },
      },
      spec: {
        width: 150,
        height: 60,
        mark: { type: 'bar', color: '#0072B2' },
        encoding: {
          x: {
            bin: 'binned',
            field: 'from',
            type: 'quantitative',
            title: 'Reward',
            scale: { domain: [0, 1] },
          },
          x2: { field: 'to' },
          y: { field: 'share', type: 'quantitative', title: 'Share of runs', axis: { format: '.0%' } },
        },
      },
    });
    expect(scoreDistributions([empty])).toBeUndefined();
  });

  it('task-balanced means with t intervals that stay within 0 and 1', () => {
    const rows = [
      // Trials first, then tasks: 0.5 and 0.25; 12.706205 x 0.125 reaches beyond 0 and 1.
      rowWith({ task: 't1', reward: 0.25 }),
      rowWith({ task: 't1', trial: 2, reward: 0.75 }),
      rowWith({ task: 't2', reward: 0.25 }),
      rowWith({ task: 't1', schema: 'obfuscated', reward: 0 }),
      rowWith({ task: 't9', condition: 'with-skill', reward: null }),
      rowWith({ task: 't1', condition: 'with-skill-all', model: 'model-b', reward: 0.75 }),
      ...[0.5, 0.5, 0.75, 0.25].map((reward, index) =>
        rowWith({ task: `t${index + 1}`, condition: 'operational-spec', reward }),
      ),
    ];
    const series = { field: 'series', type: 'nominal', title: null };
    const y = { field: 'condition', type: 'nominal', title: null, axis: { labelLimit: 500 } };
    // Variance 2 x 0.0625 / 3, four tasks: 3.182446 x sqrt(0.125/3/4).
    const half = 3.182446 * Math.sqrt(0.125 / 12);
    expect(armMeans(strataOf(rows))).toEqual({
      ...framed,
      title: 'Mean reward over tasks by condition and model (native schema)',
      width: 420,
      height: { step: 14 },
      data: {
        values: [
          { condition: 'no-skill', series: 'model-a (campaign)', reward: 0.375, low: 0, high: 1 },
          {
            condition: 'operational-spec',
            series: 'model-a (campaign)',
            reward: 0.5,
            low: expect.closeTo(0.5 - half, 5),
            high: expect.closeTo(0.5 + half, 5),
          },
          { condition: 'with-skill-all', series: 'model-b (campaign)', reward: 0.75, low: 0.75, high: 0.75 },
        ],
      },
      layer: [
        {
          mark: { type: 'bar' },
          encoding: {
            x: { field: 'reward', type: 'quantitative', title: 'Mean reward', scale: { domain: [0, 1] } },
            y,
            yOffset: series,
            color: { ...series, scale: { range: palette } },
          },
        },
        {
          mark: { type: 'rule', color: '#222222' },
          encoding: { x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' }, y, yOffset: series },
        },
      ],
    });
    expect(armMeans([empty])).toBeUndefined();
  });
});

describe('clinical groups', () => {
  it('are ordered as organs and scores, by the family of a task', () => {
    const families = ['charlson', 'ventilation', 'meld', 'sepsis3', 'sirs', 'kdigo', 'unknown', 'gcs'];
    const index = taskIndexOf(
      factsFor(
        families.map((name) => `mimic-${name}`),
        (name) => ({ family: name.slice(6) }),
      ),
    );
    const rows = families.map((name) => rowWith({ task: `mimic-${name}`, reward: 1 }));
    const heatmap = rewardHeatmap(stratumOf(rows), { ...context, tasks: index }) as unknown as {
      layer: { encoding: { y: { sort: readonly string[] } } }[];
    };
    expect(heatmap.layer[0]!.encoding.y.sort).toEqual([
      'kdigo [renal]',
      'sirs [severity]',
      'sepsis3 [infection]',
      'meld [liver]',
      'ventilation [respiratory/cv]',
      'gcs [neuro]',
      'charlson [comorbidity]',
      'unknown [other]',
    ]);
  });
});
