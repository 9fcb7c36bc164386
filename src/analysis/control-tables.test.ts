import { describe, expect, it } from 'vitest';
import {
  allSkillsProbe,
  controlSubsets,
  controlsByTask,
  deltasWithArms,
  equivalenceBound,
  matchedControls,
  operationalSpecByTask,
  operationalSpecControl,
} from './control-tables.js';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

/*
 *   task  model  no skill  with skill  decoy  raw SQL  all skills  operational spec
 *   t1    m1     0.25      0.75        0.5    1        0.5         0.5
 *   t1    m2     0.25      0.5         0.25
 *   t2    m1     0.5       0.25        0.25            0.75        0.5
 *   t2    m2     0.75      0.75
 */
const rows: readonly RunRow[] = [
  ...armsOf({ t1: [[0, 0.5], [0.75]], t2: [[0.5], [0.25]] }, { model: 'm1' }),
  ...armsOf({ t1: [[0.25], [0.5]], t2: [[0.75], [0.75]] }, { model: 'm2' }),
  ...(
    [
      ['t1', 'm1', 'with-skill-decoy', 0.5],
      ['t1', 'm2', 'with-skill-decoy', 0.25],
      ['t2', 'm1', 'with-skill-decoy', 0.25],
      ['t1', 'm1', 'with-skill-rawsql', 1],
      ['t2', 'm1', 'with-skill-all', 0.75],
      ['t1', 'm1', 'with-skill-all', 0.5],
      ['t1', 'm1', 'operational-spec', 0.5],
      ['t2', 'm1', 'operational-spec', 0.5],
    ] as const
  ).map(([task, model, condition, reward]) => rowWith({ task, model, condition, reward })),
  // No arm of its own: in no table.
  rowWith({ task: 't3', model: 'm1', condition: 'with-skill-decoy', reward: 1 }),
  rowWith({ task: 't2', model: 'm2', condition: 'with-skill-decoy', reward: null }),
  // Another schema: in no table.
  rowWith({ task: 't1', model: 'm1', condition: 'with-skill-decoy', schema: 'obfuscated', reward: 1 }),
  rowWith({ task: 't1', model: 'm1', condition: 'operational-spec', schema: 'obfuscated', reward: 1 }),
];
const stratumOf = (of: readonly RunRow[]): Stratum => strataOf(of)[0]!;
const stratum = stratumOf(rows);
const armsOnly = stratumOf(rows.filter((row) => ['no-skill', 'with-skill'].includes(row.condition)));
const empty = stratumOf([rowWith({ reward: 1 })]);
const context = {
  tasks: taskIndexOf(
    factsFor(['t1'], () => ({ mode: 'raw', database: 'eicu' })).concat(factsFor(['mimic-ventilation'])),
  ),
  drawing: resampler({ resamples: 400 }),
};

