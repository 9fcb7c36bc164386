import { describe, expect, it } from 'vitest';
import { published, useFixture } from './published-case.js';
import { csv, keyed } from './scoring-fixture.js';

const fixture = useFixture();
const two = keyed([1, 4], [2, 5]);

describe('measured cases: nulls', () => {
  const withNull = keyed([1, 4], [2, null]);
  published(fixture, [
    { name: 'null does not match 0', truth: withNull, output: keyed([1, 4], [2, 0]), expected: '1/2' },
    { name: '0 does not match null', truth: keyed([1, 4], [2, 0]), output: withNull, expected: '1/2' },
    ...['NaN', 'nan', 'NULL', 'None', ' '].map((token) => ({
      name: `"${token}" where truth is null does not match and leaves the other rows alone`,
      truth: withNull,
      output: keyed([1, '4.0'], [2, token]),
      expected: '1/2',
    })),
    {
      name: 'NULL where integer truth is present',
      truth: keyed([1, 4], [2, 5], [3, 6]),
      output: keyed([1, 'NULL'], [2, 5], [3, 6]),
      expected: '2/3',
    },
    {
      name: 'NULL where truth is present and truth has a null elsewhere',
      truth: keyed([1, 4], [2, 5], [3, null]),
      output: keyed([1, 'NULL'], [2, 5], [3, null]),
      expected: '1/3',
    },
    {
      name: 'NULL among decimals',
      truth: keyed([1, 4.5], [2, 5.25], [3, 6]),
      output: keyed([1, 'NULL'], [2, '5.250'], [3, '6.0']),
      expected: '1/3',
    },
    { name: 'quoted empty is null', truth: withNull, output: 'k,v\n1,4\n2,""\n', expected: '2/2' },
    {
      name: 'all-null truth',
      truth: keyed([1, null], [2, null]),
      output: keyed([1, 'x'], [2, null]),
      expected: '1/2',
    },
    { name: 'all-null output', truth: two, output: keyed([1, null], [2, null]), expected: '0/2' },
  ]);
});

describe('measured cases: numbers', () => {
  const one = (value: string) => keyed([1, value], [2, 5]);
  published(fixture, [
    { name: 'integer 4 equals 4.0', truth: two, output: one('4.0'), expected: '2/2' },
    ...['+4', '04', ' 4 ', '"4"', '4e0', '0.4e1'].map((text) => ({
      name: `${text} equals 4`,
      truth: two,
      output: one(text),
      expected: '2/2',
    })),
    {
      name: '1e3 and +1000 equal 1000',
      truth: keyed([1, 1000], [2, 1000]),
      output: keyed([1, '1e3'], [2, '+1000']),
      expected: '2/2',
    },
    ...['"1,000"', '0x10', '1_000', '4%'].map((text) => ({
      name: `${text} is no number and turns the column to text`,
      truth: keyed([1, text === '0x10' ? 16 : text === '4%' ? 4 : 1000], [2, 5], [3, 6]),
      output: keyed([1, text], [2, 5], [3, '6.0']),
      expected: '1/3',
    })),
    {
      name: '-0.0 equals 0.0',
      truth: keyed([1, '0.0'], [2, 1.5]),
      output: keyed([1, '-0.0'], [2, 1.5]),
      expected: '2/2',
    },
    {
      name: 'inf does not equal inf',
      truth: keyed([1, 'inf'], [2, 5]),
      output: keyed([1, 'inf'], [2, 5]),
      expected: '1/2',
    },
    {
      name: 'tolerance 0.01: 1.00 vs 1.01 no, 2.00 vs 2.01 yes',
      truth: keyed([1, '1.00'], [2, '2.00']),
      output: keyed([1, 1.01], [2, 2.01]),
      tolerance: { v: 0.01 },
      expected: '1/2',
    },
    {
      name: 'tolerance 0.01: 1.00 vs 0.99 and 2.00 vs 1.99 no',
      truth: keyed([1, '1.00'], [2, '2.00']),
      output: keyed([1, 0.99], [2, 1.99]),
      tolerance: { v: 0.01 },
      expected: '0/2',
    },
    {
      name: 'tolerance 0.25: 1.5 vs 1.25 yes',
      truth: keyed([1, 1.5]),
      output: keyed([1, 1.25]),
      tolerance: { v: 0.25 },
      expected: '1/1',
    },
    {
      name: 'tolerance 1.0: 10 vs 11 yes, 20 vs 21.0001 no',
      truth: keyed([1, 10], [2, 20]),
      output: keyed([1, 11], [2, 21.0001]),
      tolerance: { v: 1 },
      expected: '1/2',
    },
    {
      name: 'integers beyond 2^53 are subtracted exactly, with tolerance',
      truth: keyed([1, '9007199254740993'], [2, '-9007199254740995']),
      output: keyed([1, '9007199254740992'], [2, '-9007199254740993']),
      tolerance: { v: 1 },
      expected: '1/2',
    },
    {
      name: 'integers beyond 2^53 beside decimals are subtracted as doubles',
      truth: keyed([1, '9007199254740993'], [2, 1]),
      output: keyed([1, '9007199254740992'], [2, '1.0']),
      expected: '2/2',
    },
    {
      name: 'integers beyond 2^53 are subtracted exactly',
      truth: keyed([1, '9007199254740993']),
      output: keyed([1, '9007199254740992']),
      expected: '0/1',
    },
  ]);
});

