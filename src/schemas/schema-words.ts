import { identifier, literal } from '../duck/sql.js';
import { type NativeCatalog, qualifiedName } from './catalog.js';
import { codedTable, type SchemaDictionary } from './dictionary.js';
import { mergeOf } from './merges.js';
import type { ValueCodec } from './value-codec.js';

/** A column whose values are names of tables: a piece of the schema that stands in the data. */
export interface SchemaWordColumn {
  readonly relation: string;
  readonly column: string;
  /** Schema of the tables that the values name. */
  readonly schema: string;
}

export const schemaWordColumns: readonly SchemaWordColumn[] = [
  { relation: 'mimiciv_icu.d_items', column: 'linksto', schema: 'mimiciv_icu' },
];

/**
 * How a table name in the data is written: the code of the table, or of the table that swallowed it with the value
 * of its discriminator behind a colon. With sorted names, as published, values stay as they are.
 */
export function schemaWordMap(
  dictionary: SchemaDictionary,
  catalog: NativeCatalog,
  column: SchemaWordColumn,
): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  if (dictionary.names === 'sorted') return words;
  for (const entry of catalog.values()) {
    if (entry.schema !== column.schema) continue;
    const name = qualifiedName(entry);
    const merge = mergeOf(dictionary, name);
    if (merge === undefined) words.set(entry.table, codedTable(dictionary, name).table);
    else {
      const part = merge.kind === 'union' ? merge.parts.find(({ original }) => original === name) : undefined;
      const { table } = codedTable(dictionary, merge.name);
      words.set(entry.table, part === undefined ? table : `${table}:${part.value}`);
    }
  }
  return words;
}

/** Writes table names that stand in the data as codes. */
export function schemaWordCodec(dictionary: SchemaDictionary, catalog: NativeCatalog): ValueCodec {
  const columnOf = (relation: string): SchemaWordColumn | undefined =>
    schemaWordColumns.find((entry) => entry.relation === relation);
  const replace = (
    query: string,
    column: SchemaWordColumn,
    pairs: readonly (readonly [string, string])[],
  ): string => {
    const name = identifier(column.column);
    const cases = pairs.map(([from, to]) => `when ${literal(from)} then ${literal(to)}`).join(' ');
    return `select * replace (case ${name} ${cases} else ${name} end as ${name}) from (${query})`;
  };
  const pairsOf = (column: SchemaWordColumn): readonly (readonly [string, string])[] => [
    ...schemaWordMap(dictionary, catalog, column),
  ];
  return {
    name: 'schema-words',
    keepsOrder: true,
    isWording: true,
    inputs: {},
    appliesTo: (relation) => dictionary.names === 'seeded' && columnOf(qualifiedName(relation)) !== undefined,
    encode: (relation, query) => {
      const column = columnOf(qualifiedName(relation))!;
      return replace(query, column, pairsOf(column));
    },
    decode: (relation, query) => {
      const column = columnOf(qualifiedName(relation))!;
      return replace(
        query,
        column,
        pairsOf(column).map(([from, to]) => [to, from] as const),
      );
    },
  };
}
