import { existsSync } from 'node:fs';
import { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { findTask } from '../tasks/load-tasks.js';
import type { IdentifierColumn, Ruleset } from './ruleset.js';

const BLOCK = 64;

/** HMAC-SHA256 of a column in SQL, `<prefix>_` and 16 digits, as `pseudonymOf` makes it in TypeScript. */
function pseudonymSql(column: string, prefix: string, salt: Buffer): string {
  const key = Buffer.alloc(BLOCK);
  salt.subarray(0, BLOCK).copy(key);
  const padded = (byte: number): string =>
    `from_hex(${literal(Buffer.from(key.map((one) => one ^ byte)).toString('hex'))})`;
  const value = `encode(${literal(`${prefix}:`)} || trim(${column}))`;
  const inner = `from_hex(sha256(${padded(0x36)} || ${value}))`;
  return `${literal(`${prefix}_`)} || upper(left(sha256(${padded(0x5c)} || ${inner}), 16))`;
}

const isEmpty = (column: string): string =>
  `(${column} is null or lower(trim(${column})) in ('', 'nan', 'none', 'null', 'na'))`;

/**
 * Writes an output for private exchange: the columns of the task's contract and no other, identifiers as pseudonyms,
 * times as hours since the first time of the same patient or stay. False when the file is no table with these columns.
 */
export async function writePrivateOutput(
  request: {
    readonly task: string;
    readonly outputPath: string;
    readonly target: string;
    /** At least 16 bytes; longer than a hash block it is not. */
    readonly salt: Buffer;
  },
  ruleset: Ruleset,
): Promise<boolean> {
  const task = await findTask(request.task).catch(() => undefined);
  if (task === undefined || !existsSync(request.outputPath)) return false;
  const { requiredColumns, keyColumns } = task.contract;
  await using session = await DuckSession.open();
  try {
    await session.run(
      `create temp table output as
         select row_number() over () as row_order, * from read_csv(${literal(request.outputPath)}, header = true, all_varchar = true)`,
    );
    const present = (await session.rows('describe output')).map((row) => String(row.column_name));
    const kept = requiredColumns.filter((column) => present.includes(column));
    if (kept.length === 0) return false;
    const known = new Map<string, IdentifierColumn>(
      (ruleset.identifiers.get(task.database)?.columns ?? []).map((column) => [column.column, column]),
    );
    const times = await timeColumns(session, kept, known);
    const group = keyColumns.find((column) => known.has(column) && present.includes(column));
    const first = times.map((column) => `try_cast(${identifier(column)} as timestamp)`).join(', ');
    const origin =
      times.length === 0
        ? 'null'
        : `min(least(${first})) over (${group === undefined ? '' : `partition by ${identifier(group)}`})`;
    const columns = kept.map((column) => {
      const quoted = identifier(column);
      const of = known.get(column);
      if (of !== undefined)
        return `case when ${isEmpty(quoted)} then ${quoted} else ${pseudonymSql(quoted, of.prefix, request.salt)} end as ${quoted}`;
      if (times.includes(column))
        return `round(date_diff('second', ${origin}, try_cast(${quoted} as timestamp)) / 3600.0, 4) as ${quoted}`;
      return quoted;
    });
    await session.run(
      `copy (select ${columns.join(', ')} from output order by row_order) to ${literal(request.target)} (format csv, header)`,
    );
    return true;
  } catch {
    return false;
  }
}

/** Columns all of whose values are times, found by their values and not by their names. */
async function timeColumns(
  session: DuckSession,
  columns: readonly string[],
  known: ReadonlyMap<string, IdentifierColumn>,
): Promise<readonly string[]> {
  const times: string[] = [];
  for (const column of columns) {
    if (known.has(column)) continue;
    const quoted = identifier(column);
    const { values, readable } = await session.row(
      `select count(*) filter (not ${isEmpty(quoted)}) as "values",
              count(*) filter (${quoted} like '%-%' and try_cast(${quoted} as timestamp) is not null) as readable from output`,
    );
    // A column that holds any time at all is one: what cannot be read as a time is then dropped with it.
    if (Number(readable) > 0 && Number(readable) * 2 >= Number(values)) times.push(column);
  }
  return times;
}
