import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { bindColumns } from './csv-header.js';
import type { SourceFile } from './release-folder.js';
import type { SourceColumn } from './source-schema.js';
import { zonelessTimestamp } from './timestamps.js';

interface FileColumn {
  readonly name: string;
  readonly type: string;
}

interface ParquetBinding {
  readonly column: SourceColumn;
  readonly spelled: string;
  readonly conversion: string;
  /** True where the file has a value that the conversion loses. */
  readonly isLost: string;
}

/** The rows of a Parquet file with the declared types; a value that does not fit ends the query with an error. */
export async function parquetQuery(
  session: DuckSession,
  source: SourceFile,
  nullStrings: readonly string[],
): Promise<string> {
  const bindings = await bindParquet(session, source, nullStrings);
  const list = bindings.map(({ column, conversion, isLost }) =>
    column.type === 'VARCHAR'
      ? `${conversion} as ${identifier(column.name)}`
      : `case when ${isLost} then error('a value does not fit') else ${conversion} end as ${identifier(column.name)}`,
  );
  return `select ${list.join(', ')} from (${renamed(source, bindings)})`;
}

/** The first value that does not fit, by row and column; undefined when every value fits. */
export async function findParquetFault(
  session: DuckSession,
  source: SourceFile,
  nullStrings: readonly string[],
  thrown: unknown,
): Promise<M4BenchError | undefined> {
  for (const binding of await bindParquet(session, source, nullStrings)) {
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
  return undefined;
}

async function bindParquet(
  session: DuckSession,
  source: SourceFile,
  nullStrings: readonly string[],
): Promise<readonly ParquetBinding[]> {
  const found = await columnsOf(session, source);
  const bound = bindColumns(
    source,
    found.map(({ name }) => name),
  );
  return source.table.columns.map((column) => {
    const inFile = found[bound.indexOf(column)]!;
    refuseTimeZone(source, column, inFile);
    const conversion = conversionOf(column, inFile.type, nullStrings);
    const name = identifier(column.name);
    const nulls = inFile.type === 'VARCHAR' ? ` and ${name} not in (${list(nullStrings)})` : '';
    return {
      column,
      spelled: inFile.name,
      conversion,
      isLost: `(${name} is not null${nulls} and (${conversion}) is null)`,
    };
  });
}

async function columnsOf(session: DuckSession, source: SourceFile): Promise<readonly FileColumn[]> {
  try {
    const rows = await session.rows(
      `select column_name, column_type from (describe select * from read_parquet(${literal(source.path)}))`,
    );
    return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
  } catch (thrown) {
    throw new M4BenchError(
      'IMPORT_FILE_UNREADABLE',
      `${source.file}: this is no readable Parquet file: ${messageOf(thrown)}`,
      'Copy the file again.',
      { cause: thrown },
    );
  }
}

/** An instant has no place on the shifted calendars of these databases: which clock would it be read on? */
function refuseTimeZone(source: SourceFile, column: SourceColumn, inFile: FileColumn): void {
  if (!inFile.type.includes('WITH TIME ZONE') || column.type === 'VARCHAR') return;
  throw new M4BenchError(
    'IMPORT_VALUE_INVALID',
    `${source.file}, column ${column.name}: its values have a time zone (${inFile.type}); a ${column.type} has none.`,
    'Write the column as the local time of the release, without a time zone.',
  );
}

function list(nullStrings: readonly string[]): string {
  return nullStrings.map(literal).join(', ');
}

/** What a value of a Parquet file becomes, for a column of the file with the given DuckDB type. */
function conversionOf(column: SourceColumn, fileType: string, nullStrings: readonly string[]): string {
  const name = identifier(column.name);
  const isText = fileType === 'VARCHAR';
  const value = isText ? `case when ${name} in (${list(nullStrings)}) then null else ${name} end` : name;
  if (column.type === 'VARCHAR') return isText ? value : `cast(${value} as varchar)`;
  if (column.type === 'BIGINT') {
    return `case when try_cast(${value} as double) = trunc(try_cast(${value} as double)) then try_cast(${value} as bigint) end`;
  }
  if (column.type === 'DOUBLE') {
    return `case when isfinite(try_cast(${value} as double)) then try_cast(${value} as double) end`;
  }
  if (column.type === 'TIMESTAMP' && isText) {
    return `case when ${zonelessTimestamp(name)} then try_cast(${value} as timestamp) end`;
  }
  return `try_cast(${value} as ${column.type})`;
}

function renamed(source: SourceFile, bindings: readonly ParquetBinding[]): string {
  const columns = bindings.map(
    ({ column, spelled }) => `${identifier(spelled)} as ${identifier(column.name)}`,
  );
  return `select ${columns.join(', ')}, file_row_number from read_parquet(${literal(source.path)}, file_row_number = true)`;
}
