import { z } from 'zod';
import { hashOf } from '../support/hashing.js';
import type { NativeCatalog } from './catalog.js';
import { allocateCodes, type CodeKind } from './codes.js';
import { mergedColumns, mergesOf, originalsOf } from './merges.js';
import {
  drawKey,
  type Presentation,
  perturbations,
  presentationId,
  transformedSchemas,
} from './presentation.js';

const names = z.record(z.string(), z.string());

/** `dictionary.json`: stays outside every sandbox. */
export const schemaDictionarySchema = z.object({
  schemaVersion: z.literal(1),
  /** Folder name of the lake it belongs to. */
  id: z.string(),
  schema: z.enum(transformedSchemas),
  names: z.enum(['sorted', 'seeded']),
  seed: z.string(),
  merges: z.enum(['published', 'lossless']),
  perturb: z.array(z.enum(perturbations)),
  /** Native schema to code. */
  schemas: names,
  /** `schema.table` to `code.code`; tables that a merge swallows keep their entry, but are never presented. */
  tables: names,
  /** Native column name to code: one code wherever the name occurs, as in the native schema. */
  columns: names,
  /** New tables of the restructured schema; empty otherwise. */
  mergedTables: names,
  /** Discriminators of the new tables. */
  mergedColumns: names,
  /** Codes of the columns of each presented table in stored order. */
  columnOrder: z.record(z.string(), z.array(z.string())),
});
export type SchemaDictionary = z.infer<typeof schemaDictionarySchema>;

/** Draws the dictionary of a presentation; pure. Equal arguments give an equal dictionary, byte for byte. */
export function buildDictionary(catalog: NativeCatalog, presentation: Presentation): SchemaDictionary {
  const natives = {
    schemas: [...new Set([...catalog.values()].map((entry) => entry.schema))].sort(),
    tables: [...catalog.keys()].sort(),
    columns: [
      ...new Set([...catalog.values()].flatMap((entry) => entry.columns.map((column) => column.name))),
    ].sort(),
  };
  const merged = mergesOf(presentation);
  const discriminatorNames = merged.flatMap((merge) => (merge.kind === 'union' ? [merge.discriminator] : []));
  const mergedNames = merged.map((merge) => merge.name);
  const codes = allocateCodes(presentation, {
    ...natives,
    mergedTables: mergedNames,
    mergedColumns: discriminatorNames,
  });
  const coded = (kind: CodeKind, name: string): string => codes.get(`${kind} ${name}`)!;
  const inSchema = (kind: CodeKind, table: string): string =>
    `${coded('schema', table.split('.')[0]!)}.${coded(kind, table)}`;
  const all = (kind: CodeKind, list: readonly string[], code = coded): Record<string, string> =>
    Object.fromEntries(list.map((name) => [name, code(kind, name)]));

  const columnOrder: Record<string, string[]> = {};
  const order = (table: string, inOrder: readonly string[]): void => {
    columnOrder[table] =
      presentation.names === 'sorted' ? [...inOrder] : shuffled(presentation.seed, table, inOrder);
  };
  const swallowed = new Set(merged.flatMap(originalsOf));
  for (const table of natives.tables.filter((name) => !swallowed.has(name))) {
    order(
      inSchema('table', table),
      catalog.get(table)!.columns.map(({ name }) => coded('column', name)),
    );
  }
  for (const merge of merged) {
    order(
      inSchema('merged-table', merge.name),
      mergedColumns(merge, catalog).map(({ name, isDiscriminator }) =>
        coded(isDiscriminator ? 'merged-column' : 'column', name),
      ),
    );
  }
  return {
    schemaVersion: 1,
    id: presentationId(presentation),
    ...presentation,
    perturb: [...presentation.perturb],
    schemas: all('schema', natives.schemas),
    tables: all('table', natives.tables, inSchema),
    columns: all('column', natives.columns),
    mergedTables: all('merged-table', mergedNames, inSchema),
    mergedColumns: all('merged-column', discriminatorNames),
    columnOrder,
  };
}

/** Order of the columns of one table, drawn from the seed: stored order would decode the names by position. */
function shuffled(seed: string, table: string, codes: readonly string[]): string[] {
  const keys = new Map(codes.map((code) => [code, drawKey(seed, 'order', table, code)]));
  return [...codes].sort((a, b) => (keys.get(a)! < keys.get(b)! ? -1 : 1));
}

/** Hash of a dictionary; what a result records of it. */
export function dictionaryHash(dictionary: SchemaDictionary): string {
  return hashOf(dictionary);
}

/** `code.code` of a native or merged table, split. */
export function codedTable(
  dictionary: SchemaDictionary,
  name: string,
): { readonly schema: string; readonly table: string } {
  const code = dictionary.mergedTables[name] ?? dictionary.tables[name];
  const [schema, table] = code?.split('.') ?? [];
  if (schema === undefined || table === undefined) throw new RangeError(`No code for ${name}.`);
  return { schema, table };
}

/** Code of a native column name. */
export function codedColumn(dictionary: SchemaDictionary, name: string): string {
  const code = dictionary.columns[name];
  if (code === undefined) throw new RangeError(`No code for column ${name}.`);
  return code;
}

/** Code of a discriminator. */
export function codedDiscriminator(dictionary: SchemaDictionary, name: string): string {
  const code = dictionary.mergedColumns[name];
  if (code === undefined) throw new RangeError(`No code for discriminator ${name}.`);
  return code;
}
