import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { hintsAtTime, isAllTimes, textFactsOf, timeReadingOf } from './column-facts.js';
import type { SourceColumn, TableSource } from './table-source.js';
import { asCsvText, describeTruth, isWideInteger, type TruthColumn } from './truth-column.js';

let session: DuckSession;
beforeAll(async () => {
  session = await DuckSession.open({ threads: 1 });
});
afterAll(() => session[Symbol.asyncDispose]());

let tables = 0;

/** A table from SQL expressions of cells, one list per column. */
async function tableOf(columns: Readonly<Record<string, readonly string[]>>): Promise<TableSource> {
  const names = Object.keys(columns);
  const rows = Object.values(columns)[0] ?? [];
  const values = rows.map((_cell, r) => `(${names.map((name) => columns[name]?.[r]).join(', ')})`);
  const table = `t${++tables}`;
  await session.run(
    `create temp table ${table} as from (values ${values.join(', ')}) cells(${names.map(identifier).join(', ')})`,
  );
  const described = await session.rows(`describe ${table}`);
  return {
    from: table,
    place: 'rowid',
    header: names,
    hasOddNumbers: true,
    columns: new Map(
      described.map((row): [string, SourceColumn] => {
        const name = String(row.column_name);
        return [name, { name, sql: identifier(name), type: String(row.column_type) }];
      }),
    ),
  };
}

const text = (...cells: readonly (string | null)[]) =>
  cells.map((cell) => (cell === null ? 'null::varchar' : literal(cell)));

async function cellsOf(source: TableSource, sql: string | null) {
  if (sql === null) return null;
  const rows = await session.rows(
    `select (${sql})::varchar as x from ${source.from} order by ${source.place}`,
  );
  return rows.map(({ x }) => x);
}

/** What is found of the only column of a table, with what its SQL gives. */
async function truthOf(cells: readonly string[], asKey = false) {
  const source = await tableOf({ c: cells });
  const column = (await describeTruth(session, source, new Set(asKey ? ['c'] : []))).get('c') as TruthColumn;
  const { kind, type, isZoned, rows, nulls, range } = column;
  return {
    facts: [kind, type, ...(isZoned ? ['zoned'] : []), `${rows} rows`, `${nulls} null`].join(', '),
    range: range === null ? null : [range.min, range.max],
    values: await cellsOf(source, column.valueSql),
    texts: await cellsOf(source, column.textSql),
    integers: await cellsOf(source, column.integerSql),
    ordered: await cellsOf(source, column.orderedSql),
  };
}

/** Nanoseconds since 1970 as text. */
const nanoseconds = (instant: string, beyond = 0n) =>
  String(BigInt(Date.parse(`${instant}Z`)) * 1_000_000n + beyond);

