import type { DuckSession } from '../duck/session.js';
import { type TextFacts, textFactsOf, timeReadingOf } from './column-facts.js';
import type { EvaluationErrorKind } from './evaluation.js';
import type { KeyPlans } from './key-plans.js';
import {
  type ColumnCounts,
  type ColumnPlan,
  countPairs,
  matchSql,
  type PairCounts,
  type Pairing,
  pairsSql,
  queryPairsOnce,
  usableSql,
} from './pairing.js';
import type { PublishedReading } from './readings.js';
import { inFileOrder, type SourceColumn, storeTable, type TableSource } from './table-source.js';
import { isWideInteger, type TruthColumn } from './truth-column.js';

/** Why the published comparison as a whole fails although the files could be read. */
export interface PublishedError {
  readonly kind: EvaluationErrorKind;
  readonly reason: string;
}

/** Counts under both sets of rules. */
export interface Score {
  readonly published: {
    readonly error: PublishedError | null;
    readonly extraKeys: number;
    readonly duplicateRows: number;
    readonly comparisons: readonly ('numeric' | 'temporal' | 'text')[];
  };
  readonly robust: { readonly extraKeys: number; readonly duplicateRows: number };
  readonly outputRows: number;
  readonly uniqueKeys: number;
  readonly keysInTruth: number;
  readonly missingKeys: number;
  /** Per column of the pairing. */
  readonly columns: readonly ColumnCounts[];
  readonly robustMatched: readonly number[];
  /** Keys, per column, whose first row matches while a later one does not. */
  readonly contradictory: readonly number[];
  /** Whether some key cell has content that is no key: then a typed join is impossible. */
  readonly hasWrongKeys: boolean;
  /** The pairing with the readings that decided, over the output's first rows per key. */
  readonly pairing: Pairing;
}

/** The reading that is tried first: what a right output has. */
export function firstReading(truth: TruthColumn): PublishedReading {
  switch (truth.kind) {
    case 'number':
      return { kind: 'number' };
    case 'instant':
      return {
        kind: 'instant',
        reading: timeReadingOf(truth.isZoned ? '2000-01-01 00:00:00+00:00' : '2000-01-01 00:00:00'),
      };
    case 'text':
      return { kind: 'text', type: 'text', hasMissingRows: false };
  }
}

/** Scores a pairing: one pass for an ordinary output, further passes where rows repeat or a column is read anew. */
export async function scorePairing(
  session: DuckSession,
  start: Pairing,
  { kindError }: Pick<KeyPlans, 'kindError'>,
  truthRows: number,
): Promise<Score> {
  const whole = wholeOutputOf(session, start.output);
  let pairing = start;
  let counts = await countPairs(session, pairing);
  const keysInTruth = truthRows - counts.missingRows;
  const usableExtraKeys = counts.extraKeys;
  const usableExtraRows = counts.extraRows - counts.unusableRows;
  const repeatedPairs = counts.outputRows - counts.extraRows - keysInTruth;
  const duplicateRows = repeatedPairs + usableExtraRows - usableExtraKeys;
  const { outputRows, unusableRows, unreadKeys, wrongKeys } = counts;
  if (repeatedPairs > 0) {
    pairing = withOutput(pairing, await whole());
    pairing = withOutput(pairing, await firstRows(session, pairing));
    counts = await countPairs(session, pairing);
  }
  const settled = await settleReadings(session, whole, pairing, counts);
  const keyError = publishedKeyError(start, kindError, outputRows, unreadKeys);
  const spoiled =
    repeatedPairs > 0 ? await countSpoiled(session, withOutput(settled.pairing, await whole())) : [];
  return {
    published: {
      error: keyError ?? settled.error,
      extraKeys: usableExtraKeys,
      duplicateRows,
      comparisons: settled.pairing.columns.map(comparisonOf),
    },
    robust: { extraKeys: usableExtraKeys + unusableRows, duplicateRows },
    outputRows,
    uniqueKeys: keysInTruth + usableExtraKeys,
    keysInTruth,
    missingKeys: counts.missingRows,
    columns: settled.columns,
    robustMatched: settled.columns.map(({ robustMatched }, i) => robustMatched - (spoiled[i] ?? 0)),
    contradictory: settled.columns.map((_counts, i) => spoiled[i] ?? 0),
    hasWrongKeys: wrongKeys.some((cells) => cells > 0),
    pairing: settled.pairing,
  };
}

