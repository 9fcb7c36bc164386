import type { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { doubleSql } from './cell-sql.js';
import { numberOf, readDouble } from './column-facts.js';
import type { ColumnPlan, Pairing } from './pairing.js';

/** The reference's values of one low-cardinality column, in order, with their rows. */
export interface Labels {
  /** SQL literals of the values, of the column's comparison type. */
  readonly values: readonly string[];
  readonly shown: readonly string[];
  readonly rows: readonly number[];
  readonly nullRows: number;
}

export interface ConfusionCount {
  readonly truth: string;
  readonly output: string;
  readonly rows: number;
}

const mostLabels = 12;
const firstLook = 20_000;
const nullLabel = '(null)';
const otherLabel = '(other)';
const noRowLabel = '(no row)';
/** Codes beside the positions of labels (from 1). */
const otherCode = 13;
const nullCode = 14;
const noRowCode = 15;

/**
 * The labels of every column that has at most 12 distinct values, all of them whole numbers or texts; undefined for
 * the others. Date-times and decimals are left out: their few values could be those of single patients.
 */
export async function labelsOf(
  session: DuckSession,
  pairing: Pairing,
): Promise<readonly (Labels | undefined)[]> {
  const candidates = pairing.columns.flatMap(({ truth }, i) =>
    truth.kind !== 'instant' && truth.rows > truth.nulls ? [i] : [],
  );
  // Most columns show too many values within the first rows already.
  const few = await withFewValues(session, pairing, candidates, `${pairing.truth.from} limit ${firstLook}`);
  const labels = new Map<number, Labels | undefined>();
  for (const i of await withFewValues(session, pairing, few, pairing.truth.from)) {
    labels.set(i, await columnLabels(session, pairing, pairing.columns[i] as ColumnPlan));
  }
  return pairing.columns.map((_column, i) => labels.get(i));
}

/** Those of the columns whose estimated number of values is small; the estimate is off by a few per cent. */
async function withFewValues(
  session: DuckSession,
  { columns }: Pairing,
  candidates: readonly number[],
  from: string,
): Promise<readonly number[]> {
  if (candidates.length === 0) return [];
  const cells = candidates.map((i) => `${(columns[i] as ColumnPlan).truth.valueSql} as value${i}`);
  const counted = candidates.map((i) => `approx_count_distinct(value${i}) as n${i}`);
  const row = await session.row(
    `select ${counted.join(', ')} from (select ${cells.join(', ')} from ${from})`,
  );
  return candidates.filter((i) => numberOf(row, `n${i}`) <= 2 * mostLabels);
}

async function columnLabels(
  session: DuckSession,
  { truth: source }: Pairing,
  { truth }: ColumnPlan,
): Promise<Labels | undefined> {
  const groups = await session.rows(
    `select value::varchar as label, count(*) as n from (select ${truth.valueSql} as value from ${source.from}) group by value order by value limit ${mostLabels + 2}`,
  );
  const present = groups.filter(({ label }) => label !== null);
  const nullRows = numberOf(groups.find(({ label }) => label === null) ?? {}, 'n');
  if (present.length > mostLabels) return undefined;
  const texts = present.map(({ label }) => String(label));
  const rows = present.map((group) => numberOf(group, 'n'));
  if (truth.kind === 'text') {
    return { values: texts.map((text) => literal(text)), shown: texts, rows, nullRows };
  }
  const numbers = texts.map((text) => readDouble(text) ?? Number.NaN);
  if (!numbers.every(Number.isInteger)) return undefined;
  return { values: numbers.map(doubleSql), shown: numbers.map(String), rows, nullRows };
}

/** The code of a pair: 16 times the reference's label plus the output's; over `wrongPairsSql`. */
export function confusionSql(i: number, labels: Labels): string {
  const position = (value: string) =>
    `case ${labels.values.map((label, index) => `when ${value} = ${label} then ${index + 1}`).join(' ')} else ${otherCode} end`;
  const truthCode = `case when ts${i} is null then ${nullCode} else ${position(`ts${i}`)} end`;
  // A right cell may differ within the tolerance; it counts as the label that it matches.
  const outputCode = `case when present is null then ${noRowCode} when not bad${i} then ${truthCode} when v${i} is null then ${nullCode} else ${position(`y${i}`)} end`;
  return `(16 * (${truthCode}) + (${outputCode}))::utinyint`;
}

/** Turns counts of codes into named counts, reference order first. */
export function confusionOf(labels: Labels, counts: ReadonlyMap<number, number>): readonly ConfusionCount[] {
  const name = (code: number) =>
    code === nullCode ? nullLabel : code === noRowCode ? noRowLabel : (labels.shown[code - 1] ?? otherLabel);
  return [...counts.entries()]
    .sort(([a], [b]) => a - b)
    .map(([code, rows]) => ({ truth: name(code >> 4), output: name(code & 15), rows }));
}

/** The confusion of a column in which every reference row matches: the diagonal. */
export function rightConfusion({ shown, rows, nullRows }: Labels): readonly ConfusionCount[] {
  const diagonal = shown.map((label, i) => ({ truth: label, output: label, rows: rows[i] ?? 0 }));
  return nullRows === 0 ? diagonal : [...diagonal, { truth: nullLabel, output: nullLabel, rows: nullRows }];
}
