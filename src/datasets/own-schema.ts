import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { z } from 'zod';
import { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { readTomlFile } from '../support/toml-file.js';
import { type DatasetClass, type DatasetTable, datasetClasses, parquetPath } from './dataset.js';
import { formOf, forms, type ReleaseFolder, type SourceFile } from './release-folder.js';
import {
  columnTypes,
  databaseKind,
  isShippedKind,
  type SourceSchema,
  type SourceTable,
} from './source-schema.js';

const name = z
  .string()
  .regex(/^[a-z_][a-z0-9_]*$/, 'must be lower-case letters, digits and underscores, no digit first')
  .max(64, 'must not be longer than 64 characters');

const ownTable = z.strictObject({
  schema: name,
  name,
  /** Relative to the folder of the files; default: the table's name with one of the known endings. */
  file: z.string().min(1).optional(),
  /** Columns that identify a row; checked when given. */
  key: z.array(name).default([]),
  /** Order in which a large table is stored, so that selective queries skip most of it. */
  sorted_by: z.array(name).optional(),
  /** Number of rows, where it is known beforehand; compared. */
  rows: z.number().int().nonnegative().optional(),
  columns: z
    .record(name, z.enum(columnTypes, `must be one of ${columnTypes.join(', ')}`))
    .refine((columns) => Object.keys(columns).length > 0, 'must name at least one column'),
});

/** The TOML file that describes a database which is not part of the benchmark; docs/own-tasks.md explains it. */
export const ownSchemaFile = z
  .strictObject({
    kind: databaseKind.refine(
      (kind) => !isShippedKind(kind) && kind !== 'title' && kind !== 'kind',
      'must be a name of your own: mimic-iv and eicu are described by the benchmark, title and kind are taken',
    ),
    title: z.string().min(1),
    release: z.string().min(1).default('unknown'),
    class: z.enum(datasetClasses, `must be one of ${datasetClasses.join(', ')}`).default('credentialed'),
    null_strings: z.array(z.string()).default(['']),
    tables: z.array(ownTable).min(1, 'must describe at least one table'),
  })
  .superRefine(({ tables }, context) => {
    const seen = new Set<string>();
    for (const [index, table] of tables.entries()) {
      const path = ['tables', index];
      const qualified = `${table.schema}.${table.name}`;
      if (seen.has(qualified))
        context.addIssue({ code: 'custom', path, message: `table ${qualified} is described twice` });
      seen.add(qualified);
      for (const field of ['key', 'sorted_by'] as const) {
        const unknown = table[field]?.find((column) => !Object.hasOwn(table.columns, column));
        if (unknown !== undefined)
          context.addIssue({
            code: 'custom',
            path: [...path, field],
            message: `${unknown} is no column of ${qualified}`,
          });
      }
    }
  });

/** A database that a user describes. */
export interface OwnDatabase {
  readonly schema: SourceSchema;
  readonly class: DatasetClass;
  readonly release: string;
  /** Path of a table's file as the description states it, by qualified name. */
  readonly files: ReadonlyMap<string, string>;
}

const qualified = (table: { readonly schema: string; readonly name: string }): string =>
  `${table.schema}.${table.name}`;

/** Reads the description of a user's database. Throws `OWN_SCHEMA_INVALID` naming file and field. */
export async function readOwnSchema(path: string): Promise<OwnDatabase> {
  const described = await readTomlFile(path, ownSchemaFile, 'OWN_SCHEMA_INVALID', 'schema file');
  const { release, tables } = described;
  return {
    class: described.class,
    release,
    files: new Map(
      tables.flatMap((table) => (table.file === undefined ? [] : [[qualified(table), table.file] as const])),
    ),
    schema: {
      kind: described.kind,
      title: described.title,
      targetVersion: release,
      releases: {},
      schemas: [...new Set(tables.map((table) => table.schema))] as [string, ...string[]],
      nullStrings: described.null_strings,
      tables: tables.map((table) => sourceTableOf(table, release)) as [SourceTable, ...SourceTable[]],
      checksums: {},
    },
  };
}

function sourceTableOf(table: z.infer<typeof ownTable>, release: string): SourceTable {
  const columns = Object.entries(table.columns).map(([column, type]) => ({
    name: column,
    type,
    nullable: !table.key.includes(column),
  }));
  return {
    schema: table.schema,
    name: table.name,
    folder: '',
    ...(table.sorted_by === undefined ? {} : { sortedBy: table.sorted_by }),
    primaryKey: table.key,
    rowCounts: { [release]: table.rows ?? null },
    columns: columns as [(typeof columns)[number], ...typeof columns],
  };
}

/** The files of a user's database: where its description says, else by the names of the tables. */
export async function ownReleaseFolder(from: string, database: OwnDatabase): Promise<ReleaseFolder> {
  const path = resolve(from);
  const files: SourceFile[] = [];
  const missing: string[] = [];
  for (const table of database.schema.tables) {
    const stated = database.files.get(qualified(table));
    const candidates = stated === undefined ? forms.map((form) => `${table.name}${form}`) : [stated];
    const found = candidates.find((file) => existsSync(resolve(path, file)));
    if (found === undefined) {
      missing.push(candidates[0]!);
      continue;
    }
    const form = formOf(found);
    if (form === undefined) {
      throw new M4BenchError(
        'OWN_SCHEMA_INVALID',
        `The file ${found} of ${qualified(table)} has none of the endings ${forms.join(', ')}.`,
        'Convert it to CSV or Parquet, and name it so.',
      );
    }
    const filePath = resolve(path, found);
    files.push({
      table,
      path: filePath,
      file: relative(path, filePath),
      form,
      bytes: (await stat(filePath)).size,
    });
  }
  if (missing.length > 0) {
    throw new M4BenchError(
      'IMPORT_TABLE_MISSING',
      `${path} lacks ${missing.length} of ${database.schema.tables.length} tables: ${missing.join(', ')}.`,
      'Add the files (.csv.gz, .csv or .parquet), or name them with `file` in the schema file.',
    );
  }
  return { path, files, unknownFiles: [] };
}

/** Why a dataset is not verified although nothing contradicts it: nothing is stated about a file to compare it with. */
export function unstatedReasons(
  database: OwnDatabase,
  files: readonly SourceFile[],
  isListed: (file: SourceFile) => boolean,
): readonly string[] {
  const unstated = files.filter(
    (file) => !isListed(file) && typeof file.table.rowCounts[database.release] !== 'number',
  );
  if (unstated.length === 0) return [];
  const names = unstated.map(({ table }) => qualified(table)).join(', ');
  return [`neither \`rows\` in the schema file nor SHA256SUMS.txt says what belongs into ${names}`];
}

/** One sentence per table in which rows repeat the key that the description states. */
export async function repeatedKeyComplaints(
  folder: string,
  database: OwnDatabase,
  tables: readonly DatasetTable[],
): Promise<readonly string[]> {
  const complaints: string[] = [];
  await using session = await DuckSession.open({ spillFolder: folder });
  for (const table of database.schema.tables) {
    if (table.primaryKey.length === 0) continue;
    const stored = tables.find((entry) => entry.schema === table.schema && entry.table === table.name);
    const path = parquetPath({ folder }, table.schema, table.name);
    const { n } = await session.row(
      `select count(*) as n from (select distinct ${table.primaryKey.map(identifier).join(', ')} from read_parquet(${literal(path)}))`,
    );
    if (Number(n) !== stored?.rows)
      complaints.push(
        `${qualified(table)}: ${Number(n)} keys (${table.primaryKey.join(', ')}) in ${stored?.rows} rows`,
      );
  }
  return complaints;
}
