import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze } from './analyze.js';
import { armPairs, cellsOf, improvedCount, summaryOf, taskValues } from './cells.js';
import { compareRuns } from './compare.js';
import { equivalenceBound, matchedControls, operationalSpecControl } from './control-tables.js';
import { modelEffect, taskBalancedEffect } from './estimates.js';
import { harnessIndicators, harnessLabels, harnessSubsets } from './harness-tables.js';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import { isExactPass, isStrictPass, type RunRow } from './run-row.js';
import { runSetHash, runSetOf } from './run-set.js';
import { schemaGeneralisation } from './schema-tables.js';
import { declaredReward, leaveOneOut, microEffect, sensitivityTable } from './sensitivity.js';
import { strataOf } from './strata.js';
import type { Table, TableRow } from './tables.js';
import { taskIndexOf } from './task-facts.js';

const drawing = resampler({ resamples: 500 });
const contextOf = (names: readonly string[]) => ({ tasks: taskIndexOf(factsFor(names)), drawing });
const rowNamed = (table: Table | undefined, label: string): TableRow =>
  table!.rows.find((row) => row[table!.columns[0]!] === label)!;

describe('cells and arms, by hand', () => {
  it('averages trials, then models, then tasks', () => {
    const rows = [
      ...armsOf(
        {
          t1: [
            [0.2, 0.4],
            [0.6, 0.8],
          ],
          t2: [[0.5], [0.5]],
        },
        { model: 'm1' },
      ),
      ...armsOf({ t1: [[0.1], [0.2]] }, { model: 'm2' }),
    ];
    // t1: m1 0.7 - 0.3, m2 0.2 - 0.1, mean 0.25; t2: 0.
    expect(taskValues(armPairs(rows)).map(({ task, value }) => [task, value.toFixed(10)])).toEqual([
      ['t1', '0.2500000000'],
      ['t2', '0.0000000000'],
    ]);
    const effect = taskBalancedEffect(rows, contextOf(['t1', 't2']))!;
    expect(effect.delta).toBeCloseTo(0.125, 12);
    // No skill: t1 (0.3 + 0.1)/2 = 0.2, t2 0.5: 0.35. With: t1 0.45, t2 0.5: 0.475.
    expect(effect.baseline).toBeCloseTo(0.35, 12);
    expect(effect.treatment).toBeCloseTo(0.475, 12);
    expect(effect.improved).toBe(1);
    // A model row averages runs: (0.2 + 0.4 + 0.5)/3.
    expect(modelEffect(rows, 'm1', contextOf([]))!.baseline).toBeCloseTo(1.1 / 3, 12);
  });

  it('counts unjudged runs and averages none of them', () => {
    const rows = [
      ...armsOf({ t1: [[0.2], [0.6]] }),
      rowWith({
        task: 't1',
        condition: 'with-skill',
        trial: 2,
        reward: null,
        failure: 'infrastructure',
        keyF1: null,
      }),
    ];
    expect(armPairs(rows)[0]!.delta).toBeCloseTo(0.4, 12);
    const [, withSkill] = cellsOf(rows).map(summaryOf);
    expect(withSkill).toMatchObject({ runs: 2, unjudged: 1, meanReward: 0.6 });
  });

  it('counts agent failures as 0 for key F1 and leaves them out of key precision', () => {
    const failed = {
      failure: 'agent',
      keyPrecision: null,
      keyRecall: 0,
      keyF1: 0,
      orderedNmae: null,
    } as const;
    const rows = [rowWith({ reward: 1 }), rowWith({ reward: 0, trial: 2, ...failed })];
    expect(summaryOf(cellsOf(rows)[0]!)).toMatchObject({
      meanReward: 0.5,
      meanKeyF1: 0.5,
      meanKeyPrecision: 1,
      meanOrderedNmae: 0.1,
    });
  });

  it('calls a delta within 1e-9 of zero neither gain nor loss', () => {
    expect(improvedCount([1e-13, 2e-9, -1, 0.5])).toBe(2);
    expect(improvedCount([1e-13, -1e-13, -1, 0.5], true)).toBe(1);
  });

  it('tells strict passes, which use thresholds, from exact ones', () => {
    const good = rowWith({ reward: 0.99, failedChecks: 0, matchRates: { a: 1, b: 0.98 } });
    expect([isStrictPass(good), isExactPass(good)]).toEqual([true, false]);
    const exact = rowWith({ reward: 1, failedChecks: 0, matchRates: { a: 1, b: 1 } });
    expect([isStrictPass(exact), isExactPass(exact)]).toEqual([true, true]);
    expect(isExactPass({ ...exact, keyRecall: 0.999 })).toBe(false);
    expect(isStrictPass({ ...exact, reward: null })).toBe(false);
  });
});

