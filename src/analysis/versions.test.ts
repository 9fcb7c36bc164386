import { describe, expect, test } from 'vitest';
import { versionNotes } from './compare.js';
import { rowWith } from './run-row.fixture.js';
import { strataOf } from './strata.js';

describe('runs of different benchmark versions', () => {
  const rows = [
    rowWith({ reward: 0.5, benchmarkVersion: '1.0.0' }),
    rowWith({ reward: 0.9, benchmarkVersion: '1.1.0' }),
    rowWith({ reward: 0.7, benchmarkVersion: '1.0.0', trial: 2 }),
  ];

  test('are strata of their own, told apart by the version', () => {
    expect(
      strataOf(rows).map(({ label, rows: members }) => [label, members.map((row) => row.reward)]),
    ).toEqual([
      ['campaign / 1.0.0', [0.5, 0.7]],
      ['campaign / 1.1.0', [0.9]],
    ]);
  });

  test('are named where two sides are compared', () => {
    const [old, recent] = [rows.slice(0, 1), rows.slice(1, 2)];
    expect(versionNotes(old, old)).toEqual([]);
    expect(versionNotes(old, recent)).toEqual([
      'Benchmark versions differ (A: 1.0.0; B: 1.1.0): a delta may be one of the tasks and not of the runs.',
    ]);
    expect(versionNotes(rows, rows)).toHaveLength(1);
  });
});
