import { z } from 'zod';
import { hashOf } from '../support/hashing.js';
import type { NativeCatalog } from './catalog.js';
import { allocateCodes } from './codes.js';
import { mergedColumns, mergesOf } from './merges.js';
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
  const tables = [...catalog.keys()].sort();
  const schemas = [...new Set([...catalog.values()].map((entry) => entry.schema))].sort();
  const columns = [
    ...new Set([...catalog.values()].flatMap((entry) => entry.columns.map((column) => column.name))),
  ].sort();
  const merged = mergesOf(presentation);
  const codes = allocateCodes(presentation, {
    schemas,
    tables,
    columns,
    mergedTables: merged.map((merge) => merge.name),
    mergedColumns: merged.flatMap((merge) => (merge.kind === 'union' ? [merge.discriminator] : [])),
  });
  const schemaOf = (table: string): string => codes.get(`schema ${table.split('.')[0]}`)!;
  const columnCode = (name: string): string => codes.get(`column ${name}`)!;
  const columnOrder: Record<string, string[]> = {};
  const order = (table: string, inOrder: readonly string[]): void => {
    columnOrder[table] =
      presentation.names === 'sorted' ? [...inOrder] : shuffled(presentation.seed, table, inOrder);
  };
  const tableCodes: Record<string, string> = {};
  const swallowed = new Set(
    merged.flatMap((merge) =>
      merge.kind === 'union'
        ? merge.parts.map((part) => part.original)
        : [merge.patients, merge.admissions, merge.stays],
    ),
  );
  for (const table of tables) {
    const code = `${schemaOf(table)}.${codes.get(`table ${table}`)}`;
    tableCodes[table] = code;
    if (!swallowed.has(table)) {
      order(
        code,
        catalog.get(table)!.columns.map(({ name }) => columnCode(name)),
      );
    }
  }
  const mergedTables: Record<string, string> = {};
  const mergedColumnCodes: Record<string, string> = {};
  for (const merge of merged) {
    const code = `${schemaOf(merge.name)}.${codes.get(`merged-table ${merge.name}`)}`;
    mergedTables[merge.name] = code;
    const inOrder = mergedColumns(merge, catalog).map(({ name, isDiscriminator }) =>
      isDiscriminator ? codes.get(`merged-column ${name}`)! : columnCode(name),
    );
    if (merge.kind === 'union') mergedColumnCodes[merge.discriminator] = inOrder[0]!;
    order(code, inOrder);
  }
  return {
    schemaVersion: 1,
    id: presentationId(presentation),
    ...presentation,
    perturb: [...presentation.perturb],
    schemas: Object.fromEntries(schemas.map((schema) => [schema, codes.get(`schema ${schema}`)!])),
    tables: tableCodes,
    columns: Object.fromEntries(columns.map((column) => [column, columnCode(column)])),
    mergedTables,
    mergedColumns: mergedColumnCodes,
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
