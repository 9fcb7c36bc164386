import { describe, expect, it } from 'vitest';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import {
  declaredReward,
  leaveOneOut,
  microEffect,
  sensitivityTable,
  withFirstAttempt,
} from './sensitivity.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

const tasks = taskIndexOf(factsFor(['t1', 't2']));
const context = { tasks, drawing: resampler({ resamples: 400 }) };
const stratumOf = (rows: readonly RunRow[]): Stratum => strataOf(rows)[0]!;

const run = (
  task: string,
  condition: string,
  trial: number,
  reward: number | null,
  more: Partial<RunRow> = {},
): RunRow => rowWith({ task, condition, trial, reward, ...more });
const exact = { failedChecks: 0, matchRates: { a: 1, b: 1 } };
const failed = {
  failure: 'agent',
  errors: 1,
  keyPrecision: null,
  keyRecall: 0,
  keyF1: 0,
  orderedNmae: null,
} as const;

/*
 * Two tasks, so percentile intervals run from the smaller to the greater task value.
 *
 *        no skill              with skill
 * t1     0.5                   1 (exact), 0 (failure)
 * t2     0.25, unjudged        0.75 (a 0.5, b 1; robust 1), 1 (a replaced attempt had 0.25; not publishable)
 *
 * Ordered nMAE: t1 0.25 -> 0.5 and none for the failure; t2 0.25 (recall 0.5) -> 0.25, 0.25.
 */
const rows = [
  run('t1', 'no-skill', 1, 0.5, { orderedNmae: 0.25 }),
  run('t1', 'with-skill', 1, 1, { ...exact, orderedNmae: 0.5, hasOpenedSkill: true }),
  run('t1', 'with-skill', 2, 0, { ...failed, hasOpenedSkill: false }),
  run('t2', 'no-skill', 1, 0.25, { orderedNmae: 0.25, keyRecall: 0.5 }),
  run('t2', 'no-skill', 2, null, { failure: 'infrastructure', orderedNmae: null, keyF1: null }),
  run('t2', 'with-skill', 1, 0.75, {
    matchRates: { a: 0.5, b: 1 },
    rewardRobust: 1,
    orderedNmae: 0.25,
    hasOpenedSkill: true,
  }),
  run('t2', 'with-skill', 2, 1, {
    ...exact,
    orderedNmae: 0.25,
    hasOpenedSkill: true,
    firstAttempt: { reward: 0.25 },
    attempts: 2,
    integrity: { isPublishable: false, isIsolated: true, hasCleanCanaries: true, hasCleanLint: null },
  }),
  // In no headline.
  run('t1', 'with-skill-all', 1, 0, { hasOpenedSkill: false }),
];

