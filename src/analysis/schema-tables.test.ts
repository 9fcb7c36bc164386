import { describe, expect, it } from 'vitest';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import {
  ratioInterval,
  schemaGeneralisation,
  schemaGeneralisationTable,
  schemaProbe,
} from './schema-tables.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

const context = { tasks: taskIndexOf(factsFor(['t1', 't2', 't3'])), drawing: resampler({ resamples: 400 }) };
const stratumOf = (rows: readonly RunRow[]): Stratum => strataOf(rows)[0]!;

/*
 *   task  native         obfuscated      restructured
 *   t1    0.25 -> 0.75   0.25 -> 0.5     0.5 -> 0.5
 *   t2    0.5  -> 0.75   0.25 -> 0.375   0.5 -> 0.25
 *   t3    0    -> 1      0    -> 1       (none)
 */
const rows = [
  ...armsOf({ t1: [[0, 0.5], [0.75]], t2: [[0.5], [0.75]], t3: [[0], [1]] }),
  ...armsOf({ t1: [[0.25], [0.5]], t2: [[0.25], [0.375]], t3: [[0], [1]] }, { schema: 'obfuscated' }),
  ...armsOf({ t1: [[0.5], [0.5]], t2: [[0.5], [0.25]] }, { schema: 'restructured' }),
  // A model without transformed runs takes no part.
  ...armsOf({ t1: [[0], [0]] }, { model: 'model-b' }),
];

describe('schema tables, by hand', () => {
  it('table 23: gains under each schema over the tasks that all have, and the part that is kept', () => {
    // Native gains 0.5 and 0.25; obfuscated 0.25 and 0.125, always half of them; restructured 0 and -0.25, in ratios to
    // the native gains 0, -1, and -0.25/0.75 for both tasks.
    expect(contentOf(schemaGeneralisationTable(stratumOf(rows), context, {}))).toEqual({
      title: 'Effect of skills across schemas',
      columns: [
        'schema',
        'tasks',
        'noSkill',
        'withSkill',
        'delta',
        'low',
        'high',
        'positiveTasks',
        'ratio',
        'ratioLow',
        'ratioHigh',
      ],
      rows: [
        ['native', 2, 0.375, 0.75, 0.375, 0.25, 0.5, 2, 1, null, null],
        ['obfuscated', 2, 0.25, 0.4375, 0.1875, 0.125, 0.25, 2, 0.5, 0.5, 0.5],
        ['restructured', 2, 0.5, 0.375, -0.125, -0.25, 0, 0, -0.125 / 0.375, -1, 0],
      ],
      printed: [
        ['Schema', 'Tasks', 'No skill', 'With skill', 'Delta', 'Positive tasks', 'Robustness ratio'],
        ['native', '2', '0.375', '0.750', '0.375 [0.250, 0.500]', '2/2', '1.000'],
        ['obfuscated', '2', '0.250', '0.438', '0.188 [0.125, 0.250]', '2/2', '0.500 [0.500, 0.500]'],
        ['restructured', '2', '0.500', '0.375', '-0.125 [-0.250, 0.000]', '0/2', '-0.333 [-1.000, 0.000]'],
      ],
      notes: ['Models: model-a.', 'Left out, because an arm or a schema lacks them: t3.'],
    });
  });

  it('table 23: a printed no-skill mean stands in for runs that were not published, without an interval', () => {
    const withSkillOnly = rows.filter((row) => row.schema === 'native' || row.condition === 'with-skill');
    const printed = { campaign: { obfuscated: 0.1875, restructured: 0.25 } };
    const content = contentOf(schemaGeneralisationTable(stratumOf(withSkillOnly), context, printed))!;
    expect(content.rows).toEqual([
      ['native', 2, 0.375, 0.75, 0.375, 0.25, 0.5, 2, 1, null, null],
      ['obfuscated', 2, 0.1875, 0.4375, 0.25, null, null, null, 0.25 / 0.375, null, null],
      ['restructured', 2, 0.25, 0.375, 0.125, null, null, null, 0.125 / 0.375, null, null],
    ]);
    expect(content.notes).toEqual([
      'Models: model-a.',
      expect.stringMatching(/^The no-skill means of the transformed schemas are printed numbers/),
      'Left out, because an arm or a schema lacks them: t3.',
    ]);
    // The campaign's own runs come before a printed number.
    expect(contentOf(schemaGeneralisationTable(stratumOf(rows), context, printed))!.rows[1]).toEqual([
      'obfuscated',
      2,
      0.25,
      0.4375,
      0.1875,
      0.125,
      0.25,
      2,
      0.5,
      0.5,
      0.5,
    ]);
    // Neither runs nor a printed number: no task has all arms.
    expect(schemaGeneralisationTable(stratumOf(withSkillOnly), context, {})).toBeUndefined();
  });

  it('has nothing to say without a skill arm under another schema', () => {
    const native = rows.filter((row) => row.schema === 'native' || row.condition === 'no-skill');
    expect(schemaGeneralisationTable(stratumOf(native), context, {})).toBeUndefined();
    const one = rows.filter((row) => row.schema !== 'restructured');
    const result = schemaGeneralisation(stratumOf(one), context)!;
    expect(result.effects.map((effect) => effect.schema)).toEqual(['native', 'obfuscated']);
    expect(result.leftOut).toEqual([]);
    expect(schemaGeneralisationTable(stratumOf(one), context, {})!.notes).toEqual(['Models: model-a.']);
  });

  it('has no interval of a ratio whose denominator may be 0', () => {
    const { drawing } = context;
    expect(ratioInterval([0.5, 0.25], [1, 0.25], drawing)).toEqual({ low: 0.5, high: 1 });
    expect(ratioInterval([0.5, 0.25], [1, 0], drawing)).toBeUndefined();
    expect(ratioInterval([0.5, 0.25], [1, -0.25], drawing)).toBeUndefined();
  });

  it('no-skill means by task and schema, and the drops from native', () => {
    const further = [
      rowWith({ task: 't9', reward: 0.5 }),
      rowWith({ task: 't8', schema: 'restructured', reward: 0.75 }),
    ];
    expect(contentOf(schemaProbe(stratumOf([...rows, ...further])))).toEqual({
      title: 'No-skill reward by schema',
      columns: ['task', 'native', 'obfuscated', 'restructured', 'obfuscatedDelta', 'restructuredDelta'],
      rows: [
        ['t1', 0.25, 0.25, 0.5, 0, 0.25],
        ['t2', 0.5, 0.25, 0.5, -0.25, 0],
        ['t3', 0, 0, null, 0, null],
        ['t8', null, null, 0.75, null, null],
      ],
      notes: ['Models: model-a.'],
    });
    const withSkill = rows.filter((row) => row.schema === 'native' || row.condition === 'with-skill');
    expect(schemaProbe(stratumOf(withSkill))).toBeUndefined();
  });
});