describe('a typed column of a reference', () => {
  it.each(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'])(
    'of %s is integer, or double when it has a null',
    async (type) => {
      expect(await truthOf([`4::${type}`, `15::${type}`])).toEqual({
        facts: 'number, integer, 2 rows, 0 null',
        range: [4, 15],
        values: ['4.0', '15.0'],
        texts: ['4', '15'],
        integers: ['4', '15'],
        ordered: ['4.0', '15.0'],
      });
      expect(await truthOf([`4::${type}`, 'null'])).toEqual({
        facts: 'number, integer, 2 rows, 1 null',
        range: [4, 4],
        values: ['4.0', null],
        texts: ['4.0', null],
        integers: null,
        ordered: ['4.0', null],
      });
    },
  );

  it('of wide integers keeps them exactly', async () => {
    const found = await truthOf(['9007199254740993::bigint', '-5::bigint']);
    expect([found.integers, found.texts]).toEqual([
      ['9007199254740993', '-5'],
      ['9007199254740993', '-5'],
    ]);
  });

  it.each([
    ['HUGEINT', ['4::hugeint', 'null'], ['4.0', null], [4, 4]],
    ['UHUGEINT', ['4::uhugeint', '5::uhugeint'], ['4.0', '5.0'], [4, 5]],
    ['DECIMAL', ['4.50::decimal(9, 2)', '-0.05::decimal(9, 2)'], ['4.5', '-0.05'], [-0.05, 4.5]],
    ['DOUBLE', ["'nan'::double", '1e-7::double', '3::double'], [null, '1e-07', '3.0'], [1e-7, 3]],
    [
      'FLOAT',
      ["'nan'::float", '0.1::float', '16777216::float'],
      [null, '0.1', '16777216.0'],
      [0.1, 16777216],
    ],
    [
      'infinities',
      ["'-inf'::double", "'inf'::double"],
      ['-inf', 'inf'],
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ],
  ])('of %s is double', async (_type, cells, printed, range) => {
    const nulls = printed.filter((cell) => cell === null).length;
    expect(await truthOf(cells)).toEqual({
      facts: `number, double, ${cells.length} rows, ${nulls} null`,
      range,
      values: printed,
      texts: printed,
      integers: null,
      ordered: printed,
    });
  });

  it('of BOOLEAN is 1 and 0 and prints words', async () => {
    expect(await truthOf(['true', 'false', 'null'])).toEqual({
      facts: 'number, boolean, 3 rows, 1 null',
      range: [0, 1],
      values: ['1.0', '0.0', null],
      texts: ['True', 'False', null],
      integers: null,
      ordered: ['1.0', '0.0', null],
    });
  });

  it.each([
    ['TIMESTAMP', "timestamp '2150-01-02 10:30:00'", "timestamp '2150-01-03'", '10:30:00', '00:00:00'],
    ['TIMESTAMP_S', "timestamp_s '2150-01-02 10:30:00'", "timestamp_s '2150-01-03'", '10:30:00', '00:00:00'],
    [
      'TIMESTAMP_MS',
      "timestamp_ms '2150-01-02 10:30:00.5'",
      "timestamp_ms '2150-01-03'",
      '10:30:00.500',
      '00:00:00.000',
    ],
    [
      'TIMESTAMP of microseconds',
      "timestamp '2150-01-02 10:30:00.000001'",
      "timestamp '2150-01-03 00:00:00.5'",
      '10:30:00.000001',
      '00:00:00.500000',
    ],
    [
      'TIMESTAMP_NS',
      "timestamp_ns '2150-01-02 10:30:00.25'",
      "timestamp_ns '2150-01-03'",
      '10:30:00.250',
      '00:00:00.000',
    ],
  ])('of %s is instants with one print for all', async (_type, first, second, firstClock, secondClock) => {
    expect(await truthOf([first, second, 'null'])).toMatchObject({
      facts: 'instant, instant, 3 rows, 1 null',
      range: null,
      texts: [`2150-01-02 ${firstClock}`, `2150-01-03 ${secondClock}`, null],
      integers: null,
      ordered: null,
    });
  });

  it('of instants has nanoseconds', async () => {
    expect((await truthOf(["timestamp_ns '2150-01-02 10:30:00.000000001'"])).values).toEqual([
      nanoseconds('2150-01-02T10:30:00', 1n),
    ]);
    expect(
      (
        await truthOf([
          "timestamp '2150-01-02 10:30:00.000001'",
          "timestamp '1600-01-01'",
          "timestamp 'infinity'",
        ])
      ).values,
    ).toEqual([nanoseconds('2150-01-02T10:30:00', 1000n), null, null]);
  });

  it('of midnights or dates prints dates', async () => {
    for (const type of ['date', 'timestamp', 'timestamp_ns']) {
      expect(await truthOf([`${type} '2150-01-02'`, `${type} '2150-01-03'`])).toMatchObject({
        facts: 'instant, instant, 2 rows, 0 null',
        values: [nanoseconds('2150-01-02T00:00:00'), nanoseconds('2150-01-03T00:00:00')],
        texts: ['2150-01-02', '2150-01-03'],
      });
    }
  });

  it('of TIMESTAMP WITH TIME ZONE is zoned instants, printed in UTC', async () => {
    expect(await truthOf(["timestamptz '2150-01-02 10:30:00+02:00'"])).toMatchObject({
      facts: 'instant, instant, zoned, 1 rows, 0 null',
      values: [nanoseconds('2150-01-02T08:30:00')],
      texts: ['2150-01-02 08:30:00+00:00'],
    });
  });

  it('of any other type is the text it prints, empty text null', async () => {
    expect(await truthOf(["'a'::enum('a', '')", "''::enum('a', '')"])).toEqual({
      facts: 'text, text, 2 rows, 1 null',
      range: null,
      values: ['a', null],
      texts: ['a', null],
      integers: null,
      ordered: null,
    });
    expect((await truthOf(['[4]', '[5, null]'])).texts).toEqual(['[4]', '[5, NULL]']);
  });

  it.each([
    'null::integer',
    'null::double',
    'null::timestamp',
    "''::enum('')",
    'null::varchar',
    "'nan'::float",
  ])('of %s throughout is numeric without values', async (cell) => {
    expect(await truthOf([cell, cell])).toMatchObject({
      facts: expect.stringMatching(/^number, [a-z]+, 2 rows, 2 null$/),
      range: null,
      values: [null, null],
      texts: [null, null],
      integers: null,
      ordered: null,
    });
  });
});