describe('sensitivity, by hand', () => {
  it('states every claim under other choices', () => {
    const content = contentOf(sensitivityTable(stratumOf(rows), context))!;
    expect(content.title).toBe('Sensitivity of the claims');
    expect(content.columns).toEqual([
      'analysis',
      'noSkill',
      'withSkill',
      'estimate',
      'low',
      'high',
      'improvedTasks',
      'tasks',
      'changedRuns',
    ]);
    expect(content.rows).toEqual([
      // t1 0.5 -> 0.5, t2 0.25 -> 0.875.
      ['Headline', 0.375, 0.6875, 0.3125, 0, 0.625, 1, 2, 0],
      // t2 with skill (0.75 + 0.25)/2.
      ['First attempts instead of replaced ones', 0.375, 0.5, 0.125, 0, 0.25, 1, 2, 1],
      // t1 with skill 1; the unjudged run is a failure too.
      ['Failures left out', 0.375, 0.9375, 0.5625, 0.5, 0.625, 2, 2, 2],
      // t2 without 0.125.
      ['Unjudged runs as zero', 0.3125, 0.6875, 0.375, 0, 0.75, 1, 2, 1],
      // Column a only: t2 with skill (0.5 + 1)/2.
      ['Declared value columns only', 0.375, 0.625, 0.25, 0, 0.5, 1, 2, 1],
      // t2 with skill (1 + 1)/2.
      ['Reward by the robust reader', 0.375, 0.75, 0.375, 0, 0.75, 1, 2, 1],
      // t2 with skill 0.75.
      ['Publishable runs only', 0.375, 0.625, 0.25, 0, 0.5, 1, 2, 1],
      // t1 with skill 1.
      ['With-skill runs in which the skill was opened', 0.375, 0.9375, 0.5625, 0.5, 0.625, 2, 2, 1],
      // Passes: t1 0 -> 1 of 2; t2 0 -> 1 of 2. All rewards become 0 or 1, the two exact ones and the failure stay.
      ['Strict passes, the thresholds of each task', 0, 0.5, 0.5, 0.5, 0.5, 2, 2, 3],
      ['Exact passes, full match on every scored column', 0, 0.5, 0.5, 0.5, 0.5, 2, 2, 3],
      // nMAE: t1 0.25 -> 0.5, t2 0.25 -> 0.25; less is better.
      ['Ordered nMAE, headline', 0.25, 0.375, 0.125, 0, 0.25, 0, 2, 0],
      // t1 with skill (0.5 + 1)/2.
      ['Ordered nMAE, failures at 1', 0.25, 0.5, 0.25, 0, 0.5, 0, 2, 1],
      // t2 without 0.5 x 0.25 + 0.5 = 0.625.
      ['Ordered nMAE, failures and missing keys at 1', 0.4375, 0.5, 0.0625, -0.375, 0.5, 1, 2, 2],
      // (0.5 + 0.25)/2 and (1 + 0 + 0.75 + 1)/4; by task 0 and 0.625.
      ['Micro means, every run weighing the same', 0.375, 0.6875, 0.3125, 0, 0.625, 1, 2, 0],
    ]);
    expect(content.printed!.slice(0, 3)).toEqual([
      ['Analysis', 'No skill', 'With skill', 'Delta or ratio', 'Improved tasks', 'Runs changed'],
      ['Headline', '0.375', '0.688', '0.312 [0.000, 0.625]', '1/2', '0'],
      ['First attempts instead of replaced ones', '0.375', '0.500', '0.125 [0.000, 0.250]', '1/2', '1'],
    ]);
    expect(content.notes).toEqual([
      'Improved tasks of the pass analyses are those whose share of passes rose.',
    ]);
  });

  it('leaves out what the runs cannot give', () => {
    const plain = armsOf({ t1: [[0.5], [1]] });
    const analyses = sensitivityTable(stratumOf(plain), context)!.rows.map((row) => row.analysis);
    expect(analyses).not.toContain('Reward by the robust reader');
    expect(analyses).not.toContain('With-skill runs in which the skill was opened');
    expect(analyses).toContain('Headline');
    expect(sensitivityTable(stratumOf([rowWith({ reward: 1 })]), context)).toBeUndefined();
  });

  it('a task without ordered columns has no nMAE, whatever failed', () => {
    const unordered = [
      ...rows,
      run('t3', 'no-skill', 1, 0.5, { orderedNmae: null }),
      run('t3', 'with-skill', 1, 0, failed),
    ];
    const table = sensitivityTable(stratumOf(unordered), context)!;
    for (const row of table.rows.filter(({ analysis }) => String(analysis).startsWith('Ordered')))
      expect(row.tasks).toBe(2);
  });

  it('repeats the robustness ratio', () => {
    const transformed = [
      ...armsOf({ t1: [[0.25], [0.75]] }),
      run('t1', 'no-skill', 1, 0.25, { schema: 'obfuscated' }),
      run('t1', 'with-skill', 1, 0.5, { schema: 'obfuscated', firstAttempt: { reward: 0.375 }, attempts: 2 }),
      run('t1', 'with-skill', 2, 0, { schema: 'obfuscated', failure: 'agent' }),
    ];
    const ratios = contentOf(sensitivityTable(stratumOf(transformed), context))!.rows.filter((row) =>
      String(row[0]).startsWith('Robustness'),
    );
    // Native gain 0.5. Obfuscated: (0.5 + 0)/2 - 0.25 = 0; first attempts 0.1875 - 0.25; failures left out 0.25.
    expect(ratios).toEqual([
      ['Robustness ratio obfuscated, headline', 0.25, 0.25, 0, 0, 0, 0, 1, 0],
      ['Robustness ratio obfuscated, first attempts', 0.25, 0.1875, -0.125, -0.125, -0.125, 0, 1, 1],
      ['Robustness ratio obfuscated, failures left out', 0.25, 0.5, 0.5, 0.5, 0.5, 1, 1, 1],
    ]);
  });

  it('warns of the one-sided first attempts of the published campaign', () => {
    const published = { protocol: 'published-2026' };
    const replaced = { ...published, firstAttempt: { reward: 0 } };
    const notesOf = (of: readonly RunRow[]) => sensitivityTable(stratumOf(of), context)!.notes!.slice(1);
    expect(notesOf(armsOf({ t1: [[0], [1]] }, replaced))).toEqual([
      expect.stringMatching(/^Superseded attempts are published .* the first-attempt ratio is one-sided\.$/),
    ]);
    expect(notesOf(armsOf({ t1: [[0], [1]] }, published))).toEqual([]);
    expect(notesOf(armsOf({ t1: [[0], [1]] }, { firstAttempt: { reward: 0 } }))).toEqual([]);
  });

  it('a first attempt takes the place of the one that replaced it, scored or not', () => {
    expect(withFirstAttempt(rowWith({ reward: 1, firstAttempt: { reward: 0.25 } })).reward).toBe(0.25);
    expect(withFirstAttempt(rowWith({ reward: 1, firstAttempt: { reward: null } })).reward).toBeNull();
    expect(withFirstAttempt(rowWith({ reward: 1 })).reward).toBe(1);
  });

  it('a declared column that was not scored matched nothing; unknown tasks and unjudged runs keep their reward', () => {
    const rates = { matchRates: { b: 1 } };
    expect(declaredReward(rowWith({ task: 't1', reward: 0.5, ...rates }), tasks)).toBe(0);
    expect(declaredReward(rowWith({ task: 't9', reward: 0.5, ...rates }), tasks)).toBe(0.5);
    expect(declaredReward(rowWith({ task: 't1', reward: null, ...rates }), tasks)).toBeNull();
    expect(declaredReward(rowWith({ task: 't1', reward: 0.5, matchRates: {} }), tasks)).toBe(0.5);
  });

  it('micro means weigh runs, over tasks with both arms only', () => {
    const micro = armsOf({
      t1: [
        [0, 0.5],
        [1, 1, 0.25],
      ],
      t2: [[0.75], [0.5]],
    });
    const half = [run('t3', 'no-skill', 1, 1), run('t4', 'with-skill', 1, 0), run('t4', 'no-skill', 1, null)];
    // 1.25/3 and 2.75/4; t1 alone 0.75 - 0.25, t2 alone 0.5 - 0.75.
    expect(microEffect([...micro, ...half], context)).toEqual({
      analysis: 'Micro means, every run weighing the same',
      noSkill: 1.25 / 3,
      withSkill: 2.75 / 4,
      estimate: 2.75 / 4 - 1.25 / 3,
      low: -0.25,
      high: 0.5,
      improvedTasks: 1,
      tasks: 2,
      changedRuns: 0,
    });
    expect(microEffect(half, context)).toBeUndefined();
  });
});

