import { describe, expect, it } from 'vitest';
import { harnessIndicators, harnessLabels, harnessSubsets, skillUse } from './harness-tables.js';
import { resampler } from './random-stream.js';
import { factsFor, rowWith } from './run-row.fixture.js';
import type { HarnessIndicators, RunRow } from './run-row.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

const context = { tasks: taskIndexOf(factsFor([])), drawing: resampler({ resamples: 400 }) };
const stratumOf = (rows: readonly RunRow[]): Stratum => strataOf(rows)[0]!;
const plain: HarnessIndicators = {
  cliVersion: '1.0',
  hasOverrides: false,
  hasBackgroundModel: false,
  routing: [],
};

/** Both arms of a task, each arm in its harness. */
const arms = (
  task: string,
  [baseline, treatment]: readonly [number, number],
  changed: Partial<HarnessIndicators> = {},
  changes: Partial<RunRow> = {},
): readonly RunRow[] => [
  rowWith({ ...changes, task, condition: 'no-skill', reward: baseline, keyF1: 0.5, harness: plain }),
  rowWith({
    ...changes,
    task,
    condition: 'with-skill',
    reward: treatment,
    harness: { ...plain, ...changed },
  }),
];

const rows = [
  ...arms('same', [0.25, 0.75], {}, { failedChecks: 0 }),
  ...arms('cli', [0.5, 0.25], { cliVersion: '2.0' }),
  ...arms('routed', [0.25, 0.5], { routing: ['a -> b'] }),
  // Another schema and another condition have no part in it.
  rowWith({ task: 'same', schema: 'obfuscated', reward: 1, harness: { ...plain, cliVersion: '3.0' } }),
  rowWith({ task: 'same', condition: 'with-skill-all', reward: 1, harness: { ...plain, cliVersion: '3.0' } }),
];

