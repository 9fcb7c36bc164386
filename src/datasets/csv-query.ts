import { identifier, literal } from '../duck/sql.js';
import type { SourceFile } from './release-folder.js';
import type { ColumnType, SourceColumn } from './source-schema.js';
import { hasReleaseForm, zonelessTimestamp } from './timestamps.js';

/**
 * How closely the text of a CSV file is looked at. DuckDB rounds `1.5` to a BIGINT without a word, drops the zone of
 * a TIMESTAMP, and takes `nan` and `inf` for a DOUBLE; all are faults here.
 *
 * - `official`: the bytes are the published ones, so such values cannot occur.
 * - `quick`: whole numbers come as DOUBLE, which shows fractions, and timestamps as text that must have the release's
 *   own form. A file that it refuses may still be right: `careful` decides. Numbers beyond `exactWholeNumber` are not
 *   exact, years may have fewer than four digits, and a DOUBLE may be `nan` or `inf`; the caller looks at the extremes
 *   of what was written.
 * - `careful`: whole numbers and timestamps come as text and are converted under a check, doubles are checked.
 */
export type CsvReading = 'official' | 'quick' | 'careful';

/** Largest whole number that a DOUBLE, and so the `quick` reading, keeps apart from its neighbours. */
export const exactWholeNumber = Number.MAX_SAFE_INTEGER;

const wholeNumber = String.raw`\s*[+-]?\d+(\.0*)?\s*`;

/** A query of the rows of a CSV file, its columns by name and in the table's order. */
export function csvQuery(
  source: SourceFile,
  header: readonly SourceColumn[],
  nullStrings: readonly string[],
  reading: CsvReading,
): string {
  const columns = header.map(({ name, type }) => `${literal(name)}: ${literal(readAs(type, reading))}`);
  const read = `read_csv(${literal(source.path)}, columns = {${columns.join(', ')}}, auto_detect = false,
    header = true, delim = ',', quote = '"', escape = '"', nullstr = [${nullStrings.map(literal).join(', ')}],
    compression = ${literal(source.form === '.csv.gz' ? 'gzip' : 'none')})`;
  const list = source.table.columns.map((column) => {
    const name = identifier(column.name);
    const value = checkedValue(name, column.type, reading);
    return value === name ? name : `${value} as ${name}`;
  });
  return `select ${list.join(', ')} from ${read}`;
}

function readAs(type: ColumnType, reading: CsvReading): string {
  if (reading === 'official') return type;
  if (type === 'BIGINT') return reading === 'quick' ? 'DOUBLE' : 'VARCHAR';
  return type === 'TIMESTAMP' ? 'VARCHAR' : type;
}

function checkedValue(name: string, type: ColumnType, reading: CsvReading): string {
  if (reading === 'official') return name;
  if (type === 'DOUBLE') {
    if (reading === 'quick') return name;
    return `case when not isfinite(${name}) then error('not a finite number') else ${name} end`;
  }
  if (type === 'BIGINT') {
    const isFraction =
      reading === 'quick'
        ? `cast(cast(${name} as bigint) as double) <> ${name}`
        : `not regexp_full_match(${name}, ${literal(wholeNumber)})`;
    return `case when ${isFraction} then error('not a whole number') else cast(${name} as bigint) end`;
  }
  if (type === 'TIMESTAMP') {
    const isFit = reading === 'quick' ? hasReleaseForm(name) : zonelessTimestamp(name);
    return `case when not (${isFit}) then error('not a timestamp') else cast(${name} as timestamp) end`;
  }
  return name;
}
