import { describe, expect, it } from 'vitest';
import { noMismatches } from '../evaluation/mismatch-kinds.js';
import { failingColumnTable } from './failing-columns.js';
import { rowWith } from './run-row.fixture.js';
import { contentOf } from './table-content.fixture.js';

describe('match rates by column', () => {
  it('averages each column over the runs of a cell and sums how rows are wrong', () => {
    const rows = [
      rowWith({
        reward: 0.75,
        matchRates: { a: 1, b: 0.5 },
        mismatchKinds: { a: noMismatches, b: { ...noMismatches, tooHigh: 30, rowMissing: 20 } },
      }),
      rowWith({
        reward: 0.5,
        trial: 2,
        matchRates: { a: 0.75, b: 0.25 },
        mismatchKinds: {
          a: { ...noMismatches, sign: 25 },
          b: { ...noMismatches, tooHigh: 5, rowMissing: 70 },
        },
      }),
      // A timeout: no output, no columns, and no part in their means.
      rowWith({ reward: 0, trial: 3, failure: 'agent' }),
    ];
    expect(failingColumnTable(rows)?.rows).toEqual([
      expect.objectContaining({
        column: 'a',
        runs: 2,
        matchRate: 0.875,
        min: 0.75,
        max: 1,
        wrongRows: 25,
        mostly: 'sign 25',
      }),
      expect.objectContaining({
        column: 'b',
        runs: 2,
        matchRate: 0.375,
        min: 0.25,
        max: 0.5,
        wrongRows: 125,
        mostly: 'row missing 90, too high 35',
      }),
    ]);
  });

  it('is left out where no output could be read', () => {
    expect(failingColumnTable([rowWith({ reward: 0, failure: 'agent' })])).toBeUndefined();
  });

  it('has a row per cell and column, with at most three kinds, equal ones by name', () => {
    const kinds = { ...noMismatches, tooLow: 2, tooHigh: 2, sign: 5, rounding: 1 };
    const rows = [
      rowWith({ reward: 0.5, matchRates: { a: 0.5 }, mismatchKinds: { a: kinds } }),
      rowWith({ reward: 0.5, trial: 2, matchRates: { b: 0.25 } }),
      rowWith({ reward: 1, condition: 'with-skill', matchRates: { a: 1 } }),
    ];
    expect(contentOf(failingColumnTable(rows))).toEqual({
      title: 'Match rates by column, and how wrong rows are wrong',
      columns: [
        'task',
        'condition',
        'schema',
        'model',
        'column',
        'runs',
        'matchRate',
        'min',
        'max',
        'wrongRows',
        'mostly',
      ],
      rows: [
        [
          'task-a',
          'no-skill',
          'native',
          'model-a',
          'a',
          1,
          0.5,
          0.5,
          0.5,
          10,
          'sign 5, too high 2, too low 2',
        ],
        ['task-a', 'no-skill', 'native', 'model-a', 'b', 1, 0.25, 0.25, 0.25, 0, ''],
        ['task-a', 'with-skill', 'native', 'model-a', 'a', 1, 1, 1, 1, 0, ''],
      ],
      notes: [
        'Match rates are those of the reward; wrong rows are reference rows by the per-cell rules, summed over runs. Runs without a readable output are left out.',
      ],
    });
  });
});
