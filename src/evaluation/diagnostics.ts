import type { DuckSession, Row } from '../duck/session.js';
import {
  type ConfusionCount,
  confusionOf,
  confusionSql,
  type Labels,
  labelsOf,
  rightConfusion,
} from './confusion.js';
import type { ComponentMismatches, EvaluationExamples, MismatchKinds } from './evaluation.js';
import {
  findSharedErrors,
  kindCodes,
  kindSql,
  noMismatches,
  type SharedError,
  wrongPairsSql,
} from './mismatch-kinds.js';
import { type ColumnPlan, type Pairing, queryPairsOnce } from './pairing.js';
import type { Score } from './score.js';
import type { TruthColumn } from './truth-column.js';

/** Why an output scored what it scored. Only `examples` holds rows. */
export interface Diagnostics {
  readonly mismatchKinds: Readonly<Record<string, MismatchKinds>>;
  readonly confusion: Readonly<Record<string, readonly ConfusionCount[]>>;
  readonly components: ComponentMismatches | null;
  readonly examples: EvaluationExamples;
}

const examplesPerColumn = 5;
const longestExample = 200;

/** Diagnoses the scored columns by the per-cell rules; one more pass over both tables when anything is wrong. */
export async function diagnose(
  session: DuckSession,
  score: Score,
  keyTruths: readonly TruthColumn[],
  scoredColumns: readonly string[],
): Promise<Diagnostics> {
  const plans = score.pairing.columns;
  const scored = plans.flatMap(({ truth }, i) => (scoredColumns.includes(truth.name) ? [i] : []));
  const labels = await labelsOf(session, score.pairing);
  const { missingKeys, keysInTruth } = score;
  // Where only rows are missing nothing is left to find out, except which labels they carry.
  const looked = scored.filter((i) => {
    const right = (score.robustMatched[i] ?? 0) + (score.contradictory[i] ?? 0);
    return right < keysInTruth || (missingKeys > 0 && labels[i] !== undefined);
  });
  const pairing: Pairing = { ...score.pairing, columns: looked.map((i) => plans[i] as ColumnPlan) };
  const isAllRight = looked.length === 0 && missingKeys === 0;
  const counted = isAllRight
    ? noCounts
    : await countKinds(
        session,
        pairing,
        looked.map((i) => labels[i]),
      );
  const countsOf = (i: number) => counted.columns[looked.indexOf(i)];
  const name = (i: number) => (plans[i] as ColumnPlan).truth.name;
  return {
    mismatchKinds: Object.fromEntries(
      scored.map((i) => [
        name(i),
        {
          ...(countsOf(i)?.kinds ?? { ...noMismatches, rowMissing: missingKeys }),
          contradictory: score.contradictory[i] ?? 0,
        },
      ]),
    ),
    confusion: Object.fromEntries(
      scored.flatMap((i) => {
        const known = labels[i];
        const counts = countsOf(i)?.confusion;
        if (known === undefined) return [];
        return [[name(i), counts === undefined ? rightConfusion(known) : confusionOf(known, counts)]];
      }),
    ),
    components: componentsOf(scored.map(name), looked.map(name), counted.columns),
    examples: await examplesOf(session, score.pairing, keyTruths, scored, (i) => ({
      wrong: countsOf(i)?.firstWrong ?? counted.firstMissing,
    })),
  };
}

/** A wrong row: its place in the reference, and the output's cell. */
interface WrongRow {
  readonly place: string;
  readonly cell: string | null;
}

interface CountedColumn {
  readonly kinds: MismatchKinds;
  readonly confusion: ReadonlyMap<number, number>;
  readonly firstWrong: readonly WrongRow[];
  /** Wrong pairs with a partner, of this column and the first one looked at together. */
  readonly wrongWithFirst: number;
}

interface Counted {
  readonly columns: readonly CountedColumn[];
  /** First reference rows without partner. */
  readonly firstMissing: readonly WrongRow[];
}

const noCounts: Counted = { columns: [], firstMissing: [] };

