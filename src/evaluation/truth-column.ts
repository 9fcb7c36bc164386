import type { DuckSession, Row } from '../duck/session.js';
import {
  booleanSql,
  integerSql,
  nanosecondsSql,
  numberSql,
  printedBooleanSql,
  printedDoubleSql,
} from './cell-sql.js';
import {
  hintsAtTime,
  isAllTimes,
  numberOf,
  readDouble,
  type TextFacts,
  textFactsOf,
  timeReadingOf,
} from './column-facts.js';
import type { SourceColumn, TableSource } from './table-source.js';

/** How one reference column is compared, decided from all of its values. */
export interface TruthColumn {
  readonly name: string;
  /** `number` also stands for booleans (1/0) and for a column without any value. */
  readonly kind: 'number' | 'instant' | 'text';
  /** Of instants: whether they carry a zone. */
  readonly isZoned: boolean;
  readonly type: 'integer' | 'double' | 'boolean' | 'instant' | 'text';
  readonly rows: number;
  readonly nulls: number;
  /** Range of the numbers (of text that casts, for kind `text`); null when there is none. */
  readonly range: { readonly min: number; readonly max: number } | null;
  /** SQL over the reference's rows: double, nanoseconds (bigint) or text, by kind. */
  readonly valueSql: string;
  /** SQL of the exact integer, for columns of integers. */
  readonly integerSql: string | null;
  /** SQL of the value as text, as the published reader prints it. */
  readonly textSql: string;
  /** SQL of the value as a double where it has one, else null: the ordered-value metric's view. */
  readonly orderedSql: string | null;
}

/** Whether doubles cannot hold every integer of a column of integers. */
export function isWideInteger({ integerSql: exact, range }: TruthColumn): boolean {
  return exact !== null && range !== null && Math.max(-range.min, range.max) >= 2 ** 53;
}

const integerTypes = new Set([
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
]);

/**
 * Describes reference columns as the published scorer sees them after the reference was written as CSV and read back.
 *
 * @param asKeys names for which dates are tried even when no value hints at one (the rule for keys).
 */
export async function describeTruth(
  session: DuckSession,
  source: TableSource,
  asKeys: ReadonlySet<string>,
): Promise<ReadonlyMap<string, TruthColumn>> {
  const columns = [...source.columns.values()];
  const texts = columns.filter(({ type }) => type === 'VARCHAR');
  const typed = columns.filter(({ type }) => type !== 'VARCHAR');
  const described = new Map<string, TruthColumn>();
  for (const column of await describeTyped(session, source, typed)) described.set(column.name, column);
  const facts = await textFactsOf(session, source, texts);
  for (const [index, column] of texts.entries()) {
    const found = await describeText(
      session,
      source,
      column,
      facts[index] as TextFacts,
      asKeys.has(column.name),
    );
    described.set(column.name, found);
  }
  return described;
}

/** The columns of a typed table as the text that a CSV written from them would hold. */
export async function asCsvText(session: DuckSession, source: TableSource): Promise<readonly SourceColumn[]> {
  const columns = [...source.columns.values()];
  const typed = columns.filter(({ type }) => type !== 'VARCHAR');
  const printed = await describeTyped(session, source, typed);
  return [
    ...columns.filter(({ type }) => type === 'VARCHAR'),
    ...printed.map(({ name, textSql }) => ({ name, sql: textSql, type: 'VARCHAR' })),
  ];
}

interface TypedReading {
  readonly type: 'integer' | 'double' | 'boolean' | 'instant' | 'text';
  readonly isZoned: boolean;
  readonly valueSql: string;
}

function typedReading({ sql, type }: SourceColumn): TypedReading {
  const reading = (kind: TypedReading['type'], valueSql: string, isZoned = false) => ({
    type: kind,
    valueSql,
    isZoned,
  });
  if (integerTypes.has(type)) return reading('integer', `cast(${sql} as double)`);
  if (type === 'BOOLEAN') return reading('boolean', `cast(cast(${sql} as integer) as double)`);
  if (type === 'DOUBLE') return reading('double', `case when not isnan(${sql}) then ${sql} end`);
  // A float is written with its own shortest text.
  if (type === 'FLOAT')
    return reading('double', `case when not isnan(${sql}) then cast(cast(${sql} as varchar) as double) end`);
  if (type === 'HUGEINT' || type === 'UHUGEINT' || type.startsWith('DECIMAL'))
    return reading('double', `cast(${sql} as double)`);
  if (type === 'TIMESTAMP_NS') return reading('instant', `epoch_ns(${sql})`);
  if (type === 'TIMESTAMP WITH TIME ZONE')
    return reading('instant', nanosecondsSql(`cast(${sql} at time zone 'UTC' as timestamp)`), true);
  if (type.startsWith('TIMESTAMP') || type === 'DATE')
    return reading('instant', nanosecondsSql(`cast(${sql} as timestamp)`));
  return reading('text', `nullif(cast(${sql} as varchar), '')`);
}

