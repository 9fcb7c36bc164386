// Runs statements and hands out rows of text cells, chunk by chunk.
import { DuckDBInstance, ResultReturnType, StatementType, version } from '@duckdb/node-api';
import { isNumeric } from './formats.mjs';

export const engineVersion = version;

/** Opens a database and a connection. No extension is installed or loaded from outside. */
export async function openEngine({ file, isReadOnly, memoryLimitBytes }) {
  const instance = await DuckDBInstance.create(file, {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    ...(memoryLimitBytes === undefined
      ? {}
      : { memory_limit: `${Math.floor(memoryLimitBytes / 2 ** 20)}MiB` }),
    ...(isReadOnly ? { access_mode: 'READ_ONLY' } : {}),
  });
  const connection = await instance.connect();
  return {
    connection,
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/**
 * Runs one statement. `onResult({ columns, isExplain, chunks })` is called for each result that has rows to show;
 * `chunks` yields arrays of rows, each cell text or null. With `asJson`, cells are JSON texts.
 */
export async function runStatement(connection, sql, asJson, onResult) {
  const statements = await connection.extractStatements(sql);
  for (let at = 0; at < statements.count; at += 1) {
    let prepared = await statements.prepare(at);
    const columns = Array.from({ length: prepared.columnCount }, (_, index) => {
      const type = String(prepared.columnType(index));
      return { name: prepared.columnName(index), type, isNumeric: isNumeric(type) };
    });
    const isQuery = prepared.statementType === StatementType.SELECT && statements.count === 1;
    // The engine itself turns values into text, so that numbers and dates read as they do in DuckDB.
    const texts = isQuery ? await preparedAsText(connection, sql, columns, asJson) : undefined;
    prepared = texts ?? prepared;
    const result = await prepared.stream();
    if (result.returnType !== ResultReturnType.QUERY_RESULT) {
      await drain(result);
      continue;
    }
    const convert = texts !== undefined ? (value) => value : asJson ? jsonText : String;
    await onResult({
      columns,
      isExplain: prepared.statementType === StatementType.EXPLAIN,
      chunks: rowsOf(result, convert),
    });
  }
}

async function preparedAsText(connection, sql, columns, asJson) {
  if (!asJson && columns.every(({ type }) => type === 'VARCHAR')) return undefined;
  const cells = columns.map((_, index) =>
    asJson ? `cast(to_json(#${index + 1}) as varchar)` : `cast(#${index + 1} as varchar)`,
  );
  try {
    return await connection.prepare(`select ${cells.join(', ')} from (${sql.replace(/;\s*$/, '')}\n)`);
  } catch {
    // A statement that cannot stand in a subquery; its values are turned into text here.
    return undefined;
  }
}

async function* rowsOf(result, convert) {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk.getRows().map((row) => row.map((value) => (value === null ? null : convert(value))));
  }
}

async function drain(result) {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
  }
}

function jsonText(value) {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  return JSON.stringify(String(value));
}