describe('harness tables, by hand', () => {
  it('matches arms model by model', () => {
    const labelsOf = (of: readonly RunRow[]) => Object.fromEntries(harnessLabels(stratumOf(of)));
    expect(labelsOf(rows)).toEqual({ same: 'matched', cli: 'CLI', routed: 'routing' });
    expect(labelsOf(arms('t', [0, 1], { hasOverrides: true }))).toEqual({ t: 'routing' });
    expect(labelsOf(arms('t', [0, 1], { hasBackgroundModel: true }))).toEqual({ t: 'routing' });
    expect(labelsOf(arms('t', [0, 1], { cliVersion: null }))).toEqual({ t: 'unknown' });
    // Two models may run in two harnesses, if each does so in both arms.
    const other = arms('same', [0, 1], { cliVersion: '9.0' }, { model: 'model-b' });
    expect(labelsOf([...rows, ...other]).same).toBe('CLI');
    const both = other.map((row) => ({ ...row, harness: { ...row.harness, cliVersion: '9.0' } }));
    expect(labelsOf([...rows, ...both]).same).toBe('matched');
  });

  it('table 5: the headline on matched tasks', () => {
    expect(contentOf(harnessSubsets(stratumOf(rows), context))).toEqual({
      title: 'The effect of skills on tasks whose arms share a harness',
      columns: [
        'subset',
        'tasks',
        'runs',
        'delta',
        'low',
        'high',
        'positiveTasks',
        'strictNoSkill',
        'strictWithSkill',
        'keyF1Delta',
      ],
      rows: [
        // Three tasks with -0.25, 0.25, 0.5: a single one three times in 1 of 27 draws.
        ['All tasks', 3, 6, 0.5 / 3, -0.25, 0.5, 2, 1, 1, 0.5],
        ['CLI-matched', 2, 4, 0.375, 0.25, 0.5, 2, 1, 1, 0.5],
        ['CLI- and routing-matched', 1, 2, 0.5, 0.5, 0.5, 1, 1, 1, 0.5],
      ],
      printed: [
        [
          'Subset',
          'Tasks',
          'Runs',
          'Delta',
          'Positive',
          'Strict, no skill',
          'Strict, with skill',
          'Key F1 delta',
        ],
        ['All tasks', '3', '6', '0.167 [-0.250, 0.500]', '2/3', '1', '1', '0.500'],
        ['CLI-matched', '2', '4', '0.375 [0.250, 0.500]', '2/2', '1', '1', '0.500'],
        ['CLI- and routing-matched', '1', '2', '0.500 [0.500, 0.500]', '1/1', '1', '1', '0.500'],
      ],
    });
  });

  it('table 5 leaves out subsets without tasks, and itself where nothing is known', () => {
    const unmatched = stratumOf([
      ...arms('cli', [0, 1], { cliVersion: '2.0' }),
      ...arms('u', [0, 1], { cliVersion: null }),
    ]);
    expect(harnessSubsets(unmatched, context)!.rows.map((row) => [row.subset, row.tasks])).toEqual([
      ['All tasks', 2],
    ]);
    expect(harnessSubsets(stratumOf(arms('u', [0, 1], { cliVersion: null })), context)).toBeUndefined();
    expect(harnessSubsets(stratumOf(rows.slice(0, 1)), context)).toBeUndefined();
  });

  it('table 30: versions, overrides and background models by arm', () => {
    const timed = rows.map((row) => ({
      ...row,
      seconds: row.task === 'routed' ? null : 5400,
      harness:
        row.condition === 'with-skill'
          ? { ...row.harness, hasOverrides: row.task === 'cli', hasBackgroundModel: true }
          : row.harness,
    }));
    expect(contentOf(harnessIndicators(stratumOf(timed)))).toEqual({
      title: 'Harness indicators by condition',
      columns: [
        'condition',
        'runs',
        'cli 1.0',
        'cli 2.0',
        'withOverrides',
        'withBackgroundModel',
        'agentHours',
      ],
      rows: [
        ['no-skill', 3, 3, 0, 0, 0, 3],
        ['with-skill', 3, 2, 1, 1, 3, 3],
      ],
      printed: [
        ['Condition', 'Runs', 'CLI 1.0', 'CLI 2.0', 'Overrides recorded', 'Background model', 'Agent hours'],
        ['no-skill', '3', '3', '0', '0', '0', '3.0'],
        ['with-skill', '3', '2', '1', '1', '3', '3.0'],
      ],
    });
    expect(harnessIndicators(stratumOf(rows.slice(0, 1)))!.rows).toHaveLength(1);
    expect(harnessIndicators(stratumOf([rowWith({ reward: 1 })]))).toBeUndefined();
  });

  it('use of skills, and the reward with and without', () => {
    const used = (condition: string, hasOpenedSkill: boolean | null, reward: number | null, trial: number) =>
      rowWith({ task: `t${trial}`, condition, hasOpenedSkill, reward, trial });
    const records = [
      used('with-skill', true, 1, 1),
      used('with-skill', true, 0.5, 2),
      used('with-skill', false, 0.25, 3),
      used('with-skill', false, null, 4),
      used('with-skill-decoy', false, 0.5, 5),
      used('no-skill', null, 0.125, 6),
      { ...used('with-skill', true, 0.75, 7), schema: 'restructured' as const },
    ];
    expect(contentOf(skillUse(stratumOf(records)))).toEqual({
      title: 'Use of the placed skills',
      columns: ['condition', 'model', 'runs', 'opened', 'rewardOpened', 'rewardNotOpened'],
      rows: [
        ['with-skill', 'model-a', 4, 2, 0.75, 0.25],
        ['with-skill-decoy', 'model-a', 1, 0, null, 0.5],
        ['with-skill/restructured', 'model-a', 1, 1, 0.75, null],
      ],
      notes: [
        'Opening a skill is the agent’s choice, so the two rewards are not a comparison of like with like.',
      ],
    });
    expect(skillUse(stratumOf(records.slice(5, 6)))).toBeUndefined();
  });
});