function comparisonOf({ reading }: ColumnPlan): 'numeric' | 'temporal' | 'text' {
  if (reading.kind === 'text') return 'text';
  return reading.kind === 'instant' || reading.kind === 'never' ? 'temporal' : 'numeric';
}

function publishedKeyError(
  { keys }: Pairing,
  kindError: string | null,
  outputRows: number,
  unreadKeys: readonly number[],
): PublishedError | null {
  if (outputRows === 0) return null;
  if (kindError !== null) return { kind: 'key-type', reason: kindError };
  const index = unreadKeys.findIndex((cells) => cells > 0);
  if (index < 0) return null;
  return {
    kind: 'key-type',
    reason: `Key column ${keys[index]?.name} has ${unreadKeys[index]} cells that are empty or not of the reference's kind, which the published rules do not join.`,
  };
}

/** The same pairing over another relation with the same columns. */
export function withOutput(pairing: Pairing, output: TableSource): Pairing {
  const moved = <Plan extends { readonly cell: SourceColumn }>(plan: Plan): Plan => ({
    ...plan,
    cell: output.columns.get(plan.cell.name) as SourceColumn,
  });
  return { ...pairing, output, keys: pairing.keys.map(moved), columns: pairing.columns.map(moved) };
}
/** The output without rows whose key an earlier row has. */
async function firstRows(session: DuckSession, pairing: Pairing): Promise<TableSource> {
  const { output, keys } = pairing;
  const names = keys.map((_key, i) => `k${i}`).join(', ');
  const table = await storeTable(
    session,
    `${pairsSql({ ...pairing, columns: [] })} select place from (select place, row_number() over (partition by ${names} order by place) as nth from output_cells where ${usableSql(keys)}) where nth > 1`,
  );
  return {
    ...output,
    from: `(select *, ${output.place} as file_place from ${output.from} where ${output.place} not in (from ${table}))`,
    place: 'file_place',
  };
}

/** Per column: keys whose first row matches while a later row of the same key does not (robust rule). */
async function countSpoiled(session: DuckSession, pairing: Pairing): Promise<number[]> {
  if (pairing.columns.length === 0) return [];
  const flags = pairing.columns.map((_column, i) => matchSql(pairing, i).robust);
  const perKey = flags.flatMap((flag, i) => [
    `arg_min(coalesce(${flag}, false), place) as first${i}`,
    `bool_and(coalesce(${flag}, false)) as all${i}`,
  ]);
  const row = await queryPairsOnce(
    session,
    pairing,
    `select ${flags.map((_flag, i) => `count_if(first${i} and not all${i}) as spoiled${i}`).join(', ')} from (select ${perKey.join(', ')} from pairs where present and truth_row is not null group by truth_row having count(*) > 1)`,
  );
  return flags.map((_flag, i) => Number(row[`spoiled${i}`] ?? 0));
}

interface Settled {
  readonly pairing: Pairing;
  readonly columns: readonly ColumnCounts[];
  readonly error: PublishedError | null;
}

/** The output with all of its rows in file order, made at most once: types are decided over the whole file. */
type WholeOutput = () => Promise<TableSource>;

function wholeOutputOf(session: DuckSession, output: TableSource): WholeOutput {
  let made: Promise<TableSource> | undefined;
  return () => {
    made ??= inFileOrder(session, output);
    return made;
  };
}