describe('controls, by hand', () => {
  const rows = [
    ...armsOf({ t1: [[0.2], [0.8]], t2: [[0.4], [0.6]] }),
    ...['t1', 't2'].map((task) =>
      rowWith({ task, condition: 'with-skill-decoy', reward: task === 't1' ? 0.3 : 0.4 }),
    ),
    ...['t1', 't2'].map((task) =>
      rowWith({ task, condition: 'operational-spec', reward: task === 't1' ? 0.6 : 0.7 }),
    ),
  ];
  const [stratum] = strataOf(rows);

  it('compares a control with both arms', () => {
    expect(matchedControls(stratum!, contextOf(['t1', 't2']))!.rows).toHaveLength(1);
    const decoy = rowNamed(matchedControls(stratum!, contextOf(['t1', 't2'])), 'Decoy');
    expect(decoy.tasks).toBe(2);
    expect(decoy.minusTargeted).toBeCloseTo(-0.35, 12);
    expect(decoy.minusNoSkill).toBeCloseTo(0.05, 12);
  });

  it('splits the gain at the operational specification', () => {
    const table = operationalSpecControl(stratum!, contextOf(['t1', 't2']));
    expect(rowNamed(table, 'Operational spec - no skill').delta).toBeCloseTo(0.35, 12);
    expect(rowNamed(table, 'Targeted skill - operational spec').delta).toBeCloseTo(0.05, 12);
  });

  it('bounds a difference by the 90 % t interval', () => {
    // Mean 0.05, sd 0.2121, n 2: 0.05 + 6.313752 x 0.15.
    expect(equivalenceBound([0.2, -0.1])).toBeCloseTo(0.05 + 6.313752 * 0.15, 5);
  });
});

describe('schemas, by hand', () => {
  it('divides the transformed gain by the native gain over the tasks that all schemas have', () => {
    const rows = [
      ...armsOf({ t1: [[0.2], [0.6]], t2: [[0.4], [0.8]], t3: [[0], [1]] }),
      ...armsOf({ t1: [[0.2], [0.4]], t2: [[0.4], [0.5]] }, { schema: 'obfuscated' }),
    ];
    const result = schemaGeneralisation(strataOf(rows)[0]!, contextOf(['t1', 't2', 't3']))!;
    expect(result.effects.map((effect) => [effect.schema, effect.tasks])).toEqual([
      ['native', 2],
      ['obfuscated', 2],
    ]);
    // (0.2 + 0.1) / (0.4 + 0.4).
    expect(result.effects[1]!.ratio).toBeCloseTo(0.375, 12);
    expect(result.effects[1]!.ratioInterval!.low).toBeCloseTo(0.25, 10);
    expect(result.effects[1]!.ratioInterval!.high).toBeCloseTo(0.5, 10);
  });

  it('has no ratio without a native gain', () => {
    const rows = [
      ...armsOf({ t1: [[0.5], [0.5]] }),
      ...armsOf({ t1: [[0.2], [0.4]] }, { schema: 'restructured' }),
    ];
    expect(schemaGeneralisation(strataOf(rows)[0]!, contextOf(['t1']))!.effects[1]!.ratio).toBeUndefined();
  });
});

