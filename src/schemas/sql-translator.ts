import { describeQuery, type ParquetColumn } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { identifier, relation as qualified } from '../duck/sql.js';
import { createParquetViews } from '../duck/views.js';
import { messageOf } from '../support/errors.js';
import { createEmptyTables, type NativeCatalog, type NativeRelation, qualifiedName } from './catalog.js';
import { codedColumn, codedTable, type SchemaDictionary } from './dictionary.js';
import { mergeOf } from './merges.js';
import {
  originalInCodes,
  originalInNativeNames,
  type PresentedTable,
  presentedTables,
} from './presented-tables.js';
import { schemaWordColumns, schemaWordMap } from './schema-words.js';
import type { PresentedRelation } from './sql-from.js';
import { rewriteQuery } from './sql-rewrite.js';
import type { ScopeColumn } from './sql-scope.js';
import {
  isNode,
  notTranslatable,
  parseTree,
  printTree,
  type Tree,
  type TreeNode,
  textOf,
  textsOf,
} from './sql-tree.js';
import type { ValueCodec } from './value-codec.js';
import type { ValueMap } from './value-map.js';

/** Values that stand in queries and are written differently in a transformed lake. */
export interface QueryValues {
  /** Native to presented item ids. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Native to presented wording, by `schema.table.column`. */
  readonly words: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export const noQueryValues: QueryValues = { numbers: new Map(), words: new Map() };

export interface TranslatorOptions {
  readonly catalog: NativeCatalog;
  readonly dictionary: SchemaDictionary;
  readonly codecs: readonly ValueCodec[];
  readonly values?: QueryValues;
  /** The maps that the codecs read. */
  readonly maps?: readonly ValueMap[];
  /**
   * Tables whose texts are worded differently become sub-queries that give the native wording back. Such a query runs
   * only where the maps are, so it serves proofs and is never shown.
   */
  readonly rewordsBack?: boolean;
}

/** A native query carried to a transformed schema. */
export interface TranslatedQuery {
  readonly sql: string;
  /** Output columns, equal to those of the native query. */
  readonly columns: readonly ParquetColumn[];
}

/**
 * Carries SELECT statements from the native to a transformed schema by their syntax tree: references to database
 * columns and tables get codes, scope by scope; literals, aliases and names of common table expressions stay, and the
 * output columns keep their native names. A table that a merge swallowed becomes a sub-query that yields it.
 *
 * Both schemas stand side by side, empty, in one private session: a carried query is bound there and its output
 * columns compared with those of the original, so that a wrong translation is an error and not a wrong answer.
 */
export class SqlTranslator implements AsyncDisposable {
  private readonly relations = new Map<string, PresentedRelation>();

  private constructor(
    private readonly session: DuckSession,
    private readonly options: TranslatorOptions,
  ) {}

