import {
  type ExpressionContext,
  type NameOrder,
  referencedColumn,
  rewriteExpression,
} from './sql-expressions.js';
import { type FromContext, rewriteFrom } from './sql-from.js';
import { columnNamed, emptyScope, renamedColumns, type Scope, type ScopeColumn } from './sql-scope.js';
import { isNode, nodesOf, notTranslatable, type Tree, type TreeNode, textOf, textsOf } from './sql-tree.js';

/** Columns of the common table expressions that a query can name, by lower-case name. */
export type CommonTables = ReadonlyMap<string, readonly ScopeColumn[]>;

/** Where a query stands: what it can read besides the database, and which columns it can borrow from outside. */
export interface Place {
  readonly tables: CommonTables;
  readonly parent: Scope | undefined;
  /** Native names of the output columns: only for the outermost query, which keeps them. */
  readonly outputNames?: readonly string[];
}

export interface RewrittenQuery {
  readonly node: TreeNode;
  readonly columns: readonly ScopeColumn[];
}

export type RewriteContext = Omit<FromContext, 'rewriteQuery'> & Pick<ExpressionContext, 'numbers'>;

/** Rewrites a query node (SELECT, set operation, recursive part) and says which columns it yields. */
export function rewriteQuery(context: RewriteContext, node: TreeNode, place: Place): RewrittenQuery {
  const tables = new Map(place.tables);
  const map = nodesOf(isNode(node.cte_map) ? node.cte_map.map : []).map((entry) => {
    const { value, columns } = rewriteCommonTable(context, entry, { tables, parent: place.parent });
    tables.set(textOf(entry.key).toLowerCase(), columns);
    return { key: entry.key!, value };
  });
  const inner: Place = { ...place, tables };
  const withTables = { ...node, cte_map: { map } };
  switch (node.type) {
    case 'SELECT_NODE':
      return rewriteSelect(context, withTables, inner);
    case 'SET_OPERATION_NODE':
      return rewriteSetOperation(context, withTables, inner);
    case 'RECURSIVE_CTE_NODE':
      return rewriteRecursive(context, withTables, inner);
    default:
      throw notTranslatable(context.origin, `it has a part of kind ${textOf(node.type)}`);
  }
}

function rewriteCommonTable(
  context: RewriteContext,
  entry: TreeNode,
  place: Place,
): { readonly value: TreeNode; readonly columns: readonly ScopeColumn[] } {
  const value = entry.value as TreeNode;
  const query = value.query as TreeNode;
  const { node, columns } = rewriteQuery(context, query.node as TreeNode, place);
  return {
    value: { ...value, query: { ...query, node } },
    columns: renamedColumns(columns, textsOf(value.aliases)),
  };
}

function rewriteRecursive(context: RewriteContext, node: TreeNode, place: Place): RewrittenQuery {
  const left = rewriteQuery(context, node.left as TreeNode, place);
  const columns = renamedColumns(left.columns, textsOf(node.aliases));
  const tables = new Map(place.tables).set(textOf(node.cte_name).toLowerCase(), columns);
  const right = rewriteQuery(context, node.right as TreeNode, { tables, parent: place.parent });
  if (Array.isArray(node.key_targets) && node.key_targets.length > 0) {
    throw notTranslatable(context.origin, 'it has a recursive part with USING KEY');
  }
  return { node: { ...node, left: left.node, right: right.node }, columns };
}

