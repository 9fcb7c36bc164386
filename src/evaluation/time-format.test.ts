import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import {
  guessTimeFormat,
  hintsAtTimeSql,
  looseInstantSql,
  wallClockSql,
  zonedInstantSql,
} from './time-format.js';

const guessed = (first: string) => {
  const format = guessTimeFormat(first);
  return format === undefined
    ? undefined
    : [format.pattern, ...(format.isZoned ? ['zoned'] : []), ...(format.isDigitsOnly ? ['digits'] : [])].join(
        ' | ',
      );
};

describe('the format of a first value', () => {
  // Those marked * are the guesses that the published reader's own test suite states (pandas, test_parsing.py).
  it.each([
    ['2011-12-30', '%Y-%m-%d'], // *
    ['2011-1-3', '%Y-%m-%d'],
    ['2011/12/30', '%Y/%m/%d'],
    ['2011.12.30', '%Y.%m.%d'],
    ['2152-02-29', '%Y-%m-%d'],
    ['0001-01-01', '%Y-%m-%d'],
    ['9999-12-31', '%Y-%m-%d'],
    ['12/30/2011', '%m/%d/%Y'],
    ['30-12-2011', '%d-%m-%Y'], // *
    ['1.2.2011', '%m.%d.%Y'],
    ['12/12/2011', '%m/%d/%Y'],
    ['13/12/2011', '%d/%m/%Y'],
    ['31/1/2011', '%d/%m/%Y'],
    ['Dec 30 2011', '%b %d %Y'],
    ['May 3 2011', '%b %d %Y'],
    ['December 30 2011', '%B %d %Y'],
    ['decEMBER 30, 2011', '%B %d, %Y'],
    ['jan 3, 2011', '%b %d, %Y'],
    ['30 Dec 2011', '%d %b %Y'],
    ['3-Sep-2011', '%d-%b-%Y'],
    ['03 September 2011', '%d %B %Y'],
    ['20111230', '%Y%m%d | digits'], // *
    ['20111230103059', '%Y%m%d%H%M%S | digits'],
    ['20111230 103059', '%Y%m%d %H%M%S'],
    ['20111230T235959', '%Y%m%dT%H%M%S'],
    ['2011-12', '%Y-%m'],
    ['2011', '%Y | digits'],
    ['2011-12-30 00:00:00', '%Y-%m-%d %H:%M:%S'], // *
    ['2011-12-30T00:00:00', '%Y-%m-%dT%H:%M:%S'], // *
    ['2011-12-30 23:59:59', '%Y-%m-%d %H:%M:%S'],
    ['2011-12-30   9:05', '%Y-%m-%d %H:%M'],
    ['2011-12-30T09:05', '%Y-%m-%dT%H:%M'],
    ['2011-12-30 00:00:00.000000', '%Y-%m-%d %H:%M:%S.%f'], // *
    ['2011-12-30 00:00:00.1', '%Y-%m-%d %H:%M:%S.%f'],
    ['2011-12-30 00:00:00.123456789', '%Y-%m-%d %H:%M:%S.%f'],
    ['2011-12-30T00:00:00UTC', '%Y-%m-%dT%H:%M:%S%Z | zoned'], // *
    ['2011-12-30T00:00:00Z', '%Y-%m-%dT%H:%M:%S%z | zoned'], // *
    ['2011-12-30T00:00:00+09', '%Y-%m-%dT%H:%M:%S%z | zoned'], // *
    ['2011-12-30T00:00:00-0900', '%Y-%m-%dT%H:%M:%S%z | zoned'], // *
    ['2011-12-30T00:00:00+09:00', '%Y-%m-%dT%H:%M:%S%z | zoned'], // *
    ['2011-12-30 00:00:00 +09:00', '%Y-%m-%d %H:%M:%S %z | zoned'],
    ['2011-12-30 00:00:00.5 UTC', '%Y-%m-%d %H:%M:%S.%f %Z | zoned'],
    ['2011-12-30 00:00Z', '%Y-%m-%d %H:%M%z | zoned'],
    ['12/30/2011 10:05 AM', '%m/%d/%Y %I:%M %p'],
    ['12/30/2011 12:05:09 am', '%m/%d/%Y %I:%M:%S %p'],
    ['12/30/2011 1:05:09.25 aM', '%m/%d/%Y %I:%M:%S.%f %p'],
    ['Dec 30 2011 10:05:09', '%b %d %Y %H:%M:%S'],
    ['30-Dec-2011T10:05', '%d-%b-%YT%H:%M'],
  ])('%s is %s', (first, expected) => {
    expect(guessed(first)).toBe(expected);
  });

  it.each([
    // Nothing before or behind, separators alike, four digits of a year.
    ...['', 'soon', 'x2011-12-30', '12011-12-30', '2011-12-301', '2011-12/30', '2011_12_30', '211-12-30'],
    ...['x12/30/2011', '12/30/20111', '12/30-2011', '12/30/211', '112/30/2011', '2011-12-3x'],
    ...[
      'Dec 30 20111',
      'Dec 30 211',
      '1Dec 30 2011',
      'Dec  30 2011',
      'Dec 30,2011',
      '30/Dec/2011',
      '130 Dec 2011',
    ],
    ...[
      '2011123',
      '201112301',
      '201112',
      '20111',
      '201',
      'x2011',
      '2011-123',
      '2011-1',
      'x2011-12',
      '2011-12x',
    ],
    // Days, months and years that do not exist.
    ...['2011-02-29', '2011-13-30', '2011-00-30', '2011-12-00', '2011-12-32', '2011-04-31', '0000-12-30'],
    ...['13/13/2011', '02/30/2011', '31/04/2011', '00/10/2011', '10/00/2011', '12/30/0000'],
    ...[
      'Feb 30 2011',
      'Dec 0 2011',
      'Dec 32 2011',
      'Dez 30 2011',
      'Sept 30 2011',
      'Decem 30 2011',
      '31 Jun 2011',
    ],
    ...['20111330', '20110230', '0000', '2011-13', '2011-00'],
    // Clocks.
    ...['2011-12-30 24:00', '2011-12-30 10:60', '2011-12-30 10:05:60', '2011-12-30 10', '2011-12-30 10:5'],
    ...[
      '2011-12-30X10:05',
      '2011-12-3010:05',
      '2011-12-30 10:05x',
      '2011-12-30 010:05',
      '2011-12-30 10:05:9',
    ],
    ...['2011-12-30 10:05:09.', '2011-12-30 10:05:09.1234567891', '2011-12-30 10:05.5', '2011-12-30T 10:05'],
    ...[
      '20111230240000',
      '20111230106000',
      '20111230100060',
      '2011123010',
      '20111230X103059',
      '20111230  103059',
    ],
    ...['20111230 10:30:59', '20111230T1030591'],
    // A 12-hour clock in the afternoon or beside a zone, and zones that are none.
    ...['12/30/2011 10:05 PM', '12/30/2011 13:05 AM', '12/30/2011 00:05 AM', '12/30/2011 10:05AM'],
    ...['2011-12-30 10:05 AM Z', '2011-12-30 10:05 AMZ', '2011-12-30 10:05 ', '2011-12-30 10:05  Z'],
    ...[
      '2011-12-30 10:05+9',
      '2011-12-30 10:05+090',
      '2011-12-30 10:05 CET',
      '2011-12-30 10:05z',
      '2011-12-30Z',
    ],
    // Zones beside anything but the ISO order.
    ...['12/30/2011 10:05Z', '30 Dec 2011 10:05:09+01:00', '2011.12.30 10:05Z'],
  ])('%j has none', (first) => {
    expect(guessed(first)).toBeUndefined();
  });
});

