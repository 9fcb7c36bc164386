import type { OutputContract } from '../tasks/task.js';
import type { TruthColumn } from './truth-column.js';

/** Labels that are never ordered even where their text casts to numbers. */
const neverOrdered = new Set(['specimen', 'ventilation_status']);

/** The columns of the ordered-value metric, with the span of the reference (1 when all values are equal). */
export function orderedColumnsOf(
  { valueColumns }: Pick<OutputContract, 'valueColumns'>,
  truths: ReadonlyMap<string, TruthColumn>,
): ReadonlyMap<string, number> {
  const scales = new Map<string, number>();
  for (const name of valueColumns) {
    const column = truths.get(name);
    if (neverOrdered.has(name) || column?.orderedSql == null || column.range === null) continue;
    const span = column.range.max - column.range.min;
    scales.set(name, span === 0 ? 1 : span);
  }
  return scales;
}
