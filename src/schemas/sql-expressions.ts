import { resolve, type Scope, type ScopeColumn } from './sql-scope.js';
import { isNode, nodesOf, notTranslatable, type Tree, type TreeNode, textOf, textsOf } from './sql-tree.js';

/** What rewriting an expression needs besides the names in scope. */
export interface ExpressionContext {
  readonly origin: string;
  /** Numbers that the transformed lake writes differently (item ids), native to presented. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Rewrites a subquery; `scope` is that of the enclosing query. */
  rewriteSubquery(node: TreeNode, scope: Scope): TreeNode;
}

/** ORDER BY and DISTINCT ON look at the names of the select list first. */
export type NameOrder = 'columns-first' | 'aliases-first';

/** Functions whose result does not depend on how a value is written. */
const spellingFree = new Set(['count', 'any_value', 'first', 'last']);

/** Comparisons in which a constant stands for one value of a column. */
const valueComparisons = new Set([
  'COMPARE_EQUAL',
  'COMPARE_NOTEQUAL',
  'COMPARE_DISTINCT_FROM',
  'COMPARE_NOT_DISTINCT_FROM',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
]);

/** Operators that only ask whether there is a value. */
const presenceOperators = new Set(['OPERATOR_IS_NULL', 'OPERATOR_IS_NOT_NULL']);

/** Rewrites one expression: column references get codes, constants of re-written values follow, the rest stays. */
export function rewriteExpression(
  context: ExpressionContext,
  expression: TreeNode,
  scope: Scope,
  order: NameOrder = 'columns-first',
): TreeNode {
  return new ExpressionRewrite(context, scope, order).rewrite(expression, true);
}

/** The column that a bare reference means, if the expression is one. */
export function referencedColumn(
  context: ExpressionContext,
  expression: TreeNode,
  scope: Scope,
): ScopeColumn | undefined {
  if (expression.class !== 'COLUMN_REF') return undefined;
  const parts = textsOf(expression.column_names);
  const { column, parts: written } = resolve(scope, parts, context.origin, false);
  // A field of a struct column is a bare reference with another name.
  return column !== undefined && written.at(-1) === column.code ? column : undefined;
}

class ExpressionRewrite {
  constructor(
    private readonly context: ExpressionContext,
    private readonly scope: Scope,
    private readonly order: NameOrder,
  ) {}

  /** `mayHoldWords`: whether a column whose values are written differently can stand here unchanged in meaning. */
  rewrite(node: TreeNode, mayHoldWords: boolean): TreeNode {
    switch (node.class) {
      case 'COLUMN_REF':
        return this.reference(node, mayHoldWords);
      case 'CONSTANT':
        return this.constant(node);
      case 'SUBQUERY':
        return this.subquery(node);
      case 'LAMBDA':
        return this.lambda(node);
      case 'STAR':
        throw notTranslatable(this.context.origin, 'it uses * inside an expression');
      case 'POSITIONAL_REFERENCE':
        throw notTranslatable(this.context.origin, 'it names a column by position');
      default:
        return this.children(node);
    }
  }

  private reference(node: TreeNode, mayHoldWords: boolean): TreeNode {
    const { parts, column } = resolve(
      this.scope,
      textsOf(node.column_names),
      this.context.origin,
      this.order === 'aliases-first',
    );
    if (!mayHoldWords && column?.words !== undefined) {
      throw notTranslatable(
        this.context.origin,
        `it computes with the text of ${column.name}, which is worded differently there`,
      );
    }
    return { ...node, column_names: [...parts] };
  }

  private constant(node: TreeNode): TreeNode {
    const { value } = node;
    if (!isNode(value) || typeof value.value !== 'number' || !isWholeNumber(value)) return node;
    const presented = this.context.numbers.get(value.value);
    return presented === undefined ? node : { ...node, value: { ...value, value: presented } };
  }

  private subquery(node: TreeNode): TreeNode {
    const child = isNode(node.child) ? this.rewrite(node.child, true) : null;
    return { ...node, child, subquery: this.context.rewriteSubquery(node.subquery as TreeNode, this.scope) };
  }

  private lambda(node: TreeNode): TreeNode {
    const left = node.lhs as TreeNode;
    const names = (left.class === 'COLUMN_REF' ? [left] : nodesOf(left.children)).flatMap((parameter) =>
      textsOf(parameter.column_names),
    );
    const scope: Scope = {
      ...this.scope,
      parameters: new Set([...this.scope.parameters, ...names.map((name) => name.toLowerCase())]),
    };
    const body = new ExpressionRewrite(this.context, scope, this.order);
    return { ...node, expr: body.rewrite(node.expr as TreeNode, false) };
  }

  private children(node: TreeNode): TreeNode {
    const type = textOf(node.type);
    const words = valueComparisons.has(type) ? this.comparedWords(node) : undefined;
    const mayHold =
      words !== undefined ||
      presenceOperators.has(type) ||
      (node.class === 'FUNCTION' && spellingFree.has(textOf(node.function_name)));
    const rewritten: TreeNode = {};
    for (const [key, value] of Object.entries(node)) {
      // PARTITION BY groups, it does not compute.
      rewritten[key] = this.inner(value, mayHold || key === 'partitions', words);
    }
    return rewritten;
  }

  private inner(tree: Tree, mayHoldWords: boolean, words: ReadonlyMap<string, string> | undefined): Tree {
    if (Array.isArray(tree)) return tree.map((entry) => this.inner(entry, mayHoldWords, words));
    if (!isNode(tree)) return tree;
    if (typeof tree.class !== 'string') {
      return Object.fromEntries(
        Object.entries(tree).map(([key, value]) => [key, this.inner(value, mayHoldWords, undefined)]),
      );
    }
    if (words !== undefined && tree.class === 'CONSTANT') return presentedWord(tree, words);
    return this.rewrite(tree, mayHoldWords);
  }

  /** The wording of the column that a comparison compares; two worded columns must share it. */
  private comparedWords(node: TreeNode): ReadonlyMap<string, string> | undefined {
    const sides = [node.left, node.right, ...(Array.isArray(node.children) ? node.children : [])].filter(
      isNode,
    );
    const worded = sides
      .map((side) => referencedColumn(this.context, side, this.scope)?.words)
      .filter((words) => words !== undefined);
    const [first] = worded;
    if (first === undefined) return undefined;
    const isOther = (side: TreeNode): boolean =>
      side.class !== 'CONSTANT' && referencedColumn(this.context, side, this.scope)?.words !== first;
    return sides.some(isOther) ? undefined : first;
  }
}

function presentedWord(node: TreeNode, words: ReadonlyMap<string, string>): TreeNode {
  const { value } = node;
  if (!isNode(value) || typeof value.value !== 'string') return node;
  return { ...node, value: { ...value, value: words.get(value.value) ?? value.value } };
}

function isWholeNumber(value: TreeNode): boolean {
  return isNode(value.type) && ['INTEGER', 'BIGINT', 'SMALLINT'].includes(textOf(value.type.id));
}
