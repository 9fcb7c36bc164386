import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EvaluationErrorKind } from './evaluation.js';
import { csv, keyed, type ScoringCase, ScoringFixture } from './scoring-fixture.js';

/** The tables of pinned and measured cases of the published scorer, row by row; m/t is matched/total. */
interface PublishedCase extends ScoringCase {
  readonly name: string;
  /** `m/t` per scored column, or the kind of error. */
  readonly expected: string | readonly string[] | { readonly error: EvaluationErrorKind };
  readonly extra?: number;
  readonly duplicates?: number;
  readonly precision?: number;
  readonly missing?: number;
}

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

function published(cases: readonly PublishedCase[]): void {
  for (const { name, expected, ...one } of cases) {
    it(name, async () => {
      const { evaluation } = await fixture.evaluate(one);
      if (typeof expected === 'object' && 'error' in expected) {
        expect(evaluation).toMatchObject({
          errorKind: expected.error,
          reward: 0,
          keyPrecision: 0,
          checks: [],
        });
        expect(Object.values(evaluation.matchRates).every((rate) => rate === 0)).toBe(true);
        expect(evaluation.error).toMatch(/\.$/);
        return;
      }
      expect(evaluation.error).toBeNull();
      const counts = Object.values(evaluation.columns).map(({ matched, total }) => `${matched}/${total}`);
      expect(counts).toEqual([expected].flat());
      if (one.extra !== undefined) expect(evaluation.extraKeys).toBe(one.extra);
      if (one.duplicates !== undefined) expect(evaluation.duplicateKeys).toBe(one.duplicates);
      if (one.precision !== undefined) expect(evaluation.keyPrecision).toBe(one.precision);
      if (one.missing !== undefined) expect(evaluation.missingKeys).toBe(one.missing);
    });
  }
}

const two = keyed([1, 4], [2, 5]);
const stamp = (text: string) => `2150-01-0${text}`;

