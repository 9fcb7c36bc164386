import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../support/errors.js';
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

/** Names the row hash below; another value means that content hashes cannot be compared. */
export const contentHashAlgorithm = 'duckdb-hash-sum-xor';

/**
 * Order-free hash of the rows of a relation: a 64-bit hash per row, all of them added up without overflow and
 * combined by exclusive or, so that equal multisets of rows hash alike for any thread count and row order. Column
 * names and types take part.
 *
 * The row hash is the engine's own (`hash()`), 20 times cheaper than MD5 over the row as text. It tells honest
 * builds apart, no more; `fileSha256` is what shows tampering. DuckDB may change the function between releases
 * (it did in 1.3): a test pins its values, so an engine that hashes otherwise needs another algorithm name.
 */
export async function contentHash(
  session: DuckSession,
  from: string,
  columns: readonly ParquetColumn[],
): Promise<{ readonly rows: number; readonly contentHash: string }> {
  const values = columns.map(({ name }) => identifier(name)).join(', ') || 'null';
  const sums = await session.row(
    `select count(*)::varchar as n, coalesce(sum(row_hash), 0)::varchar as total,
       coalesce(bit_xor(row_hash), 0)::varchar as parity
     from (select hash(${values}) as row_hash from ${from})`,
  );
  return {
    rows: Number(sums.n),
    contentHash: sha256(
      JSON.stringify([
        contentHashAlgorithm,
        columns.map(({ name, type }) => [name, type]),
        sums.n,
        sums.total,
        sums.parity,
      ]),
    ),
  };
}

export interface WriteParquetOptions {
  /** Leading sort columns; all other columns follow, so the order is total up to identical rows. */
  readonly orderBy?: readonly string[];
  /** Rows stay as the query gives them: for imports whose order is that of the file. */
  readonly keepOrder?: boolean;
  readonly rowGroupSize?: number;
  /** Default `zstd`; `lz4_raw` for files that are read once and replaced. */
  readonly compression?: 'zstd' | 'snappy' | 'lz4_raw';
  /** Columns with more distinct values per row group are stored plain; default DuckDB's own, a fifth of the group. */
  readonly dictionaryEntries?: number;
  /**
   * Whole numbers and times as differences, doubles by byte (Parquet format 2): a third to a half of the size for
   * event tables at the same cost (measured); any reader since 2020 knows it. Default false.
   */
  readonly isDeltaEncoded?: boolean;
}

/** Writes a query as one Parquet file, whole or not at all, in a total order, and hashes it. */
export async function writeParquet(
  session: DuckSession,
  query: string,
  path: string,
  options: WriteParquetOptions = {},
): Promise<ParquetFile> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}@${hostname()}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const order = options.keepOrder ? '' : ` order by ${totalOrder(options.orderBy ?? [])}`;
    const dictionary =
      options.dictionaryEntries === undefined ? '' : `, dictionary_size_limit ${options.dictionaryEntries}`;
    const version = options.isDeltaEncoded ? `, parquet_version 'V2'` : '';
    await session.run(
      `copy (select * from (${query})${order}) to ${literal(temporary)}
         (format parquet, compression ${options.compression ?? 'zstd'}, row_group_size ${options.rowGroupSize ?? 122880}${dictionary}${version})`,
    );
    const written = `read_parquet(${literal(temporary)})`;
    const columns = await describeQuery(session, `select * from ${written}`);
    const [hashed, fileSha256] = await Promise.all([
      contentHash(session, written, columns),
      sha256File(temporary),
    ]);
    await rename(temporary, path);
    return { rows: hashed.rows, columns, fileSha256, contentHash: hashed.contentHash };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Deletes half-written Parquet files of processes of this machine that are no more; a killed build leaves them. */
export async function removeAbandonedParquet(folder: string): Promise<void> {
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  });
  for (const name of names) {
    const found = /\.parquet\.(\d+)@(.+)\.[0-9a-f]{12}\.tmp$/.exec(name);
    if (found === null || found[2] !== hostname() || isRunning(Number(found[1]))) continue;
    await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it runs as somebody else.
    return systemCodeOf(thrown) !== 'ESRCH';
  }
}

/** All columns, the leading ones first, without knowing the others' names. */
function totalOrder(leading: readonly string[]): string {
  // The last leading column may stand twice: a star that excludes every column would be an error.
  const excluded = leading.slice(0, -1).map(identifier);
  const rest = excluded.length === 0 ? 'columns(*)' : `columns(* exclude (${excluded.join(', ')}))`;
  return [...leading.map(identifier), rest].join(', ');
}
