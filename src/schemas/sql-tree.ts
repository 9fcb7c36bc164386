import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { parseSelect } from '../duck/syntax-tree.js';
import { M4BenchError } from '../support/errors.js';

export type Tree = null | boolean | number | string | Tree[] | TreeNode;
export interface TreeNode {
  [key: string]: Tree;
}

export function isNode(tree: Tree | undefined): tree is TreeNode {
  return tree !== null && typeof tree === 'object' && !Array.isArray(tree);
}

/** The nodes of a list; anything else counts as empty. */
export function nodesOf(tree: Tree | undefined): readonly TreeNode[] {
  return Array.isArray(tree) ? tree.filter(isNode) : [];
}

export function textOf(tree: Tree | undefined): string {
  return typeof tree === 'string' ? tree : '';
}

/** Texts of a list. */
export function textsOf(tree: Tree | undefined): readonly string[] {
  return Array.isArray(tree) ? tree.filter((entry) => typeof entry === 'string') : [];
}

/** A query that cannot be carried to another schema with certainty; the remedy is the dictionary. */
export function notTranslatable(origin: string, why: string): M4BenchError {
  return new M4BenchError(
    'SQL_NOT_TRANSLATABLE',
    `${origin} cannot be carried to the transformed schema: ${why}.`,
    'Use the schema dictionary and rewrite the query by hand, or write it without this construct.',
  );
}

/** Syntax tree of one SELECT, without text positions. */
export async function parseTree(session: DuckSession, sql: string, origin: string): Promise<TreeNode> {
  const statement = withoutPositions((await parseSelect(session, sql, origin)) as Tree, origin);
  if (!isNode(statement) || !isNode(statement.node)) throw notTranslatable(origin, 'it has no query');
  return statement;
}

/** Drops positions, and refuses numbers that JavaScript cannot hold: they would come back changed. */
function withoutPositions(tree: Tree, origin: string): Tree {
  if (typeof tree === 'number' && Number.isInteger(tree) && !Number.isSafeInteger(tree)) {
    throw notTranslatable(origin, 'it holds an integer beyond 2^53');
  }
  if (Array.isArray(tree)) return tree.map((entry) => withoutPositions(entry, origin));
  if (!isNode(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree)
      .filter(([key]) => key !== 'query_location')
      .map(([key, value]) => [key, withoutPositions(value, origin)]),
  );
}

/** Prints a statement with DuckDB's own printer, one line per leading common table expression. */
export async function printTree(session: DuckSession, statement: TreeNode): Promise<string> {
  const node = statement.node as TreeNode;
  const entries = nodesOf(isNode(node.cte_map) ? node.cte_map.map : []);
  const isPlain = entries.every((entry) => isPlainExpression(entry.value as TreeNode));
  if (entries.length === 0 || !isPlain) return printStatement(session, statement);
  const parts: string[] = [];
  for (const entry of entries) {
    const { query } = entry.value as { query: TreeNode };
    parts.push(
      `${identifier(textOf(entry.key))} as (\n  ${await printStatement(session, { ...query, named_param_map: [] })}\n)`,
    );
  }
  const rest = { ...statement, node: { ...node, cte_map: { map: [] } } };
  return `with ${parts.join(',\n')}\n${await printStatement(session, rest)}`;
}

function isPlainExpression(value: TreeNode): boolean {
  return (
    isNode(value.query) &&
    isNode(value.query.node) &&
    value.query.node.type !== 'RECURSIVE_CTE_NODE' &&
    textsOf(value.aliases).length === 0 &&
    value.materialized === 'CTE_MATERIALIZE_DEFAULT'
  );
}

async function printStatement(session: DuckSession, statement: TreeNode): Promise<string> {
  const json = jsonOf({ error: false, statements: [statement] });
  const { sql } = await session.row(`select json_deserialize_sql(${literal(json)}) as sql`);
  return String(sql);
}

/** JSON in which a whole number of a floating type keeps its decimal point, without which DuckDB refuses it. */
function jsonOf(tree: Tree): string {
  if (Array.isArray(tree)) return `[${tree.map(jsonOf).join(',')}]`;
  if (!isNode(tree)) return JSON.stringify(tree);
  const isFloating = isNode(tree.type) && ['DOUBLE', 'FLOAT'].includes(textOf(tree.type.id));
  const entries = Object.entries(tree).map(([key, value]) => {
    const isWhole = isFloating && key === 'value' && Number.isInteger(value);
    return `${JSON.stringify(key)}:${isWhole ? withPoint(String(value)) : jsonOf(value)}`;
  });
  return `{${entries.join(',')}}`;
}

function withPoint(number: string): string {
  return number.includes('e') ? number : `${number}.0`;
}