describe('pinned cases', () => {
  published([
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
    const failed = await fixture.evaluate({ truth: two, output: keyed([1, 4], [2, 6]) });
    const broken = await fixture.evaluate({ truth: two, output: 'k\n"' });
    const right = await fixture.evaluate({ truth: two, output: two });
    expect([failed, broken, right].map(({ evaluation }) => evaluation.strictPass)).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('measured cases: keys', () => {
  const wide = keyed(['9007199254740992', 4], ['9007199254740993', 5]);
  published([
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

describe('measured cases: nulls', () => {
  const withNull = keyed([1, 4], [2, null]);
  published([
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
  published([
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
      name: 'integers beyond 2^53 are subtracted exactly',
      truth: keyed([1, '9007199254740993']),
      output: keyed([1, '9007199254740992']),
      expected: '0/1',
    },
  ]);
});

describe('measured cases: booleans', () => {
  const flags = keyed([1, 'True'], [2, 'False']);
  published([
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

describe('measured cases: labels', () => {
  const label = keyed([1, 'None']);
  published([
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

describe('measured cases: the file', () => {
  published([
    {
      name: 'trailing comma on data lines only shifts every column',
      truth: two,
      output: 'k,v\n1,4,\n2,5,\n',
      expected: '0/4',
    },
    { name: 'trailing comma in the header too', truth: two, output: 'k,v,\n1,4,\n2,5,\n', expected: '2/2' },
    { name: 'CRLF', truth: two, output: 'k,v\r\n1,4\r\n2,5\r\n', expected: '2/2' },
    { name: 'byte-order mark', truth: two, output: '\ufeffk,v\n1,4\n2,5\n', expected: '2/2' },
    { name: 'blank lines', truth: two, output: '\n\nk,v\n\n1,4\n\n\n2,5\n\n', expected: '2/2' },
    { name: 'leading index column', truth: two, output: ',k,v\n0,1,4\n1,2,5\n', expected: '2/2' },
    {
      name: 'other column order and an extra column',
      truth: two,
      output: 'x,v,k\n,4,1\nq,5,2\n',
      expected: '2/2',
    },
    {
      name: 'doubled header name: the first counts',
      truth: two,
      output: 'k,v,v\n1,4,9\n2,5,9\n',
      expected: '2/2',
    },
    {
      name: 'header name with a blank: column missing',
      truth: two,
      output: 'k, v\n1,4\n2,5\n',
      expected: '0/2',
    },
    {
      name: 'header name in another case: column missing',
      truth: two,
      output: 'k,V\n1,4\n2,5\n',
      expected: '0/2',
    },
    {
      name: 'key name with a blank',
      truth: two,
      output: ' k,v\n1,4\n2,5\n',
      expected: { error: 'key-column-missing' },
    },
    { name: 'semicolons', truth: two, output: 'k;v\n1;4\n2;5\n', expected: { error: 'key-column-missing' } },
    {
      name: 'comment line before the header',
      truth: two,
      output: '# result\nk,v\n1,4\n',
      expected: { error: 'key-column-missing' },
    },
    {
      name: 'a scored column is absent',
      truth: csv(
        ['k', 'v', 'w'],
        [
          [1, 4, 7],
          [2, 5, 8],
        ],
      ),
      output: csv(
        ['k', 'w'],
        [
          [1, 7],
          [2, 8],
        ],
      ),
      values: ['v', 'w'],
      expected: ['0/2', '2/2'],
    },
    { name: 'header only', truth: two, output: 'k,v\n', expected: '0/2' },
    {
      name: 'a column named like a scored column plus _truth',
      truth: two,
      output: 'k,v,v_truth\n1,4,4\n2,5,5\n',
      expected: { error: 'column-name-clash' },
    },
  ]);
});

describe('measured cases: instants', () => {
  const truth = keyed([1, `${stamp('2')} 10:30:00`], [2, `${stamp('3')} 11:00:00`]);
  const both = (first: string, second: string) => ({ truth, output: keyed([1, first], [2, second]) });
  const writings: readonly (readonly [string, string, string])[] = [
    ['T separator', '2150-01-02T10:30:00', '2150-01-03T11:00:00'],
    ['HH:MM', '2150-01-02 10:30', '2150-01-03 11:00'],
    ['.000', '2150-01-02 10:30:00.000', '2150-01-03 11:00:00.000'],
    ['YYYY/MM/DD', '2150/01/02 10:30:00', '2150/01/03 11:00:00'],
    ['month first', '01/02/2150 10:30:00', '01/03/2150 11:00:00'],
    ['day first when the first value needs it', '13/02/2150 10:30:00', '14/02/2150 11:00:00'],
    ['AM/PM', '01/02/2150 10:30 AM', '01/03/2150 11:00 AM'],
    ['month names', 'Jan 2 2150 10:30:00', 'Jan 3 2150 11:00:00'],
  ];
  published([
    ...writings
      .filter(([, first]) => !first.startsWith('13/'))
      .map(([name, first, second]) => ({
        name: `${name} throughout`,
        ...both(first, second),
        expected: '2/2',
      })),
    {
      name: 'day first when the first value needs it',
      truth: keyed([1, '2150-02-13 10:30:00'], [2, '2150-02-14 11:00:00']),
      output: keyed([1, '13/02/2150 10:30:00'], [2, '14/02/2150 11:00:00']),
      expected: '2/2',
    },
    { name: 'mixed separators', ...both('2150-01-02T10:30:00', '2150-01-03 11:00:00'), expected: '1/2' },
    { name: 'mixed fraction', ...both('2150-01-02 10:30:00.0', '2150-01-03 11:00:00'), expected: '1/2' },
    { name: 'one date only', ...both('2150-01-02', '2150-01-03 11:00:00'), expected: '1/2' },
    { name: 'one bad', ...both('soon', '2150-01-03 11:00:00'), expected: '1/2' },
    { name: 'one zoned', ...both('2150-01-02 10:30:00Z', '2150-01-03 11:00:00'), expected: '1/2' },
    { name: 'one outside the range', ...both('2300-01-02 10:30:00', '2150-01-03 11:00:00'), expected: '1/2' },
    ...(['Z', '+00', '+00:00'] as const).map((zone) => ({
      name: `whole column zoned with ${zone} against zone-less`,
      ...both(`2150-01-02 10:30:00${zone}`, `2150-01-03 11:00:00${zone}`),
      expected: { error: 'column-type' as const },
    })),
    {
      name: 'whole column zoned with mixed offsets against zone-less',
      ...both('2150-01-02 10:30:00+00:00', '2150-01-03 11:00:00+01:00'),
      expected: { error: 'column-type' },
    },
    {
      name: 'both zoned',
      truth: keyed([1, '2150-01-02 13:00:00+00:00']),
      output: keyed([1, '2150-01-02 14:00:00+01:00']),
      expected: '1/1',
    },
    {
      name: 'truth dates only, output midnight instants',
      truth: keyed([1, '2150-01-02'], [2, '2150-01-03']),
      output: keyed([1, '2150-01-02 00:00:00'], [2, '2150-01-03 00:00:00']),
      expected: '2/2',
    },
    {
      name: 'tolerance 60 s: +60 yes, +61 no',
      ...both('2150-01-02 10:31:00', '2150-01-03 11:01:01'),
      tolerance: { v: 60 },
      expected: '1/2',
    },
    {
      name: '1 ms off',
      truth: keyed([1, '2150-01-02 10:30:00.000']),
      output: keyed([1, '2150-01-02 10:30:00.001']),
      expected: '0/1',
    },
    {
      name: '1 ns off',
      truth: keyed([1, '2150-01-02 10:30:00.000000000']),
      output: keyed([1, '2150-01-02 10:30:00.000000001']),
      expected: '0/1',
    },
    { name: 'numbers where truth has instants', ...both('5', '6'), expected: '0/2' },
  ]);
});

describe('measured cases: time-like keys', () => {
  const truth = keyed(['2150-01-02 10:30:00', 4], ['2150-01-03 11:00:00', 5]);
  const keysWritten = (first: string, second: string) => ({ truth, output: keyed([first, 4], [second, 5]) });
  published([
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