describe('measured cases: booleans', () => {
  const flags = keyed([1, 'True'], [2, 'False']);
  published(fixture, [
    {
      name: 'boolean against boolean is an error',
      truth: flags,
      output: flags,
      expected: { error: 'column-type' },
    },
    {
      name: 'boolean against boolean with a missing key',
      truth: keyed([1, 'True'], [2, 'False'], [3, 'True']),
      output: flags,
      expected: '2/3',
    },
    {
      name: 'boolean truth with null against the same',
      truth: keyed([1, 'True'], [2, 'False'], [3, null]),
      output: keyed([1, 'True'], [2, 'False'], [3, null]),
      expected: '3/3',
    },
    { name: 'boolean truth against 1/0', truth: flags, output: keyed([1, 1], [2, 0]), expected: '2/2' },
    {
      name: 'boolean truth with null against 1/0 with null',
      truth: keyed([1, 'True'], [2, null]),
      output: keyed([1, 1], [2, null]),
      expected: '2/2',
    },
    {
      name: '1/0 truth against booleans',
      truth: keyed([1, 1], [2, 0]),
      output: keyed([1, 'true'], [2, 'FALSE']),
      expected: '2/2',
    },
    {
      name: '1/0 truth with null against booleans with null',
      truth: keyed([1, 1], [2, null]),
      output: keyed([1, 'True'], [2, null]),
      expected: '2/2',
    },
    { name: 'boolean truth against t/f', truth: flags, output: keyed([1, 't'], [2, 'f']), expected: '0/2' },
    {
      name: '1/0 truth against True and 0 mixed',
      truth: keyed([1, 1], [2, 0]),
      output: keyed([1, 'True'], [2, 0]),
      expected: '1/2',
    },
  ]);
});

describe('what a column cannot be compared with', () => {
  const [first, second] = ['2150-01-02 10:30:00', '2150-01-03 11:00:00'];
  const zoneless = keyed([1, first], [2, second]);
  const zoned = keyed([1, `${first}Z`], [2, `${second}Z`]);
  const clash = { error: 'column-type' as const };
  published(fixture, [
    { name: 'zoned beside nulls only', truth: zoned, output: keyed([1, null], [2, null]), expected: clash },
    { name: 'zoned beside numbers', truth: zoned, output: keyed([1, 5], [2, 6.5]), expected: clash },
    {
      name: 'zoned beside compact dates',
      truth: zoned,
      output: keyed([1, 21500102], [2, 21500103]),
      expected: clash,
    },
    { name: 'zoned beside zone-less', truth: zoned, output: zoneless, expected: clash },
    { name: 'zoned beside words', truth: zoned, output: keyed([1, 'x'], [2, `${second}Z`]), expected: '1/2' },
    { name: 'zoned beside no row', truth: zoned, output: 'k,v\n', expected: '0/2' },
    {
      name: 'zone-less beside nulls only',
      truth: zoneless,
      output: keyed([1, null], [2, null]),
      expected: '0/2',
    },
    { name: 'zone-less beside decimals', truth: zoneless, output: keyed([1, 5.5], [2, 6]), expected: '0/2' },
    {
      name: 'zone-less beside numbers and null beside null',
      truth: keyed([1, first], [2, null]),
      output: keyed([1, 5], [2, null]),
      expected: '1/2',
    },
    {
      name: 'zone-less beside compact dates, which are numbers',
      truth: keyed([1, '2150-01-02'], [2, '2150-01-03']),
      output: keyed([1, 21500102], [2, 21500103]),
      expected: '0/2',
    },
    {
      name: 'zone-less beside compact dates and a word',
      truth: keyed([1, '2150-01-02'], [2, '2150-01-03']),
      output: keyed([1, 21500102], [2, 21500103], [3, 'x']),
      expected: '2/3',
    },
  ]);

  it('is told in one sentence', async () => {
    const reasonOf = async (truth: string, output: string) =>
      (await fixture.current.evaluate({ truth, output })).evaluation.error;
    const cannot = 'which the published rules cannot subtract.';
    expect(await reasonOf(zoned, zoneless)).toBe(
      `Column v is zone-less and the reference is zoned, ${cannot}`,
    );
    expect(await reasonOf(zoneless, zoned)).toBe(
      `Column v is zoned and the reference is zone-less, ${cannot}`,
    );
    const flags = keyed([1, 'true'], [2, 'false']);
    expect(await reasonOf(flags, flags)).toBe(`Column v is boolean on both sides, ${cannot}`);
    expect(await reasonOf(two, 'k,v,v_truth\n1,4,4\n')).toBe(
      "The output has a column v_truth, which the published join takes for the reference's v.",
    );
    expect(await reasonOf(two, 'k,v,v_truth\n,4,4\n')).toMatch(/^Key column k has 1 cells/);
  });

  it('in one column fails all of them', async () => {
    const header = ['k', 'v', 'w'];
    const { evaluation } = await fixture.current.evaluate({
      truth: csv(header, [[1, 'true', 4]]),
      output: csv(header, [[1, 'true', 4]]),
      values: ['w', 'v'],
    });
    expect(evaluation).toMatchObject({
      errorKind: 'column-type',
      reward: 0,
      rewardRobust: 1,
      columns: { v: { total: 0, robustMatched: 1 }, w: { total: 0, robustMatched: 1 } },
    });
  });
});

