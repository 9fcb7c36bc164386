import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, keyed, type ScoringCase, ScoringFixture } from './scoring-fixture.js';

/** The weak points of the published rules, answered by the per-cell rules: published and robust m/t side by side. */
interface RobustCase extends ScoringCase {
  readonly name: string;
  /** `m/t` under the published rules; an error scores nothing. */
  readonly published: string | 'error';
  readonly robust: string;
}

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

function judged(cases: readonly RobustCase[]): void {
  for (const { name, published, robust, ...one } of cases) {
    it(name, async () => {
      const { evaluation } = await fixture.evaluate({ request: { scoresOnly: true }, ...one });
      const { v } = evaluation.columns;
      expect(`${v?.robustMatched}/${v?.robustTotal}`).toBe(robust);
      if (published === 'error')
        expect([evaluation.reward, evaluation.errorKind === null]).toEqual([0, false]);
      else expect(`${v?.matched}/${v?.total}`).toBe(published);
      expect(evaluation.rewardRobust).toBeCloseTo(Number(v?.robustMatched) / Number(v?.robustTotal), 8);
    });
  }
}

const three = keyed([1, 4], [2, 5], [3, 6]);
const instants = keyed([1, '2150-01-02 10:30:00'], [2, '2150-01-03 11:00:00'], [3, '2150-01-04 12:15:00']);

describe('weak point 1: keys one by one', () => {
  judged([
    {
      name: 'a blank key is one extra row',
      truth: three,
      output: 'k,v\n1,4\n2,5\n,6\n',
      published: 'error',
      robust: '2/4',
    },
    {
      name: 'a malformed key is one extra row',
      truth: three,
      output: keyed([1, 4], ['x', 5], [3, 6]),
      published: 'error',
      robust: '2/4',
    },
    {
      name: 'two malformed keys are two extra rows',
      truth: three,
      output: keyed([1, 4], ['x', 5], ['x', 6]),
      published: 'error',
      robust: '1/5',
    },
    {
      name: 'one time-like key without seconds joins',
      truth: keyed(['2150-01-02 10:30:00', 4], ['2150-01-03 11:00:00', 5]),
      output: keyed(['2150-01-02 10:30:00', 4], ['2150-01-03T11:00', 5]),
      published: 'error',
      robust: '2/2',
    },
    {
      name: 'time-like keys zoned at UTC join zone-less ones',
      truth: keyed(['2150-01-02 10:30:00', 4]),
      output: keyed(['2150-01-02T10:30:00Z', 4]),
      published: 'error',
      robust: '1/1',
    },
    {
      name: 'time-like keys of another zone do not join zone-less ones',
      truth: keyed(['2150-01-02 10:30:00', 4]),
      output: keyed(['2150-01-02T10:30:00+02:00', 4]),
      published: 'error',
      robust: '0/2',
    },
  ]);
});

describe('weak point 2: values one by one', () => {
  judged([
    {
      name: 'one stray token costs its cell',
      truth: keyed([1, 4], [2, 5], [3, 6], [4, null]),
      output: keyed([1, 'NULL'], [2, '5.0'], [3, 6], [4, null]),
      published: '2/4',
      robust: '3/4',
    },
    {
      name: 'True among numbers is 1',
      truth: keyed([1, 1], [2, 0], [3, 1]),
      output: keyed([1, 'True'], [2, 0], [3, ' false ']),
      published: '1/3',
      robust: '2/3',
    },
    {
      name: 'true and false with blanks around are 1 and 0',
      truth: keyed([1, 1], [2, 0], [3, 5]),
      output: keyed([1, ' TRUE '], [2, 'False '], [3, '5.0']),
      published: '0/3',
      robust: '3/3',
    },
    {
      name: 'a token where truth is null stays a mismatch',
      truth: keyed([1, 4], [2, null]),
      output: keyed([1, 4], [2, 'NaN']),
      published: '1/2',
      robust: '1/2',
    },
  ]);
});

