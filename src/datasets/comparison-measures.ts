import { join } from 'node:path';
import { z } from 'zod';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import type { DatabaseKind } from './source-schema.js';

const publishedStatistics = ['mean', 'median', 'upperQuartile', 'percentile95', 'share'] as const;
/** What publications report of a distribution; `share` is the mean of a yes-or-no measure. */
export type PublishedStatistic = (typeof publishedStatistics)[number];

const entrySchema = z.strictObject({
  name: z.string().min(1),
  /** Texts put in the place of `{…}` in the query of the series. */
  with: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  /** A reason to bound this one otherwise than its series. */
  bound: z.number().positive().optional(),
  published: z
    .partialRecord(z.enum(publishedStatistics), z.strictObject({ value: z.number(), within: z.number() }))
    .optional(),
});

const seriesSchema = z.strictObject({
  group: z.string().min(1),
  /** Why the bound is what it is. */
  reason: z.string().min(1),
  distance: z.enum(['ks', 'psi']),
  bound: z.number().positive(),
  /** A query with one column: `value` (a number; yes-or-no as 1 and 0) for `ks`, `category` (text) for `psi`. */
  sql: z.string().min(1),
  measures: z.array(entrySchema).nonempty(),
});

const comparisonFileSchema = z.strictObject({
  title: z.string(),
  /** Where the published figures come from. */
  source: z.string().optional(),
  series: z.array(seriesSchema).nonempty(),
});

/** One distribution that two datasets are compared in. */
export interface ComparisonMeasure {
  readonly group: string;
  readonly name: string;
  readonly distance: 'ks' | 'psi';
  readonly bound: number;
  readonly sql: string;
  readonly published: Readonly<
    Partial<Record<PublishedStatistic, { readonly value: number; readonly within: number }>>
  >;
}

/** The measures of a kind of database, by default those of `benchmark/comparisons/<kind>.toml`. */
export async function loadComparisonMeasures(
  kind: DatabaseKind,
  file: string = join(benchmarkFolder(), 'comparisons', `${kind}.toml`),
): Promise<readonly ComparisonMeasure[]> {
  const { series } = await readTomlFile(file, comparisonFileSchema, 'COMPARISON_INVALID', 'comparison');
  return series.flatMap(({ group, distance, bound, sql, measures }) =>
    measures.map((entry) => ({
      group,
      name: entry.name,
      distance,
      bound: entry.bound ?? bound,
      sql: filled(sql, entry.with, `${file}: ${group}, ${entry.name}`),
      published: entry.published ?? {},
    })),
  );
}

function filled(sql: string, values: Readonly<Record<string, string | number>>, place: string): string {
  return sql.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value !== undefined) return String(value);
    throw new M4BenchError(
      'COMPARISON_INVALID',
      `${place}: nothing stands for {${name}}.`,
      'Give it under "with".',
    );
  });
}
