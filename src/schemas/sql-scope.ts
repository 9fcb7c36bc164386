import { notTranslatable } from './sql-tree.js';

/** A column that a query can name, and what it is called in the carried query. */
export interface ScopeColumn {
  /** Name in the native query; empty for an expression without a name. */
  readonly name: string;
  /** Name in the carried query: the code of a database column, or the same name for an alias. */
  readonly code: string;
  /** Values of this column that the transformed lake writes differently, native to presented. */
  readonly words?: ReadonlyMap<string, string>;
  /** Set when the name alone would be ambiguous in the carried query. */
  readonly qualifier?: string;
}

/** One entry of a FROM clause. */
export interface ScopeSource {
  /** Lower-case names by which columns can be qualified: `icustays`, `mimiciv_icu.icustays`. */
  readonly qualifiers: readonly string[];
  /** The one qualifier in the carried query. */
  readonly alias: string;
  readonly columns: readonly ScopeColumn[];
  /** Columns are not known (a table function): any name may belong to it, and none is a database column. */
  readonly isOpen: boolean;
}

/** What names mean at one place of a query. */
export interface Scope {
  readonly sources: readonly ScopeSource[];
  /** Columns that USING made one. */
  readonly shared: ReadonlyMap<string, ScopeColumn>;
  /** Names of the select list, as far as it has been read. */
  readonly aliases: ReadonlyMap<string, ScopeColumn>;
  /** Parameters of lambda functions. */
  readonly parameters: ReadonlySet<string>;
  readonly parent: Scope | undefined;
}

export const emptyScope: Scope = {
  sources: [],
  shared: new Map(),
  aliases: new Map(),
  parameters: new Set(),
  parent: undefined,
};

/** A reference as it is written in the carried query, and the column it means. */
export interface ResolvedReference {
  readonly parts: readonly string[];
  readonly column: ScopeColumn | undefined;
}

/** Bare words that DuckDB reads as functions. */
const wordFunctions = new Set([
  'current_date',
  'current_timestamp',
  'current_time',
  'localtime',
  'localtimestamp',
]);

/** Columns of an aliased list: the first ones take the alias names, as in `t(a, b)`. */
export function renamedColumns(
  columns: readonly ScopeColumn[],
  aliases: readonly string[],
): readonly ScopeColumn[] {
  return columns.map((column, index) => {
    const alias = aliases[index];
    return alias === undefined ? column : { ...column, name: alias, code: alias };
  });
}

/**
 * Resolves a column reference. A name of the FROM clause goes before an alias of the select list, but not in ORDER BY;
 * then come the enclosing queries. Throws `SQL_NOT_TRANSLATABLE` for a name that nothing explains.
 */
export function resolve(
  scope: Scope,
  parts: readonly string[],
  origin: string,
  isAliasFirst: boolean,
): ResolvedReference {
  for (let level: Scope | undefined = scope; level !== undefined; level = level.parent) {
    const found = resolveAt(level, parts, isAliasFirst && level === scope);
    if (found !== undefined) return found;
  }
  for (let level: Scope | undefined = scope; level !== undefined; level = level.parent) {
    if (level.sources.some((source) => source.isOpen)) return { parts, column: undefined };
  }
  const [first] = parts;
  if (parts.length === 1 && wordFunctions.has(first!.toLowerCase())) return { parts, column: undefined };
  throw notTranslatable(origin, `nothing it reads has a column ${parts.join('.')}`);
}

function resolveAt(
  scope: Scope,
  parts: readonly string[],
  isAliasFirst: boolean,
): ResolvedReference | undefined {
  const first = parts[0]!.toLowerCase();
  if (scope.parameters.has(first)) return { parts, column: undefined };
  const alias = parts.length === 1 ? scope.aliases.get(first) : undefined;
  if (isAliasFirst && alias !== undefined) return { parts: [alias.code], column: alias };
  return resolveQualified(scope, parts) ?? resolvePlain(scope, parts) ?? aliasReference(alias);
}

function aliasReference(alias: ScopeColumn | undefined): ResolvedReference | undefined {
  return alias === undefined ? undefined : { parts: [alias.code], column: alias };
}

/** `table.column`, `schema.table.column`, each possibly with fields of a struct behind it. */
function resolveQualified(scope: Scope, parts: readonly string[]): ResolvedReference | undefined {
  for (const length of [2, 1]) {
    if (parts.length <= length) continue;
    const qualifier = parts.slice(0, length).join('.').toLowerCase();
    const source = scope.sources.find((entry) => entry.qualifiers.includes(qualifier));
    if (source === undefined) continue;
    const [name, ...fields] = parts.slice(length);
    const column = columnNamed(source.columns, name!);
    if (column !== undefined) return { parts: [source.alias, column.code, ...fields], column };
    if (source.isOpen) return { parts: [source.alias, name!, ...fields], column: undefined };
  }
  return undefined;
}

/** A bare column, possibly with fields of a struct behind it. */
function resolvePlain(scope: Scope, parts: readonly string[]): ResolvedReference | undefined {
  const [name, ...fields] = parts;
  const shared = scope.shared.get(name!.toLowerCase());
  const column =
    shared ??
    scope.sources.map((source) => columnNamed(source.columns, name!)).find((found) => found !== undefined);
  if (column === undefined) return undefined;
  const qualifier = column.qualifier === undefined ? [] : [column.qualifier];
  return { parts: [...qualifier, column.code, ...fields], column };
}

export function columnNamed(columns: readonly ScopeColumn[], name: string): ScopeColumn | undefined {
  const wanted = name.toLowerCase();
  return columns.find((column) => column.name !== '' && column.name.toLowerCase() === wanted);
}
