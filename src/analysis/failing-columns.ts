import type { MismatchKinds } from '../evaluation/evaluation.js';
import { cellsOf } from './cells.js';
import { mismatchWords } from './evaluation-tables.js';
import { mean } from './moments.js';
import type { RunRow } from './run-row.js';
import type { Table, TableRow } from './tables.js';

/** Kinds that are named in a row; the rest is rarely worth the width. */
const named = 3;

/** Which columns fail and how: one row per cell and scored column. */
export function failingColumnTable(rows: readonly RunRow[]): Table | undefined {
  const found = cellsOf(rows).flatMap(({ task, condition, schema, model, rows: members }) => {
    const read = members.filter((row) => Object.keys(row.matchRates).length > 0);
    const columns = [...new Set(read.flatMap((row) => Object.keys(row.matchRates)))];
    return columns.map((column): TableRow => {
      const scored = read.filter((row) => row.matchRates[column] !== undefined);
      const rates = scored.map((row) => row.matchRates[column]!);
      const kinds = summedKinds(scored.flatMap((row) => row.mismatchKinds?.[column] ?? []));
      return {
        task,
        condition,
        schema,
        model,
        column,
        runs: scored.length,
        matchRate: mean(rates),
        min: Math.min(...rates),
        max: Math.max(...rates),
        wrongRows: kinds.reduce((sum, [, count]) => sum + count, 0),
        mostly: kinds
          .slice(0, named)
          .map(([kind, count]) => `${mismatchWords[kind]} ${count}`)
          .join(', '),
      };
    });
  });
  if (found.length === 0) return undefined;
  return {
    title: 'Match rates by column, and how wrong rows are wrong',
    notes: [
      'Match rates are those of the reward; wrong rows are reference rows by the per-cell rules, summed over runs. Runs without a readable output are left out.',
    ],
    columns: [
      'task',
      'condition',
      'schema',
      'model',
      'column',
      'runs',
      'matchRate',
      'min',
      'max',
      'wrongRows',
      'mostly',
    ],
    rows: found,
  };
}

/** Counts over several runs, the largest first, without zeros. */
function summedKinds(all: readonly MismatchKinds[]): readonly (readonly [keyof MismatchKinds, number])[] {
  const sums = new Map<keyof MismatchKinds, number>();
  for (const kinds of all)
    for (const [kind, count] of Object.entries(kinds) as [keyof MismatchKinds, number][])
      sums.set(kind, (sums.get(kind) ?? 0) + count);
  return [...sums].filter(([, count]) => count > 0).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}
