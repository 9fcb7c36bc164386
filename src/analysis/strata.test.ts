import { describe, expect, test } from 'vitest';
import { rowWith } from './run-row.fixture.js';
import { strataOf } from './strata.js';

describe('strata', () => {
  test('keep runs of a login apart from those whose requests the gateway saw, and say which is which', () => {
    const rows = [
      rowWith({ reward: 1, trial: 1 }),
      rowWith({ reward: 0, trial: 2, auth: 'login' }),
      rowWith({ reward: 0.5, trial: 3 }),
    ];
    const strata = strataOf(rows);
    expect(
      strata.map(({ label, auth, rows: members }) => [label, auth, members.map(({ trial }) => trial)]),
    ).toEqual([
      ['campaign / key', 'key', [1, 3]],
      ['campaign / login', 'login', [2]],
    ]);
  });

  test('are named by their campaign alone when nothing in it differs', () => {
    const only = rowWith({ reward: 0, auth: 'login' });
    expect(strataOf([only]).map(({ label, auth }) => [label, auth])).toEqual([['campaign', 'login']]);
    expect(strataOf([rowWith({ reward: 0 })]).map(({ label, auth }) => [label, auth])).toEqual([
      ['campaign', 'key'],
    ]);
  });
});
