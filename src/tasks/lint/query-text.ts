import type { DuckSession } from '../../duck/session.js';
import { parseSelect } from '../../duck/syntax-tree.js';
import { M4BenchError } from '../../support/errors.js';

/**
 * Positions at which a text holds a query: a passage that DuckDB parses as SELECT and that reads a schema-qualified
 * relation or one of the given tables; in capitals or as code any relation will do. The ordinary verb "select" is no
 * query, also where a sentence happens to parse ("select adult patients from hospital admissions").
 */
export async function queryPositions(
  session: DuckSession,
  text: string,
  tables: ReadonlySet<string>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const { 0: word, index } of text.matchAll(/\b(?:select|with)\b/gi)) {
    const isMarked = word === word.toUpperCase() || text[index - 1] === '`';
    const paragraph = text.slice(index).split(/\n\s*\n/)[0] ?? '';
    const passages = new Set([
      paragraph,
      ...['`', ';', '. ', '.\n'].map((end) => paragraph.split(end)[0] ?? ''),
    ]);
    for (const passage of passages) {
      const relations = await relationsIn(session, passage.trim().replace(/[.;]$/, ''));
      const isQuery = relations.some(
        ({ schema, table }) => isMarked || schema !== '' || tables.has(table.toLowerCase()),
      );
      if (!isQuery) continue;
      found.push(index);
      break;
    }
  }
  return found;
}

async function relationsIn(
  session: DuckSession,
  passage: string,
): Promise<readonly { readonly schema: string; readonly table: string }[]> {
  const tree = await parseSelect(session, passage, 'text').catch((thrown: unknown) => {
    if (thrown instanceof M4BenchError) return null;
    throw thrown;
  });
  const relations: { schema: string; table: string }[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    if (
      'type' in node &&
      node.type === 'BASE_TABLE' &&
      'table_name' in node &&
      'schema_name' in node &&
      typeof node.table_name === 'string' &&
      typeof node.schema_name === 'string'
    ) {
      relations.push({ schema: node.schema_name, table: node.table_name });
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(tree);
  return relations;
}