/** Reads columns anew until every published reading is the one that the column-wise rules choose. */
async function settleReadings(
  session: DuckSession,
  whole: WholeOutput,
  start: Pairing,
  first: PairCounts,
): Promise<Settled> {
  const plans = [...start.columns];
  const columns = [...first.columns];
  let pending = plans.map((_plan, i) => i);
  let error: PublishedError | null = null;
  while (pending.length > 0) {
    const again: number[] = [];
    for (const i of pending) {
      const next = await nextReading(
        session,
        whole,
        plans[i] as ColumnPlan,
        columns[i] as ColumnCounts,
        first,
      );
      if (next === null) continue;
      if ('error' in next) {
        error ??= next.error;
        continue;
      }
      plans[i] = { ...(plans[i] as ColumnPlan), reading: next };
      again.push(i);
    }
    if (again.length > 0) {
      const pairing = { ...start, columns: again.map((i) => plans[i] as ColumnPlan) };
      const counted = await countPairs(session, pairing);
      for (const [position, i] of again.entries()) columns[i] = counted.columns[position] as ColumnCounts;
    }
    pending = again;
  }
  return { pairing: { ...start, columns: plans }, columns, error };
}

/** The reading that a column needs instead of the one just tried; null when that one stands. */
async function nextReading(
  session: DuckSession,
  whole: WholeOutput,
  plan: ColumnPlan,
  counts: ColumnCounts,
  { missingRows, outputRows }: PairCounts,
): Promise<PublishedReading | { readonly error: PublishedError } | null> {
  const { truth, reading } = plan;
  const facts = async () => {
    const table = await whole();
    const [found] = await textFactsOf(session, table, [table.columns.get(truth.name) as SourceColumn]);
    return found as TextFacts;
  };
  switch (reading.kind) {
    case 'number': {
      if (counts.unread === 0 && !isWideInteger(truth)) return null;
      const { type } = await facts();
      if (type === 'integer') return { kind: 'integer' };
      if (type === 'boolean') {
        // With a value on both sides of every reference row, both sides are of boolean type.
        const isClash = truth.type === 'boolean' && counts.unread === truth.rows;
        return isClash ? { error: booleanError(truth.name) } : { kind: 'boolean' };
      }
      return counts.unread === 0 ? null : { kind: 'text', type, hasMissingRows: false };
    }
    case 'instant': {
      // Nothing to read is zone-less to the published reader, and so are numbers.
      const zoneless = truth.isZoned && outputRows > 0 ? { error: zoneError(truth, false) } : null;
      if (counts.firstCell === null) return zoneless;
      const right = timeReadingOf(counts.firstCell);
      if (right.format?.pattern !== reading.reading.format?.pattern) {
        if (right.format?.isDigitsOnly && (await facts()).type !== 'text')
          return zoneless ?? { kind: 'never' };
        return { kind: 'instant', reading: right };
      }
      if (counts.unread > 0) {
        const { type } = await facts();
        if (type === 'integer' || type === 'double') return zoneless ?? { kind: 'never' };
        return { kind: 'text', type, hasMissingRows: false, tried: reading.reading };
      }
      return right.isZoned === truth.isZoned ? null : { error: zoneError(truth, right.isZoned) };
    }
    case 'text': {
      if (truth.kind !== 'text' || reading.type !== 'text' || counts.words > 0) return null;
      const { type } = await facts();
      return type === 'text' ? null : { kind: 'text', type, hasMissingRows: missingRows > 0 };
    }
    default:
      return null;
  }
}

function booleanError(name: string): PublishedError {
  return {
    kind: 'column-type',
    reason: `Column ${name} is boolean on both sides, which the published rules cannot subtract.`,
  };
}

function zoneError(truth: TruthColumn, isZoned: boolean): PublishedError {
  return {
    kind: 'column-type',
    reason: `Column ${truth.name} is ${isZoned ? 'zoned' : 'zone-less'} and the reference is ${truth.isZoned ? 'zoned' : 'zone-less'}, which the published rules cannot subtract.`,
  };
}
