import { describeQuery } from '../duck/parquet.js';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import type { EvaluationLimits } from './limits.js';
import type { OpenedFile } from './output-file.js';
import { isOutOfMemory, Refusal } from './refusal.js';
import { inFileOrder, type SourceColumn, type TableSource } from './table-source.js';
import { asCsvText } from './truth-column.js';

/** A Parquet file as a relation: typed columns, in the file's row order. Empty text counts as null, as in a CSV. */
export async function parquetSource(
  session: DuckSession,
  path: string,
  wanted: ReadonlySet<string>,
): Promise<TableSource> {
  const found = await describeQuery(session, `select * from read_parquet(${literal(path)})`);
  const columns = new Map<string, SourceColumn>();
  for (const { name, type } of found) {
    if (!wanted.has(name) || columns.has(name)) continue;
    const sql = identifier(name);
    columns.set(name, { name, type, sql: type === 'VARCHAR' ? `nullif(${sql}, '')` : sql });
  }
  return {
    from: `read_parquet(${literal(path)}, file_row_number = true)`,
    place: 'file_row_number',
    columns,
    header: found.map(({ name }) => name),
    hasOddNumbers: true,
  };
}

/**
 * A Parquet output as a relation of text cells, as if it had been written as CSV by the rules that references are
 * written by: both kinds of output then meet the same rules.
 *
 * @throws Refusal when the file is no Parquet file or has more rows than the limit.
 */
export async function parquetAsText(
  session: DuckSession,
  file: OpenedFile,
  wanted: ReadonlySet<string>,
  limits: EvaluationLimits,
): Promise<TableSource> {
  const path = file.enginePath;
  try {
    const [facts] = await session.rows(
      `select sum(num_rows)::varchar as n from parquet_file_metadata(${literal(path)})`,
    );
    if (Number(facts?.n ?? 0) > limits.rows) {
      throw new Refusal(
        'output-too-large',
        `The output has ${facts?.n} rows; at most ${limits.rows} are scored.`,
      );
    }
    const typed = await parquetSource(session, path, wanted);
    const from = `read_parquet(${literal(path)})`;
    const columns = await asCsvText(session, { ...typed, from });
    return await inFileOrder(session, {
      ...typed,
      from,
      place: null,
      columns: new Map(columns.map((column) => [column.name, column])),
    });
  } catch (thrown) {
    if (thrown instanceof Refusal || isOutOfMemory(thrown)) throw thrown;
    throw new Refusal('output-unreadable', 'The output is not a readable Parquet file.');
  }
}