async function describeTyped(
  session: DuckSession,
  source: TableSource,
  columns: readonly SourceColumn[],
): Promise<readonly TruthColumn[]> {
  if (columns.length === 0) return [];
  const readings = columns.map(typedReading);
  const secondsInDay = 86_400;
  const aggregates = readings.flatMap(({ type }, i) => [
    `count(t${i}) as n${i}`,
    ...(type === 'instant'
      ? [
          `bool_and(t${i} % (${secondsInDay}::bigint * 1000000000) = 0) as day${i}`,
          `bool_or(t${i} % 1000000000 <> 0) as fraction${i}`,
          `bool_or(t${i} % 1000000 <> 0) as micro${i}`,
        ]
      : type === 'text'
        ? []
        : [`min(t${i})::varchar as lo${i}`, `max(t${i})::varchar as hi${i}`]),
  ]);
  const row = await session.row(
    `select count(*) as n, ${aggregates.join(', ')} from (select ${readings.map(({ valueSql }, i) => `${valueSql} as t${i}`).join(', ')} from ${source.from})`,
  );
  return columns.map((column, i) => typedTruth(column, readings[i] as TypedReading, row, i));
}

function typedTruth(column: SourceColumn, reading: TypedReading, row: Row, i: number): TruthColumn {
  const rows = numberOf(row, 'n');
  const nulls = rows - numberOf(row, `n${i}`);
  const { type, valueSql, isZoned } = reading;
  const shared = { name: column.name, rows, nulls, type };
  if (nulls === rows) return { ...shared, ...withoutValues };
  if (type === 'instant') {
    const format = row[`day${i}`]
      ? '%Y-%m-%d'
      : `%Y-%m-%d %H:%M:%S${row[`micro${i}`] ? '.%f' : row[`fraction${i}`] ? '.%g' : ''}`;
    const textSql = `strftime(make_timestamp(${valueSql} // 1000), '${format}')${isZoned ? " || '+00:00'" : ''}`;
    return {
      ...shared,
      kind: 'instant',
      isZoned,
      range: null,
      valueSql,
      integerSql: null,
      textSql,
      orderedSql: null,
    };
  }
  if (type === 'text') {
    return {
      ...shared,
      kind: 'text',
      isZoned: false,
      range: null,
      valueSql,
      integerSql: null,
      textSql: valueSql,
      orderedSql: null,
    };
  }
  return {
    ...shared,
    kind: 'number',
    isZoned: false,
    range: { min: readDouble(row[`lo${i}`]) as number, max: readDouble(row[`hi${i}`]) as number },
    valueSql,
    integerSql: type === 'integer' && nulls === 0 ? `cast(${column.sql} as hugeint)` : null,
    textSql: printedSql(type, nulls, valueSql, `cast(${column.sql} as varchar)`),
    orderedSql: valueSql,
  };
}

/** The null columns of a reference: vacuously numeric. */
const withoutValues = {
  kind: 'number',
  isZoned: false,
  range: null,
  valueSql: 'cast(null as double)',
  integerSql: null,
  textSql: 'cast(null as varchar)',
  orderedSql: null,
} as const;

function printedSql(
  type: 'integer' | 'double' | 'boolean',
  nulls: number,
  valueSql: string,
  integerTextSql: string,
): string {
  if (type === 'boolean') return printedBooleanSql(valueSql);
  return type === 'integer' && nulls === 0 ? integerTextSql : printedDoubleSql(valueSql);
}

async function describeText(
  session: DuckSession,
  source: TableSource,
  column: SourceColumn,
  facts: TextFacts,
  isKey: boolean,
): Promise<TruthColumn> {
  const shared = {
    name: column.name,
    rows: facts.rows,
    nulls: facts.rows - facts.nonNull,
    type: facts.type,
    isZoned: false,
    integerSql: null,
  };
  const { sql } = column;
  if (facts.first === null) return { ...shared, ...withoutValues };
  const cast = `try_cast(${sql} as double)`;
  if (facts.type !== 'text') {
    const valueSql = facts.type === 'boolean' ? booleanSql(sql) : numberSql(sql, cast, source.hasOddNumbers);
    const range =
      facts.type === 'boolean' ? { min: 0, max: 1 } : { min: facts.min as number, max: facts.max as number };
    return {
      ...shared,
      kind: 'number',
      range,
      valueSql,
      integerSql: facts.type === 'integer' ? integerSql(sql) : null,
      textSql: printedSql(facts.type, shared.nulls, valueSql, `cast(${integerSql(sql)} as varchar)`),
      orderedSql: valueSql,
    };
  }
  const reading = timeReadingOf(facts.first);
  if (
    (isKey || (await hintsAtTime(session, source, column))) &&
    (await isAllTimes(session, source, column, reading))
  ) {
    return {
      ...shared,
      type: 'instant',
      kind: 'instant',
      isZoned: reading.isZoned,
      range: null,
      valueSql: reading.instantSql(sql),
      textSql: sql,
      orderedSql: null,
    };
  }
  const range = await castRange(session, source, cast);
  return {
    ...shared,
    kind: 'text',
    range,
    valueSql: sql,
    textSql: sql,
    orderedSql: range === null ? null : cast,
  };
}

/** Range of the cells that the engine casts to a number, null when none does. */
async function castRange(session: DuckSession, source: TableSource, cast: string) {
  const row = await session.row(
    `select min(x)::varchar as lo, max(x)::varchar as hi from (select ${cast} as x from ${source.from}) where not isnan(x)`,
  );
  const min = readDouble(row.lo);
  return min === null ? null : { min, max: readDouble(row.hi) as number };
}
