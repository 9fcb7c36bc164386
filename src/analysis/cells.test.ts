import { describe, expect, it } from 'vitest';
import {
  armPairs,
  cellMean,
  cellsOf,
  conditionTaskMeans,
  improvedCount,
  summaryOf,
  taskValues,
} from './cells.js';
import { familiesOf, modelEffect, taskBalancedEffect, taskTrialsOf } from './estimates.js';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import { taskIndexOf } from './task-facts.js';

const context = {
  tasks: taskIndexOf(factsFor(['t1'], () => ({ family: 'f' }))),
  drawing: resampler({ resamples: 400 }),
};

describe('cells, by hand', () => {
  it('hold the rows of one task, schema, model and condition, in that order', () => {
    const rows = [
      rowWith({ task: 'b', reward: 0 }),
      rowWith({ task: 'a', condition: 'with-skill', reward: 1 }),
      rowWith({ task: 'a', model: 'z', reward: 2 }),
      rowWith({ task: 'a', schema: 'obfuscated', model: 'a', reward: 3 }),
      rowWith({ task: 'a', reward: 4 }),
      rowWith({ task: 'a', reward: 5, trial: 2 }),
    ];
    expect(
      cellsOf(rows).map(({ rows: members, ...cell }) => [
        Object.values(cell).join(' '),
        members.map((row) => row.reward),
      ]),
    ).toEqual([
      ['a no-skill native model-a', [4, 5]],
      ['a with-skill native model-a', [1]],
      ['a no-skill native z', [2]],
      ['a no-skill obfuscated a', [3]],
      ['b no-skill native model-a', [0]],
    ]);
  });

  it('are told apart by each part of their name, not by all of it run together', () => {
    const named = (task: string, schema: 'native' | 'obfuscated', model: string, condition: string) =>
      rowWith({ task, schema, model, condition, reward: 1 });
    const rows = [
      named('t', 'native', 'ab', 'c'),
      named('t', 'native', 'a', 'bc'),
      named('tnative', 'native', 'a', 'c'),
      named('t', 'native', 'nativea', 'c'),
    ];
    expect(cellsOf(rows)).toHaveLength(4);
    // Task and model of a pair likewise.
    const arms = [named('t', 'native', 'ab', 'no-skill'), named('ta', 'native', 'b', 'with-skill')];
    expect(armPairs(arms)).toEqual([]);
  });

  it('summarise judged rewards, and count over all runs', () => {
    const [cell] = cellsOf([
      rowWith({
        reward: 0.25,
        failedChecks: 1,
        errors: 0,
        extraKeys: 3,
        orderedColumns: 1,
        orderedNmae: 0.5,
        keyF1: 0.5,
        keyPrecision: 0.25,
      }),
      rowWith({
        reward: 1,
        trial: 2,
        failedChecks: 2,
        errors: 1,
        extraKeys: null,
        orderedColumns: 4,
        orderedNmae: null,
        keyF1: 0,
        keyPrecision: null,
      }),
      rowWith({
        reward: 0.75,
        trial: 3,
        failedChecks: 0,
        errors: 0,
        extraKeys: 4,
        orderedColumns: 2,
        orderedNmae: 0.25,
        keyF1: 1,
        keyPrecision: 0.75,
      }),
      rowWith({
        reward: null,
        trial: 4,
        failedChecks: 0,
        errors: 0,
        extraKeys: null,
        orderedColumns: 0,
        orderedNmae: null,
        keyF1: null,
        keyPrecision: null,
      }),
    ]);
    expect(summaryOf(cell!)).toEqual({
      runs: 4,
      unjudged: 1,
      meanReward: 2 / 3,
      // Squares 25/144 + 16/144 + 1/144 over 2.
      sdReward: expect.closeTo(Math.sqrt(42 / 288), 12),
      medianReward: 0.75,
      minReward: 0.25,
      maxReward: 1,
      meanKeyPrecision: 0.5,
      meanKeyF1: 0.5,
      meanOrderedNmae: 0.375,
      orderedColumns: 4,
      failedChecks: 3,
      errors: 1,
      extraKeys: 7,
    });
    const [lost] = cellsOf([rowWith({ reward: null })]);
    expect(summaryOf(lost!)).toMatchObject({
      meanReward: Number.NaN,
      sdReward: Number.NaN,
      medianReward: Number.NaN,
      minReward: Number.NaN,
      maxReward: Number.NaN,
    });
    expect(cellMean(lost!, 'reward')).toBeNaN();
  });

  it('pair two conditions of one schema where both have the metric', () => {
    const rows = [
      ...armsOf({ t1: [[0.25], [0.75]], t2: [[0.5], [0.5]] }),
      ...armsOf({ t1: [[0], [1]] }, { schema: 'obfuscated' }),
      rowWith({ task: 't1', condition: 'operational-spec', reward: 0.5, keyF1: null }),
      rowWith({ task: 't3', reward: 1 }),
      rowWith({ task: 't2', model: 'other', condition: 'with-skill', reward: 1 }),
    ];
    const short = (options: Parameters<typeof armPairs>[1]) =>
      armPairs(rows, options).map(({ task, model, baseline, treatment, delta }) => [
        task,
        model,
        baseline,
        treatment,
        delta,
      ]);
    expect(short({})).toEqual([
      ['t1', 'model-a', 0.25, 0.75, 0.5],
      ['t2', 'model-a', 0.5, 0.5, 0],
    ]);
    expect(short({ schema: 'obfuscated' })).toEqual([['t1', 'model-a', 0, 1, 1]]);
    expect(short({ treatment: 'operational-spec' })).toEqual([['t1', 'model-a', 0.25, 0.5, 0.25]]);
    expect(short({ baseline: 'operational-spec' })).toEqual([['t1', 'model-a', 0.5, 0.75, 0.25]]);
    expect(short({ treatment: 'operational-spec', metric: 'keyF1' })).toEqual([]);
    expect(short({ baseline: 'operational-spec', metric: 'keyF1' })).toEqual([]);
    const [pair] = armPairs(rows);
    expect([pair!.baselineCell.condition, pair!.treatmentCell.condition]).toEqual(['no-skill', 'with-skill']);
  });

  it('give task values as means over models, and task means of one condition', () => {
    const rows = [
      ...armsOf({ t2: [[0], [1]], t1: [[0.25], [0.5]] }),
      ...armsOf({ t1: [[0.75], [0.5]] }, { model: 'b' }),
      rowWith({ task: 't9', reward: null }),
      rowWith({ task: 't1', schema: 'obfuscated', reward: 1 }),
    ];
    expect(taskValues(armPairs(rows))).toEqual([
      { task: 't1', value: 0 },
      { task: 't2', value: 1 },
    ]);
    // Whatever the order of the pairs.
    expect(taskValues(armPairs(rows).toReversed()).map(({ task }) => task)).toEqual(['t1', 't2']);
    expect(taskValues(armPairs(rows), (pair) => pair.baseline)).toEqual([
      { task: 't1', value: 0.5 },
      { task: 't2', value: 0 },
    ]);
    expect(conditionTaskMeans(rows, 'no-skill')).toEqual([
      { task: 't1', value: 0.5 },
      { task: 't2', value: 0 },
    ]);
    expect(conditionTaskMeans(rows, 'no-skill', 'keyF1', 'obfuscated')).toEqual([{ task: 't1', value: 1 }]);
  });

  it('count gains beyond the tolerance in the direction that is better', () => {
    const values = [2e-9, 1e-9, 0, -1e-9, -2e-9, -1];
    expect([improvedCount(values), improvedCount(values, true)]).toEqual([1, 2]);
  });
});