describe('a text column of a reference', () => {
  it('of whole numbers is integer, or double when it has a null', async () => {
    expect(await truthOf(text(' 04', '+15', '-2'))).toEqual({
      facts: 'number, integer, 3 rows, 0 null',
      range: [-2, 15],
      values: ['4.0', '15.0', '-2.0'],
      texts: ['4', '15', '-2'],
      integers: ['4', '15', '-2'],
      ordered: ['4.0', '15.0', '-2.0'],
    });
    expect(await truthOf(text(' 04', null))).toEqual({
      facts: 'number, double, 2 rows, 1 null',
      range: [4, 4],
      values: ['4.0', null],
      texts: ['4.0', null],
      integers: null,
      ordered: ['4.0', null],
    });
  });

  it('of decimals is double, of true and false boolean', async () => {
    expect(await truthOf(text('1e-7', '.50'))).toMatchObject({
      facts: 'number, double, 2 rows, 0 null',
      range: [1e-7, 0.5],
      texts: ['1e-07', '0.5'],
      integers: null,
    });
    expect(await truthOf(text('TRUE', 'true', null))).toEqual({
      facts: 'number, boolean, 3 rows, 1 null',
      range: [0, 1],
      values: ['1.0', '1.0', null],
      texts: ['True', 'True', null],
      integers: null,
      ordered: ['1.0', '1.0', null],
    });
  });

  it('of anything else is text, ordered by the cells that cast', async () => {
    expect(await truthOf(text('a', '7', ' 3 ', 'nan', null))).toEqual({
      facts: 'text, text, 5 rows, 1 null',
      range: [3, 7],
      values: ['a', '7', ' 3 ', 'nan', null],
      texts: ['a', '7', ' 3 ', 'nan', null],
      integers: null,
      ordered: [null, '7.0', '3.0', 'nan', null],
    });
    for (const word of ['b', 'nan']) {
      expect(await truthOf(text('a', word))).toMatchObject({ range: null, ordered: null });
    }
  });

  it('of date-times is instants where one hints at a clock, or where it is a key', async () => {
    const stamps = text('2150-01-02T10:30', null, '2150-01-03T11:00');
    expect(await truthOf(stamps)).toEqual({
      facts: 'instant, instant, 3 rows, 1 null',
      range: null,
      values: [nanoseconds('2150-01-02T10:30:00'), null, nanoseconds('2150-01-03T11:00:00')],
      texts: ['2150-01-02T10:30', null, '2150-01-03T11:00'],
      integers: null,
      ordered: null,
    });
    expect((await truthOf(text('2150-01-02 10:30:00Z'))).facts).toBe(
      'instant, instant, zoned, 1 rows, 0 null',
    );
    const days = text('Jan 2 2150', 'Feb 3 2150');
    expect((await truthOf(days)).facts).toBe('text, text, 2 rows, 0 null');
    expect((await truthOf(days, true)).facts).toBe('instant, instant, 2 rows, 0 null');
    expect((await truthOf(text('2150-01-02', 'soon'))).facts).toBe('text, text, 2 rows, 0 null');
  });
});

it('columns of several types come out by name, and as text of a CSV', async () => {
  const source = await tableOf({
    v: text('a', null),
    w: ['4::integer', 'null'],
    x: text('1', '2'),
    y: ["timestamp '2150-01-02'", "timestamp '2150-01-03'"],
  });
  const described = await describeTruth(session, source, new Set());
  expect(
    Object.fromEntries([...described].map(([name, column]) => [name, [column.name, column.kind]])),
  ).toEqual({
    v: ['v', 'text'],
    w: ['w', 'number'],
    x: ['x', 'number'],
    y: ['y', 'instant'],
  });
  const printed: Record<string, unknown> = {};
  for (const { name, sql, type } of await asCsvText(session, source)) {
    printed[name] = [type, ...((await cellsOf(source, sql)) ?? [])];
  }
  expect(printed).toEqual({
    v: ['VARCHAR', 'a', null],
    w: ['VARCHAR', '4.0', null],
    x: ['VARCHAR', '1', '2'],
    y: ['VARCHAR', '2150-01-02', '2150-01-03'],
  });
});

it('integers are wide from 2^53 on, on either side', async () => {
  const isWide = async (...cells: readonly string[]) => {
    const source = await tableOf({ c: text(...cells) });
    return isWideInteger((await describeTruth(session, source, new Set())).get('c') as TruthColumn);
  };
  expect(await isWide('1', '9007199254740991')).toBe(false);
  expect(await isWide('1', '9007199254740992')).toBe(true);
  expect(await isWide('1', '-9007199254740992')).toBe(true);
  expect(await isWide('-9007199254740991')).toBe(false);
  expect(await isWide('1.5', '9007199254740992')).toBe(false);
});

