import { describe, expect, it } from 'vitest';
import { armsOf, rowWith } from './run-row.fixture.js';
import { cellsToLookAt, cellTable, costTable, nativeDeltaTable, runTable } from './run-tables.js';
import { rewardByArm } from './skill-effect.js';
import { contentOf } from './table-content.fixture.js';

const rows = [
  ...armsOf({
    t1: [
      [0, 0.5],
      [0.5, 1],
    ],
    t2: [[0.5], [0.25, 0.25]],
  }),
];

describe('tables of runs and cells, by hand', () => {
  it('one row per run, flags as words, match rates as JSON', () => {
    const full = rowWith({
      reward: 0.5,
      rewardRobust: 0.75,
      failure: 'agent',
      failureReason: 'time limit reached',
      matchRates: { a: 0.5 },
      passedChecks: 3,
      failedChecks: 2,
      errors: 1,
      keyPrecision: 0.25,
      keyRecall: 0.125,
      keyF1: 0.0625,
      extraKeys: 7,
      truthRows: 8,
      orderedNmae: 0.375,
      orderedColumns: 9,
      integrity: { isPublishable: true, isIsolated: false, hasCleanCanaries: null, hasCleanLint: true },
      returnCode: 11,
      seconds: 12,
      tokens: { input: 13, cachedInput: 14, cacheWrite: 15, output: 16 },
      cost: 17,
      harness: { cliVersion: '1.0', hasOverrides: null, hasBackgroundModel: null, routing: [] },
      hasOpenedSkill: false,
      attempts: 18,
    });
    const bare = rowWith({ reward: null, trial: 2, attempts: 1 });
    const content = contentOf(runTable([full, bare]))!;
    expect(content.title).toBe('Runs');
    expect(content.printed).toBeUndefined();
    const named = (index: number) =>
      content.columns.map((column, place) => [column, content.rows[index]![place]]);
    expect(named(0)).toEqual([
      ['runId', 'task-a_no-skill_native_model-a_1_campaign'],
      ['campaign', 'campaign'],
      ['part', 'primary'],
      ['task', 'task-a'],
      ['condition', 'no-skill'],
      ['schema', 'native'],
      ['agent', 'agent-a'],
      ['model', 'model-a'],
      ['effort', 'medium'],
      ['protocol', 'm4bench-1'],
      ['dataset', 'mimic-iv-demo'],
      ['trial', 1],
      ['publishable', 'true'],
      ['isolated', 'false'],
      ['canaries', null],
      ['lint', 'true'],
      ['returnCode', 11],
      ['failure', 'agent'],
      ['failureReason', 'time limit reached'],
      ['attempts', 18],
      ['seconds', 12],
      ['passed', 3],
      ['failed', 2],
      ['errors', 1],
      ['reward', 0.5],
      ['rewardRobust', 0.75],
      ['keyPrecision', 0.25],
      ['keyRecall', 0.125],
      ['keyF1', 0.0625],
      ['extraKeys', 7],
      ['truthRows', 8],
      ['orderedNmae', 0.375],
      ['orderedColumns', 9],
      ['inputTokens', 13],
      ['cachedInputTokens', 14],
      ['outputTokens', 16],
      ['cost', 17],
      ['cliVersion', '1.0'],
      ['openedSkill', 'false'],
      ['matchRates', '{"a":0.5}'],
    ]);
    expect(Object.fromEntries(named(1))).toMatchObject({
      reward: null,
      inputTokens: null,
      cachedInputTokens: null,
      outputTokens: null,
      openedSkill: null,
      matchRates: '{}',
    });
  });

  it('one row per cell: judged runs in the means, all runs in the counts', () => {
    const cells = cellTable([
      rowWith({
        reward: 0.25,
        keyPrecision: 0.5,
        keyF1: 0.5,
        orderedNmae: 0.25,
        orderedColumns: 3,
        failedChecks: 2,
        extraKeys: 5,
      }),
      rowWith({
        trial: 2,
        reward: 0.75,
        keyPrecision: 1,
        keyF1: 0,
        orderedNmae: null,
        orderedColumns: 0,
        failedChecks: 1,
        errors: 1,
        extraKeys: null,
      }),
      rowWith({
        trial: 3,
        reward: null,
        keyPrecision: null,
        keyF1: null,
        orderedNmae: null,
        failedChecks: 0,
      }),
      rowWith({
        task: 'task-b',
        reward: null,
        keyPrecision: null,
        keyF1: null,
        orderedNmae: null,
        failedChecks: 0,
      }),
    ]);
    expect(contentOf(cells)).toEqual({
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
      rows: [
        // Variance of 0.25 and 0.75 is 2 x 0.25^2 / 1.
        [
          'task-a',
          'no-skill',
          'native',
          'model-a',
          3,
          1,
          0.5,
          Math.sqrt(0.125),
          0.5,
          0.25,
          0.75,
          0.75,
          0.25,
          0.25,
          3,
          3,
          1,
          5,
        ],
        [
          'task-b',
          'no-skill',
          'native',
          'model-a',
          1,
          1,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          2,
          0,
          0,
          0,
        ],
      ],
    });
  });

  it('one row per task and model with both arms', () => {
    expect(contentOf(nativeDeltaTable(rows))).toEqual({
      title: 'Native skill deltas by task and model',
      columns: ['task', 'model', 'noSkill', 'withSkill', 'delta', 'noSkillRuns', 'withSkillRuns'],
      rows: [
        ['t1', 'model-a', 0.25, 0.75, 0.5, 2, 2],
        ['t2', 'model-a', 0.5, 0.25, -0.25, 1, 2],
      ],
    });
    expect(nativeDeltaTable([rowWith({ reward: 1 })])).toBeUndefined();
  });

  it('the weakest cells and the widest ranges, ties by name, unjudged cells in neither', () => {
    const unjudged = rowWith({ task: 't0', reward: null });
    expect(contentOf(cellsToLookAt([...rows, unjudged], 2))).toEqual({
      title: 'Cells to look at',
      columns: ['cell', 'why', 'runs', 'reward', 'min', 'max'],
      rows: [
        ['t1 / no-skill / native / model-a', 'weakest', 2, 0.25, 0, 0.5],
        ['t2 / with-skill / native / model-a', 'weakest', 2, 0.25, 0.25, 0.25],
        ['t1 / no-skill / native / model-a', 'widest range of trials', 2, 0.25, 0, 0.5],
        ['t1 / with-skill / native / model-a', 'widest range of trials', 2, 0.75, 0.5, 1],
      ],
    });
    expect(cellsToLookAt([unjudged])).toBeUndefined();
  });

  it('means of what runs used, over those that say', () => {
    const tokens = (input: number) => ({
      input,
      cachedInput: 2 * input,
      cacheWrite: null,
      output: 3 * input,
    });
    const used = [
      rowWith({ task: 't1', reward: 0.25, seconds: 4, tokens: tokens(100), cost: 1 }),
      rowWith({ task: 't2', reward: 0.75, seconds: 8, tokens: tokens(300), cost: null }),
      rowWith({ task: 't3', reward: null, seconds: null, tokens: tokens(200), cost: 2 }),
      rowWith({ condition: 'with-skill', reward: 1, seconds: 5 }),
      rowWith({ condition: 'with-skill', trial: 2, reward: 0, seconds: null }),
    ];
    expect(contentOf(costTable(used))).toEqual({
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
      rows: [
        ['model-a', 'no-skill', 'native', 3, 0.5, 6, 200, 400, 600, 1.5],
        ['model-a', 'with-skill', 'native', 1, 1, 5, null, null, null, null],
      ],
    });
    expect(costTable(used.slice(4))).toBeUndefined();
  });

  it('reward and passes by arm over all tasks', () => {
    const strict = rows.map((row) => ({ ...row, failedChecks: row.reward === 1 ? 0 : 1 }));
    const lost = rowWith({ task: 't9', condition: 'with-skill', reward: null });
    const alone = rowWith({ model: 'model-b', reward: null });
    // One judged trial has no spread, however many were not judged.
    const single = ['with-skill', 'no-skill'].map((task) =>
      rowWith({ task, model: 'model-c', reward: null }),
    );
    const judged = rowWith({ model: 'model-c', trial: 2, reward: 0.5 });
    expect(contentOf(rewardByArm([...strict, lost, alone, ...single, judged]))).toEqual({
      title: 'Mean reward over runs by model, condition and schema',
      columns: ['model', 'condition', 'schema', 'runs', 'unjudged', 'reward', 'sd', 'strictPasses'],
      rows: [
        // 0, 0.5, 0.5: mean 1/3, squares (1/9 + 2/36)/2 = 1/12.
        ['model-a', 'no-skill', 'native', 3, 0, 1 / 3, expect.closeTo(Math.sqrt(1 / 12), 12), 0],
        // 0.5, 1, 0.25, 0.25: mean 0.5, squares (0.25 + 2 x 0.0625)/3 = 0.125.
        ['model-a', 'with-skill', 'native', 5, 1, 0.5, Math.sqrt(0.125), 1],
        ['model-b', 'no-skill', 'native', 1, 1, null, null, 0],
        ['model-c', 'no-skill', 'native', 3, 2, 0.5, null, 0],
      ],
    });
    expect(rewardByArm([])).toBeUndefined();
  });
});
