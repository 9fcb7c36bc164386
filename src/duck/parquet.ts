import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { temporaryNameFor } from '../support/files.js';
import { sha256, sha256File } from '../support/hashing.js';
import type { DuckSession } from './session.js';
import { identifier, literal } from './sql.js';

export interface ParquetColumn {
  readonly name: string;
  readonly type: string;
}

/** What was written: enough to detect tampering (`fileSha256`) and to compare rows (`contentHash`). */
export interface ParquetFile {
  readonly rows: number;
  readonly columns: readonly ParquetColumn[];
  readonly fileSha256: string;
  readonly contentHash: string;
}

/** Names and types of the columns of a query. */
export async function describeQuery(session: DuckSession, query: string): Promise<readonly ParquetColumn[]> {
  const rows = await session.rows(`select column_name, column_type from (describe ${query})`);
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/**
 * Order-free hash of the rows of a relation: 128 bits of MD5 per row, added up, so that equal multisets of rows
 * hash alike for any thread count, row order and engine version. Column names and types take part.
 */
export async function contentHash(
  session: DuckSession,
  from: string,
  columns: readonly ParquetColumn[],
): Promise<{ readonly rows: number; readonly contentHash: string }> {
  // chr(31) separates fields; chr(30) marks NULL, so NULL and empty text differ.
  const text = columns
    .map(({ name }) => `coalesce(cast(${identifier(name)} as varchar), chr(30))`)
    .join(` || chr(31) || `);
  // One MD5 per row, split into halves: `& mask` is md5_number_upper, `>> 64` is md5_number_lower.
  const sums = await session.row(
    `select count(*)::varchar as n, coalesce(sum((digest >> 64)::hugeint), 0)::varchar as low,
       coalesce(sum((digest & 18446744073709551615::uhugeint)::hugeint), 0)::varchar as high
     from (select md5_number(${columns.length === 0 ? "''" : text}) as digest from ${from})`,
  );
  return {
    rows: Number(sums.n),
    contentHash: sha256(
      JSON.stringify([columns.map(({ name, type }) => [name, type]), sums.n, sums.low, sums.high]),
    ),
  };
}

export interface WriteParquetOptions {
  /** Leading sort columns; all other columns follow, so the order is total up to identical rows. */
  readonly orderBy?: readonly string[];
  /** Rows stay as the query gives them: for imports whose order is that of the file. */
  readonly keepOrder?: boolean;
  readonly rowGroupSize?: number;
}

/** Writes a query as one Parquet file, whole or not at all, in a total order, and hashes it. */
export async function writeParquet(
  session: DuckSession,
  query: string,
  path: string,
  options: WriteParquetOptions = {},
): Promise<ParquetFile> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryNameFor(path);
  try {
    const columns = await describeQuery(session, query);
    const leading = (options.orderBy ?? []).filter((name) => columns.some((column) => column.name === name));
    const rest = columns.map((column) => column.name).filter((name) => !leading.includes(name));
    const order = options.keepOrder ? '' : ` order by ${[...leading, ...rest].map(identifier).join(', ')}`;
    await session.run(
      `copy (select * from (${query})${order}) to ${literal(temporary)} (format parquet, compression zstd, row_group_size ${options.rowGroupSize ?? 122880})`,
    );
    const hashed = await contentHash(session, `read_parquet(${literal(temporary)})`, columns);
    const fileSha256 = await sha256File(temporary);
    await rename(temporary, path);
    return { rows: hashed.rows, columns, fileSha256, contentHash: hashed.contentHash };
  } finally {
    await rm(temporary, { force: true });
  }
}