describe('sensitivity, by hand', () => {
  it('changes one choice at a time', () => {
    const rows = [
      ...armsOf({ t1: [[0.4, 0.4], [0.9]], t2: [[0.5], [0.7]] }, { matchRates: { a: 0.5, b: 0.1 } }),
      rowWith({
        task: 't1',
        condition: 'with-skill',
        trial: 2,
        reward: 0,
        failure: 'agent',
        errors: 1,
        matchRates: {},
        orderedNmae: null,
      }),
      rowWith({
        task: 't2',
        condition: 'with-skill',
        trial: 2,
        reward: 0.9,
        firstAttempt: { reward: 0.1 },
        attempts: 2,
      }),
    ];
    const table = sensitivityTable(strataOf(rows)[0]!, contextOf(['t1', 't2']));
    const estimate = (name: string): number => Number(rowNamed(table, name).estimate);
    // t1: 0.45 - 0.4; t2: 0.8 - 0.5.
    expect(estimate('Headline')).toBeCloseTo((0.05 + 0.3) / 2, 12);
    expect(estimate('First attempts instead of replaced ones')).toBeCloseTo((0.05 - 0.1) / 2, 12);
    expect(rowNamed(table, 'First attempts instead of replaced ones').changedRuns).toBe(1);
    expect(estimate('Failures left out')).toBeCloseTo((0.5 + 0.3) / 2, 12);
    // nMAE of the failure is 1: t1 (0.1 + 1)/2 - 0.1, t2 0.
    expect(estimate('Ordered nMAE, headline')).toBeCloseTo(0, 12);
    expect(estimate('Ordered nMAE, failures at 1')).toBeCloseTo(0.45 / 2, 12);
    // With: (0.9 + 0 + 0.7 + 0.9)/4; without: (0.4 + 0.4 + 0.5)/3.
    expect(estimate('Micro means, every run weighing the same')).toBeCloseTo(0.625 - 1.3 / 3, 12);
  });

  it('averages declared columns only', () => {
    const tasks = taskIndexOf(factsFor(['task-a']));
    expect(declaredReward(rowWith({ reward: 0.3, matchRates: { a: 0.5, b: 0.1 } }), tasks)).toBe(0.5);
    expect(declaredReward(rowWith({ reward: 0.3 }), tasks)).toBe(0.3);
    expect(declaredReward(rowWith({ reward: 0.3, matchRates: { b: 0.1 } }), tasks)).toBe(0);
  });

  it('weighs runs in micro means', () => {
    const rows = armsOf({
      t1: [
        [0, 0, 0],
        [1, 1, 1],
      ],
      t2: [[0], [0]],
    });
    expect(microEffect(rows, contextOf(['t1', 't2']))!.estimate).toBeCloseTo(0.75, 12);
  });

  it('leaves families out in turn', () => {
    const tasks = taskIndexOf(
      factsFor(['t1', 't2', 't3'], (name) => ({ family: name === 't3' ? 'other' : 'twins' })),
    );
    const rows = armsOf({ t1: [[0], [0.2]], t2: [[0], [0.4]], t3: [[0], [0.9]] });
    const table = leaveOneOut(strataOf(rows)[0]!, { tasks, drawing }, 'family');
    expect(rowNamed(table, 'twins')).toMatchObject({ tasksLeft: 1, delta: 0.9 });
    expect(rowNamed(table, 'other').delta).toBeCloseTo(0.3, 12);
  });
});

describe('harness matching, by hand', () => {
  const harness = (cliVersion: string, hasOverrides = false) => ({
    harness: { cliVersion, hasOverrides, hasBackgroundModel: !hasOverrides, routing: [] },
  });
  const rows = [
    ...armsOf({ same: [[0.2], [0.4]] }, harness('1.0')),
    rowWith({ task: 'cli', condition: 'no-skill', reward: 0.2, ...harness('1.0') }),
    rowWith({ task: 'cli', condition: 'with-skill', reward: 0.9, ...harness('2.0') }),
    rowWith({ task: 'routed', condition: 'no-skill', reward: 0.2, ...harness('2.0') }),
    rowWith({ task: 'routed', condition: 'with-skill', reward: 0.3, ...harness('2.0', true) }),
  ];
  const [stratum] = strataOf(rows);

  it('labels tasks by the first indicator that differs', () => {
    expect(Object.fromEntries(harnessLabels(stratum!))).toEqual({
      same: 'matched',
      cli: 'CLI',
      routed: 'routing',
    });
  });

  it('repeats the headline on matched tasks', () => {
    const table = harnessSubsets(stratum!, contextOf(['same', 'cli', 'routed']));
    expect(rowNamed(table, 'All tasks')).toMatchObject({ tasks: 3, runs: 6 });
    expect(rowNamed(table, 'CLI-matched').delta).toBeCloseTo(0.15, 12);
    expect(rowNamed(table, 'CLI- and routing-matched').delta).toBeCloseTo(0.2, 12);
    expect(rowNamed(harnessIndicators(stratum!), 'with-skill')).toMatchObject({
      runs: 3,
      'cli 1.0': 1,
      'cli 2.0': 2,
      withOverrides: 1,
    });
  });
});

describe('comparison of two campaigns', () => {
  const side = (label: string, reward: number, model = 'm') => ({
    label,
    rows: [1, 2].map((trial) =>
      rowWith({ task: 't1', condition: 'with-skill', model, trial, reward, matchRates: { a: reward, b: 1 } }),
    ),
  });

  it('pairs by task and column', () => {
    const { tables, unmatched } = compareRuns(side('A', 0.4), side('B', 0.7), contextOf(['t1']));
    expect(unmatched).toEqual([]);
    expect(rowNamed(tables['compare-summary'], 'with-skill').delta).toBeCloseTo(0.3, 12);
    const task = rowNamed(tables['compare-by-task'], 't1');
    // Two of the 6 relabellings of two and two trials are as far apart.
    expect([task.runsA, task.runsB, task.p]).toEqual([2, 2, 2 / 6]);
    expect(tables['compare-by-column'].rows.map((row) => [row.column, Number(row.delta).toFixed(6)])).toEqual(
      [
        ['b', '0.000000'],
        ['a', '0.300000'],
      ],
    );
  });

  it('compares agents with other models, and names what only one side has', () => {
    const extra = side('B', 0.5, 'other');
    const { tables, unmatched } = compareRuns(
      side('A', 0.4),
      { ...extra, rows: [...extra.rows, rowWith({ task: 't9', reward: 1 })] },
      contextOf(['t1']),
    );
    expect(rowNamed(tables['compare-summary'], 'with-skill').delta).toBeCloseTo(0.1, 12);
    expect(unmatched).toEqual(['t9 no-skill native all models: only in B']);
  });
});

