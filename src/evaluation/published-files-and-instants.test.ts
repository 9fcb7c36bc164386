import { describe } from 'vitest';
import { published, useFixture } from './published-case.js';
import { csv, keyed } from './scoring-fixture.js';

const fixture = useFixture();
const two = keyed([1, 4], [2, 5]);
const stamp = (text: string) => `2150-01-0${text}`;

describe('measured cases: the file', () => {
  published(fixture, [
    {
      name: 'trailing comma on data lines only shifts every column',
      truth: two,
      output: 'k,v\n1,4,\n2,5,\n',
      expected: '0/4',
    },
    { name: 'trailing comma in the header too', truth: two, output: 'k,v,\n1,4,\n2,5,\n', expected: '2/2' },
    { name: 'CRLF', truth: two, output: 'k,v\r\n1,4\r\n2,5\r\n', expected: '2/2' },
    { name: 'byte-order mark', truth: two, output: '\ufeffk,v\n1,4\n2,5\n', expected: '2/2' },
    {
      name: 'byte-order mark before a quoted header',
      truth: two,
      output: '\ufeff"k",v\n1,4\n2,5\n',
      expected: '2/2',
    },
    ...['1_000', '+-1000'].map((odd) => ({
      name: `${odd} in a quoted file is no number`,
      truth: keyed([1, odd === '1_000' ? 1000 : -1000], [2, '6.0'], [3, null]),
      output: `"k",v\n1,${odd}\n2,6.0\n3,\n`,
      expected: '2/3',
    })),
    {
      name: 'a first name that begins like a byte-order mark',
      truth: 'ﬁ,v\n1,4\n2,5\n',
      keys: ['ﬁ'],
      output: 'ﬁ,"v"\n1,4\n2,5\n',
      expected: '2/2',
    },
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
  published(fixture, [
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