describe('SQL', () => {
  let session: DuckSession;
  beforeAll(async () => {
    session = await DuckSession.open({ threads: 1 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  /** What an expression over texts gives, as text. */
  async function valuesOf(sql: (text: string) => string, texts: readonly string[]) {
    const table = texts.map((text, i) => `(${i}, ${literal(text)})`).join(', ');
    const rows = await session.rows(
      `select (${sql('v')})::varchar as x from (values ${table}) cells(i, v) order by i`,
    );
    return rows.map(({ x }) => x);
  }

  /** Nanoseconds since 1970 of an instant with up to 9 decimals of a second, as text. */
  const nanoseconds = (instant: string) => {
    const [second, fraction = ''] = instant.split('.');
    return String(BigInt(Date.parse(`${second}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
  };

  type Cells = Readonly<Record<string, string | null>>;
  async function expectInstants(sql: (text: string) => string, cells: Cells) {
    const found = await valuesOf(sql, Object.keys(cells));
    const expected = Object.values(cells).map((instant) => instant && nanoseconds(instant));
    expect(Object.fromEntries(Object.keys(cells).map((text, i) => [text, found[i]]))).toEqual(
      Object.fromEntries(Object.keys(cells).map((text, i) => [text, expected[i]])),
    );
  }

  const byFormat: Readonly<Record<string, Cells>> = {
    '2150-01-02': {
      '2150-01-02': '2150-01-02T00:00:00',
      '2150-12-31': '2150-12-31T00:00:00',
      '2150-02-30': null,
      '2150/01/02': null,
      '2150-01-02 ': null,
      '2150-01-02 00:00:00': null,
      '1600-01-01': null,
      '2300-01-01': null,
    },
    '2150/01/02 10:30:00': {
      '2150/01/02 10:30:00': '2150-01-02T10:30:00',
      '2150/01/02   10:30:09': '2150-01-02T10:30:09',
      '2150-01-02 10:30:00': null,
      '2150/01/02T10:30:00': null,
      '2150/01/02 10:30': null,
      '2150/01/02 10:30:00.0': null,
      '2150/01/02 10:30:00Z': null,
      '2150/01/02 10:30:61': null,
    },
    '2150-01-02T10:30': { '2150-01-02T10:31': '2150-01-02T10:31:00', '2150-01-02 10:31': null, soon: null },
    '2150-01-02 10:30:00.000': {
      '2150-01-02 10:30:00.5': '2150-01-02T10:30:00.5',
      '2150-01-02 10:30:00.123456789': '2150-01-02T10:30:00.123456789',
      '2150-01-02 10:30:00': null,
    },
    '2150-01-02 10:30:00+01:00': {
      '2150-01-02 10:30:00+01:00': '2150-01-02T09:30:00',
      '2150-01-02 10:30:00-0530': '2150-01-02T16:00:00',
      '2150-01-02 10:30:00+02': '2150-01-02T08:30:00',
      '2150-01-02 10:30:00Z': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00 Z': null,
      '2150-01-02 10:30:00': null,
      '2150-01-02 10:30:00CET': null,
    },
    '2150-01-02 10:30:00.25 -01:00': {
      '2150-01-02 10:30:00.25 -01:00': '2150-01-02T11:30:00.25',
      '2150-01-02 10:30:00.5   +01:00': '2150-01-02T09:30:00.5',
      '2150-01-02 10:30:00.125 Z': '2150-01-02T10:30:00.125',
      '2150-01-02 10:30:00.25-01:00': null,
    },
    '2150-01-02T10:30Z': {
      '2150-01-02T10:30Z': '2150-01-02T10:30:00',
      '2150-01-02T10:30+01:00': '2150-01-02T09:30:00',
      '2150-01-02T10:30': null,
    },
    '2150-01-02 10:30 +01:00': { '2150-01-02 10:31 +01:00': '2150-01-02T09:31:00' },
    '2150-01-02 10:30 UTC': { '2150-01-02 10:31 UTC': '2150-01-02T10:31:00', '2150-01-02 10:31 Z': null },
    '2150-01-02 10:30UTC': { '2150-01-02 10:31UTC': '2150-01-02T10:31:00', '2150-01-02 10:31': null },
    '2150-01-02 10:30:00UTC': {
      '2150-01-02 10:30:00UTC': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00 UTC': null,
      '2150-01-02 10:30:00Z': null,
    },
    '01/02/2150 10:30:00': {
      '01/02/2150 10:30:00': '2150-01-02T10:30:00',
      '12/31/2150 23:59:59': '2150-12-31T23:59:59',
      '13/01/2150 10:30:00': null,
      '01-02-2150 10:30:00': null,
      '01/02/2300 10:30:00': null,
    },
    '13.02.2150': { '01.02.2150': '2150-02-01T00:00:00', '01+02+2150': null, '02.13.2150': null },
    '01/02/2150 10:30:00.5': {
      '01/02/2150 10:30:00.5': '2150-01-02T10:30:00.5',
      '01/02/2150 10:30:00.123456789': '2150-01-02T10:30:00.123456789',
      '01/02/2150 10:30:00': null,
    },
    '01/02/2150 10:30 AM': {
      '01/02/2150 10:30 AM': '2150-01-02T10:30:00',
      '01/02/2150 10:30 pm': '2150-01-02T22:30:00',
      '01/02/2150 12:30 AM': '2150-01-02T00:30:00',
      '01/02/2150 13:30 PM': null,
      '01/02/2150 10:30': null,
    },
    'Jan 2 2150': {
      'Feb 3 2150': '2150-02-03T00:00:00',
      'may 3 2150': '2150-05-03T00:00:00',
      '02 3 2150': null,
    },
    'January 2, 2150 10:30': {
      'february 3, 2150 11:30': '2150-02-03T11:30:00',
      'Feb 3, 2150 11:30': null,
      'January 2 2150 10:30': null,
    },
    '2-Jan-2150': { '31-Dec-2150': '2150-12-31T00:00:00', '31 Dec 2150': null },
    '21500102': { '21501231': '2150-12-31T00:00:00', '2150123': null },
    '21500102T103059': {
      '21501231T235958': '2150-12-31T23:59:58',
      '21501231 235958': null,
      '21501231T23595': null,
    },
    '2150-01': { '2150-12': '2150-12-01T00:00:00', '2150-12-01': null },
    '2150': { '2151': '2151-01-01T00:00:00', '215': null },
  };
  it.each(Object.entries(byFormat))('reads cells in the format of %s only', async (first, cells) => {
    const format = guessTimeFormat(first);
    await expectInstants((text) => format?.instantSql(text) ?? '', cells);
  });

  it('reads wall clocks, zone-less or of offset zero', async () => {
    await expectInstants(wallClockSql, {
      '2150-01-02': '2150-01-02T00:00:00',
      ' 2150-01-02 10:30': '2150-01-02T10:30:00',
      '2150/01/02 10:30:00': '2150-01-02T10:30:00',
      '2150-01-02T10:30:00.123456789': '2150-01-02T10:30:00.123456789',
      '2150-01-02 10:30:00Z': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00+00:00': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00+02:00': null,
      '01/02/2150': null,
      epoch: null,
      infinity: null,
      '2150-01-02 soon': null,
    });
  });

  it('reads instants, zone-less ones as UTC', async () => {
    await expectInstants(zonedInstantSql, {
      '2150-01-02 10:30:00+02:00': '2150-01-02T08:30:00',
      '\t2150/01/02 10:30:00Z': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00': '2150-01-02T10:30:00',
      '01/02/2150 10:30:00': null,
      epoch: null,
      now: null,
    });
  });

  it('reads cells of a column without a format one by one', async () => {
    const clock = (
      await valuesOf(looseInstantSql, ['10:30:00', '10:30', '10:30:00 AM', '10:30 AM', '09:30'])
    ).map(Number);
    // One fixed day for all.
    expect(new Set(clock.slice(0, 4)).size).toBe(1);
    expect((clock[0] as number) - (clock[4] as number)).toBe(3600e9);
    await expectInstants(looseInstantSql, {
      '2150-01-02 10:30:00Z': '2150-01-02T10:30:00',
      '2150-01-02 01:30 PM': '2150-01-02T13:30:00',
      '01/02/2150 01:30:09 PM': '2150-01-02T13:30:09',
      '01/02/2150 01:30PM': '2150-01-02T13:30:00',
      '13/02/2150 10:30': '2150-02-13T10:30:00',
      '01-02-2150': '2150-01-02T00:00:00',
      'Jan 2 2150 10:30:00': '2150-01-02T10:30:00',
      'February 2, 2150': '2150-02-02T00:00:00',
      '2 Jan 2150': '2150-01-02T00:00:00',
      '2-Jan-2150 10:30': '2150-01-02T10:30:00',
      '2150-01-02 10:30:00+02:00': null,
      '01/02/2300': null,
      soon: null,
      May: null,
      '': null,
    });
  });

  it('tells what hints at a date or a clock', async () => {
    const hints: Readonly<Record<string, boolean>> = {
      '2150-01-02': true,
      'on 2150-01-02': true,
      'T10:': true,
      '10:30': true,
      'at 9:05 sharp': true,
      a: false,
      '2150': false,
      '215-01-02': false,
      '2150-1-2': false,
      '2150/01/02': false,
      T10: false,
      '1:5': false,
      ':05': false,
    };
    expect(await valuesOf(hintsAtTimeSql, Object.keys(hints))).toEqual(Object.values(hints).map(String));
  });
});
