import { derivedSchema, loadConcepts } from '../concepts/concept.js';
import { conceptGraph } from '../concepts/graph.js';
import type { Dataset } from '../datasets/dataset.js';
import { loadSourceSchema } from '../datasets/source-schema.js';
import { describeQuery, type ParquetColumn } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { identifier, relation } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';

/** One relation of the native database. */
export interface NativeRelation {
  readonly schema: string;
  readonly table: string;
  /** In stored order. */
  readonly columns: readonly ParquetColumn[];
  readonly isDerived: boolean;
  /** Leading sort columns of the stored table, where it has any. */
  readonly sortedBy: readonly string[];
}

/** Every relation a database of a kind can hold, by `schema.table`, sorted: base tables and all concepts. */
export type NativeCatalog = ReadonlyMap<string, NativeRelation>;

/** `schema.table` of a relation. */
export function qualifiedName(entry: { readonly schema: string; readonly table: string }): string {
  return `${entry.schema}.${entry.table}`;
}

/** The entry of a catalog, or an error that names what is missing. */
export function entryOf(catalog: NativeCatalog, name: string): NativeRelation {
  const found = catalog.get(name);
  if (found !== undefined) return found;
  throw new M4BenchError(
    'RELATION_MISSING',
    `There is no relation ${name} in this database.`,
    'Import the dataset again, completely.',
  );
}

/**
 * The catalog of a MIMIC-IV dataset: its base tables, those of the release that it lacks, and the columns that every
 * concept has. Columns of concepts are read from their SQL over empty tables, so nothing has to be built for it, and
 * a dictionary made from it holds for any dataset of the kind with the same tables.
 */
export async function nativeCatalog(
  dataset: Pick<Dataset, 'kind' | 'name' | 'tables'>,
): Promise<NativeCatalog> {
  if (dataset.kind !== 'mimic-iv') {
    throw new M4BenchError(
      'SCHEMA_NOT_APPLICABLE',
      `Dataset ${dataset.name} is of kind ${dataset.kind}; transformed schemas exist for mimic-iv only.`,
      'Use schema native, or a dataset of kind mimic-iv.',
    );
  }
  const source = await loadSourceSchema(dataset.kind);
  const relations = new Map<string, NativeRelation>();
  const add = (entry: NativeRelation): void => {
    relations.set(qualifiedName(entry), entry);
  };
  for (const { schema, name, columns, sortedBy } of source.tables) {
    add({
      schema,
      table: name,
      columns: columns.map((column) => ({ name: column.name, type: column.type })),
      isDerived: false,
      sortedBy: sortedBy ?? [],
    });
  }
  for (const { schema, table, columns, sortedBy } of dataset.tables) {
    add({ schema, table, columns, isDerived: false, sortedBy });
  }

  await using session = await DuckSession.open({ threads: 1 });
  await createEmptyTables(session, [...relations.values()]);
  const graph = await conceptGraph(session, await loadConcepts());
  await session.run(`create schema if not exists ${identifier(derivedSchema)}`);
  for (const { concept } of graph.values()) {
    const columns = await describeQuery(session, concept.sql.query);
    const entry: NativeRelation = {
      schema: derivedSchema,
      table: concept.table,
      columns,
      isDerived: true,
      sortedBy: concept.sql.header.keys,
    };
    add(entry);
    await createEmptyTables(session, [entry]);
  }
  return new Map([...relations].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Creates relations without rows, for describing and checking queries. */
export async function createEmptyTables(
  session: DuckSession,
  relations: readonly Pick<NativeRelation, 'schema' | 'table' | 'columns'>[],
): Promise<void> {
  for (const schema of new Set(relations.map((entry) => entry.schema))) {
    await session.run(`create schema if not exists ${identifier(schema)}`);
  }
  for (const { schema, table, columns } of relations) {
    const definitions = columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ');
    await session.run(`create or replace table ${relation(schema, table)} (${definitions})`);
  }
}