describe('weak point 3: time formats cell by cell', () => {
  judged([
    {
      name: 'mixed separators, precision and dates',
      truth: instants,
      output: keyed([1, '2150-01-02T10:30'], [2, '2150-01-03 11:00:00.000'], [3, '2150/01/04 12:15:00']),
      published: '0/3',
      robust: '3/3',
    },
    {
      name: 'zoned at UTC beside zone-less',
      truth: instants,
      output: keyed(
        [1, '2150-01-02 10:30:00Z'],
        [2, '2150-01-03 11:00:00+00:00'],
        [3, '2150-01-04 12:15:00+00'],
      ),
      published: 'error',
      robust: '3/3',
    },
    {
      name: 'another offset beside zone-less is a mismatch of the cell',
      truth: instants,
      output: keyed([1, '2150-01-02 12:30:00+02:00'], [2, '2150-01-03 11:00:00'], [3, '2150-01-04 12:15:00']),
      published: '2/3',
      robust: '2/3',
    },
    {
      name: 'zoned on both sides compares instants, zone-less cells count as UTC',
      truth: keyed([1, '2150-01-02 10:30:00+00:00'], [2, '2150-01-03 11:00:00+00:00']),
      output: keyed([1, '2150-01-02 12:30:00+02:00'], [2, '2150-01-03 11:00:00']),
      published: '0/2',
      robust: '2/2',
    },
    {
      name: "the column's own format where a cell follows it",
      truth: instants,
      output: keyed([1, '01/02/2150 10:30:00'], [2, 'soon'], [3, '01/04/2150 12:15:00']),
      published: '0/3',
      robust: '2/3',
    },
    {
      name: 'a tolerance in seconds',
      truth: instants,
      output: keyed([1, '2150-01-02 10:31'], [2, '2150-01-03T10:59:00'], [3, '2150-01-04 12:16:01']),
      tolerance: { v: 60 },
      published: '0/3',
      robust: '2/3',
    },
    {
      name: 'words are no instants',
      truth: instants,
      output: keyed([1, 'epoch'], [2, 'infinity'], [3, 'now']),
      published: '0/3',
      robust: '0/3',
    },
  ]);
});

describe('weak point 5: what the published rules cannot compare', () => {
  judged([
    {
      name: 'boolean against boolean',
      truth: keyed([1, 'True'], [2, 'False']),
      output: keyed([1, 'true'], [2, 'true']),
      published: 'error',
      robust: '1/2',
    },
    {
      name: 'a column named like a scored one plus _truth',
      truth: three,
      output: 'k,v,v_truth\n1,4,0\n2,5,0\n3,6,0\n',
      published: 'error',
      robust: '3/3',
    },
    {
      name: 'infinities equal themselves and nothing else',
      truth: keyed([1, 'inf'], [2, '-inf'], [3, 5]),
      output: keyed([1, 'Infinity'], [2, 'inf'], [3, 'inf']),
      tolerance: { v: 1 },
      published: '0/3',
      robust: '1/3',
    },
  ]);
});

describe('weak point 6: tolerance with a few units in the last place', () => {
  judged([
    {
      name: '1.00 vs 1.01 at 0.01',
      truth: keyed([1, '1.00'], [2, '2.00']),
      output: keyed([1, 1.01], [2, 1.99]),
      tolerance: { v: 0.01 },
      published: '0/2',
      robust: '2/2',
    },
    {
      name: 'beyond the tolerance stays beyond',
      truth: keyed([1, '1.00']),
      output: keyed([1, '1.0100001']),
      tolerance: { v: 0.01 },
      published: '0/1',
      robust: '0/1',
    },
    {
      name: 'a sum that differs in the last place, without tolerance',
      truth: keyed([1, '0.3']),
      output: keyed([1, '0.30000000000000004']),
      published: '0/1',
      robust: '1/1',
    },
  ]);
});

describe('weak point 7: contradictory rows', () => {
  judged([
    {
      name: 'a right row first and a wrong one later',
      truth: three,
      output: keyed([1, 4], [1, 9], [2, 5], [3, 6]),
      published: '3/4',
      robust: '2/4',
    },
    {
      name: 'a wrong row first and a right one later',
      truth: three,
      output: keyed([1, 9], [1, 4], [2, 5], [3, 6]),
      published: '2/4',
      robust: '2/4',
    },
    {
      name: 'equal rows cost the repeated row only',
      truth: three,
      output: keyed([1, 4], [1, '4.0'], [2, 5], [3, 6]),
      published: '3/4',
      robust: '3/4',
    },
  ]);

  it('judge each column by itself', async () => {
    const { evaluation } = await fixture.evaluate({
      truth: csv(
        ['k', 'v', 'w'],
        [
          [1, 4, 7],
          [2, 5, 8],
        ],
      ),
      output: csv(
        ['k', 'v', 'w'],
        [
          [1, 4, 7],
          [2, 5, 8],
          [1, 4, 0],
        ],
      ),
      values: ['v', 'w'],
    });
    expect(Object.values(evaluation.columns).map((column) => column.robustMatched)).toEqual([2, 1]);
    expect(evaluation.mismatchKinds.w?.contradictory).toBe(1);
  });
});
