import type { DuckSession } from '../duck/session.js';
import { booleanSql, integerSql, numberSql, printedBooleanSql, printedDoubleSql } from './cell-sql.js';
import { isAllTimes, type TextFacts, textFactsOf, timeReadingOf } from './column-facts.js';
import type { KeyPlan } from './pairing.js';
import { robustInstantSql } from './readings.js';
import { inFileOrder, type SourceColumn, type TableSource } from './table-source.js';
import { isWideInteger, type TruthColumn } from './truth-column.js';

/** How the keys join, and whether the published rule already fails on the kinds of the key columns. */
export interface KeyPlans {
  readonly keys: readonly KeyPlan[];
  /** Why the published comparison fails whatever the single cells hold; null when it does not. */
  readonly kindError: string | null;
  /** The output, in file order when a plan needed whole-column facts. */
  readonly output: TableSource;
}

type KeyKind = 'number' | 'instant' | 'text';

/**
 * A key column's kind under the published rule: one null makes it text. A reference without rows joins with nothing,
 * so its keys may be of any kind.
 */
export function keyKindOf(truth: TruthColumn): KeyKind {
  return truth.rows === 0 || truth.nulls > 0 ? 'text' : truth.kind;
}

/** Plans the join of every key column from the reference's kinds and the output's cells. */
export async function planKeys(
  session: DuckSession,
  truths: readonly TruthColumn[],
  output: TableSource,
  cells: readonly SourceColumn[],
): Promise<KeyPlans> {
  let source = output;
  const keys: KeyPlan[] = [];
  const errors: (string | null)[] = [];
  const firstRow = await firstCells(session, output, cells);
  for (const [index, truth] of truths.entries()) {
    const kind = keyKindOf(truth);
    let cell = cells[index] as SourceColumn;
    const first = firstRow?.[index] ?? null;
    const isBoolean = first !== null && /^(true|false)$/i.test(first);
    if (kind === 'text' || (kind === 'number' && (isBoolean || isWideInteger(truth)))) {
      source = await inFileOrder(session, source);
      cell = cellIn(source, cell);
      const [facts] = await textFactsOf(session, source, [cell]);
      const plan = await factPlan(session, source, truth, cell, facts as TextFacts);
      keys.push(plan.key);
      errors.push(plan.error);
    } else if (kind === 'number') keys.push(numberKey(truth, cell, source.hasOddNumbers));
    else {
      keys.push(instantKey(truth, cell, first));
      errors.push(instantKindError(truth, first));
    }
  }
  // A later column may have moved the output into a table of its own.
  const moved = keys.map((key) => ({ ...key, cell: cellIn(source, key.cell) }));
  return { keys: moved, kindError: errors.find((error) => error !== null) ?? null, output: source };
}

function cellIn({ columns }: TableSource, { name }: SourceColumn): SourceColumn {
  return columns.get(name) as SourceColumn;
}

/** The key cells of the first data record, undefined when there is none. */
async function firstCells(session: DuckSession, output: TableSource, cells: readonly SourceColumn[]) {
  const order = output.place === null ? '' : ` order by ${output.place}`;
  const list = cells.map(({ sql }, i) => `${sql} as c${i}`).join(', ');
  const [row] = await session.rows(`select ${list} from ${output.from}${order} limit 1`);
  if (row === undefined) return undefined;
  return cells.map((_cell, i) => {
    const value = row[`c${i}`];
    return value === null ? null : String(value);
  });
}

function numberKey(truth: TruthColumn, cell: SourceColumn, hasOddNumbers: boolean): KeyPlan {
  const keySql = (v: string, d: string) => numberSql(v, d, hasOddNumbers);
  return {
    name: truth.name,
    truthSql: truth.valueSql,
    cell,
    keySql,
    publishedSql: keySql,
    nullIsValue: false,
  };
}

function instantKey(truth: TruthColumn, cell: SourceColumn, first: string | null): KeyPlan {
  const reading = first === null ? undefined : timeReadingOf(first);
  return {
    name: truth.name,
    truthSql: truth.valueSql,
    cell,
    keySql: (v) => robustInstantSql(v, truth.isZoned, reading),
    publishedSql: (v) => reading?.instantSql(v) ?? 'null',
    nullIsValue: false,
  };
}

function instantKindError(truth: TruthColumn, first: string | null): string | null {
  if (first === null) return `Key column ${truth.name} has an empty cell, so it is not read as date-times.`;
  const reading = timeReadingOf(first);
  if (reading.format?.isDigitsOnly) {
    return `Key column ${truth.name} holds numbers where the reference has date-times.`;
  }
  if (reading.isZoned !== truth.isZoned) {
    return `Key column ${truth.name} is ${reading.isZoned ? 'zoned' : 'zone-less'} and the reference is ${truth.isZoned ? 'zoned' : 'zone-less'}.`;
  }
  return null;
}

/** A column that holds nothing but true and false is numeric to the published reader. */
function booleanKey(truth: TruthColumn, cell: SourceColumn): KeyPlan {
  return {
    name: truth.name,
    truthSql: truth.valueSql,
    cell,
    keySql: booleanSql,
    publishedSql: booleanSql,
    nullIsValue: false,
  };
}

/**
 * Integers too wide for doubles join by their exact digits. Output keys read as doubles join by the integer that the
 * double is, so that two references never share one double.
 */
function wideIntegerKey(
  truth: TruthColumn,
  cell: SourceColumn,
  facts: TextFacts,
  hasOddNumbers: boolean,
): KeyPlan {
  const keySql = (v: string, d: string) => {
    if (facts.type === 'integer') return `cast(${integerSql(v)} as varchar)`;
    const number = numberSql(v, d, hasOddNumbers);
    return `case when ${number} = floor(${number}) then coalesce(cast(try_cast(${number} as hugeint) as varchar), cast(${number} as varchar)) else cast(${number} as varchar) end`;
  };
  const truthSql = `cast(${truth.integerSql} as varchar)`;
  return { name: truth.name, truthSql, cell, keySql, publishedSql: keySql, nullIsValue: false };
}

/** Plans that need whole-column facts: text keys, and integers too wide for doubles. */
async function factPlan(
  session: DuckSession,
  output: TableSource,
  truth: TruthColumn,
  cell: SourceColumn,
  facts: TextFacts,
): Promise<{ readonly key: KeyPlan; readonly error: string | null }> {
  if (keyKindOf(truth) === 'number') {
    if (facts.type === 'boolean') return { key: booleanKey(truth, cell), error: null };
    return isWideInteger(truth)
      ? { key: wideIntegerKey(truth, cell, facts, output.hasOddNumbers), error: null }
      : { key: numberKey(truth, cell, output.hasOddNumbers), error: null };
  }
  const isFull = facts.nonNull === facts.rows;
  const isNumeric = isFull && facts.type !== 'text';
  const isTimes = isFull && (await isAllTimes(session, output, cell, timeReadingOf(facts.first ?? '')));
  const keySql = (v: string, d: string) =>
    facts.type === 'text'
      ? v
      : facts.type === 'boolean'
        ? printedBooleanSql(booleanSql(v))
        : printedDoubleSql(numberSql(v, d, output.hasOddNumbers));
  return {
    key: {
      name: truth.name,
      truthSql: truth.textSql,
      cell,
      keySql,
      // Nulls are values here, so no single cell can fail.
      publishedSql: () => "''",
      nullIsValue: true,
    },
    error:
      truth.rows > 0 && (isNumeric || isTimes)
        ? `Key column ${truth.name} holds ${isNumeric ? 'numbers' : 'date-times'} where the reference has text.`
        : null,
  };
}
