import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { readJson } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type DatabaseKind, databaseKind, isShippedKind } from './source-schema.js';

export type { DatabaseKind } from './source-schema.js';

/** How a dataset may be used: `open` and `synthetic` by anyone, `credentialed` under a data use agreement. */
export const datasetClasses = ['open', 'synthetic', 'credentialed'] as const;
export type DatasetClass = (typeof datasetClasses)[number];

const datasetTableSchema = z.object({
  schema: z.string(),
  table: z.string(),
  rows: z.number().int().nonnegative(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  sortedBy: z.array(z.string()),
  fileBytes: z.number().int().nonnegative(),
  fileSha256: z.string(),
  contentHash: z.string(),
  /**
   * The file it was read from, relative to the release folder; null for generated tables. Its hash is null where
   * nothing was published to compare it with.
   */
  source: z
    .object({ file: z.string(), bytes: z.number().int().nonnegative(), sha256: z.string().nullable() })
    .nullable(),
});

/** Version 1 held content hashes of another algorithm, which nothing written since can be compared with. */
export const datasetSchemaVersion = 2;

export const datasetManifestSchema = z.object({
  schemaVersion: z.literal(datasetSchemaVersion),
  name: z.string(),
  kind: databaseKind,
  class: z.enum(datasetClasses),
  /** Release as named in the source schema (`3.1`, `demo-2.2`), `synthetic`, or `unknown`. */
  release: z.string(),
  /** True when every file agrees with what the release publishes about it. */
  verified: z.boolean(),
  /** What the check compared: `checksums`, `row counts`, or `generated`. */
  verifiedBy: z.array(z.string()),
  /** Why `verified` is false; empty when it is true. */
  unverifiedReasons: z.array(z.string()),
  /** A sentence that every page about this dataset shows, for example that it is synthetic. */
  notice: z.string(),
  tables: z.array(datasetTableSchema),
  /** Hash over the content hashes of all base tables, sorted by name; independent of row and file order. */
  contentHash: z.string(),
  engineVersion: z.string(),
  /** What the import or the generator was asked for. */
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

export type DatasetTable = z.infer<typeof datasetTableSchema>;
/** `dataset.json`. */
export type DatasetManifest = z.infer<typeof datasetManifestSchema>;

/** A dataset on disk: its manifest and the folder of its Parquet files. */
export interface Dataset extends DatasetManifest {
  readonly folder: string;
}

/** Datasets whose kind, class and release follow from the name. */
export const knownDatasets: Readonly<
  Record<string, { readonly kind: DatabaseKind; readonly class: DatasetClass; readonly release?: string }>
> = {
  'mimic-iv': { kind: 'mimic-iv', class: 'credentialed' },
  'mimic-iv-demo': { kind: 'mimic-iv', class: 'open', release: 'demo-2.2' },
  'mimic-iv-synthetic': { kind: 'mimic-iv', class: 'synthetic', release: 'synthetic' },
  eicu: { kind: 'eicu', class: 'credentialed' },
  'eicu-demo': { kind: 'eicu', class: 'open', release: 'demo-2.0.1' },
  'eicu-synthetic': { kind: 'eicu', class: 'synthetic', release: 'synthetic' },
};

/** A dataset name is one plain path segment. */
export function checkDatasetName(name: string): void {
  if (/^[a-z0-9][a-z0-9_.-]{0,63}$/.test(name) && !name.endsWith('.tmp')) return;
  throw new M4BenchError(
    'DATASET_NAME_INVALID',
    `"${name}" is not a dataset name.`,
    'Use up to 64 lower-case letters, digits, "-", "_" and "."; the first one a letter or digit.',
  );
}

/** Folder of a dataset, whether it exists or not. */
export function datasetFolder(home: Home, name: string): string {
  checkDatasetName(name);
  return join(home.datasets, name);
}

/** Where the Parquet file of a table lies: a base table, or a concept under `mimiciv_derived`. */
export function parquetPath(dataset: { readonly folder: string }, schema: string, table: string): string {
  return join(dataset.folder, schema, `${table}.parquet`);
}

/** Content hash of a dataset from those of its tables. */
export function datasetContentHash(
  tables: readonly { readonly schema: string; readonly table: string; readonly contentHash: string }[],
): string {
  return hashOf(tables.map(({ schema, table, contentHash }) => [`${schema}.${table}`, contentHash]).sort());
}

/**
 * Opens a dataset by name and checks that its manifest is readable and its files are there.
 * Throws `DATASET_NOT_FOUND`, `DATASET_INVALID` or `DATASET_INCOMPLETE`.
 */
export async function openDataset(home: Home, name: string): Promise<Dataset> {
  const folder = datasetFolder(home, name);
  const path = join(folder, 'dataset.json');
  if (!existsSync(path)) {
    const names = await datasetNames(home);
    const present = names.join(', ') || 'none';
    throw new M4BenchError(
      'DATASET_NOT_FOUND',
      `There is no dataset ${name} under ${home.datasets} (present: ${present}).`,
      `${suggestionFor(name, names)}Make one with "m4bench data import", "data download" or "data synthesize".`,
    );
  }
  const manifest = await readJson(path);
  refuseOtherVersion(path, manifest);
  const parsed = datasetManifestSchema.safeParse(manifest);
  if (!parsed.success) {
    throw new M4BenchError(
      'DATASET_INVALID',
      `${path}: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
      'Import or synthesize the dataset again with --replace.',
    );
  }
  const dataset: Dataset = { ...parsed.data, folder };
  const missing = dataset.tables.find(
    ({ schema, table }) => !existsSync(parquetPath(dataset, schema, table)),
  );
  if (missing !== undefined) {
    throw new M4BenchError(
      'DATASET_INCOMPLETE',
      `${parquetPath(dataset, missing.schema, missing.table)} is missing.`,
      'Import or synthesize the dataset again with --replace.',
    );
  }
  return dataset;
}

function refuseOtherVersion(path: string, manifest: unknown): void {
  const version = (manifest as { readonly schemaVersion?: unknown } | null)?.schemaVersion;
  if (!Number.isInteger(version) || version === datasetSchemaVersion) return;
  const isOlder = Number(version) < datasetSchemaVersion;
  throw new M4BenchError(
    'DATASET_VERSION',
    `${path} was written by ${isOlder ? 'an older' : 'a newer'} m4bench (format ${version}, this one reads ${datasetSchemaVersion}); its content hashes cannot be compared.`,
    isOlder
      ? 'Import or synthesize the dataset again with --replace.'
      : 'Use the m4bench that wrote it, or a newer one.',
  );
}

async function datasetNames(home: Home): Promise<readonly string[]> {
  const entries = await readdir(home.datasets, { withFileTypes: true }).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  });
  return entries
    .filter(
      (entry) => !entry.name.endsWith('.tmp') && existsSync(join(home.datasets, entry.name, 'dataset.json')),
    )
    .map((entry) => entry.name)
    .sort();
}

/** All datasets under the home folder, by name; folders without a `dataset.json` are left out. */
export async function listDatasets(home: Home): Promise<readonly Dataset[]> {
  return Promise.all((await datasetNames(home)).map((name) => openDataset(home, name)));
}

const fullness: Readonly<Record<DatasetClass, number>> = { credentialed: 0, open: 1, synthetic: 2 };

/** Datasets of one kind, the fullest first: full release, open demo, synthetic. The first one is the default. */
export async function datasetsFor(home: Home, kind: DatabaseKind): Promise<readonly Dataset[]> {
  const all = await listDatasets(home);
  return all
    .filter((dataset) => dataset.kind === kind)
    .sort((a, b) => fullness[a.class] - fullness[b.class] || (a.name < b.name ? -1 : 1));
}

/** The dataset asked for, or the fullest one of the kind; throws when there is none or it is of another kind. */
export async function chooseDataset(home: Home, kind: DatabaseKind, name?: string): Promise<Dataset> {
  if (name !== undefined) {
    const dataset = await openDataset(home, name);
    if (dataset.kind === kind) return dataset;
    throw new M4BenchError(
      'DATASET_KIND_WRONG',
      `Dataset ${name} is a ${dataset.kind} database, but a ${kind} database is needed.`,
      `Name a ${kind} dataset.`,
    );
  }
  const [fullest] = await datasetsFor(home, kind);
  if (fullest !== undefined) return fullest;
  throw new M4BenchError(
    'DATASET_NOT_FOUND',
    `There is no ${kind} dataset under ${home.datasets}.`,
    isShippedKind(kind)
      ? `Make one with "m4bench data import", "data download" or "data synthesize ${kind}".`
      : `Import one with "m4bench data import NAME --schema FILE --from DIR", where FILE says kind = "${kind}".`,
  );
}
