import { join } from 'node:path';
import { buildConcepts } from '../concepts/build.js';
import { derivedSchema } from '../concepts/concept.js';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import { currentManifest, materialize, readManifest, type TableManifest } from '../duck/materialize.js';
import { removeAbandonedParquet } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { relationsRead } from '../duck/syntax-tree.js';
import { createParquetViews } from '../duck/views.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { sha256File } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { loadReferenceQueries, pickReferenceQuery, type ReferenceQuery } from './reference.js';

/** A reference table on disk. */
export interface Reference {
  readonly key: string;
  readonly dataset: string;
  readonly parquetPath: string;
  readonly manifest: TableManifest;
}

/** Where a reference and its manifest lie. */
export function referencePaths(
  home: Home,
  dataset: string,
  key: string,
): { readonly parquet: string; readonly manifest: string } {
  const folder = join(home.references, dataset);
  return { parquet: join(folder, `${key}.parquet`), manifest: join(folder, `${key}.json`) };
}

export interface BuildReferencesOptions {
  /** Default: every one of the queries. */
  readonly keys?: readonly string[];
  /** Default: every reference query that the benchmark ships for the dataset's kind. */
  readonly queries?: readonly ReferenceQuery[];
  readonly progress?: Progress;
  readonly memoryBytes?: number;
  readonly threads?: number;
}

/**
 * Builds the reference tables of a dataset, after the concepts they read. Each query runs once, however many tasks
 * share it; a reference whose SQL, inputs and engine are unchanged is kept.
 */
export async function buildReferences(
  home: Home,
  dataset: Dataset,
  options: BuildReferencesOptions = {},
): Promise<readonly Reference[]> {
  const progress = options.progress ?? silentProgress;
  const all = options.queries ?? (await loadReferenceQueries(dataset.kind));
  const queries = options.keys === undefined ? all : options.keys.map((key) => pickReferenceQuery(all, key));
  const limits = {
    ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
    ...(options.threads === undefined ? {} : { threads: options.threads }),
  };
  await removeAbandonedParquet(join(home.references, dataset.name));
  await using session = await DuckSession.open(limits);
  const reads = new Map(
    await Promise.all(
      queries.map(
        async (query) => [query.key, await relationsRead(session, query.sql.query, query.sql.path)] as const,
      ),
    ),
  );
  const concepts = [
    ...new Set(
      [...reads.values()]
        .flat()
        .filter((name) => name.schema === derivedSchema)
        .map((name) => name.table),
    ),
  ];
  const built =
    concepts.length === 0 ? [] : await buildConcepts(dataset, { ...limits, tables: concepts, progress });

  const hashes = new Map(
    dataset.tables.map((table) => [`${table.schema}.${table.table}`, table.contentHash]),
  );
  for (const { table, manifest } of built) hashes.set(`${derivedSchema}.${table}`, manifest.contentHash);
  const references: Reference[] = [];
  for (const query of queries) {
    const inputs: Record<string, string> = {};
    for (const { schema, table } of reads.get(query.key)!) {
      const hash = hashes.get(`${schema}.${table}`);
      if (hash === undefined) {
        throw new M4BenchError(
          'RELATION_MISSING',
          `Reference ${query.key} reads ${schema}.${table}, which dataset ${dataset.name} does not have.`,
          'Import the dataset again, completely.',
        );
      }
      inputs[`${schema}.${table}`] = hash;
    }
    await createParquetViews(
      session,
      reads
        .get(query.key)!
        .map(({ schema, table }) => ({ schema, table, path: parquetPath(dataset, schema, table) })),
    );
    references.push(await buildReference(session, home, dataset, query, inputs, progress));
  }
  return references;
}

async function buildReference(
  session: DuckSession,
  home: Home,
  dataset: Dataset,
  query: ReferenceQuery,
  inputs: Readonly<Record<string, string>>,
  progress: Progress,
): Promise<Reference> {
  const paths = referencePaths(home, dataset.name, query.key);
  const wanted = {
    name: query.key,
    query: query.sql.query,
    sqlSha256: query.sql.sha256,
    inputs,
    sortedBy: query.sql.header.keys,
    parquetPath: paths.parquet,
    manifestPath: paths.manifest,
  };
  const kept = await currentManifest(wanted);
  if (kept !== undefined)
    return { key: query.key, dataset: dataset.name, parquetPath: paths.parquet, manifest: kept };
  progress.update(`reference ${query.key}`);
  try {
    const manifest = await materialize(session, wanted);
    progress.done(`reference ${query.key}: ${manifest.rows.toLocaleString('en')} rows`);
    return { key: query.key, dataset: dataset.name, parquetPath: paths.parquet, manifest };
  } catch (thrown) {
    throw new M4BenchError(
      'REFERENCE_FAILED',
      `Reference ${query.key} could not be built: ${messageOf(thrown)}.`,
      `Correct ${query.sql.path} or the dataset and run the command again.`,
      { party: 'internal', cause: thrown },
    );
  }
}

/** Opens a built reference and checks that its file is the one the manifest describes. */
export async function openReference(home: Home, dataset: string, key: string): Promise<Reference> {
  const paths = referencePaths(home, dataset, key);
  const manifest = await readManifest(paths.manifest);
  if (manifest === undefined) {
    throw new M4BenchError(
      'REFERENCE_NOT_FOUND',
      `Reference ${key} of dataset ${dataset} is not built.`,
      `Run \`m4bench references build --dataset ${dataset}\`.`,
    );
  }
  const fileSha256 = await sha256File(paths.parquet).catch(() => 'absent');
  if (fileSha256 !== manifest.fileSha256) {
    throw new M4BenchError(
      'REFERENCE_CHANGED',
      `${paths.parquet} is not the file that its manifest describes.`,
      `Delete ${paths.manifest} and run \`m4bench references build --dataset ${dataset}\` again.`,
    );
  }
  return { key, dataset, parquetPath: paths.parquet, manifest };
}
