import { M4BenchError } from '../support/errors.js';
import type { DuckSession } from './session.js';
import { literal } from './sql.js';

/** A relation named in a query. `schema` is empty when the query gave none. */
export interface RelationName {
  readonly schema: string;
  readonly table: string;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The syntax tree of one SELECT statement, as DuckDB's own parser prints it. */
export async function parseSelect(session: DuckSession, sql: string, origin: string): Promise<Json> {
  const { tree } = await session.row(`select json_serialize_sql(${literal(sql)}) as tree`);
  const parsed = JSON.parse(String(tree)) as { error: boolean; error_message?: string; statements?: Json[] };
  if (parsed.error) {
    throw new M4BenchError(
      'SQL_INVALID',
      `${origin}: ${parsed.error_message ?? 'not a SELECT statement'}.`,
      'Fix the query; it must be one bare SELECT.',
    );
  }
  if (parsed.statements?.length !== 1) {
    throw new M4BenchError(
      'SQL_INVALID',
      `${origin}: holds ${parsed.statements?.length ?? 0} statements.`,
      'Keep exactly one SELECT.',
    );
  }
  return parsed.statements[0] ?? null;
}

/**
 * The schema-qualified relations that a query reads, sorted, without duplicates; names of CTEs carry no schema
 * and are left out. Read from the syntax tree, never by pattern matching (architecture, decision 3).
 */
export async function relationsRead(
  session: DuckSession,
  sql: string,
  origin: string,
): Promise<readonly RelationName[]> {
  const found = new Map<string, RelationName>();
  const visit = (node: Json): void => {
    if (Array.isArray(node)) {
      for (const inner of node) visit(inner);
    } else if (node !== null && typeof node === 'object') {
      if (
        node.type === 'BASE_TABLE' &&
        typeof node.table_name === 'string' &&
        typeof node.schema_name === 'string' &&
        node.schema_name !== ''
      ) {
        found.set(`${node.schema_name}.${node.table_name}`, {
          schema: node.schema_name,
          table: node.table_name,
        });
      }
      for (const inner of Object.values(node)) visit(inner);
    }
  };
  visit(await parseSelect(session, sql, origin));
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}