function rewriteSetOperation(context: RewriteContext, node: TreeNode, place: Place): RewrittenQuery {
  const isByName = textOf(node.setop_type).endsWith('BY_NAME');
  const children = [node.left, node.right].filter(isNode);
  const rewritten = children.map((child, index) =>
    // Only the first part names the output; by name, every part does.
    rewriteQuery(context, child, index === 0 || isByName ? place : withoutOutputNames(place)),
  );
  const [left, right] = rewritten;
  if (left === undefined || right === undefined) {
    throw notTranslatable(context.origin, 'it has a set operation that is not of two parts');
  }
  if (isByName) throw notTranslatable(context.origin, 'it unites queries by column name');
  refuseMixedWords(context.origin, left.columns, right.columns);
  const scope: Scope = {
    ...emptyScope,
    sources: [{ qualifiers: [], alias: '', columns: left.columns, isOpen: false }],
  };
  return {
    node: {
      ...node,
      left: left.node,
      right: right.node,
      modifiers: rewriteModifiers(context, node, scope, place),
    },
    columns: left.columns,
  };
}

function withoutOutputNames({ tables, parent }: Place): Place {
  return { tables, parent };
}

function refuseMixedWords(origin: string, left: readonly ScopeColumn[], right: readonly ScopeColumn[]): void {
  const mixed = left.find((column, index) => column.words !== right[index]?.words);
  if (mixed === undefined) return;
  throw notTranslatable(origin, `it puts differently worded values under one column ${mixed.name}`);
}

function rewriteSelect(context: RewriteContext, node: TreeNode, place: Place): RewrittenQuery {
  const from = rewriteFrom(
    {
      ...context,
      rewriteQuery: (inner, parent) => rewriteQuery(context, inner, { tables: place.tables, parent }),
    },
    node.from_table as TreeNode,
    place.tables,
    place.parent,
  );
  const expressions = expressionContext(context, place.tables);
  const items = rewriteItems(expressions, node, from.scope, place.outputNames);
  const scope = { ...from.scope, aliases: items.aliases };
  const rewrite = (tree: Tree | undefined): Tree =>
    Array.isArray(tree)
      ? tree.map((entry) => (isNode(entry) ? rewriteExpression(expressions, entry, scope) : entry))
      : isNode(tree)
        ? rewriteExpression(expressions, tree, scope)
        : (tree ?? null);
  return {
    node: {
      ...node,
      select_list: items.list,
      from_table: from.node,
      where_clause: rewrite(node.where_clause),
      group_expressions: rewrite(node.group_expressions),
      having: rewrite(node.having),
      qualify: rewrite(node.qualify),
      modifiers: rewriteModifiers(context, node, scope, place),
    },
    columns: items.columns,
  };
}

function expressionContext(context: RewriteContext, tables: CommonTables): ExpressionContext {
  return {
    origin: context.origin,
    numbers: context.numbers,
    rewriteSubquery: (query, parent) => ({
      ...query,
      node: rewriteQuery(context, query.node as TreeNode, { tables, parent }).node,
    }),
  };
}

interface RewrittenItems {
  readonly list: TreeNode[];
  readonly columns: readonly ScopeColumn[];
  readonly aliases: ReadonlyMap<string, ScopeColumn>;
}

/** The select list: stars written out in native order, references coded, output names of the outermost query kept. */
function rewriteItems(
  context: ExpressionContext,
  node: TreeNode,
  scope: Scope,
  outputNames: readonly string[] | undefined,
): RewrittenItems {
  const aliases = new Map<string, ScopeColumn>();
  const list: TreeNode[] = [];
  const columns: ScopeColumn[] = [];
  const inScope: Scope = { ...scope, aliases };
  const add = (item: TreeNode): void => {
    const column = referencedColumn(context, item, inScope);
    const given = textOf(item.alias);
    const kept = outputNames?.[list.length];
    const needsAlias = given === '' && kept !== undefined && (column === undefined || column.code !== kept);
    const alias = needsAlias ? kept : given;
    const name = alias === '' ? (column?.name ?? '') : alias;
    const output: ScopeColumn = {
      name,
      code: alias === '' ? (column?.code ?? '') : alias,
      ...(column?.words === undefined ? {} : { words: column.words }),
    };
    list.push({ ...rewriteExpression(context, item, inScope), alias });
    columns.push(output);
    if (name !== '' && !aliases.has(name.toLowerCase())) aliases.set(name.toLowerCase(), output);
  };
  for (const item of nodesOf(node.select_list)) {
    if (item.class === 'STAR') for (const written of starItems(context, item, scope)) add(written);
    else add(item);
  }
  return { list, columns, aliases };
}

