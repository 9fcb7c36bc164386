import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type ParquetFile, writeParquet } from '../duck/parquet.js';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { type CsvFault, findCsvFault } from './csv-fault.js';
import { bindColumns, readCsvHeader } from './csv-header.js';
import type { SourceFile } from './release-folder.js';
import type { ColumnType, SourceColumn } from './source-schema.js';

/**
 * Rows per Parquet row group. Measured on 10.0 million chart rows with two threads: sorted by itemid, stay and time
 * the file shrinks from 62 to 28 MB and a filter on three items takes 20 instead of 264 ms; the sort adds about
 * four seconds to seven. Groups of 30,720 rows cost 40 MB and filter no faster; 491,520 rows save 5 MB.
 */
export const importRowGroupSize = 122_880;

export interface ImportTableOptions {
  readonly nullStrings: readonly string[];
  /** The file's bytes agree with a checksum, so its gzip stream needs no check of its own. */
  readonly isVouchedFor: boolean;
}

/**
 * Reads one file of a release into one Parquet file with the declared types: columns by name, the null strings
 * as NULL, everything else exactly as written. Throws one error that names file, line and column.
 */
export async function importTable(
  session: DuckSession,
  source: SourceFile,
  parquetPath: string,
  options: ImportTableOptions,
): Promise<ParquetFile> {
  const query =
    source.form === '.parquet'
      ? await parquetQuery(session, source, options)
      : csvQuery(source, await readCsvHeader(source), options);
  const { sortedBy } = source.table;
  const write = writeParquet(session, query, parquetPath, {
    rowGroupSize: importRowGroupSize,
    ...(sortedBy === undefined ? { keepOrder: true } : { orderBy: sortedBy }),
  });
  const needsGzipCheck = source.form === '.csv.gz' && !options.isVouchedFor;
  const check = needsGzipCheck ? checkGzip(source, () => session.interrupt()) : Promise.resolve();
  const [written, checked] = await Promise.allSettled([write, check]);
  if (checked.status === 'rejected') throw checked.reason;
  if (written.status === 'fulfilled') return written.value;
  throw source.form === '.parquet'
    ? await explainParquetFailure(session, source, options, written.reason)
    : await explainCsvFailure(source, options, written.reason);
}

/**
 * DuckDB rounds `1.5` to a BIGINT without a word and takes `nan` and `inf` for a DOUBLE; both are faults here.
 * Whole numbers are therefore read as text and converted under a check.
 */
function strictColumn({ name, type }: SourceColumn): string {
  const column = identifier(name);
  if (type === 'BIGINT') {
    const hasFraction = `contains(${column}, '.') and cast(${column} as double) <> trunc(cast(${column} as double))`;
    return `case when ${hasFraction} then error('not a whole number') else cast(${column} as bigint) end as ${column}`;
  }
  if (type === 'DOUBLE') {
    return `case when not isfinite(${column}) then error('not a finite number') else ${column} end as ${column}`;
  }
  return column;
}

function csvQuery(
  source: SourceFile,
  header: readonly SourceColumn[],
  { nullStrings }: ImportTableOptions,
): string {
  const readAs = (type: ColumnType): string => (type === 'BIGINT' ? 'VARCHAR' : type);
  const columns = header.map(({ name, type }) => `${literal(name)}: ${literal(readAs(type))}`).join(', ');
  const read = `read_csv(${literal(source.path)}, columns = {${columns}}, auto_detect = false, header = true,
    delim = ',', quote = '"', escape = '"', nullstr = [${nullStrings.map(literal).join(', ')}],
    compression = ${literal(source.form === '.csv.gz' ? 'gzip' : 'none')})`;
  return `select ${source.table.columns.map(strictColumn).join(', ')} from ${read}`;
}

/** What a value of a Parquet file becomes, for a column of the file with the given DuckDB type. */
function parquetConversion(column: SourceColumn, fileType: string, nullStrings: readonly string[]): string {
  const name = identifier(column.name);
  const isText = fileType === 'VARCHAR';
  const value = isText
    ? `case when ${name} in (${nullStrings.map(literal).join(', ')}) then null else ${name} end`
    : name;
  if (column.type === 'VARCHAR') return isText ? value : `cast(${value} as varchar)`;
  if (column.type === 'BIGINT') {
    return `case when try_cast(${value} as double) = trunc(try_cast(${value} as double)) then try_cast(${value} as bigint) end`;
  }
  if (column.type === 'DOUBLE') {
    return `case when isfinite(try_cast(${value} as double)) then try_cast(${value} as double) end`;
  }
  return `try_cast(${value} as ${column.type})`;
}

