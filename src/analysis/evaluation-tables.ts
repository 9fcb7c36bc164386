import type { Evaluation, MismatchKinds } from '../evaluation/evaluation.js';
import { kindCodes } from '../evaluation/mismatch-kinds.js';
import type { Table, TableRow } from './tables.js';

/** How each kind of mismatch is called where people read it. */
export const mismatchWords: Readonly<Record<keyof MismatchKinds, string>> = {
  rowMissing: 'row missing',
  valueMissing: 'null instead of a value',
  valueUnexpected: 'value instead of null',
  unparsable: 'unreadable',
  sign: 'sign',
  rounding: 'rounding',
  constantFactor: 'off by a constant factor',
  constantOffset: 'off by a constant',
  timeShift: 'shifted in time',
  labelSpelling: 'spelling of the label',
  tooLow: 'too low',
  tooHigh: 'too high',
  different: 'another label',
  contradictory: 'rows of one key disagree',
};

/** Kinds that occur in a column, the most frequent first. */
export function occurringKinds(
  kinds: MismatchKinds | undefined,
): readonly { readonly kind: keyof MismatchKinds; readonly rows: number }[] {
  if (kinds === undefined) return [];
  return kindCodes
    .map((kind) => ({ kind, rows: kinds[kind] }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
}

/** The same as `kind count`; empty when nothing is wrong. */
export function mismatchText(kinds: MismatchKinds | undefined): string {
  return occurringKinds(kinds)
    .map(({ kind, rows }) => `${mismatchWords[kind]} ${rows}`)
    .join(', ');
}

/** One row per scored column: how many reference rows match under both sets of rules, and why the others do not. */
export function columnTable({ columns, mismatchKinds }: Evaluation): Table {
  return {
    columns: ['column', 'matched', 'rows', 'matchRate', 'robustMatchRate', 'mismatches'],
    rows: Object.entries(columns).map(([column, match]) => ({
      column,
      matched: match.matched,
      rows: match.total,
      matchRate: match.matchRate,
      robustMatchRate: match.robustMatchRate,
      mismatches: mismatchText(mismatchKinds[column]),
    })),
    print: [
      { header: 'column', from: ['column'] },
      { header: 'matched', from: ['matched', 'rows'], as: 'count' },
      { header: 'match rate', from: ['matchRate'], as: 'fixed', digits: 4 },
      { header: 'robust', from: ['robustMatchRate'], as: 'fixed', digits: 4 },
      { header: 'mismatches', from: ['mismatches'] },
    ],
  };
}

/** Reference values down, output values across, in numbers of reference rows; for one column with few values. */
export function confusionTable(evaluation: Evaluation, column: string): Table | undefined {
  const cells = evaluation.confusion[column];
  if (cells === undefined) return undefined;
  const outputs = sortedValues(cells.map(({ output }) => output));
  const rows = sortedValues(cells.map(({ truth }) => truth)).map((truth): TableRow => {
    const counts = outputs.map((output) => [
      output,
      cells.find((cell) => cell.truth === truth && cell.output === output)?.rows ?? 0,
    ]);
    return Object.fromEntries([['reference', truth], ...counts]);
  });
  return {
    title: `${column}: reference values down, output values across`,
    columns: ['reference', ...outputs],
    rows,
  };
}

/** Numbers by size, then words, then what stands in brackets. */
export function sortedValues(values: readonly string[]): string[] {
  const rank = (value: string): number => (value.startsWith('(') ? 2 : Number.isNaN(Number(value)) ? 1 : 0);
  return [...new Set(values)].sort(
    (a, b) => rank(a) - rank(b) || (rank(a) === 0 ? Number(a) - Number(b) : a < b ? -1 : 1),
  );
}

/** Which columns are wrong together with the first one, as a sentence; undefined when there is nothing to say. */
export function componentText({ components }: Evaluation): string | undefined {
  if (components === null || components.rows === 0) return undefined;
  const shares = Object.entries(components.wrongWith)
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([column, rows]) => `${column} in ${rows}`);
  const found = shares.length === 0 ? 'no other column is' : `also wrong there: ${shares.join(', ')}`;
  return `${components.column} is wrong in ${components.rows} rows that the output has; ${found}.`;
}
