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
import { findSharedErrors, kindCodes, kindSql, noMismatches, wrongPairsSql } from './mismatch-kinds.js';
import { type ColumnPlan, type Pairing, queryPairs, queryPairsOnce } from './pairing.js';
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
  const scored = score.pairing.columns.flatMap(({ truth }, i) =>
    scoredColumns.includes(truth.name) ? [i] : [],
  );
  const labels = await labelsOf(session, score.pairing);
  const truthRows = score.missingKeys + score.keysInTruth;
  const firstRowsRight = (i: number) => (score.robustMatched[i] ?? 0) + (score.contradictory[i] ?? 0);
  const wrong = scored.filter((i) => firstRowsRight(i) < truthRows);
  const pairing: Pairing = {
    ...score.pairing,
    columns: wrong.map((i) => score.pairing.columns[i] as ColumnPlan),
  };
  const counted =
    wrong.length === 0
      ? []
      : await countKinds(
          session,
          pairing,
          wrong.map((i) => labels[i]),
        );
  const kinds = new Map(wrong.map((i, position) => [i, counted[position]]));
  const name = (i: number) => score.pairing.columns[i]?.truth.name ?? '';
  return {
    mismatchKinds: Object.fromEntries(
      scored.map((i) => [
        name(i),
        { ...(kinds.get(i)?.kinds ?? noMismatches), contradictory: score.contradictory[i] ?? 0 },
      ]),
    ),
    confusion: Object.fromEntries(
      scored.flatMap((i) => {
        const known = labels[i];
        const wrongCounts = kinds.get(i)?.confusion;
        if (known === undefined) return [];
        return [
          [name(i), wrongCounts === undefined ? rightConfusion(known) : confusionOf(known, wrongCounts)],
        ];
      }),
    ),
    components: componentsOf(scored.map(name), wrong.map(name), counted),
    examples: await examplesOf(session, pairing, keyTruths, counted),
  };
}

interface CountedColumn {
  readonly kinds: MismatchKinds;
  readonly confusion: ReadonlyMap<number, number>;
  /** Places of the first wrong rows in the reference. */
  readonly firstWrong: readonly string[];
  /** Wrong pairs with a partner, of this column and the first wrong one together. */
  readonly wrongWithFirst: number;
}

async function countKinds(
  session: DuckSession,
  pairing: Pairing,
  labels: readonly (Labels | undefined)[],
): Promise<readonly CountedColumn[]> {
  const shared = await findSharedErrors(session, pairing);
  const kinds = pairing.columns.map(
    (column, i) => `${kindSql(i, column, shared[i] ?? { offset: null, factor: null })} as kind${i}`,
  );
  const codes = pairing.columns.flatMap((column, i) => {
    const known = labels[i];
    return known === undefined ? [] : [`${confusionSql(i, column, known)} as code${i}`];
  });
  const aggregates = pairing.columns.flatMap((_column, i) => [
    `histogram(kind${i}) as kinds${i}`,
    `min(truth_row, ${examplesPerColumn}) filter (bad${i}) as places${i}`,
    `count_if(present and bad0 and bad${i}) as both${i}`,
    ...(labels[i] === undefined ? [] : [`histogram(code${i}) as codes${i}`]),
  ]);
  const row = await queryPairsOnce(
    session,
    pairing,
    `select ${aggregates.join(', ')} from (select ${['*', ...kinds, ...codes].join(', ')} from ${wrongPairsSql(pairing)})`,
  );
  return pairing.columns.map((_column, i) => {
    const counts = histogramOf(row, `kinds${i}`);
    const places = row[`places${i}`];
    return {
      kinds: Object.fromEntries(
        kindCodes.map((kind, code) => [kind, counts.get(code) ?? 0]),
      ) as unknown as MismatchKinds,
      confusion: histogramOf(row, `codes${i}`),
      firstWrong: Array.isArray(places) ? places.map(String) : [],
      wrongWithFirst: Number(row[`both${i}`] ?? 0),
    };
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
  wrong: readonly string[],
  counted: readonly CountedColumn[],
): ComponentMismatches | null {
  const [headline] = scored;
  if (headline === undefined || scored.length < 2) return null;
  const others = scored.slice(1);
  if (wrong[0] !== headline) {
    return { column: headline, rows: 0, wrongWith: Object.fromEntries(others.map((name) => [name, 0])) };
  }
  const count = (name: string) => counted[wrong.indexOf(name)]?.wrongWithFirst ?? 0;
  return {
    column: headline,
    rows: count(headline),
    wrongWith: Object.fromEntries(others.map((name) => [name, count(name)])),
  };
}

/** The first wrong rows of every column, as text. */
async function examplesOf(
  session: DuckSession,
  pairing: Pairing,
  keyTruths: readonly TruthColumn[],
  counted: readonly CountedColumn[],
): Promise<EvaluationExamples> {
  const places = [...new Set(counted.flatMap(({ firstWrong }) => firstWrong))];
  if (places.length === 0) return { columns: {} };
  const { truth } = pairing;
  const shown = [
    ...keyTruths.map(({ textSql }, i) => `${textSql} as key${i}`),
    ...pairing.columns.map(({ truth: column }, i) => `${column.textSql} as text${i}`),
  ];
  const rows = await session.rows(
    `select ${truth.place}::varchar as place, ${shown.join(', ')} from ${truth.from} where ${truth.place} in (${places.join(', ')})`,
  );
  const chosen = {
    ...truth,
    from: `(select *${truth.place === 'rowid' ? ', rowid as chosen_place' : ''} from ${truth.from} where ${truth.place} in (${places.join(', ')}))`,
    place: truth.place === 'rowid' ? 'chosen_place' : truth.place,
  };
  const cells = await queryPairs(
    session,
    { ...pairing, truth: chosen },
    `select truth_row::varchar as place, present, ${pairing.columns.map((_column, i) => `v${i}`).join(', ')} from pairs where truth_row is not null`,
  );
  const truthAt = new Map(rows.map((row) => [String(row.place), row]));
  const outputAt = new Map(cells.map((row) => [String(row.place), row]));
  return {
    columns: Object.fromEntries(
      pairing.columns.map(({ truth: column }, i) => [
        column.name,
        (counted[i]?.firstWrong ?? []).map((place) => ({
          keys: keyTruths.map((_key, k) => shownText(truthAt.get(place)?.[`key${k}`])),
          truth: shownText(truthAt.get(place)?.[`text${i}`]),
          output: shownText(outputAt.get(place)?.[`v${i}`]),
        })),
      ]),
    ),
  };
}

function shownText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value).slice(0, longestExample);
}
