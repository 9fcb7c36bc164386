import { describe, expect, it } from 'vitest';
import { published, useFixture } from './published-case.js';
import { csv, keyed } from './scoring-fixture.js';

const fixture = useFixture();
const two = keyed([1, 4], [2, 5]);

describe('pinned cases', () => {
  published(fixture, [
    {
      name: 'P1 an extra key costs one unit',
      truth: two,
      output: keyed([1, 4], [2, 5], [3, 99]),
      expected: '2/3',
      extra: 1,
    },
    {
      name: 'P2 a repeated row costs one unit',
      truth: two,
      output: keyed([1, 4], [1, 4], [2, 5]),
      expected: '2/3',
      duplicates: 1,
    },
    {
      name: 'P3 a null never matches a missing row',
      truth: keyed([1, null], [2, 5]),
      output: keyed([2, 5]),
      expected: '1/2',
      missing: 1,
    },
    {
      name: 'P4 tolerance and null beside null match',
      truth: keyed([1, '1.0'], [2, null]),
      output: keyed([1, '1.04'], [2, null]),
      tolerance: { v: 0.05 },
      expected: '2/2',
    },
    {
      name: 'P5 the label None differs from null',
      truth: keyed([1, 'None']),
      output: 'k,v\n1,\n',
      expected: '0/1',
    },
  ]);

  it('P9 a failed check or an error means no strict pass', async () => {
    const failed = await fixture.current.evaluate({ truth: two, output: keyed([1, 4], [2, 6]) });
    const broken = await fixture.current.evaluate({ truth: two, output: 'k\n"' });
    const right = await fixture.current.evaluate({ truth: two, output: two });
    expect([failed, broken, right].map(({ evaluation }) => evaluation.strictPass)).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('measured cases: keys', () => {
  const wide = keyed(['9007199254740992', 4], ['9007199254740993', 5]);
  published(fixture, [
    {
      name: 'float keys equal integer keys',
      truth: two,
      output: keyed(['1.0', 4], ['2.0', 5]),
      expected: '2/2',
    },
    {
      name: 'a non-integer key is an extra key',
      truth: two,
      output: keyed(['1.5', 4], ['2.0', 5]),
      expected: '1/3',
      precision: 0.5,
    },
    {
      name: 'one blank key is an error',
      truth: two,
      output: 'k,v\n1,4\n,5\n',
      expected: { error: 'key-type' },
    },
    {
      name: 'one abc key is an error',
      truth: two,
      output: keyed([1, 4], ['abc', 5]),
      expected: { error: 'key-type' },
    },
    {
      name: 'one NaN key is an error',
      truth: two,
      output: keyed([1, 4], ['NaN', 5]),
      expected: { error: 'key-type' },
    },
    {
      name: 'an infinite key is an extra key',
      truth: two,
      output: keyed([1, 4], ['inf', 5]),
      expected: '1/3',
      extra: 1,
    },
    {
      name: 'a wrong duplicate first wins',
      truth: two,
      output: keyed([1, 9], [1, 4], [2, 5]),
      expected: '1/3',
      duplicates: 1,
    },
    {
      name: '1 and 1.0 in one file are one key',
      truth: keyed([1, 1], [2, 2]),
      output: keyed([1, 1], ['1.0', 9], [2, 2]),
      expected: '2/3',
      duplicates: 1,
    },
    {
      name: 'a duplicated extra key costs two units',
      truth: two,
      output: keyed([1, 4], [2, 5], [3, 1], [3, 1]),
      expected: '2/4',
      extra: 1,
      duplicates: 1,
      precision: 0.66666667,
    },
    {
      name: 'text keys that differ in case are two keys',
      truth: keyed(['A', 1], ['b', 2]),
      output: keyed(['a', 1], ['b', 2]),
      expected: '1/3',
    },
    {
      name: 'a repeated pair of composite keys',
      keys: ['k', 'l'],
      truth: csv(
        ['k', 'l', 'v'],
        [
          [1, 1, 4],
          [1, 2, 5],
        ],
      ),
      output: csv(
        ['k', 'l', 'v'],
        [
          [1, 1, 4],
          [1, 1, 4],
          [1, 2, 5],
        ],
      ),
      expected: '2/3',
    },
    { name: 'integers above 2^53 stay apart', truth: wide, output: wide, expected: '2/2' },
    {
      name: 'integers above 2^53 written as doubles collapse',
      truth: wide,
      output: keyed(['9007199254740992.0', 4], ['9007199254740993.0', 5]),
      expected: '1/3',
      duplicates: 1,
    },
    {
      name: 'leading zeros, signs and blanks of keys do not matter',
      truth: two,
      output: keyed([' 01', 4], ['+2 ', 5]),
      expected: '2/2',
    },
  ]);
});

describe('measured cases: time-like keys', () => {
  const truth = keyed(['2150-01-02 10:30:00', 4], ['2150-01-03 11:00:00', 5]);
  const keysWritten = (first: string, second: string) => ({ truth, output: keyed([first, 4], [second, 5]) });
  published(fixture, [
    { name: 'T throughout', ...keysWritten('2150-01-02T10:30:00', '2150-01-03T11:00:00'), expected: '2/2' },
    { name: 'HH:MM throughout', ...keysWritten('2150-01-02 10:30', '2150-01-03 11:00'), expected: '2/2' },
    {
      name: '.000 throughout',
      ...keysWritten('2150-01-02 10:30:00.000', '2150-01-03 11:00:00.000'),
      expected: '2/2',
    },
    {
      name: 'month first throughout',
      ...keysWritten('01/02/2150 10:30:00', '01/03/2150 11:00:00'),
      expected: '2/2',
    },
    ...(
      [
        ['one null', '2150-01-02 10:30:00', ''],
        ['first null', '', '2150-01-03 11:00:00'],
        ['one bad', '2150-01-02 10:30:00', 'soon'],
        ['one with fraction', '2150-01-02 10:30:00', '2150-01-03 11:00:00.0'],
        ['one date only', '2150-01-02 10:30:00', '2150-01-03'],
        ['epoch numbers', '5680310400', '5680398600'],
        ['zoned', '2150-01-02 10:30:00Z', '2150-01-03 11:00:00Z'],
      ] as const
    ).map(([name, first, second]) => ({
      name,
      ...keysWritten(first, second),
      expected: { error: 'key-type' as const },
    })),
  ]);
});