/** A star as the native references it stands for. */
function starItems(context: ExpressionContext, star: TreeNode, scope: Scope): readonly TreeNode[] {
  const isSimple =
    star.columns === false &&
    !isNode(star.expr) &&
    nodesOf(star.rename_list).length === 0 &&
    nodesOf(star.qualified_exclude_list).length === 0;
  if (!isSimple) throw notTranslatable(context.origin, 'it picks columns by a pattern or renames within *');
  const relationName = textOf(star.relation_name).toLowerCase();
  const sources = scope.sources.filter(
    (source) => relationName === '' || source.qualifiers.includes(relationName),
  );
  if (sources.length === 0 || sources.some((source) => source.isOpen)) {
    throw notTranslatable(context.origin, 'it uses * over something whose columns are not known');
  }
  const excluded = new Set(textsOf(star.exclude_list).map((name) => name.toLowerCase()));
  const replaced = new Map(
    nodesOf(star.replace_list).map((entry) => [textOf(entry.key).toLowerCase(), entry.value as TreeNode]),
  );
  const items: TreeNode[] = [];
  const seen = new Set<string>();
  for (const source of sources) {
    for (const { name } of source.columns) {
      const key = name.toLowerCase();
      if (name === '') throw notTranslatable(context.origin, 'it uses * over a column without a name');
      const isShared = relationName === '' && scope.shared.has(key);
      if (excluded.has(key) || (isShared && seen.has(key))) continue;
      seen.add(key);
      const replacement = replaced.get(key);
      const qualifier = source.qualifiers[0];
      const parts = isShared || qualifier === undefined ? [name] : [...qualifier.split('.'), name];
      items.push(
        replacement === undefined
          ? { class: 'COLUMN_REF', type: 'COLUMN_REF', alias: '', column_names: parts }
          : { ...replacement, alias: name },
      );
    }
  }
  return items;
}

function rewriteModifiers(context: RewriteContext, node: TreeNode, scope: Scope, place: Place): TreeNode[] {
  const expressions = expressionContext(context, place.tables);
  const rewrite = (expression: TreeNode, order: NameOrder): TreeNode => {
    const isWorded = referencedOrAlias(expressions, expression, scope)?.words !== undefined;
    if (isWorded)
      throw notTranslatable(context.origin, 'it sorts by a text that is worded differently there');
    return rewriteExpression(expressions, expression, scope, order);
  };
  return nodesOf(node.modifiers).map((modifier) => {
    switch (modifier.type) {
      case 'ORDER_MODIFIER':
        return {
          ...modifier,
          orders: nodesOf(modifier.orders).map((order) => ({
            ...order,
            expression: isAllColumns(order.expression as TreeNode)
              ? order.expression!
              : rewrite(order.expression as TreeNode, 'aliases-first'),
          })),
        };
      case 'DISTINCT_MODIFIER':
        return {
          ...modifier,
          distinct_on_targets: nodesOf(modifier.distinct_on_targets).map((target) =>
            rewriteExpression(expressions, target, scope, 'aliases-first'),
          ),
        };
      default:
        return modifier;
    }
  });
}

function referencedOrAlias(
  context: ExpressionContext,
  expression: TreeNode,
  scope: Scope,
): ScopeColumn | undefined {
  const [name, ...more] = textsOf(expression.column_names);
  if (expression.class !== 'COLUMN_REF' || name === undefined) return undefined;
  const alias = more.length === 0 ? columnNamed([...scope.aliases.values()], name) : undefined;
  return alias ?? referencedColumn(context, expression, scope);
}

/** ORDER BY ALL. */
function isAllColumns(expression: TreeNode): boolean {
  return expression.class === 'STAR';
}
