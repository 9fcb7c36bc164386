import { describe, expect, it } from 'vitest';
import {
  clusterSensitivity,
  deltasByTask,
  extremeDeltas,
  modelSkillEffect,
  modeSplit,
  nativeSkillEffect,
  secondaryByTask,
} from './effect-tables.js';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

/*
 * Rewards, eighths so that sums are exact:
 *
 *   task  model  no skill    with skill   delta
 *   t1    m1     0, 0.5      0.5, 1        0.5
 *   t1    m2     0.25        0.5           0.25
 *   t2    m1     0.5, 0.5    0.25, 0.25   -0.25
 *   t2    m2     0.75        0.75          0
 *
 * Task values 0.375 and -0.125. Two tasks resampled give both means of one task alone in a quarter of the draws each,
 * so every percentile interval runs from the smaller to the greater task value.
 */
const rewards: readonly RunRow[] = [
  ...armsOf(
    {
      t1: [
        [0, 0.5],
        [0.5, 1],
      ],
      t2: [
        [0.5, 0.5],
        [0.25, 0.25],
      ],
    },
    { model: 'm1' },
  ),
  ...armsOf({ t1: [[0.25], [0.5]], t2: [[0.75], [0.75]] }, { model: 'm2' }),
];
const rows = rewards.map((row) => {
  const isBaseline = row.condition === 'no-skill';
  return {
    ...row,
    keyF1: row.task === 't1' && isBaseline ? 0.5 : 1,
    orderedNmae: row.task === 't2' ? null : isBaseline ? 0.5 : 0.25,
    orderedColumns: row.task === 't2' ? 0 : row.model === 'm2' ? 2 : 5,
  };
});
const tasks = taskIndexOf(
  factsFor(['t1', 't2'], (name) => ({ mode: name === 't1' ? 'standard' : 'raw', database: 'eicu' })),
);
const context = { tasks, drawing: resampler({ resamples: 400 }) };
const [stratum] = strataOf(rows);
const [empty] = strataOf([rowWith({ reward: 1 })]);
const one = strataOf(rows.filter((row) => row.model === 'm2'))[0]!;
const effectColumns = ['noSkill', 'withSkill', 'delta', 'low', 'high', 'improvedTasks', 'tasks'];

