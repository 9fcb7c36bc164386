import { type ParquetColumn, type ParquetFile, writeParquet } from '../duck/parquet.js';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { importRowGroupSize, storedAs } from './import-table.js';
import type { SourceFile } from './release-folder.js';
import { estimatedRows } from './row-estimate.js';
import type { SourceTable } from './source-schema.js';

/** What the layout needs to know of a table that was read. */
export interface ReadTable {
  readonly rows: number;
  readonly contentHash: string;
  readonly columns: readonly ParquetColumn[];
}

/** True where sorted rows let queries skip row groups: with a single group there is nothing to skip. */
export function paysToLayOut(table: SourceTable, rows: number): boolean {
  return table.sortedBy !== undefined && rows > importRowGroupSize;
}

/** True where that is to be expected before the rows were counted; false where nothing can be told (Parquet). */
export async function seemsToPayToLayOut(source: SourceFile): Promise<boolean> {
  return paysToLayOut(source.table, (await estimatedRows(source)) ?? 0);
}

/**
 * Rewrites the stored file of a large event table in the order in which the benchmark's queries select from it: by
 * item, then by stay and time, rows that are equal in these as they were. Throws when a row was lost.
 */
export async function layOut(
  session: DuckSession,
  table: SourceTable,
  path: string,
  read: ReadTable,
): Promise<ParquetFile> {
  const order = [...(table.sortedBy ?? []), 'file_row_number'].map(identifier).join(', ');
  const query = `select * exclude (file_row_number) from read_parquet(${literal(path)}, file_row_number = true)
    order by ${order}`;
  const written = await writeParquet(session, query, path, storedAs);
  if (written.contentHash === read.contentHash) return written;
  throw new M4BenchError(
    'LAYOUT_LOST_ROWS',
    `${table.schema}.${table.name} had ${read.rows} rows before it was sorted and ${written.rows} after, or other ones.`,
    'Import again with --layout as-read, and report this.',
    { party: 'internal' },
  );
}