describe('for all campaigns', () => {
  const reward = fc.double({ min: 0, max: 1, noNaN: true });
  const cell = fc.array(reward, { minLength: 1, maxLength: 3 });
  const campaign = fc
    .array(fc.tuple(cell, cell), { minLength: 2, maxLength: 4 })
    .map((cells) => armsOf(Object.fromEntries(cells.map((pair, index) => [`t${index}`, pair]))));

  it('the order of runs changes nothing, down to the bytes', () => {
    fc.assert(
      fc.property(
        campaign.chain((rows) =>
          fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows], { minLength: rows.length })),
        ),
        ([rows, shuffled]) => {
          const of = (order: readonly RunRow[]): string =>
            JSON.stringify(analyze(runSetOf(order, factsFor(['t0', 't1'])), { resamples: 50 }));
          expect(of(shuffled)).toBe(of(rows));
          expect(runSetHash(runSetOf(shuffled))).toBe(runSetHash(runSetOf(rows)));
        },
      ),
      { numRuns: 6 },
    );
  });

  it('an unjudged run changes no mean', () => {
    fc.assert(
      fc.property(campaign, (rows) => {
        const unjudged = {
          ...rows[0]!,
          runId: 'lost',
          trial: 9,
          reward: null,
          keyF1: null,
          orderedNmae: null,
        };
        const of = (order: readonly RunRow[]): readonly TableRow[] =>
          analyze(runSetOf(order), { resamples: 50, only: ['table03-native-skill-effect'] }).tables[
            'table03-native-skill-effect'
          ]!.rows;
        expect(of([...rows, unjudged])).toEqual(of(rows));
      }),
      { numRuns: 15 },
    );
  });

  it('protocols, agents, efforts and editions are never pooled', () => {
    fc.assert(
      fc.property(
        campaign,
        fc.constantFrom<Partial<RunRow>>(
          { protocol: 'published-2026' },
          { agent: 'other' },
          { effort: 'high' },
          { edition: 'full' },
          { campaign: 'other' },
        ),
        (rows, change) => {
          const other = rows.map((row) => ({ ...row, ...change, reward: 1, runId: `${row.runId}-other` }));
          const table = (order: readonly RunRow[]): Table =>
            analyze(runSetOf(order), { resamples: 50, only: ['table03-native-skill-effect'] }).tables[
              'table03-native-skill-effect'
            ]!;
          const alone = table(rows).rows.map((row) => row.delta);
          const both = table([...rows, ...other]);
          expect(new Set(both.rows.map((row) => row.campaign)).size).toBe(2);
          expect(both.rows).toHaveLength(2 * alone.length);
          for (const delta of alone) expect(both.rows.map((row) => row.delta)).toContain(delta);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('names from runs never leave the file names, and equal-looking campaigns keep their own figures', () => {
    const rows = armsOf({ t1: [[0], [1]], t2: [[0], [1]] });
    const hostile = (campaign: string): readonly RunRow[] =>
      rows.map((row) => ({ ...row, campaign, model: `${row.trial % 2}`, condition: `../${row.condition}` }));
    const { tables, figures } = analyze(runSetOf([...hostile('a b'), ...hostile('a/b')]), { resamples: 50 });
    for (const name of [...Object.keys(tables), ...Object.keys(figures)])
      expect(name).toMatch(/^[a-z0-9][a-z0-9.~-]*$/);
    expect(Object.keys(figures)).toEqual(
      expect.arrayContaining(['reward-heatmap-a-b', 'reward-heatmap-a-b-2']),
    );
  });

  it('leaves out what may not be published when asked, and says how much', () => {
    const rows = armsOf({ t1: [[0], [1]] });
    const closed = { ...rows[0]!, runId: 'closed', trial: 9, reward: 1 };
    const set = runSetOf([...rows, { ...closed, integrity: { ...closed.integrity, isPublishable: false } }]);
    const { counts } = analyze(set, { resamples: 50, publishableOnly: true });
    expect(counts).toEqual({ runs: 2, unjudged: 0, unpublishable: 1, dropped: 1 });
    expect(analyze(set, { resamples: 50 }).counts.dropped).toBe(0);
  });

  it('an empty set, and an unknown table, are errors that say what to do', () => {
    expect(() => analyze(runSetOf([]))).toThrow(/no run to analyse/);
    expect(() => analyze(runSetOf(armsOf({ t1: [[0], [1]] })), { only: ['table99'] })).toThrow(
      /no table "table99"/,
    );
  });
});
