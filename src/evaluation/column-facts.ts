import type { DuckSession, Row } from '../duck/session.js';
import { booleanSql, isIntegerTextSql, numberSql } from './cell-sql.js';
import type { SourceColumn, TableSource } from './table-source.js';
import { guessTimeFormat, hintsAtTimeSql, looseInstantSql, type TimeFormat } from './time-format.js';

/** The type that the published reader gives to a column of text cells, looking at all of them. */
export type ReadType = 'integer' | 'double' | 'boolean' | 'text';

/** What is known of a whole column of text cells. */
export interface TextFacts {
  readonly rows: number;
  readonly nonNull: number;
  readonly numbers: number;
  readonly booleans: number;
  readonly type: ReadType;
  readonly min: number | null;
  readonly max: number | null;
  /** First non-null cell in file order. */
  readonly first: string | null;
}

/** A number from an aggregate row (wide integers arrive as text). */
export function numberOf(row: Row, name: string): number {
  return Number(row[name] ?? 0);
}

/**
 * Facts of whole text columns of a table whose rows have a place.
 *
 * Types follow section "Types of columns" of docs/scoring.md: integers need every non-null cell to be one within 64
 * bits and no null at all; with nulls they are doubles.
 */
export async function textFactsOf(
  session: DuckSession,
  source: TableSource,
  columns: readonly SourceColumn[],
): Promise<readonly TextFacts[]> {
  if (columns.length === 0) return [];
  const cast = (index: number) => `try_cast(v${index} as double)`;
  const number = (index: number) => numberSql(`v${index}`, cast(index), source.hasOddNumbers);
  const aggregates = columns.flatMap((_column, i) => [
    `count(v${i}) as n${i}`,
    `count(x${i}) as x${i}`,
    `count_if(x${i} is not null and ${isIntegerTextSql(`v${i}`)}) as i${i}`,
    `count(${booleanSql(`v${i}`)}) as b${i}`,
    `min(x${i})::varchar as lo${i}`,
    `max(x${i})::varchar as hi${i}`,
    `arg_min(v${i}, place) filter (v${i} is not null) as f${i}`,
  ]);
  const cells = columns.map(({ sql }, i) => `${sql} as v${i}`);
  const numbers = columns.map((_column, i) => `${number(i)} as x${i}`);
  const row = await session.row(
    `select count(*) as n, ${aggregates.join(', ')} from (select *, ${numbers.join(', ')} from (select ${source.place} as place, ${cells.join(', ')} from ${source.from}))`,
  );
  const rows = numberOf(row, 'n');
  return columns.map((_column, i) => {
    const nonNull = numberOf(row, `n${i}`);
    const facts = {
      rows,
      nonNull,
      numbers: numberOf(row, `x${i}`),
      booleans: numberOf(row, `b${i}`),
      min: readDouble(row[`lo${i}`]),
      max: readDouble(row[`hi${i}`]),
      first: row[`f${i}`] === null ? null : String(row[`f${i}`]),
    };
    return { ...facts, type: readTypeOf(facts, numberOf(row, `i${i}`)) };
  });
}

/** A double printed by the engine. */
export function readDouble(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  return value === '-inf' ? Number.NEGATIVE_INFINITY : Number(value);
}

function readTypeOf(facts: Omit<TextFacts, 'type'>, integers: number): ReadType {
  const { rows, nonNull, numbers, booleans, min, max } = facts;
  if (nonNull === 0 || (numbers === nonNull && (integers < nonNull || nonNull < rows))) return 'double';
  if (numbers === nonNull) {
    // Doubles near the limits round to the limits themselves, so the comparison is safe towards "double".
    const inRange = (min ?? 0) >= -(2 ** 63) && (max ?? 0) < 2 ** ((min ?? 0) < 0 ? 63 : 64);
    return inRange ? 'integer' : 'double';
  }
  return booleans === nonNull ? 'boolean' : 'text';
}

/** How the date-times of a column are read; undefined format: each cell for itself. */
export interface TimeReading {
  readonly format: TimeFormat | undefined;
  readonly isZoned: boolean;
  instantSql(text: string): string;
}

/** The reading that follows from the first non-null cell of a column. */
export function timeReadingOf(first: string): TimeReading {
  const format = guessTimeFormat(first);
  return {
    format,
    isZoned: format?.isZoned ?? false,
    instantSql: (text) => (format === undefined ? looseInstantSql(text) : format.instantSql(text)),
  };
}

/** Whether one of the first 50 non-null cells hints at a date or clock: only then are dates tried for values. */
export async function hintsAtTime(
  session: DuckSession,
  source: TableSource,
  column: SourceColumn,
): Promise<boolean> {
  const row = await session.row(
    `select coalesce(bool_or(${hintsAtTimeSql('v')}), false) as hints from (select ${column.sql} as v from ${source.from} where ${column.sql} is not null order by ${source.place} limit 50)`,
  );
  return row.hints === true;
}

/** Whether every non-null cell of a column is a date-time under a reading. */
export async function isAllTimes(
  session: DuckSession,
  source: TableSource,
  column: SourceColumn,
  reading: TimeReading,
): Promise<boolean> {
  const row = await session.row(
    `select count(v) = count(${reading.instantSql('v')}) as all_times from (select ${column.sql} as v from ${source.from})`,
  );
  return row.all_times === true;
}