  static async open(options: TranslatorOptions): Promise<SqlTranslator> {
    const session = await DuckSession.open({ threads: 1 });
    try {
      await createEmptyTables(session, [...options.catalog.values()]);
      await createEmptyTables(session, allPresented(options));
      await createParquetViews(session, options.maps ?? []);
      const translator = new SqlTranslator(session, options);
      await translator.readRelations();
      return translator;
    } catch (thrown) {
      await session[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** Throws `SQL_NOT_TRANSLATABLE` naming the construct, or `SQL_INVALID`; `origin` says whose query it is. */
  async translate(sql: string, origin: string): Promise<TranslatedQuery> {
    const native = await this.describe(sql, origin, 'on the native schema');
    const statement = await parseTree(this.session, sql, origin);
    const substitutes = await this.substitutesFor(statement);
    let unnamed = 0;
    const { node } = rewriteQuery(
      {
        origin,
        numbers: this.options.values?.numbers ?? noQueryValues.numbers,
        relationOf: (name) => {
          const found = this.relations.get(name);
          if (found === undefined)
            throw notTranslatable(origin, `it reads ${name}, which is no native relation`);
          return found;
        },
        substituteFor: (relation) => substitutes.get(relation)!,
        nextAlias: () => `part_${++unnamed}`,
      },
      statement.node as TreeNode,
      { tables: new Map(), parent: undefined, outputNames: native.map((column) => column.name) },
    );
    const translated = await printTree(this.session, { ...statement, node });
    const columns = await this.describe(translated, origin, 'once carried');
    if (JSON.stringify(columns) !== JSON.stringify(native)) {
      throw notTranslatable(origin, 'its output columns would not keep their names and types');
    }
    return { sql: translated, columns };
  }

  private async describe(sql: string, origin: string, where: string): Promise<readonly ParquetColumn[]> {
    try {
      return await describeQuery(this.session, sql);
    } catch (thrown) {
      throw notTranslatable(origin, `DuckDB refuses it ${where} (${messageOf(thrown)})`);
    }
  }

  private async readRelations(): Promise<void> {
    const { catalog, dictionary } = this.options;
    for (const entry of catalog.values()) {
      const name = qualifiedName(entry);
      const hasWords = entry.columns.some((column) => this.wordsOf(name, column.name) !== undefined);
      const isRebuilt = hasWords && this.options.rewordsBack === true;
      const columns = entry.columns.map((column): ScopeColumn => {
        const words = isRebuilt ? undefined : this.wordsOf(name, column.name);
        return {
          name: column.name,
          code: codedColumn(dictionary, column.name),
          ...(words === undefined ? {} : { words }),
        };
      });
      const coded = codedTable(dictionary, name);
      const isMerged = mergeOf(dictionary, name) !== undefined;
      const substitute = isRebuilt
        ? await this.rebuilt(entry)
        : isMerged
          ? await this.substitute(name)
          : undefined;
      // Sorted codes start again in every schema, seeded ones are unique.
      const alias = dictionary.names === 'sorted' ? `${coded.schema}_${coded.table}` : coded.table;
      this.relations.set(name.toLowerCase(), { ...coded, alias, columns, substitute });
    }
  }

  private wordsOf(relation: string, column: string): ReadonlyMap<string, string> | undefined {
    const { catalog, dictionary, values } = this.options;
    const given = values?.words.get(`${relation}.${column}`);
    if (given !== undefined) return given;
    const word = schemaWordColumns.find((entry) => entry.relation === relation && entry.column === column);
    const map = word === undefined ? undefined : schemaWordMap(dictionary, catalog, word);
    return map === undefined || map.size === 0 ? undefined : map;
  }

  /** Sub-queries of the relations whose columns a query names by position, as in `icustays as s(a, b)`. */
  private async substitutesFor(statement: TreeNode): Promise<ReadonlyMap<PresentedRelation, TreeNode>> {
    const substitutes = new Map<PresentedRelation, TreeNode>();
    for (const name of relationsByPosition(statement)) {
      const found = this.relations.get(name);
      if (found !== undefined) substitutes.set(found, found.substitute ?? (await this.substitute(name)));
    }
    return substitutes;
  }

  /** The FROM item `(select … ) as x` that yields an original in codes. */
  private async substitute(name: string): Promise<TreeNode> {
    const { catalog, dictionary } = this.options;
    const inCodes = originalInCodes(catalog, dictionary, name, (presented) => {
      const { schema, table } = codedTable(dictionary, presented);
      return qualified(schema, table);
    });
    const { table } = codedTable(dictionary, name);
    return this.fromItem(inCodes, table, name);
  }

  /** The same with the native wording. */
  private async rebuilt(entry: NativeRelation): Promise<TreeNode> {
    const { catalog, dictionary, codecs } = this.options;
    const name = qualifiedName(entry);
    const wordings = codecs.filter((codec) => codec.isWording);
    const native = originalInNativeNames(catalog, dictionary, wordings, name, (presented) => {
      const { schema, table } = codedTable(dictionary, presented);
      return qualified(schema, table);
    });
    const items = entry.columns.map(
      (column) => `${identifier(column.name)} as ${identifier(codedColumn(dictionary, column.name))}`,
    );
    return this.fromItem(
      `select ${items.join(', ')} from (${native})`,
      codedTable(dictionary, name).table,
      name,
    );
  }

  private async fromItem(query: string, alias: string, origin: string): Promise<TreeNode> {
    const wrapped = `select * from (${query}) as ${identifier(alias)}`;
    const { node } = await parseTree(this.session, wrapped, origin);
    const from = isNode(node) ? node.from_table : undefined;
    if (!isNode(from)) throw new RangeError(`No FROM item for ${origin}.`);
    return from;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
  }
}

/** Lower-case `schema.table` of the tables that a query gives a list of column aliases. */
function relationsByPosition(tree: Tree): readonly string[] {
  if (Array.isArray(tree)) return tree.flatMap(relationsByPosition);
  if (!isNode(tree)) return [];
  const isByPosition = tree.type === 'BASE_TABLE' && textsOf(tree.column_name_alias).length > 0;
  const own = isByPosition ? [`${textOf(tree.schema_name)}.${textOf(tree.table_name)}`.toLowerCase()] : [];
  return [...own, ...Object.values(tree).flatMap(relationsByPosition)];
}

function allPresented({ catalog, dictionary, codecs }: TranslatorOptions): readonly PresentedTable[] {
  return presentedTables(catalog, dictionary, codecs, [...catalog.keys()]);
}
