import { rewriteExpression } from './sql-expressions.js';
import {
  columnNamed,
  emptyScope,
  renamedColumns,
  type Scope,
  type ScopeColumn,
  type ScopeSource,
} from './sql-scope.js';
import { isNode, nodesOf, notTranslatable, type TreeNode, textOf, textsOf } from './sql-tree.js';

/** A relation of the native database as the transformed one presents it. */
export interface PresentedRelation {
  readonly schema: string;
  readonly table: string;
  /** What columns are qualified with where the query gives no alias; unique over all schemas. */
  readonly alias: string;
  /** In native order. */
  readonly columns: readonly ScopeColumn[];
  /**
   * Sub-query in the place of the table: for a table that a merge has swallowed. It yields the original's columns in
   * native order, coded.
   */
  readonly substitute: TreeNode | undefined;
}

export interface FromContext {
  readonly origin: string;
  readonly numbers: ReadonlyMap<number, number>;
  /** The relation of a native `schema.table`, lower-case. Throws when there is none. */
  relationOf(name: string): PresentedRelation;
  /** A sub-query over a table that is not merged, for the rare place where the order of columns matters. */
  substituteFor(relation: PresentedRelation): TreeNode;
  /** Next unused name for a source without one. */
  nextAlias(): string;
  rewriteQuery(
    node: TreeNode,
    parent: Scope | undefined,
  ): { node: TreeNode; columns: readonly ScopeColumn[] };
}

export interface RewrittenFrom {
  readonly node: TreeNode;
  readonly scope: Scope;
}

type CommonTables = ReadonlyMap<string, readonly ScopeColumn[]>;

/** Rewrites a FROM clause and says what it brings into scope. */
export function rewriteFrom(
  context: FromContext,
  node: TreeNode,
  tables: CommonTables,
  parent: Scope | undefined,
): RewrittenFrom {
  const scope: Scope = { ...emptyScope, parent };
  switch (node.type) {
    case 'EMPTY':
      return { node, scope };
    case 'BASE_TABLE':
      return fromTable(context, node, tables, scope);
    case 'SUBQUERY':
      return fromSubquery(context, node, scope);
    case 'EXPRESSION_LIST':
      return fromValues(context, node, scope);
    case 'TABLE_FUNCTION':
      return fromFunction(context, node, scope);
    case 'JOIN':
      return fromJoin(context, node, tables, scope);
    default:
      throw notTranslatable(context.origin, `it reads from something of kind ${textOf(node.type)}`);
  }
}

function withSource(scope: Scope, source: ScopeSource): Scope {
  return { ...scope, sources: [source] };
}

function fromTable(context: FromContext, node: TreeNode, tables: CommonTables, scope: Scope): RewrittenFrom {
  const [schema, table, alias] = [textOf(node.schema_name), textOf(node.table_name), textOf(node.alias)];
  const columnAliases = textsOf(node.column_name_alias);
  if (schema === '') {
    const columns = tables.get(table.toLowerCase());
    if (columns === undefined) throw notTranslatable(context.origin, `${table} is named without its schema`);
    const name = alias === '' ? table : alias;
    return {
      node,
      scope: withSource(scope, {
        qualifiers: [name.toLowerCase()],
        alias: name,
        columns: renamedColumns(columns, columnAliases),
        isOpen: false,
      }),
    };
  }
  if (isNode(node.at_clause) || isNode(node.sample)) {
    throw notTranslatable(context.origin, `it reads ${schema}.${table} by sample or version`);
  }
  const relation = context.relationOf(`${schema}.${table}`.toLowerCase());
  const name = alias === '' ? relation.alias : alias;
  const source: ScopeSource = {
    qualifiers:
      alias === '' ? [table.toLowerCase(), `${schema}.${table}`.toLowerCase()] : [alias.toLowerCase()],
    alias: name,
    columns: renamedColumns(relation.columns, columnAliases),
    isOpen: false,
  };
  const isByPosition = columnAliases.length > 0;
  if (relation.substitute === undefined && !isByPosition) {
    const { schema: schema_name, table: table_name } = relation;
    const alias = name === table_name ? '' : name;
    return {
      node: { ...node, catalog_name: '', schema_name, table_name, alias },
      scope: withSource(scope, source),
    };
  }
  const substitute = relation.substitute ?? context.substituteFor(relation);
  return {
    node: { ...substitute, alias: name, column_name_alias: [...columnAliases] },
    scope: withSource(scope, source),
  };
}

function fromSubquery(context: FromContext, node: TreeNode, scope: Scope): RewrittenFrom {
  const query = node.subquery as TreeNode;
  const { node: inner, columns } = context.rewriteQuery(query.node as TreeNode, scope.parent);
  const alias = textOf(node.alias) === '' ? context.nextAlias() : textOf(node.alias);
  return {
    node: { ...node, alias, subquery: { ...query, node: inner } },
    scope: withSource(scope, {
      qualifiers: [alias.toLowerCase()],
      alias,
      columns: renamedColumns(columns, textsOf(node.column_name_alias)),
      isOpen: false,
    }),
  };
}

