import { literal } from '../duck/sql.js';

/** How releases write a TIMESTAMP, as a pattern of LIKE. */
const releaseForm = '____-__-__ __:__:__';

/**
 * SQL condition: the text has the 19 characters of a release's own timestamp (`2150-01-02 10:00:00`), so that its cast to
 * TIMESTAMP, if it succeeds, dropped nothing: a zone has no room in it but for the Z of `10:00:0Z`. A blank may stand
 * for a leading zero, and the year may be negative or short. Half the cost of a format given to the reader, since the
 * engine casts text of any form faster than it follows a format.
 */
export function hasReleaseForm(column: string): string {
  return `${column} like ${literal(releaseForm)} and not ends_with(${column}, 'Z')`;
}

/**
 * SQL condition: the text is a date, or a date and time without a zone. DuckDB drops a zone from a TIMESTAMP
 * without a word (`10:00:00+02` becomes `10:00:00`), so texts in another than the release's own form are matched.
 */
export function zonelessTimestamp(column: string): string {
  const pattern = String.raw`\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?`;
  return `regexp_full_match(${column}, ${literal(pattern)})`;
}