describe('control tables, by hand', () => {
  it('an equivalence bound is the farther end of the 90 % t interval', () => {
    // Two values: t(0.95, 1) = 6.313752, standard error half of their distance.
    expect(equivalenceBound([0, -0.5])).toBeCloseTo(0.25 + 6.313752 * 0.25, 5);
    expect(equivalenceBound([0, 0.5])).toBeCloseTo(0.25 + 6.313752 * 0.25, 5);
    expect(equivalenceBound([0.5])).toBeNull();
  });

  it('table 4: the gain before and after the operational specification', () => {
    // Task means: no skill 0.25, 0.625; specification 0.5, 0.5; with skill 0.625, 0.5.
    const t = 6.313752;
    expect(contentOf(operationalSpecControl(stratum, context))).toEqual({
      title: 'Operational-specification control; 95 % percentile bootstrap over tasks',
      columns: ['comparison', 'tasks', 'from', 'to', 'delta', 'low', 'high', 'equivalenceBound'],
      rows: [
        [
          'Operational spec - no skill',
          2,
          0.4375,
          0.5,
          0.0625,
          -0.125,
          0.25,
          expect.closeTo(0.0625 + t * 0.1875, 5),
        ],
        [
          'Targeted skill - operational spec',
          2,
          0.5,
          0.5625,
          0.0625,
          0,
          0.125,
          expect.closeTo(0.0625 + t * 0.0625, 5),
        ],
      ],
      printed: [
        ['Comparison', 'Tasks', 'From', 'To', 'Delta', 'Equivalence bound'],
        ['Operational spec - no skill', '2', '0.438', '0.500', '0.062 [-0.125, 0.250]', '1.246'],
        ['Targeted skill - operational spec', '2', '0.500', '0.562', '0.062 [0.000, 0.125]', '0.457'],
      ],
      notes: [
        'The equivalence bound is the smallest margin that two one-sided t tests at 5 % would support.',
      ],
    });
    expect(operationalSpecControl(armsOnly, context)).toBeUndefined();
  });

  it('table 25: the same by task, published tasks in the published order, then others by name', () => {
    expect(contentOf(operationalSpecByTask(stratum))).toEqual({
      title: 'Operational-specification control by task',
      columns: ['task', 'noSkill', 'spec', 'withSkill', 'specMinusNoSkill', 'withSkillMinusSpec'],
      rows: [
        ['t1', 0.25, 0.5, 0.625, 0.25, 0.125],
        ['t2', 0.625, 0.5, 0.5, -0.125, 0],
      ],
      printed: [
        ['Task', 'No skill', 'Op. spec', 'Targeted', 'Spec - no skill', 'Targeted - spec'],
        ['t1', '0.250', '0.500', '0.625', '0.250', '0.125'],
        ['t2', '0.625', '0.500', '0.500', '-0.125', '0.000'],
      ],
    });
    const names = ['zz', 'a', 'mimic-sofa-24h-raw', 'mimic-urine-output-rate-raw', 'mimic-ventilation'];
    const all = names.flatMap((task) =>
      ['no-skill', 'operational-spec', 'with-skill'].map((condition) =>
        rowWith({ task, condition, reward: 0.5 }),
      ),
    );
    // Without one of the arms there is nothing to compare.
    const incomplete = [
      ...['operational-spec', 'with-skill'].map((condition) => rowWith({ task: 'b', condition, reward: 1 })),
      ...['operational-spec', 'no-skill'].map((condition) => rowWith({ task: 'c', condition, reward: 1 })),
      rowWith({ task: 'd', condition: 'no-skill', reward: 1 }),
      rowWith({ task: 'd', condition: 'with-skill', reward: 1 }),
      rowWith({ task: 'd', condition: 'operational-spec', reward: null }),
    ];
    expect(operationalSpecByTask(stratumOf([...all, ...incomplete]))!.rows.map((row) => row.task)).toEqual([
      'mimic-urine-output-rate-raw',
      'mimic-ventilation',
      'mimic-sofa-24h-raw',
      'a',
      'zz',
    ]);
    expect(operationalSpecByTask(armsOnly)).toBeUndefined();
  });

  it('table 13: who is in which control', () => {
    const subset = rows.filter(
      (row) => row.task !== 't2' || ['no-skill', 'with-skill', 'with-skill-all'].includes(row.condition),
    );
    expect(contentOf(controlSubsets(stratumOf(subset), context))).toEqual({
      title: 'Tasks of the control subsets, and effect of the targeted skill',
      columns: ['task', 'mode', 'database', 'delta', 'inControls', 'inOperationalSpec'],
      rows: [
        ['t1', 'raw', 'eICU', 0.375, 'yes', 'yes'],
        ['t2', null, null, -0.125, '', ''],
      ],
      printed: [
        ['Task', 'Mode', 'Database', 'Delta', 'Decoy/raw SQL', 'Op. spec'],
        ['t1', 'raw', 'eICU', '0.375', 'yes', 'yes'],
        ['t2', 'NA', 'NA', '-0.125', '', ''],
      ],
    });
    expect(controlSubsets(empty, context)).toBeUndefined();
    for (const condition of ['with-skill-decoy', 'with-skill-rawsql']) {
      const one = [...armsOf({ t1: [[0], [1]] }), rowWith({ task: 't1', condition, reward: 1 })];
      expect(controlSubsets(stratumOf(one), context)!.rows[0]).toMatchObject({
        inControls: 'yes',
        inOperationalSpec: '',
      });
    }
  });

  it('table 13: the subsets of the published campaign are those of the paper, whatever was run', () => {
    const published = armsOf(
      {
        'mimic-ventilation': [[0], [1]],
        'mimic-meld-24h': [[0], [0.75]],
        'mimic-sofa-24h-raw': [[0], [0.5]],
        'mimic-sirs-24h-raw': [[0], [0.25]],
      },
      { protocol: 'published-2026' },
    );
    expect(
      contentOf(controlSubsets(stratumOf(published), context))!.rows.map((row) => [row[0], row[4], row[5]]),
    ).toEqual([
      ['mimic-ventilation', 'yes', 'yes'],
      ['mimic-meld-24h', 'yes', ''],
      ['mimic-sofa-24h-raw', '', 'yes'],
      ['mimic-sirs-24h-raw', '', ''],
    ]);
  });

  it('table 22: controls against both arms of their task and model, intervals over tasks', () => {
    // Decoy, cells (t1 m1), (t1 m2), (t2 m1): minus targeted -0.25, -0.25, 0, by task -0.25 and 0; minus no skill 0.25,
    // 0, -0.25, by task 0.125 and -0.25. All skills: t1 -0.25 and 0.25, t2 0.5 and 0.25.
    expect(contentOf(matchedControls(stratum, context))).toEqual({
      title: 'Matched-context controls',
      columns: [
        'control',
        'tasks',
        'noSkill',
        'targeted',
        'controlMean',
        'minusTargeted',
        'minusTargetedLow',
        'minusTargetedHigh',
        'minusNoSkill',
        'minusNoSkillLow',
        'minusNoSkillHigh',
      ],
      rows: [
        ['Raw SQL', 1, 0.25, 0.75, 1, 0.25, 0.25, 0.25, 0.75, 0.75, 0.75],
        ['Decoy', 2, 1 / 3, 0.5, 1 / 3, -0.5 / 3, -0.25, 0, 0, -0.25, 0.125],
        ['All skills', 2, 0.375, 0.5, 0.625, 0.125, -0.25, 0.5, 0.25, 0.25, 0.25],
      ],
      printed: [
        [
          'Control',
          'Tasks',
          'No skill',
          'Targeted',
          'Control mean',
          'Control - targeted',
          'Control - no skill',
        ],
        ['Raw SQL', '1', '0.250', '0.750', '1.000', '0.250 [0.250, 0.250]', '0.750 [0.750, 0.750]'],
        ['Decoy', '2', '0.333', '0.500', '0.333', '-0.167 [-0.250, 0.000]', '0.000 [-0.250, 0.125]'],
        ['All skills', '2', '0.375', '0.500', '0.625', '0.125 [-0.250, 0.500]', '0.250 [0.250, 0.250]'],
      ],
    });
    expect(matchedControls(armsOnly, context)).toBeUndefined();
  });

  it('the same by task, model and control', () => {
    expect(contentOf(controlsByTask(stratum))).toEqual({
      title: 'Control cells with both arms',
      columns: [
        'task',
        'model',
        'condition',
        'noSkillMean',
        'withSkillMean',
        'controlMean',
        'controlMinusNoSkill',
        'controlMinusWithSkill',
        'controlRuns',
      ],
      rows: [
        ['t1', 'm1', 'with-skill-rawsql', 0.25, 0.75, 1, 0.75, 0.25, 1],
        ['t1', 'm1', 'with-skill-decoy', 0.25, 0.75, 0.5, 0.25, -0.25, 1],
        ['t1', 'm2', 'with-skill-decoy', 0.25, 0.5, 0.25, 0, -0.25, 1],
        ['t2', 'm1', 'with-skill-decoy', 0.5, 0.25, 0.25, -0.25, 0, 1],
        ['t1', 'm1', 'with-skill-all', 0.25, 0.75, 0.5, 0.25, -0.25, 1],
        ['t2', 'm1', 'with-skill-all', 0.5, 0.25, 0.75, 0.25, 0.5, 1],
        ['t1', 'm1', 'operational-spec', 0.25, 0.75, 0.5, 0.25, -0.25, 1],
        ['t2', 'm1', 'operational-spec', 0.5, 0.25, 0.5, 0, 0.25, 1],
      ],
    });
    expect(controlsByTask(armsOnly)).toBeUndefined();
  });

  it('all skills against the targeted one, the greatest loss first', () => {
    const further = ['t5', 't4'].flatMap((task) =>
      ['no-skill', 'with-skill', 'with-skill-all'].map((condition) =>
        rowWith({ task, model: 'm1', condition, reward: 0.5 }),
      ),
    );
    expect(contentOf(allSkillsProbe(stratumOf([...rows, ...further])))).toEqual({
      title: 'All skills instead of the targeted one',
      columns: ['task', 'noSkill', 'targeted', 'allSkills', 'allMinusTargeted'],
      rows: [
        ['t1', 0.25, 0.75, 0.5, -0.25],
        ['t4', 0.5, 0.5, 0.5, 0],
        ['t5', 0.5, 0.5, 0.5, 0],
        ['t2', 0.5, 0.25, 0.75, 0.5],
      ],
    });
    expect(allSkillsProbe(armsOnly)).toBeUndefined();
  });

  it('deltas with both arms', () => {
    expect(contentOf(deltasWithArms(stratum))).toEqual({
      title: 'Effect of skills by task: m1, m2',
      columns: ['task', 'noSkill', 'withSkill', 'delta'],
      rows: [
        ['t1', 0.25, 0.625, 0.375],
        ['t2', 0.625, 0.5, -0.125],
      ],
    });
    expect(deltasWithArms(empty)).toBeUndefined();
  });
});
