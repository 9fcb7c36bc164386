import type { DuckSession } from '../duck/session.js';
import { identifier } from '../duck/sql.js';

/** One column of a table as the engine sees it. */
export interface SourceColumn {
  readonly name: string;
  /** SQL over the table's rows: text as in the file (null where the field is empty), or a typed value. */
  readonly sql: string;
  /** `VARCHAR` for text cells, else the engine's type name. */
  readonly type: string;
}

/** An output or a reference as a relation that queries read from; only the wanted columns that are present. */
export interface TableSource {
  readonly from: string;
  /** SQL of the row's place in the file, ascending from 0 or above; null while rows are read in no fixed order. */
  readonly place: string | null;
  readonly columns: ReadonlyMap<string, SourceColumn>;
  /** All names of the header. */
  readonly header: readonly string[];
  /** Whether some cell holds `_` or `+-`, which the engine's number parser reads and the rules do not. */
  readonly hasOddNumbers: boolean;
}

let tablesMade = 0;
const tablesOf = new WeakMap<DuckSession, string[]>();

/** Stores a query's rows in a temporary table (which may spill to disk) and returns its quoted name. */
export async function storeTable(session: DuckSession, query: string): Promise<string> {
  tablesMade += 1;
  const table = identifier(`evaluation_${tablesMade}`);
  tablesOf.set(session, [...(tablesOf.get(session) ?? []), table]);
  await session.run(`create temp table ${table} as ${query}`);
  return table;
}

/** Drops the tables that evaluations stored in a session. */
export async function dropStoredTables(session: DuckSession): Promise<void> {
  const tables = tablesOf.get(session) ?? [];
  tablesOf.delete(session);
  for (const table of tables) await session.run(`drop table if exists ${table}`);
}

/** The same table with rows in a fixed order: copied once into a temporary table (which may spill to disk). */
export async function inFileOrder(session: DuckSession, source: TableSource): Promise<TableSource> {
  if (source.place !== null) return source;
  const columns = [...source.columns.values()];
  const cells = ['true as present', ...columns.map(({ sql }, index) => `${sql} as f${index}`)].join(', ');
  const table = await storeTable(session, `select ${cells} from ${source.from}`);
  return {
    ...source,
    from: table,
    place: 'rowid',
    columns: new Map(
      columns.map((column, index) => [column.name, { ...column, sql: identifier(`f${index}`) }]),
    ),
  };
}
