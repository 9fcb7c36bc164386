import type { Evaluation, MismatchKinds } from '../evaluation/evaluation.js';
import { kindCodes } from '../evaluation/mismatch-kinds.js';

/** What each kind of mismatch means to a reader; `n` rows … */
export const kindWords: Readonly<Record<keyof MismatchKinds, string>> = {
  rowMissing: 'row missing from the output',
  valueMissing: 'null instead of a value',
  valueUnexpected: 'a value where the reference has none',
  unparsable: 'not a number or date-time',
  sign: 'sign turned around',
  rounding: 'rounded differently',
  constantFactor: 'off by one common factor (unit?)',
  constantOffset: 'off by one common difference',
  timeShift: 'shifted by one common time',
  labelSpelling: 'same label, spelled differently',
  tooLow: 'too low or too early',
  tooHigh: 'too high or too late',
  different: 'another label',
  contradictory: 'several rows for one key, not all right',
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

/** Where a run went wrong, in sentences: keys first, then the columns with the lowest match rate. */
export function wentWrong(evaluation: Evaluation, mostColumns = 5): readonly string[] {
  const sentences: string[] = [];
  if (evaluation.error !== null) sentences.push(evaluation.error);
  if (evaluation.missingKeys > 0)
    sentences.push(
      `${evaluation.missingKeys} of ${evaluation.truthRows} reference rows are missing from the output.`,
    );
  if (evaluation.extraKeys > 0)
    sentences.push(`${evaluation.extraKeys} keys in the output are not in the reference.`);
  if (evaluation.duplicateKeys > 0)
    sentences.push(`${evaluation.duplicateKeys} keys stand in the output more than once.`);
  const worst = Object.entries(evaluation.mismatchKinds)
    .map(([column, kinds]) => ({
      column,
      // Missing rows are said once, above.
      kinds: occurringKinds(kinds).filter(({ kind }) => kind !== 'rowMissing'),
    }))
    .filter(({ kinds }) => kinds.length > 0)
    .sort((a, b) => total(b.kinds) - total(a.kinds));
  for (const { column, kinds } of worst.slice(0, mostColumns)) {
    const reasons = kinds.slice(0, 3).map(({ kind, rows }) => `${rows} ${kindWords[kind]}`);
    sentences.push(`${column}: ${reasons.join('; ')}.`);
  }
  if (worst.length > mostColumns) sentences.push(`${worst.length - mostColumns} more columns differ.`);
  return sentences;
}

const total = (kinds: readonly { readonly rows: number }[]): number =>
  kinds.reduce((sum, { rows }) => sum + rows, 0);