async function countKinds(
  session: DuckSession,
  pairing: Pairing,
  labels: readonly (Labels | undefined)[],
): Promise<Counted> {
  const shared = await findSharedErrors(session, pairing);
  const kinds = pairing.columns.map(
    (column, i) => `${kindSql(i, column, shared[i] as SharedError)} as kind${i}`,
  );
  const codes = pairing.columns.flatMap((_column, i) => {
    const known = labels[i];
    return known === undefined ? [] : [`${confusionSql(i, known)} as code${i}`];
  });
  const firstRows = (cell: string, condition: string) =>
    `arg_min({'place': truth_row, 'cell': ${cell}}, truth_row, ${examplesPerColumn}) filter (${condition})`;
  const aggregates = pairing.columns.flatMap((_column, i) => [
    `histogram(kind${i}) as kinds${i}`,
    `${firstRows(`v${i}`, `bad${i}`)} as wrong${i}`,
    `count_if(present and bad0 and bad${i}) as both${i}`,
    ...(labels[i] === undefined ? [] : [`histogram(code${i}) as codes${i}`]),
  ]);
  const row = await queryPairsOnce(
    session,
    pairing,
    `select ${[`${firstRows('null::varchar', 'present is null')} as missing`, ...aggregates].join(', ')} from (select ${['*', ...kinds, ...codes].join(', ')} from ${wrongPairsSql(pairing)})`,
  );
  return {
    firstMissing: wrongRowsOf(row, 'missing'),
    columns: pairing.columns.map((_column, i) => {
      const counts = histogramOf(row, `kinds${i}`);
      return {
        kinds: Object.fromEntries(
          kindCodes.map((kind, code) => [kind, counts.get(code) ?? 0]),
        ) as unknown as MismatchKinds,
        confusion: histogramOf(row, `codes${i}`),
        firstWrong: wrongRowsOf(row, `wrong${i}`),
        wrongWithFirst: Number(row[`both${i}`] ?? 0),
      };
    }),
  };
}

function wrongRowsOf(row: Row, name: string): readonly WrongRow[] {
  const found = row[name];
  if (!Array.isArray(found)) return [];
  return found.map((one) => {
    const { place, cell } = one as { place: unknown; cell: unknown };
    return { place: String(place), cell: shownText(cell) };
  });
}

function histogramOf(row: Row, name: string): ReadonlyMap<number, number> {
  const entries = row[name];
  if (!Array.isArray(entries)) return new Map();
  return new Map(
    entries.map((entry) => {
      const { key, value } = entry as { key: unknown; value: unknown };
      return [Number(key), Number(value)];
    }),
  );
}

function componentsOf(
  scored: readonly string[],
  looked: readonly string[],
  counted: readonly CountedColumn[],
): ComponentMismatches | null {
  const [headline] = scored;
  if (headline === undefined || scored.length < 2) return null;
  const isLooked = looked[0] === headline;
  const count = (name: string) => (isLooked ? (counted[looked.indexOf(name)]?.wrongWithFirst ?? 0) : 0);
  return {
    column: headline,
    rows: count(headline),
    wrongWith: Object.fromEntries(scored.slice(1).map((name) => [name, count(name)])),
  };
}

/** The first wrong rows of every column, with the reference's side looked up by place. */
async function examplesOf(
  session: DuckSession,
  { truth, columns }: Pairing,
  keyTruths: readonly TruthColumn[],
  scored: readonly number[],
  rowsOf: (column: number) => { readonly wrong: readonly WrongRow[] },
): Promise<EvaluationExamples> {
  const places = [...new Set(scored.flatMap((i) => rowsOf(i).wrong.map(({ place }) => place)))];
  if (places.length === 0) return { columns: {} };
  const shown = [
    ...keyTruths.map(({ textSql }, k) => `${textSql} as key${k}`),
    ...scored.map((i) => `${(columns[i] as ColumnPlan).truth.textSql} as text${i}`),
  ];
  const rows = await session.rows(
    `select ${truth.place}::varchar as place, ${shown.join(', ')} from ${truth.from} where ${truth.place} in (${places.join(', ')})`,
  );
  const truthAt = new Map(rows.map((row) => [String(row.place), row]));
  return {
    columns: Object.fromEntries(
      scored.flatMap((i) => {
        const { wrong } = rowsOf(i);
        const examples = wrong.map(({ place, cell }) => {
          const right = truthAt.get(place) as Row;
          return {
            keys: keyTruths.map((_key, k) => shownText(right[`key${k}`])),
            truth: shownText(right[`text${i}`]),
            output: cell,
          };
        });
        return wrong.length === 0 ? [] : [[(columns[i] as ColumnPlan).truth.name, examples]];
      }),
    ),
  };
}

function shownText(value: unknown): string | null {
  return value === null ? null : String(value).slice(0, longestExample);
}