describe('the headline without each unit', () => {
  const three = stratumOf(armsOf({ t1: [[0], [0.25]], t2: [[0], [0.5]], t3: [[0.75], [0]] }));
  const families = taskIndexOf(factsFor(['t1', 't2'], () => ({ family: 'twins' })));
  const columns = ['without', 'tasksLeft', 'ownDelta', 'delta', 'change', 'improvedTasks'];
  const header = ['Without', 'Tasks left', 'Its own delta', 'Delta', 'Change', 'Improved tasks'];

  it('by task', () => {
    expect(contentOf(leaveOneOut(three, { ...context, tasks: families }, 'task'))).toEqual({
      title: 'The headline without each task',
      columns,
      rows: [
        ['t1', 2, 0.25, -0.125, -0.125, 1],
        ['t2', 2, 0.5, -0.25, -0.25, 1],
        ['t3', 2, -0.75, 0.375, 0.375, 2],
      ],
      printed: [
        header,
        ['t1', '2', '0.250', '-0.125', '-0.125', '1/2'],
        ['t2', '2', '0.500', '-0.250', '-0.250', '1/2'],
        ['t3', '2', '-0.750', '0.375', '0.375', '2/2'],
      ],
      notes: ['Headline 0.000; without one task from -0.250 to 0.375.'],
    });
  });

  it('by family; a task of no known family is one of its own', () => {
    expect(contentOf(leaveOneOut(three, { ...context, tasks: families }, 'family'))).toMatchObject({
      title: 'The headline without each family',
      rows: [
        ['t3', 2, -0.75, 0.375, 0.375, 2],
        ['twins', 1, 0.375, -0.75, -0.75, 0],
      ],
      notes: ['Headline 0.000; without one family from -0.750 to 0.375.'],
    });
    const one = stratumOf(armsOf({ t1: [[0], [0.25]], t2: [[0], [0.5]] }));
    expect(leaveOneOut(one, { ...context, tasks: families }, 'family')).toBeUndefined();
  });
});
