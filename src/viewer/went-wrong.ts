import { mismatchWords, occurringKinds } from '../analysis/evaluation-tables.js';
import type { Evaluation } from '../evaluation/evaluation.js';

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
    const reasons = kinds.slice(0, 3).map(({ kind, rows }) => `${rows} ${mismatchWords[kind]}`);
    sentences.push(`${column}: ${reasons.join('; ')}.`);
  }
  if (worst.length > mostColumns) sentences.push(`${worst.length - mostColumns} more columns differ.`);
  return sentences;
}

const total = (kinds: readonly { readonly rows: number }[]): number =>
  kinds.reduce((sum, { rows }) => sum + rows, 0);