function fromValues(context: FromContext, node: TreeNode, scope: Scope): RewrittenFrom {
  const rows = (Array.isArray(node.values) ? node.values : []).map((row) =>
    nodesOf(row).map((cell) => rewriteExpression(expressionsOf(context), cell, scope)),
  );
  const alias = textOf(node.alias) === '' ? context.nextAlias() : textOf(node.alias);
  const names = textsOf(node.expected_names);
  const columns = (rows[0] ?? []).map((_cell, index): ScopeColumn => {
    const name = names[index] ?? `col${index}`;
    return { name, code: name };
  });
  return {
    node: { ...node, alias, values: rows },
    scope: withSource(scope, { qualifiers: [alias.toLowerCase()], alias, columns, isOpen: false }),
  };
}

function fromFunction(context: FromContext, node: TreeNode, scope: Scope): RewrittenFrom {
  const call = node.function as TreeNode;
  const rewritten = rewriteExpression(expressionsOf(context), call, scope.parent ?? scope);
  const alias = textOf(node.alias) === '' ? textOf(call.function_name) : textOf(node.alias);
  return {
    node: { ...node, function: rewritten },
    scope: withSource(scope, {
      qualifiers: [alias.toLowerCase()],
      alias,
      columns: textsOf(node.column_name_alias).map((name) => ({ name, code: name })),
      isOpen: true,
    }),
  };
}

function expressionsOf(context: FromContext): Parameters<typeof rewriteExpression>[0] {
  return {
    origin: context.origin,
    numbers: context.numbers,
    rewriteSubquery: (query, parent) => ({
      ...query,
      node: context.rewriteQuery(query.node as TreeNode, parent).node,
    }),
  };
}

function fromJoin(context: FromContext, node: TreeNode, tables: CommonTables, outer: Scope): RewrittenFrom {
  const left = rewriteFrom(context, node.left as TreeNode, tables, outer.parent);
  // The right side may look at the left one (lateral joins need no keyword in DuckDB).
  const right = rewriteFrom(context, node.right as TreeNode, tables, left.scope);
  const isHalf = ['SEMI', 'ANTI'].includes(textOf(node.join_type));
  const both: Scope = {
    ...outer,
    sources: [...left.scope.sources, ...right.scope.sources],
    shared: new Map([...right.scope.shared, ...left.scope.shared]),
  };
  const using =
    node.ref_type === 'NATURAL' ? commonNames(left.scope, right.scope) : textsOf(node.using_columns);
  const scope = { ...both, ...(isHalf ? { sources: left.scope.sources, shared: left.scope.shared } : {}) };
  const rewritten: TreeNode = { ...node, left: left.node, right: right.node };
  if (using.length === 0) {
    if (isNode(node.condition)) {
      rewritten.condition = rewriteExpression(expressionsOf(context), node.condition, both);
    }
    return { node: rewritten, scope };
  }
  rewritten.ref_type = node.ref_type === 'NATURAL' ? 'REGULAR' : node.ref_type!;
  const shared = sharedColumns(context, node, using, left.scope, right.scope);
  rewritten.using_columns = using.map((name) => shared.get(name.toLowerCase())!.code);
  return {
    node: rewritten,
    scope: isHalf ? scope : { ...scope, shared: new Map([...scope.shared, ...shared]) },
  };
}

function commonNames(left: Scope, right: Scope): readonly string[] {
  const names = left.sources.flatMap((source) => source.columns.map((column) => column.name));
  return [...new Set(names)].filter((name) => name !== '' && visibleColumn(right, name) !== undefined);
}

function visibleColumn(scope: Scope, name: string): ScopeColumn | undefined {
  const shared = scope.shared.get(name.toLowerCase());
  if (shared !== undefined) return shared;
  return scope.sources
    .map((source) => columnNamed(source.columns, name))
    .find((found) => found !== undefined);
}

/** Columns that USING makes one; they must be called alike on both sides in the carried query too. */
function sharedColumns(
  context: FromContext,
  node: TreeNode,
  using: readonly string[],
  left: Scope,
  right: Scope,
): ReadonlyMap<string, ScopeColumn> {
  const shared = new Map<string, ScopeColumn>();
  for (const name of using) {
    const [first, second] = [visibleColumn(left, name), visibleColumn(right, name)];
    if (first === undefined || second === undefined) {
      throw notTranslatable(context.origin, `USING (${name}) names a column that one side does not have`);
    }
    if (first.code !== second.code || first.words !== second.words) {
      throw notTranslatable(
        context.origin,
        `USING (${name}) of a ${textOf(node.join_type)} join meets a database column on one side and an alias on the other`,
      );
    }
    shared.set(name.toLowerCase(), first);
  }
  return shared;
}
