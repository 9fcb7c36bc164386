import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { M4BenchError, reasonOf } from '../support/errors.js';
import type { DatabaseKind, SourceSchema, SourceTable } from './source-schema.js';

/** Forms in which a table may come, the published one first. */
export const forms = ['.csv.gz', '.csv', '.parquet'] as const;
export type SourceForm = (typeof forms)[number];

/** One table of a release and the file that holds it. */
export interface SourceFile {
  readonly table: SourceTable;
  readonly path: string;
  /** Relative to the release folder, forward slashes, as spelled on disk. */
  readonly file: string;
  readonly form: SourceForm;
  readonly bytes: number;
}

/** A folder that holds a release in the PhysioNet layout. */
export interface ReleaseFolder {
  readonly path: string;
  readonly files: readonly SourceFile[];
  /** Data files in the release's folders that belong to no table. */
  readonly unknownFiles: readonly string[];
}

interface Listing {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

async function list(folder: string): Promise<Listing> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of entries) {
    const isLink = entry.isSymbolicLink();
    const target = isLink ? await stat(join(folder, entry.name)).catch(() => undefined) : undefined;
    if (entry.isFile() || target?.isFile()) files.push(entry.name);
    // Linked folders are followed only where named by the user, so that the search cannot run in circles.
    else if (entry.isDirectory()) folders.push(entry.name);
    else if (target?.isDirectory() && /^(hosp|icu)$/i.test(entry.name)) folders.push(entry.name);
  }
  return { files: files.sort(), folders: folders.sort() };
}

/** The form of a file by the end of its name, whatever its case. */
export function formOf(name: string): SourceForm | undefined {
  return forms.find((ending) => name.toLowerCase().endsWith(ending));
}

/** `patient.csv.gz` is { table: `patient`, form: `.csv.gz` }; undefined for anything that is no data file. */
function splitName(name: string): { readonly table: string; readonly form: SourceForm } | undefined {
  const lower = name.toLowerCase();
  const form = formOf(name);
  return form === undefined ? undefined : { table: lower.slice(0, -form.length), form };
}

function holdsRelease(kind: DatabaseKind, { files, folders }: Listing): boolean {
  if (kind === 'eicu') return files.some((name) => splitName(name)?.table === 'patient');
  const lower = folders.map((name) => name.toLowerCase());
  return lower.includes('hosp') && lower.includes('icu');
}

const deepestLevel = 12;

/** The shallowest folder at or below `from` that holds a release of this kind, with its files. */
export async function findReleaseFolder(from: string, schema: SourceSchema): Promise<ReleaseFolder> {
  const root = resolve(from);
  let level = [root];
  for (let depth = 0; depth <= deepestLevel && level.length > 0; depth += 1) {
    const listings = await Promise.all(
      level.map(async (folder) => ({ folder, listing: await read(folder) })),
    );
    const found = listings.filter(({ listing }) => holdsRelease(schema.kind, listing));
    if (found.length > 1) {
      throw new M4BenchError(
        'IMPORT_FOLDER_AMBIGUOUS',
        `${root} holds several releases: ${found.map(({ folder }) => folder).join(', ')}.`,
        'Point --from at one of them.',
      );
    }
    if (found[0] !== undefined) return collect(found[0].folder, found[0].listing, schema);
    level = listings.flatMap(({ folder, listing }) => listing.folders.map((name) => join(folder, name)));
  }
  const wanted = schema.kind === 'eicu' ? 'the file patient.csv.gz' : 'the folders hosp and icu';
  throw new M4BenchError(
    'IMPORT_FOLDER_EMPTY',
    `No folder at or below ${root} holds ${wanted}.`,
    `Point --from at a copy of ${schema.title} as PhysioNet ships it.`,
  );
}

async function read(folder: string): Promise<Listing> {
  try {
    return await list(folder);
  } catch (thrown) {
    throw new M4BenchError(
      'IMPORT_FOLDER_UNREADABLE',
      `Cannot read ${folder}: ${reasonOf(thrown)}.`,
      'Point --from at a readable folder.',
      { cause: thrown },
    );
  }
}

async function collect(path: string, root: Listing, schema: SourceSchema): Promise<ReleaseFolder> {
  const files: SourceFile[] = [];
  const unknownFiles: string[] = [];
  for (const wantedFolder of new Set(schema.tables.map((table) => table.folder))) {
    const spelled = root.folders.find((name) => name.toLowerCase() === wantedFolder) ?? '';
    const folder = join(path, spelled);
    const names = wantedFolder === '' ? root.files : (await read(folder)).files;
    const tables = new Map(
      schema.tables.filter((table) => table.folder === wantedFolder).map((table) => [table.name, table]),
    );
    const chosen = new Map<string, { readonly name: string; readonly form: SourceForm }>();
    for (const name of names) {
      const split = splitName(name);
      if (split === undefined) continue;
      if (!tables.has(split.table)) unknownFiles.push(join(spelled, name));
      const other = chosen.get(split.table);
      if (other === undefined || forms.indexOf(split.form) < forms.indexOf(other.form)) {
        chosen.set(split.table, { name, form: split.form });
      }
    }
    for (const [tableName, table] of tables) {
      const file = chosen.get(tableName);
      if (file === undefined) continue;
      const filePath = join(folder, file.name);
      files.push({
        table,
        path: filePath,
        file: relative(path, filePath).replaceAll('\\', '/'),
        form: file.form,
        bytes: (await stat(filePath)).size,
      });
    }
  }
  const missing = schema.tables.filter((table) => !files.some((file) => file.table === table));
  if (missing.length > 0) {
    const names = missing.map((table) => [table.folder, `${table.name}.csv.gz`].filter(Boolean).join('/'));
    throw new M4BenchError(
      'IMPORT_TABLE_MISSING',
      `${path} lacks ${names.length} of ${schema.tables.length} tables: ${names.join(', ')}.`,
      'Download the missing files from PhysioNet and import again.',
    );
  }
  return { path, files, unknownFiles };
}