interface ParquetBinding {
  readonly column: SourceColumn;
  readonly spelled: string;
  readonly conversion: string;
  /** True where the file has a value that the conversion loses. */
  readonly isLost: string;
}

async function bindParquet(
  session: DuckSession,
  source: SourceFile,
  { nullStrings }: ImportTableOptions,
): Promise<readonly ParquetBinding[]> {
  let found: readonly { readonly name: string; readonly type: string }[];
  try {
    const rows = await session.rows(
      `select column_name, column_type from (describe select * from read_parquet(${literal(source.path)}))`,
    );
    found = rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
  } catch (thrown) {
    throw new M4BenchError(
      'IMPORT_FILE_UNREADABLE',
      `${source.file}: this is no readable Parquet file: ${messageOf(thrown)}`,
      'Copy the file again.',
      { cause: thrown },
    );
  }
  const bound = bindColumns(
    source,
    found.map(({ name }) => name),
  );
  return source.table.columns.map((column) => {
    const { name: spelled, type } = found[bound.indexOf(column)]!;
    const conversion = parquetConversion(column, type, nullStrings);
    const nulls =
      type === 'VARCHAR'
        ? ` and ${identifier(column.name)} not in (${nullStrings.map(literal).join(', ')})`
        : '';
    return {
      column,
      spelled,
      conversion,
      isLost: `(${identifier(column.name)} is not null${nulls} and (${conversion}) is null)`,
    };
  });
}

function renamed(source: SourceFile, bindings: readonly ParquetBinding[]): string {
  const list = bindings.map(({ column, spelled }) => `${identifier(spelled)} as ${identifier(column.name)}`);
  return `select ${list.join(', ')}, file_row_number from read_parquet(${literal(source.path)}, file_row_number = true)`;
}

async function parquetQuery(
  session: DuckSession,
  source: SourceFile,
  options: ImportTableOptions,
): Promise<string> {
  const bindings = await bindParquet(session, source, options);
  const list = bindings.map(({ column, conversion, isLost }) =>
    column.type === 'VARCHAR'
      ? `${conversion} as ${identifier(column.name)}`
      : `case when ${isLost} then error('a value does not fit') else ${conversion} end as ${identifier(column.name)}`,
  );
  return `select ${list.join(', ')} from (${renamed(source, bindings)})`;
}

async function explainParquetFailure(
  session: DuckSession,
  source: SourceFile,
  options: ImportTableOptions,
  thrown: unknown,
): Promise<M4BenchError> {
  for (const binding of await bindParquet(session, source, options)) {
    if (binding.column.type === 'VARCHAR') continue;
    const [first] = await session.rows(
      `select file_row_number + 1 as n, cast(${identifier(binding.column.name)} as varchar) as shown
       from (${renamed(source, [binding])}) where ${binding.isLost} order by file_row_number limit 1`,
    );
    if (first === undefined) continue;
    return new M4BenchError(
      'IMPORT_VALUE_INVALID',
      `${source.file}, row ${String(first.n)}, column ${binding.column.name}: "${String(first.shown)}" is not a ${binding.column.type}.`,
      'Use the file as PhysioNet ships it, or correct the value.',
      { cause: thrown },
    );
  }
  return engineFailure(source, thrown);
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

/**
 * Decompresses the whole file and checks its length and checksum: DuckDB reads a gzip stream that was cut off or
 * altered as if it were whole (1.5.6), so rows would be lost in silence.
 */
async function checkGzip(source: SourceFile, onBroken: () => void): Promise<void> {
  let line = 1;
  try {
    await pipeline(
      createReadStream(source.path, { highWaterMark: 1 << 18 }),
      createGunzip({ chunkSize: 1 << 18 }),
      async (stream: AsyncIterable<Buffer>) => {
        for await (const chunk of stream) {
          for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line += 1;
        }
      },
    );
  } catch (thrown) {
    onBroken();
    throw new M4BenchError(
      'IMPORT_GZIP_BROKEN',
      `${source.file}, at or after line ${line}: the gzip stream is cut off or damaged (${messageOf(thrown)}).`,
      'Download the file again.',
      { cause: thrown },
    );
  }
}
