import type { DuckSession, Row } from '../duck/session.js';
import { booleanSql, doubleSql } from './cell-sql.js';
import { numberOf } from './column-facts.js';
import { columnSql, type PublishedReading } from './readings.js';
import type { SourceColumn, TableSource } from './table-source.js';
import type { TruthColumn } from './truth-column.js';

/** How one key column joins truth and output. */
export interface KeyPlan {
  readonly name: string;
  /** SQL over the reference's rows. */
  readonly truthSql: string;
  readonly cell: SourceColumn;
  /** SQL of the per-cell key; `v` is the cell's text, `d` the engine's cast of it to double. */
  keySql(v: string, d: string): string;
  /** SQL of the key under the column-wise published rule; null cells make the published comparison fail. */
  publishedSql(v: string, d: string): string;
  /** Null is a value of its own (text keys) instead of a key that can never match. */
  readonly nullIsValue: boolean;
}

/** One scored or ordered column that the output has. */
export interface ColumnPlan {
  readonly truth: TruthColumn;
  readonly cell: SourceColumn;
  readonly tolerance: number;
  readonly reading: PublishedReading;
  /** max - min of the reference for the ordered-value metric (1 when they are equal); null when not ordered. */
  readonly scale: number | null;
}

export interface Pairing {
  readonly truth: TableSource;
  readonly output: TableSource;
  readonly keys: readonly KeyPlan[];
  readonly columns: readonly ColumnPlan[];
}

/** Counts of one column over the pairs. */
export interface ColumnCounts {
  readonly matched: number;
  /** Pairs with a value on both sides whose output cell the published reading could not read. */
  readonly unread: number;
  readonly robustMatched: number;
  /** Sum of the ordered-value errors, each within [0, 1]. */
  readonly orderedError: number;
  /** Output cells, partner or not, that are neither numbers nor booleans; only for reference text. */
  readonly words: number;
  /** First output cell, in reference order, of a pair with a value on both sides; only for instants. */
  readonly firstCell: string | null;
}

export interface PairCounts {
  readonly outputRows: number;
  /** Reference rows without partner. */
  readonly missingRows: number;
  /** Output rows without partner. */
  readonly extraRows: number;
  /** Output rows with a key cell that can never match. */
  readonly unusableRows: number;
  /** Distinct keys of output rows without partner, those that can never match left out. */
  readonly extraKeys: number;
  /** Per key column: cells (null ones included) that the published rule cannot read. */
  readonly unreadKeys: readonly number[];
  /** Per key column: cells with content that cannot be read as a key at all. */
  readonly wrongKeys: readonly number[];
  readonly columns: readonly ColumnCounts[];
}

/**
 * The full join of reference and output on their keys as a `with` clause that defines `pairs`: one row per output
 * row and per reference row without partner. `truth_row` is null for output rows without partner, `present` for
 * reference rows without partner.
 */
export function pairsSql(pairing: Pairing): string {
  const { truth, output, keys, columns } = pairing;
  const pieces = columns.map((column, i) =>
    columnSql(i, column.truth, column.reading, column.tolerance, output.hasOddNumbers),
  );
  const raw = [
    ...keys.map(({ cell }, i) => `${cell.sql} as kv${i}`),
    ...columns.map(({ cell }, i) => `${cell.sql} as v${i}`),
    ...(output.place === null ? [] : [`${output.place} as place`]),
  ];
  const casts = [
    ...keys.map((_key, i) => `try_cast(kv${i} as double) as kd${i}`),
    ...columns.map((_column, i) => `try_cast(v${i} as double) as d${i}`),
  ];
  const cells = [
    ...keys.flatMap((key, i) => [
      `${key.keySql(`kv${i}`, `kd${i}`)} as k${i}`,
      `${key.publishedSql(`kv${i}`, `kd${i}`)} is null as unread_key${i}`,
      `kv${i} is not null as filled_key${i}`,
    ]),
    ...pieces.flatMap(({ cell }, i) => [`v${i}`, `d${i}`, `${cell} as x${i}`]),
    ...(output.place === null ? [] : ['place']),
  ];
  // Each distinct expression once: what the join holds in memory are the reference's columns.
  const held = [
    ...new Set(
      pieces.flatMap((piece, i) => [
        piece.truth,
        piece.robustTruth,
        orderedTruthSql(columns[i] as ColumnPlan),
      ]),
    ),
  ];
  const holds = (sql: string) => `t.h${held.indexOf(sql)}`;
  const truths = [
    ...keys.map(({ truthSql }, i) => `${truthSql} as k${i}`),
    ...held.map((sql, i) => `${sql} as h${i}`),
  ];
  const names = pieces.flatMap((piece, i) => [
    `${holds(piece.truth)} as s${i}`,
    `${holds(piece.robustTruth)} as ts${i}`,
    `${holds(orderedTruthSql(columns[i] as ColumnPlan))} as o${i}`,
  ]);
  const join = keys
    .map(({ nullIsValue }, i) => `o.k${i} ${nullIsValue ? 'is not distinct from' : '='} t.k${i}`)
    .join(' and ');
  return `with output_cells as (
  select true as present, ${cells.join(', ')}
  from (select *, ${casts.join(', ')} from (select ${raw.join(', ')} from ${output.from}))
), truth_cells as (
  select ${truth.place} as truth_row, ${truths.join(', ')} from ${truth.from}
), pairs as (
  select ${['o.*', 't.truth_row', ...names].join(', ')}
  from output_cells o full join truth_cells t on ${join}
)`;
}