describe('how a column was compared', () => {
  const comparisonOf = async (truth: string, output: string) => {
    const { v } = (await fixture.current.evaluate({ truth, output, request: { scoresOnly: true } }))
      .evaluation.columns;
    return v?.comparison;
  };
  const stamps = keyed([1, '2150-01-02 10:30:00'], [2, '2150-01-03 11:00:00']);
  it.each([
    ['numbers', two, two, 'numeric'],
    ['wide integers', keyed([1, '9007199254740993']), keyed([1, '9007199254740992']), 'numeric'],
    ['booleans beside numbers', two, keyed([1, 'true'], [2, 'false']), 'numeric'],
    ['a word among numbers', two, keyed([1, 'x'], [2, 5]), 'text'],
    ['labels', keyed([1, 'x']), keyed([1, 4]), 'text'],
    ['date-times', stamps, keyed([1, '2150-01-02 10:30'], [2, '2150-01-03 11:00']), 'temporal'],
    ['numbers beside date-times', stamps, two, 'temporal'],
    ['a word among date-times', stamps, keyed([1, '2150-01-02 10:30:00'], [2, 'x']), 'text'],
    ['an absent column', two, csv(['k'], [[1], [2]]), 'absent'],
  ])('%s', async (_name, truth, output, comparison) => {
    expect(await comparisonOf(truth, output)).toBe(comparison);
  });
});

describe('measured cases: labels', () => {
  const label = keyed([1, 'None']);
  published(fixture, [
    {
      name: 'text truth against integers, all rows there',
      truth: keyed([1, 'a'], [2, 2], [3, '3.0']),
      output: keyed([1, 1], [2, 2], [3, 3]),
      expected: '1/3',
    },
    {
      name: 'text truth against integers with a missing row, which print as decimals',
      truth: keyed([1, 'a'], [2, 2], [3, '3.0'], [4, '4.0'], [5, 'b']),
      output: keyed([1, 1], [2, 2], [3, 3], [4, '04']),
      expected: '2/5',
    },
    {
      name: 'text truth against wide integers',
      truth: keyed([1, 'a'], [2, '9007199254740993']),
      output: keyed([1, 1], [2, '9007199254740993']),
      expected: '1/2',
    },
    {
      name: 'text truth against booleans, which print as words',
      truth: keyed([1, 'True'], [2, 'False'], [3, 'c']),
      output: keyed([1, 'true'], [2, 'FALSE'], [3, null]),
      expected: '2/3',
    },
    {
      name: 'text truth against decimals, which print in their shortest form',
      truth: keyed([1, 'a'], [2, '2.5'], [3, '1e-07']),
      output: keyed([1, 1], [2, '2.50'], [3, '0.0000001']),
      expected: '2/3',
    },
    {
      name: 'text truth against numbers and a word',
      truth: keyed([1, 'a'], [2, 2]),
      output: keyed([1, 'x'], [2, 2]),
      expected: '1/2',
    },
    {
      name: 'text truth against numbers and an extra word',
      truth: keyed([1, 'a'], [2, 2]),
      output: keyed([1, '1.0'], [2, '2'], [3, 'x']),
      expected: '1/3',
    },
    {
      name: 'null labels beside nulls and words',
      truth: keyed([1, 'a'], [2, null], [3, null]),
      output: keyed([1, null], [2, null], [3, 'a']),
      expected: '1/3',
    },
    { name: 'labels are case-sensitive', truth: label, output: keyed([1, 'none']), expected: '0/1' },
    { name: 'blanks of labels count', truth: label, output: keyed([1, 'None ']), expected: '0/1' },
    {
      name: 'text truth against integers',
      truth: keyed([1, 'a'], [2, 2]),
      output: keyed([1, 1], [2, 2]),
      expected: '1/2',
    },
    {
      name: 'text truth against decimals',
      truth: keyed([1, 'a'], [2, 2]),
      output: keyed([1, '1.0'], [2, '2.0']),
      expected: '0/2',
    },
    {
      name: 'time-like text after the 50th row only',
      truth: keyed(...stamps('2150-01-01 10:30:00')),
      output: keyed(...stamps('2150-01-01T10:30:00')),
      expected: '60/61',
    },
  ]);
});

function stamps(last: string): readonly (readonly [number, string])[] {
  return [...Array.from({ length: 60 }, (_unused, i) => [i, 'a'] as const), [60, last] as const];
}
