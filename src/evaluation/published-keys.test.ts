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

describe('kinds of keys', () => {
  const keyError = { error: 'key-type' as const };
  published(fixture, [
    {
      name: 'true and false are the numbers 1 and 0',
      truth: keyed([1, 4], [0, 5]),
      output: keyed(['TRUE', 4], ['false', 5]),
      expected: '2/2',
    },
    {
      name: 'true among numbers is none',
      truth: keyed([1, 4], [0, 5]),
      output: keyed(['true', 4], [0, 5]),
      expected: keyError,
    },
    {
      name: 'boolean keys of the reference are numbers',
      truth: keyed(['True', 4], ['False', 5]),
      output: keyed([1, 4], ['0.0', 5]),
      expected: '2/2',
    },
    {
      name: 'decimal keys',
      truth: keyed([1.5, 4], [2.25, 5]),
      output: keyed(['1.50', 4], ['225e-2', 5]),
      expected: '2/2',
    },
    {
      name: 'text where the reference has numbers',
      truth: two,
      output: keyed(['a', 4], ['b', 5]),
      expected: keyError,
    },
    {
      name: 'numbers where the reference has text',
      truth: keyed(['a', 4], ['b', 5]),
      output: two,
      expected: keyError,
    },
    {
      name: 'booleans where the reference has text',
      truth: keyed(['True', 4], ['b', 5]),
      output: keyed(['true', 4], ['false', 5]),
      expected: keyError,
    },
    {
      name: 'date-times where the reference has text',
      truth: keyed(['a', 4], ['b', 5]),
      output: keyed(['2150-01-02', 4], ['2150-01-03', 5]),
      expected: keyError,
    },
    {
      name: 'one date-time where the reference has text',
      truth: keyed(['a', 4], ['2150-01-02', 5]),
      output: keyed(['2150-01-02', 5], ['b', 5]),
      expected: '1/3',
    },
    {
      name: 'a null in the reference makes its keys text, and joins with null',
      truth: keyed([1, 4], [null, 5], [3, 6]),
      output: keyed(['1.0', 4], [null, 5], [3, 6]),
      expected: '3/3',
    },
    {
      name: 'a null in the reference and none in the output',
      truth: keyed([1, 4], [null, 5]),
      output: two,
      expected: keyError,
    },
    {
      name: 'numbers beside a null print as decimals',
      truth: keyed(['a', 4], ['1.0', 5]),
      output: keyed([1, 5], [null, 4]),
      expected: '1/3',
      extra: 1,
    },
    {
      name: 'booleans beside a null print as words',
      truth: keyed(['True', 4], ['b', 5]),
      output: keyed(['true', 4], [null, 5]),
      expected: '1/3',
    },
    {
      name: 'any keys beside a reference without rows',
      truth: 'k,v\n',
      output: keyed(['a', 4], ['b', 5]),
      expected: '0/2',
      extra: 2,
    },
    {
      name: 'numbers beside a reference without rows',
      truth: 'k,v\n',
      output: two,
      expected: '0/2',
      extra: 2,
    },
    {
      name: 'any numbers beside a reference without rows',
      truth: 'k,v\n',
      output: keyed([1, 4], [null, 5], ['x', 6]),
      expected: '0/3',
    },
    {
      name: 'of several columns, the second of another kind',
      keys: ['k', 'l'],
      truth: csv(['k', 'l', 'v'], [[1, 'a', 4]]),
      output: csv(['k', 'l', 'v'], [[1, 2, 4]]),
      expected: keyError,
    },
    {
      name: 'of several columns, text that joins and then date-times that do not',
      keys: ['k', 'l'],
      truth: csv(['k', 'l', 'v'], [['a', '2150-01-02 10:30:00', 4]]),
      output: csv(['k', 'l', 'v'], [['a', 20500102, 4]]),
      expected: keyError,
    },
    {
      name: 'of several columns, numbers, text and date-times',
      keys: ['k', 'l', 'm'],
      truth: csv(
        ['k', 'l', 'm', 'v'],
        [
          [1, 'a', '2150-01-02 10:30:00', 4],
          [1, null, '2150-01-02 10:30:00', 5],
          [1, 'a', '2150-01-02 10:31:00', 6],
        ],
      ),
      output: csv(
        ['m', 'l', 'k', 'v'],
        [
          ['2150-01-02 10:30', 'a', '1.0', 4],
          ['2150-01-02 10:30', null, '01', 5],
          ['2150-01-02 10:32', 'a', 1, 6],
        ],
      ),
      expected: '2/4',
      missing: 1,
    },
  ]);

  it('are told in one sentence', async () => {
    const reasonOf = async (truth: readonly string[], output: readonly string[]) => {
      const file = (keys: readonly string[]) => keyed(...keys.map((key) => [key, 4] as const));
      const { evaluation } = await fixture.current.evaluate({ truth: file(truth), output: file(output) });
      return evaluation.error;
    };
    const [stamp, zoned] = ['2150-01-02 10:30:00', '2150-01-02 10:30:00Z'];
    expect(await reasonOf(['a'], ['1'])).toBe('Key column k holds numbers where the reference has text.');
    expect(await reasonOf(['a'], [stamp])).toBe(
      'Key column k holds date-times where the reference has text.',
    );
    expect(await reasonOf([stamp], ['20500102'])).toBe(
      'Key column k holds numbers where the reference has date-times.',
    );
    expect(await reasonOf([stamp], ['', stamp])).toBe(
      'Key column k has an empty cell, so it is not read as date-times.',
    );
    expect(await reasonOf([stamp], [zoned])).toBe('Key column k is zoned and the reference is zone-less.');
    expect(await reasonOf([zoned], [stamp])).toBe('Key column k is zone-less and the reference is zoned.');
    expect(await reasonOf(['1', '2'], ['1', 'x', ''])).toBe(
      "Key column k has 2 cells that are empty or not of the reference's kind, which the published rules do not join.",
    );
    expect(await reasonOf([zoned], [zoned])).toBeNull();
  });
});

describe('wide integer keys', () => {
  const [even, odd] = ['9007199254740992', '9007199254740993'];
  published(fixture, [
    {
      name: 'at the bound of doubles',
      truth: keyed([even, 4]),
      output: keyed([odd, 4]),
      expected: '0/2',
      extra: 1,
    },
    {
      name: 'below zero',
      truth: keyed([`-${even}`, 4], [`-${odd}`, 5]),
      output: keyed([`-${odd}`, 5], [` -0${even}`, 4]),
      expected: '2/2',
    },
    {
      name: 'beside decimals join by the integer that the decimal is',
      truth: keyed([even, 4], [2, 5], [3, 6]),
      output: keyed([`${even}.0`, 4], ['1.5', 5], ['1e300', 9], ['3.0', 6]),
      expected: '2/5',
      extra: 2,
    },
    {
      name: 'beside a word',
      truth: keyed([even, 4]),
      output: keyed(['x', 4]),
      expected: { error: 'key-type' },
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