function orderedTruthSql({ truth }: ColumnPlan): string {
  return truth.orderedSql ?? 'null::double';
}

/** Whether an output row has only keys that can match. */
export function usableSql(keys: readonly KeyPlan[]): string {
  const needed = keys.flatMap(({ nullIsValue }, i) => (nullIsValue ? [] : [`k${i} is not null`]));
  return needed.length === 0 ? 'true' : `(${needed.join(' and ')})`;
}

/** The published and the robust match of column `i` in a row of `pairs`, both-null pairs included. */
export function matchSql(
  pairing: Pairing,
  i: number,
): { readonly published: string; readonly robust: string } {
  const column = pairing.columns[i] as ColumnPlan;
  const piece = columnSql(i, column.truth, column.reading, column.tolerance, pairing.output.hasOddNumbers);
  const bothNull = (truth: string) =>
    `(${truth} is null and v${i} is null and present and truth_row is not null)`;
  const published = `(${piece.matches} or ${bothNull(`s${i}`)})`;
  // What matches under the published rules also matches per cell, so the costlier test is for the rest only.
  return { published, robust: `case when ${published} then true else ${piece.robustMatches} end` };
}

/** Error of one pair in the ordered-value metric (null for none), exact to 15 decimals so that any order of adding gives one sum. */
function orderedErrorSql(i: number, column: ColumnPlan): string {
  const cell = column.reading.kind === 'boolean' ? booleanSql(`v${i}`) : `d${i}`;
  const one = '1::decimal(18, 15)';
  return `case when o${i} = ${cell} or (o${i} is null and ${cell} is null) then null when o${i} is null or ${cell} is null or isnan(${cell}) then ${one} else cast(least(abs(${cell} - o${i}) / ${doubleSql(column.scale ?? 1)}, 1) as decimal(18, 15)) end`;
}

/**
 * Rows of a query over `pairs`.
 *
 * While a large CSV is read in place, the join's memory side is kept on the reference, whose typed columns are smaller
 * than text: the engine cannot estimate a CSV's rows and might hold the output instead.
 */
export async function queryPairs(
  session: DuckSession,
  pairing: Pairing,
  select: string,
): Promise<readonly Row[]> {
  const always = 'top_n_window_elimination';
  const isInPlace = pairing.output.place === null;
  if (isInPlace) await session.run(`set disabled_optimizers = '${always},build_side_probe_side'`);
  try {
    return await session.rows(`${pairsSql(pairing)} ${select}`);
  } finally {
    if (isInPlace) await session.run(`set disabled_optimizers = '${always}'`);
  }
}

/** The only row of such a query. */
export async function queryPairsOnce(session: DuckSession, pairing: Pairing, select: string): Promise<Row> {
  const [row] = await queryPairs(session, pairing, select);
  if (row === undefined) throw new RangeError('An aggregate over the pairs gave no row.');
  return row;
}

/** One pass over both tables. */
export async function countPairs(session: DuckSession, pairing: Pairing): Promise<PairCounts> {
  const { keys, columns } = pairing;
  const paired = 'present and truth_row is not null';
  const aggregates = [
    'count(present) as output_rows',
    'count_if(present is null) as missing_rows',
    'count_if(truth_row is null) as extra_rows',
    `count_if(present and not ${usableSql(keys)}) as unusable_rows`,
    `count(distinct row(${keys.map((_key, i) => `k${i}`).join(', ')})) filter (truth_row is null and ${usableSql(keys)}) as extra_keys`,
    ...keys.flatMap((_key, i) => [
      `count_if(unread_key${i}) as unread_key${i}`,
      `count_if(filled_key${i} and k${i} is null) as wrong_key${i}`,
    ]),
    ...columns.flatMap((column, i) => {
      const { published, robust } = matchSql(pairing, i);
      return [
        `count_if(${published}) as matched${i}`,
        `count_if(x${i} is null and v${i} is not null and s${i} is not null) as unread${i}`,
        `count_if(${robust}) as robust${i}`,
        ...(column.scale === null
          ? []
          : [`sum(${orderedErrorSql(i, column)}) filter (${paired}) as ordered${i}`]),
        ...(column.truth.kind === 'text'
          ? [`count_if(v${i} is not null and d${i} is null and ${booleanSql(`v${i}`)} is null) as words${i}`]
          : []),
        ...(column.truth.kind === 'instant'
          ? [`arg_min(v${i}, truth_row) filter (v${i} is not null and s${i} is not null) as first${i}`]
          : []),
      ];
    }),
  ];
  const row = await queryPairsOnce(session, pairing, `select ${aggregates.join(', ')} from pairs`);
  return {
    outputRows: numberOf(row, 'output_rows'),
    missingRows: numberOf(row, 'missing_rows'),
    extraRows: numberOf(row, 'extra_rows'),
    unusableRows: numberOf(row, 'unusable_rows'),
    extraKeys: numberOf(row, 'extra_keys'),
    unreadKeys: keys.map((_key, i) => numberOf(row, `unread_key${i}`)),
    wrongKeys: keys.map((_key, i) => numberOf(row, `wrong_key${i}`)),
    columns: columns.map((_column, i) => columnCounts(row, i)),
  };
}

function columnCounts(row: Row, i: number): ColumnCounts {
  const first = row[`first${i}`];
  return {
    matched: numberOf(row, `matched${i}`),
    unread: numberOf(row, `unread${i}`),
    robustMatched: numberOf(row, `robust${i}`),
    orderedError: numberOf(row, `ordered${i}`),
    words: numberOf(row, `words${i}`),
    firstCell: first === null || first === undefined ? null : String(first),
  };
}
