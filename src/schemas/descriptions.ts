import { join } from 'node:path';
import { z } from 'zod';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';

const phrases = z.record(z.string(), z.string().min(1));

const descriptionsFile = z.strictObject({
  schemas: phrases,
  /** By `schema.table`. */
  tables: phrases,
  /** By column name, whatever table it occurs in. */
  columns: phrases,
  /** Narrower meanings, by `schema.table` and column. */
  table_columns: z.record(z.string(), phrases),
  merged_tables: phrases,
  merged_columns: phrases,
  published: z.strictObject({ tables: z.array(z.string()), columns: z.array(z.string()) }),
});

/** What the native names stand for, in words that do not contain them: `benchmark/schema-descriptions.toml`. */
export interface SchemaDescriptions {
  readonly schemas: Readonly<Record<string, string>>;
  readonly tables: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, string>>;
  readonly tableColumns: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly mergedTables: Readonly<Record<string, string>>;
  readonly mergedColumns: Readonly<Record<string, string>>;
  /** Extent and order of the published dictionary. */
  readonly published: { readonly tables: readonly string[]; readonly columns: readonly string[] };
}

/** Reads the description file. Throws `SCHEMA_DESCRIPTIONS_INVALID` naming the field. */
export async function loadSchemaDescriptions(
  file: string = join(benchmarkFolder(), 'schema-descriptions.toml'),
): Promise<SchemaDescriptions> {
  const read = await readTomlFile(
    file,
    descriptionsFile,
    'SCHEMA_DESCRIPTIONS_INVALID',
    'description of the schema',
  );
  return {
    schemas: read.schemas,
    tables: read.tables,
    columns: read.columns,
    tableColumns: read.table_columns,
    mergedTables: read.merged_tables,
    mergedColumns: read.merged_columns,
    published: read.published,
  };
}
