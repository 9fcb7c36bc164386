import { join } from 'node:path';
import { z } from 'zod';
import { M4BenchError } from '../support/errors.js';
import { readJson } from '../support/files.js';
import { benchmarkFolder } from '../support/home.js';

/** The source databases whose schema is part of the benchmark. */
export const databaseKinds = ['mimic-iv', 'eicu'] as const;

/** Which source database a dataset is of and a task needs: a shipped kind, or one that a user's schema file names. */
export type DatabaseKind = string;

/** True for the databases that the benchmark itself describes. */
export function isShippedKind(kind: DatabaseKind): boolean {
  return databaseKinds.some((known) => known === kind);
}

/** A kind is one word in lower case: it names a folder, and a table of `family.toml`. */
export const databaseKind = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, joined by single hyphens')
  .max(32, 'must not be longer than 32 characters');

/** Types that a column of a source table can have. */
export const columnTypes = ['BIGINT', 'DOUBLE', 'VARCHAR', 'TIMESTAMP', 'DATE', 'BOOLEAN'] as const;
export type ColumnType = (typeof columnTypes)[number];

const columnSchema = z.object({ name: z.string(), type: z.enum(columnTypes), nullable: z.boolean() });

const tableSchema = z.object({
  /** Database schema, for example `mimiciv_hosp`. */
  schema: z.string(),
  /** Lower-case; file names of a release match it without regard to case. */
  name: z.string(),
  /** Folder of a release that holds the file, empty for the root. */
  folder: z.string(),
  /** Sort order of the stored table where queries select few items of a large table; else that of the file. */
  sortedBy: z.array(z.string()).optional(),
  primaryKey: z.array(z.string()),
  /** Official row count per release, null where none is published. */
  rowCounts: z.record(z.string(), z.number().int().nonnegative().nullable()),
  columns: z.array(columnSchema).nonempty(),
});

const sourceSchemaSchema = z.object({
  kind: databaseKind,
  title: z.string(),
  targetVersion: z.string(),
  releases: z.record(
    z.string(),
    z.object({
      path: z.string(),
      access: z.enum(['credentialed', 'open']),
      licence: z.string().optional(),
    }),
  ),
  schemas: z.array(z.string()).nonempty(),
  /** Whole fields that mean NULL in any column, quoted or not. */
  nullStrings: z.array(z.string()),
  tables: z.array(tableSchema).nonempty(),
  /** Official SHA-256 per file of a release, where embedded (the open demos). */
  checksums: z.record(z.string(), z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))),
});

export type SourceColumn = z.infer<typeof columnSchema>;
export type SourceTable = z.infer<typeof tableSchema>;
/** Tables, columns, types and published facts of one source database; reviewable in `benchmark/source/`. */
export type SourceSchema = z.infer<typeof sourceSchemaSchema>;

/** Loads the source schema of a database kind; throws `SOURCE_SCHEMA_INVALID` when the package's file is broken. */
export async function loadSourceSchema(kind: DatabaseKind): Promise<SourceSchema> {
  const path = join(benchmarkFolder(), 'source', `${kind}.json`);
  const parsed = sourceSchemaSchema.safeParse(await readJson(path));
  if (parsed.success) return parsed.data;
  throw new M4BenchError(
    'SOURCE_SCHEMA_INVALID',
    `${path}: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    'Restore the file from the package.',
    { party: 'internal' },
  );
}
