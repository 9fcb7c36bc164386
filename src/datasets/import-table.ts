import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { type ParquetFile, writeParquet } from '../duck/parquet.js';
import type { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { type CsvFault, findCsvFault } from './csv-fault.js';
import { readCsvHeader } from './csv-header.js';
import { type CsvReading, csvQuery, exactWholeNumber } from './csv-query.js';
import { checkGzip } from './gzip-check.js';
import { findParquetFault, parquetQuery } from './parquet-source.js';
import type { SourceFile } from './release-folder.js';
import type { ColumnType } from './source-schema.js';

/** Rows per Parquet row group: the best of those measured by `bench/data/layout.ts` (docs/data.md has the figures). */
export const importRowGroupSize = 122_880;

/** How tables of a dataset are stored: measurements hardly repeat, so only short dictionaries pay. */
export const storedAs = {
  keepOrder: true,
  rowGroupSize: importRowGroupSize,
  dictionaryEntries: 1000,
  isDeltaEncoded: true,
} as const;

/**
 * How a table is stored that is sorted next: half a second of processor time less per 0.5 GB of chart events, at half
 * as much disk again until then (measured).
 */
export const interimStoredAs = { ...storedAs, compression: 'lz4_raw' } as const;

export interface ImportTableOptions {
  readonly nullStrings: readonly string[];
  /** The file's bytes agree with a published checksum: its gzip stream and the form of its values need no check. */
  readonly isVouchedFor: boolean;
  /** Default `storedAs`. */
  readonly storage?: typeof storedAs | typeof interimStoredAs;
}

/**
 * Reads one file of a release into one Parquet file with the declared types, rows in the order of the file: columns
 * by name, the null strings as NULL, everything else exactly as written. Throws one error that names file, line and
 * column.
 */
export async function importTable(
  session: DuckSession,
  source: SourceFile,
  parquetPath: string,
  options: ImportTableOptions,
): Promise<ParquetFile> {
  const write = (query: string): Promise<ParquetFile> =>
    writeParquet(session, query, parquetPath, options.storage ?? storedAs);
  if (source.form === '.parquet') {
    try {
      return await write(await parquetQuery(session, source, options.nullStrings));
    } catch (thrown) {
      if (thrown instanceof M4BenchError) throw thrown;
      throw (
        (await findParquetFault(session, source, options.nullStrings, thrown)) ??
        engineFailure(source, thrown)
      );
    }
  }
  const needsGzipCheck = source.form === '.csv.gz' && !options.isVouchedFor;
  const check = needsGzipCheck ? checkGzip(source) : Promise.resolve();
  const stopped = check.catch(() => session.interrupt());
  const [written, checked] = await Promise.allSettled([
    importCsv(session, source, parquetPath, options, write),
    check,
    stopped,
  ]);
  if (checked.status === 'rejected') throw checked.reason;
  if (written.status === 'fulfilled') return written.value;
  throw await explainCsvFailure(source, options, written.reason);
}

async function importCsv(
  session: DuckSession,
  source: SourceFile,
  parquetPath: string,
  options: ImportTableOptions,
  write: (query: string) => Promise<ParquetFile>,
): Promise<ParquetFile> {
  const header = await readCsvHeader(source);
  const read = (reading: CsvReading): Promise<ParquetFile> =>
    write(csvQuery(source, header, options.nullStrings, reading));
  if (options.isVouchedFor) return read('official');
  try {
    const written = await read('quick');
    if (await isSure(session, source, parquetPath)) return written;
  } catch (thrown) {
    if (/INTERRUPT/i.test(messageOf(thrown))) throw thrown;
  }
  return read('careful');
}

/**
 * False when the quick reading may have taken what it must not: a whole number so large that a DOUBLE rounds it, a year
 * of other than four digits (` 150`, `-150`), which fills the release's form, or a DOUBLE that is not finite. The
 * engine states no least or largest value of a row group with one that is not finite (a test holds it to that), so this costs
 * a look at the file's footer in the place of one at every value.
 */
async function isSure(session: DuckSession, source: SourceFile, parquetPath: string): Promise<boolean> {
  const listOf = (type: ColumnType): string =>
    source.table.columns
      .filter((column) => column.type === type)
      .map(({ name }) => literal(name))
      .join(', ') || "''";
  const { largest, shortYears, unbounded } = await session.row(
    `select coalesce(max(greatest(abs(try_cast(stats_min_value as double)), abs(try_cast(stats_max_value as double))))
         filter (path_in_schema in (${listOf('BIGINT')})), 0) as largest,
       count(*) filter (path_in_schema in (${listOf('TIMESTAMP')})
         and try_cast(stats_min_value as timestamp) < timestamp '1000-01-01')::int as "shortYears",
       count(*) filter (path_in_schema in (${listOf('DOUBLE')}) and stats_null_count is distinct from num_values
         and (stats_min_value is null or stats_max_value is null))::int as unbounded
     from parquet_metadata(${literal(parquetPath)})`,
  );
  return Number(largest) < exactWholeNumber && shortYears === 0 && unbounded === 0;
}

const remedies: Readonly<Record<CsvFault['kind'], readonly [code: string, remedy: string]>> = {
  value: ['IMPORT_VALUE_INVALID', 'Use the file as PhysioNet ships it, or correct the value.'],
  ragged: ['IMPORT_ROW_RAGGED', 'Use the file as PhysioNet ships it; texts with commas must be quoted.'],
  quote: [
    'IMPORT_QUOTE_INVALID',
    'Use the file as PhysioNet ships it; quotation marks inside a text are doubled.',
  ],
  encoding: ['IMPORT_ENCODING', 'Save the file as UTF-8.'],
  newline: ['IMPORT_NEWLINE', 'Use one kind of line end throughout the file.'],
};

async function explainCsvFailure(
  source: SourceFile,
  options: ImportTableOptions,
  thrown: unknown,
): Promise<M4BenchError> {
  const header = await readCsvHeader(source);
  const bytes = createReadStream(source.path);
  const chunks = source.form === '.csv.gz' ? bytes.pipe(createGunzip()) : bytes;
  try {
    const fault = await findCsvFault(chunks, header, options.nullStrings);
    if (fault === undefined) return engineFailure(source, thrown);
    const [code, remedy] = remedies[fault.kind];
    const column = fault.column === undefined ? '' : `, column ${fault.column}`;
    return new M4BenchError(code, `${source.file}, line ${fault.line}${column}: ${fault.detail}.`, remedy, {
      cause: thrown,
    });
  } finally {
    bytes.destroy();
  }
}

/** Neither the data nor the user is plainly at fault: no disk, no memory, or a fault that only the engine sees. */
function engineFailure(source: SourceFile, thrown: unknown): M4BenchError {
  const text = messageOf(thrown);
  const line = /CSV Error on Line: (\d+)/.exec(text)?.[1];
  const place = line === undefined ? source.file : `${source.file}, line ${line}`;
  return new M4BenchError(
    'IMPORT_FAILED',
    `${place}: ${text.slice(0, 400)}`,
    'Check free disk space and the file; then run the import again, finished tables are kept.',
    { party: 'environment', cause: thrown },
  );
}