describe('facts of text columns', () => {
  it('count over all cells', async () => {
    const source = await tableOf({
      integers: text('5', ' -4 ', '+03', '0'),
      'with null': text(null, '4', '5', null),
      decimals: text('1', '2.5', '-1e3', '7'),
      booleans: text('True', 'FALSE', null, 'true'),
      words: text('b', '1', null, 'true'),
      odd: text('1_0', '+-3', '1', '2'),
      hex: text('0x10', 'nan', '1e400', '4%'),
      infinite: text('inf', ' -Infinity ', 'INF', '1'),
      nothing: text(null, null, null, null),
    });
    const columns = [...source.columns.values()];
    const facts = await textFactsOf(session, source, columns);
    const [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    const of = (
      type: string,
      nonNull: number,
      numbers: number,
      booleans: number,
      range: readonly (number | null)[],
      first: string | null,
    ) => ({
      rows: 4,
      nonNull,
      numbers,
      booleans,
      min: range[0],
      max: range[1],
      first,
      type,
    });
    expect(Object.fromEntries(columns.map(({ name }, i) => [name, facts[i]]))).toEqual({
      integers: of('integer', 4, 4, 0, [-4, 5], '5'),
      'with null': of('double', 2, 2, 0, [4, 5], '4'),
      decimals: of('double', 4, 4, 0, [-1000, 7], '1'),
      booleans: of('boolean', 3, 0, 3, [null, null], 'True'),
      words: of('text', 3, 1, 1, [1, 1], 'b'),
      odd: of('text', 4, 2, 0, [1, 2], '1_0'),
      hex: of('text', 4, 0, 0, [null, null], '0x10'),
      infinite: of('double', 4, 4, 0, [low, high], 'inf'),
      nothing: of('double', 0, 0, 0, [null, null], null),
    });
    expect(await textFactsOf(session, source, [])).toEqual([]);
  });

  it('call integers so within 64 bits only, signed or not', async () => {
    const typeOf = async (...cells: readonly string[]) => {
      const source = await tableOf({ c: text(...cells) });
      return (await textFactsOf(session, source, [...source.columns.values()]))[0]?.type;
    };
    expect(await typeOf('-9223372036854775808', '1')).toBe('integer');
    expect(await typeOf('-9223372036854779904', '1')).toBe('double');
    expect(await typeOf('18446744073709549568')).toBe('integer');
    expect(await typeOf('18446744073709551616')).toBe('double');
    expect(await typeOf('-1', '9223372036854774784')).toBe('integer');
    expect(await typeOf('-1', '9223372036854775808')).toBe('double');
    expect(await typeOf('0', '9223372036854775808')).toBe('integer');
  });

  it('take the first cell by place', async () => {
    const source = await tableOf({ c: text('x', 'y', 'z'), p: ['3', '1', '2'] });
    const [facts] = await textFactsOf(session, { ...source, place: 'p' }, [
      source.columns.get('c') as SourceColumn,
    ]);
    expect(facts?.first).toBe('y');
  });
});

describe('times in text columns', () => {
  const columnOf = async (...cells: readonly (string | null)[]) => {
    const source = await tableOf({ c: text(...cells) });
    return [session, source, source.columns.get('c') as SourceColumn] as const;
  };
  const words = (count: number) => Array.from({ length: count }, () => 'a');

  it('are looked for in the first 50 values', async () => {
    expect(await hintsAtTime(...(await columnOf('a', '10:30')))).toBe(true);
    expect(await hintsAtTime(...(await columnOf('a', '2150')))).toBe(false);
    expect(await hintsAtTime(...(await columnOf(...words(49), '10:30')))).toBe(true);
    expect(await hintsAtTime(...(await columnOf(...words(50), '10:30')))).toBe(false);
    expect(await hintsAtTime(...(await columnOf(null, null, ...words(49), null, '10:30')))).toBe(true);
    expect(await hintsAtTime(...(await columnOf(null)))).toBe(false);
  });

  it('are all times, nulls left aside, or not', async () => {
    const reading = timeReadingOf('2150-01-02');
    expect(await isAllTimes(...(await columnOf('2150-01-02', null, '2150-01-03')), reading)).toBe(true);
    expect(await isAllTimes(...(await columnOf('2150-01-02', '2150-01-03 10:30')), reading)).toBe(false);
  });

  it('follow the first value, or each for itself when it has no format', async () => {
    expect([timeReadingOf('2150-01-02 10:30Z').isZoned, timeReadingOf('2150-01-02').isZoned]).toEqual([
      true,
      false,
    ]);
    const loose = timeReadingOf('1:30 PM');
    expect([loose.format, loose.isZoned]).toEqual([undefined, false]);
    expect(await isAllTimes(...(await columnOf('1:30 PM', '2150-01-02 10:30', 'Jan 2 2150')), loose)).toBe(
      true,
    );
    expect(await isAllTimes(...(await columnOf('1:30 PM', 'soon')), loose)).toBe(false);
  });
});