describe('effect of skills, by hand', () => {
  it('table 3: models over runs, task-balanced means, key F1 and nMAE, of which less is better', () => {
    expect(contentOf(nativeSkillEffect(stratum!, context))).toEqual({
      title: 'Effect of skills with the native schema; 95 % percentile bootstrap over tasks',
      columns: ['measure', ...effectColumns],
      rows: [
        ['Reward / m1', 0.375, 0.5, 0.125, -0.25, 0.5, 1, 2],
        ['Reward / m2', 0.5, 0.625, 0.125, 0, 0.25, 1, 2],
        // No skill: (0.25 + 0.25)/2 and (0.5 + 0.75)/2; with: (0.75 + 0.5)/2 and (0.25 + 0.75)/2.
        ['Reward / task-balanced', 0.4375, 0.5625, 0.125, -0.125, 0.375, 1, 2],
        ['Key F1 / task-balanced', 0.75, 1, 0.25, 0, 0.5, 1, 2],
        ['Ordered nMAE / task-balanced', 0.5, 0.25, -0.25, -0.25, -0.25, 1, 1],
      ],
      printed: [
        ['Measure', 'No skill', 'With skill', 'Delta', 'Improved tasks'],
        ['Reward / m1', '0.375', '0.500', '0.125 [-0.250, 0.500]', '1/2'],
        ['Reward / m2', '0.500', '0.625', '0.125 [0.000, 0.250]', '1/2'],
        ['Reward / task-balanced', '0.438', '0.562', '0.125 [-0.125, 0.375]', '1/2'],
        ['Key F1 / task-balanced', '0.750', '1.000', '0.250 [0.000, 0.500]', '1/2'],
        ['Ordered nMAE / task-balanced', '0.500', '0.250', '-0.250 [-0.250, -0.250]', '1/1'],
      ],
    });
    expect(nativeSkillEffect(empty!, context)).toBeUndefined();
  });

  it('table 3 says how many runs are in no mean', () => {
    const lost = rowWith({
      task: 't1',
      condition: 'no-skill',
      model: 'm1',
      trial: 9,
      reward: null,
      keyF1: null,
    });
    const table = nativeSkillEffect(strataOf([...rows, lost])[0]!, context)!;
    expect(table.notes).toEqual(['1 unjudged runs are in no mean.']);
    expect(table.rows[0]).toMatchObject({ noSkill: 0.375 });
  });

  it('models of one campaign and their mean; one model alone is its own mean', () => {
    expect(contentOf(modelSkillEffect(stratum!, context, 'Models'))).toEqual({
      title: 'Models',
      columns: ['model', ...effectColumns],
      rows: [
        ['m1', 0.375, 0.5, 0.125, -0.25, 0.5, 1, 2],
        ['m2', 0.5, 0.625, 0.125, 0, 0.25, 1, 2],
        ['Task-balanced mean', 0.4375, 0.5625, 0.125, -0.125, 0.375, 1, 2],
      ],
      printed: [
        ['Model', 'No skill', 'With skill', 'Delta', 'Positive tasks'],
        ['m1', '0.375', '0.500', '0.125 [-0.250, 0.500]', '1/2'],
        ['m2', '0.500', '0.625', '0.125 [0.000, 0.250]', '1/2'],
        ['Task-balanced mean', '0.438', '0.562', '0.125 [-0.125, 0.375]', '1/2'],
      ],
    });
    expect(modelSkillEffect(one, context, 'Models')!.rows.map((row) => row.model)).toEqual(['m2']);
    expect(modelSkillEffect(empty!, context, 'Models')).toBeUndefined();
  });

  it('largest gains and declines, as many as asked for', () => {
    const printed = (lines: readonly (readonly string[])[]) => [['Task', 'Mean delta'], ...lines];
    expect(contentOf(extremeDeltas(stratum!, 'descending'))).toEqual({
      title: 'Largest gains from skills',
      columns: ['task', 'delta'],
      rows: [
        ['t1', 0.375],
        ['t2', -0.125],
      ],
      printed: printed([
        ['t1', '0.375'],
        ['t2', '-0.125'],
      ]),
    });
    expect(contentOf(extremeDeltas(stratum!, 'ascending', 1))).toEqual({
      title: 'Largest declines or smallest gains',
      columns: ['task', 'delta'],
      rows: [['t2', -0.125]],
      printed: printed([['t2', '-0.125']]),
    });
    expect(extremeDeltas(empty!, 'ascending')).toBeUndefined();
  });

  it('by mode of the tasks', () => {
    expect(contentOf(modeSplit(stratum!, context))).toEqual({
      title: 'Effect of skills by task mode',
      columns: ['model', 'mode', 'tasks', 'delta', 'low', 'high', 'positiveTasks'],
      rows: [
        ['m1', 'standard', 1, 0.5, 0.5, 0.5, 1],
        ['m1', 'raw', 1, -0.25, -0.25, -0.25, 0],
        ['m2', 'standard', 1, 0.25, 0.25, 0.25, 1],
        ['m2', 'raw', 1, 0, 0, 0, 0],
        ['Task-balanced mean', 'standard', 1, 0.375, 0.375, 0.375, 1],
        ['Task-balanced mean', 'raw', 1, -0.125, -0.125, -0.125, 0],
      ],
      printed: [
        ['Model', 'Mode', 'Tasks', 'Mean delta', 'Positive tasks'],
        ['m1', 'standard', '1', '0.500', '1/1'],
        ['m1', 'raw', '1', '-0.250', '0/1'],
        ['m2', 'standard', '1', '0.250', '1/1'],
        ['m2', 'raw', '1', '0.000', '0/1'],
        ['Task-balanced mean', 'standard', '1', '0.375', '1/1'],
        ['Task-balanced mean', 'raw', '1', '-0.125', '0/1'],
      ],
    });
    expect(modeSplit(stratum!, { ...context, tasks: taskIndexOf([]) })).toBeUndefined();
  });

  it('under bootstraps over tasks and over families', () => {
    // Twins at 0.25 and 0.75, another task at 0: mean 1/3, mean of family means (0.5 + 0)/2. Two families drawn are the
    // twins twice (0.5), the other one twice (0), or one each. Three tasks: 1 in 27 draws is one task three times.
    const families = taskIndexOf(
      factsFor(['t1', 't2', 't3'], (name) => ({ family: name === 't3' ? 'other' : 'twins' })),
    );
    const three = strataOf(armsOf({ t1: [[0], [0.25]], t2: [[0], [0.75]], t3: [[0.5], [0.5]] }))[0]!;
    expect(contentOf(clusterSensitivity(three, { ...context, tasks: families }))).toEqual({
      title: 'The headline under bootstraps over tasks and over families',
      columns: ['analysis', 'units', 'unit', 'delta', 'low', 'high'],
      rows: [
        ['Task-cluster bootstrap', 3, 'tasks', 1 / 3, 0, 0.75],
        ['Family-cluster bootstrap', 2, 'families', 1 / 3, 0, 0.5],
        ['Family-balanced bootstrap', 2, 'families', 0.25, 0, 0.5],
      ],
      printed: [
        ['Analysis', 'Units', 'Mean delta', '95% interval'],
        ['Task-cluster bootstrap', '3 tasks', '0.333', '[0.000, 0.750]'],
        ['Family-cluster bootstrap', '2 families', '0.333', '[0.000, 0.500]'],
        ['Family-balanced bootstrap', '2 families', '0.250', '[0.000, 0.500]'],
      ],
    });
    expect(clusterSensitivity(empty!, context)).toBeUndefined();
  });

  it('on the secondary metrics, with the ordered columns of the last model', () => {
    expect(contentOf(secondaryByTask(stratum!))).toEqual({
      title: 'Secondary metrics by task',
      columns: ['task', 'rewardDelta', 'keyF1Delta', 'nmaeDelta', 'orderedColumns'],
      rows: [
        ['t1', 0.375, 0.5, -0.25, 2],
        ['t2', -0.125, 0, null, 0],
      ],
      printed: [
        ['Task', 'Reward delta', 'Key F1 delta', 'nMAE delta', 'Ordered columns'],
        ['t1', '0.375', '0.500', '-0.250', '2'],
        ['t2', '-0.125', '0.000', 'NA', '0'],
      ],
    });
    // Other arms and schemas tell nothing about the columns of the native with-skill arm.
    const elsewhere = [
      { ...rows[0]!, model: 'm2', orderedColumns: 7 },
      rowWith({
        task: 't1',
        model: 'm2',
        condition: 'with-skill',
        schema: 'obfuscated',
        reward: 1,
        orderedColumns: 8,
      }),
    ];
    expect(secondaryByTask(strataOf([...rows, ...elsewhere])[0]!)!.rows[0]).toMatchObject({
      orderedColumns: 2,
    });
    const withoutKeys = strataOf(rows.map((row) => ({ ...row, keyF1: null })))[0]!;
    expect(secondaryByTask(withoutKeys)!.rows[0]).toMatchObject({ keyF1Delta: null });
    expect(secondaryByTask(empty!)).toBeUndefined();
  });

  it('by task and model, with the harness where it is known', () => {
    const lines = [
      ['t1', 0.5, 0.25, 0.375],
      ['t2', -0.25, 0, -0.125],
    ];
    expect(contentOf(deltasByTask(stratum!, 'By task'))).toEqual({
      title: 'By task',
      columns: ['task', 'delta m1', 'delta m2', 'delta'],
      rows: lines,
      printed: [
        ['Task', 'm1', 'm2', 'Mean'],
        ['t1', '0.500', '0.250', '0.375'],
        ['t2', '-0.250', '0.000', '-0.125'],
      ],
    });
    expect(contentOf(deltasByTask(stratum!, 'By task', new Map([['t1', 'matched']])))).toEqual({
      title: 'By task',
      columns: ['task', 'delta m1', 'delta m2', 'delta', 'harness'],
      rows: [
        [...lines[0]!, 'matched'],
        [...lines[1]!, 'NA'],
      ],
      printed: [
        ['Task', 'm1', 'm2', 'Mean', 'Harness'],
        ['t1', '0.500', '0.250', '0.375', 'matched'],
        ['t2', '-0.250', '0.000', '-0.125', 'NA'],
      ],
    });
    const half = strataOf(rows.filter((row) => row.task === 't1' || row.model === 'm1'))[0]!;
    expect(deltasByTask(half, 'By task')!.rows[1]).toMatchObject({ 'delta m1': -0.25, 'delta m2': null });
    expect(deltasByTask(empty!, 'By task')).toBeUndefined();
  });
});
