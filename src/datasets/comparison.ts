import { DuckSession } from '../duck/session.js';
import { createParquetViews, type ParquetRelation } from '../duck/views.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import type { ComparisonMeasure, PublishedStatistic } from './comparison-measures.js';

/** Five quantiles and the mean of a number, in its own unit. */
export interface NumberSummary {
  readonly n: number;
  readonly mean: number;
  /** 5, 25, 50, 75 and 95 %. */
  readonly quantiles: readonly [number, number, number, number, number];
}

/** The commonest categories and their shares. */
export interface CategorySummary {
  readonly n: number;
  readonly categories: readonly { readonly category: string; readonly share: number }[];
}

export type Summary = NumberSummary | CategorySummary;

export interface ComparedMeasure {
  readonly group: string;
  readonly name: string;
  readonly distance: 'ks' | 'psi';
  /** Null when a side has no values at all. */
  readonly value: number | null;
  readonly bound: number;
  readonly isWithin: boolean;
  /** Null when a side has no values. */
  readonly first: Summary | null;
  readonly second: Summary | null;
}

/** A figure of a publication beside those of both datasets; the first dataset is the one that is judged. */
export interface ComparedFigure {
  readonly name: string;
  readonly statistic: PublishedStatistic;
  readonly published: number;
  readonly first: number | null;
  readonly second: number | null;
  readonly within: number;
  readonly isWithin: boolean;
}

export interface Comparison {
  readonly measures: readonly ComparedMeasure[];
  readonly figures: readonly ComparedFigure[];
}

/**
 * Compares two sets of relations of the same names in every measure.
 *
 * Distances: Kolmogorov-Smirnov, the largest gap between the two distribution functions (0 to 1); of yes-or-no
 * values it is the difference of the shares. Population stability index, the sum over categories of
 * (p - q) ln(p / q), shares below 0.001 taken as 0.001 (0 is equal, above 0.25 is commonly called a shift).
 */
export async function compareRelations(
  measures: readonly ComparisonMeasure[],
  first: readonly ParquetRelation[],
  second: readonly ParquetRelation[],
  options: { readonly memoryBytes?: number; readonly threads?: number; readonly spillFolder?: string } = {},
): Promise<Comparison> {
  await using session = await DuckSession.open(options);
  for (const [side, relations] of [
    ['first', first],
    ['second', second],
  ] as const) {
    await session.run(`attach ':memory:' as ${side}; use ${side}`);
    await createParquetViews(session, relations);
  }
  const compared: ComparedMeasure[] = [];
  const figures: ComparedFigure[] = [];
  for (const measure of measures) {
    const entry = await compareOne(session, measure);
    compared.push(entry);
    figures.push(...figuresOf(measure, entry));
  }
  return { measures: compared, figures };
}

async function compareOne(session: DuckSession, measure: ComparisonMeasure): Promise<ComparedMeasure> {
  const { group, name, distance, bound } = measure;
  try {
    for (const side of ['first', 'second']) {
      await session.run(
        `use ${side}; create or replace temp table sample_${side} as ${sampleQuery(measure)}`,
      );
    }
    const first = await summaryOf(session, measure, 'sample_first');
    const second = await summaryOf(session, measure, 'sample_second');
    const value =
      first === null || second === null
        ? null
        : Number((await session.row(distance === 'ks' ? largestGap : stabilityIndex)).distance);
    // Nothing on both sides is equal; something on one side alone is as far apart as can be.
    const isWithin = value === null ? first === null && second === null : value <= bound;
    return { group, name, distance, value, bound, isWithin, first, second };
  } catch (thrown) {
    throw new M4BenchError(
      'COMPARISON_FAILED',
      `${group}, ${name}: ${messageOf(thrown)}`,
      'Correct the query of this measure.',
      { cause: thrown },
    );
  }
}

/** Distinct values or categories and how often each occurs: small, however many rows there are. */
function sampleQuery({ distance, sql }: ComparisonMeasure): string {
  const column = distance === 'ks' ? 'cast(value as double) as value' : 'cast(category as varchar) as value';
  return `select value, count(*) as n from (select ${column} from (${sql})) where value is not null group by value`;
}

async function summaryOf(
  session: DuckSession,
  { distance }: ComparisonMeasure,
  sample: string,
): Promise<Summary | null> {
  const total = await session.row(`select coalesce(sum(n), 0)::bigint::varchar as n from ${sample}`);
  const n = Number(total.n);
  if (n === 0) return null;
  if (distance === 'psi') {
    const rows = await session.rows(
      `select value, n / ${n} as share from ${sample} order by n desc, value limit 5`,
    );
    return {
      n,
      categories: rows.map((row) => ({ category: String(row.value), share: Number(row.share) })),
    };
  }
  const row = await session.row(
    `with ranked as (select value, sum(n) over (order by value) / ${n} as up_to, n from ${sample})
     select sum(value * n) / ${n} as mean,
       ${[0.05, 0.25, 0.5, 0.75, 0.95].map((p, i) => `min(value) filter (where up_to >= ${p}) as q${i}`).join(', ')}
     from ranked`,
  );
  return {
    n,
    mean: Number(row.mean),
    quantiles: [Number(row.q0), Number(row.q1), Number(row.q2), Number(row.q3), Number(row.q4)],
  };
}

const shares = `joined as (
  select value,
    coalesce(a.n, 0) / (select sum(n) from sample_first) as p, coalesce(b.n, 0) / (select sum(n) from sample_second) as q
  from sample_first a full join sample_second b using (value))`;

const largestGap = `with ${shares}, risen as (select abs(sum(p - q) over (order by value)) as gap from joined)
  select max(gap) as distance from risen`;

const stabilityIndex = `with ${shares}, floored as (select greatest(p, 0.001) as p, greatest(q, 0.001) as q from joined)
  select sum((p - q) * ln(p / q)) as distance from floored`;

function figuresOf(measure: ComparisonMeasure, entry: ComparedMeasure): readonly ComparedFigure[] {
  return (Object.keys(measure.published) as PublishedStatistic[]).map((statistic) => {
    const { value, within } = measure.published[statistic]!;
    const first = statisticOf(entry.first, statistic);
    return {
      name: measure.name,
      statistic,
      published: value,
      first,
      second: statisticOf(entry.second, statistic),
      within,
      isWithin: first !== null && Math.abs(first - value) <= within,
    };
  });
}

function statisticOf(summary: Summary | null, statistic: PublishedStatistic): number | null {
  if (summary === null || !('quantiles' in summary)) return null;
  const [, , median, upperQuartile, percentile95] = summary.quantiles;
  return { mean: summary.mean, share: summary.mean, median, upperQuartile, percentile95 }[statistic];
}
