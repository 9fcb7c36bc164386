import { literal } from '../duck/sql.js';

/** How releases write a TIMESTAMP. */
export const releaseTimestampFormat = '%Y-%m-%d %H:%M:%S';

/**
 * SQL condition: the text is a date, or a date and time without a zone. DuckDB drops a zone from a TIMESTAMP
 * without a word (`10:00:00+02` becomes `10:00:00`), so texts in another than the release's own form are matched.
 */
export function zonelessTimestamp(column: string): string {
  const pattern = String.raw`\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?`;
  return `regexp_full_match(${column}, ${literal(pattern)})`;
}