describe('effects, by hand', () => {
  const rows = [
    ...armsOf({ t1: [[0.25, 0.75], [1]], t2: [[0.5], [0.25]] }),
    rowWith({ task: 't3', reward: 1 }),
    rowWith({ task: 't1', condition: 'with-skill', schema: 'obfuscated', reward: 0 }),
    rowWith({ task: 't1', model: 'b', condition: 'with-skill', reward: 0 }),
  ];

  it('arm means over all tasks of an arm, deltas over tasks with both', () => {
    expect(taskBalancedEffect(rows, context)).toEqual({
      // No skill t1 0.5, t2 0.5, t3 1; with skill t1 (1 + 0)/2, t2 0.25.
      baseline: 2 / 3,
      treatment: 0.375,
      delta: 0.125,
      interval: { low: -0.25, high: 0.5 },
      improved: 1,
      tasks: 2,
      values: [
        { task: 't1', value: 0.5 },
        { task: 't2', value: -0.25 },
      ],
    });
    expect(taskBalancedEffect(rows, context, { schema: 'obfuscated' })).toBeUndefined();
  });

  it('a model by its native runs', () => {
    expect(modelEffect(rows, 'model-a', context)).toMatchObject({
      // 0.25, 0.75, 0.5, 1 and 1, 0.25.
      baseline: 0.625,
      treatment: 0.625,
      delta: 0.125,
      tasks: 2,
    });
    expect(modelEffect(rows, 'b', context)).toBeUndefined();
  });

  it('families by name, an unknown task as its own; trials by task and model', () => {
    const values = [
      { task: 'z', value: 1 },
      { task: 't1', value: 2 },
      { task: 'a', value: 3 },
    ];
    expect(familiesOf(values, context.tasks)).toEqual([
      { name: 'a', values: [3] },
      { name: 'f', values: [2] },
      { name: 'z', values: [1] },
    ]);
    expect(taskTrialsOf(armPairs(rows), context.tasks)).toEqual([
      { task: 't1', family: 'f', models: [{ baseline: [0.25, 0.75], treatment: [1] }] },
      { task: 't2', family: 't2', models: [{ baseline: [0.5], treatment: [0.25] }] },
    ]);
  });
});
