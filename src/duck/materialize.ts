import { rm, stat } from 'node:fs/promises';
import { z } from 'zod';
import { readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { engineVersion } from './engine.js';
import { writeParquet } from './parquet.js';
import type { DuckSession } from './session.js';

/** The record beside a Parquet file that a query made: enough to know whether it is still current. */
export const tableManifestSchema = z.object({
  schemaVersion: z.literal(1),
  name: z.string(),
  sqlSha256: z.string(),
  /** Content hash of every relation that the query read. */
  inputs: z.record(z.string(), z.string()),
  engineVersion: z.string(),
  rows: z.number().int().nonnegative(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  sortedBy: z.array(z.string()),
  fileBytes: z.number().int().nonnegative(),
  fileSha256: z.string(),
  contentHash: z.string(),
});
export type TableManifest = z.infer<typeof tableManifestSchema>;

export interface Materialization {
  readonly name: string;
  readonly query: string;
  readonly sqlSha256: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly sortedBy: readonly string[];
  readonly parquetPath: string;
  readonly manifestPath: string;
}

/** Reads a manifest, or undefined when there is none or it is not one (then the table is built again). */
export async function readManifest(path: string): Promise<TableManifest | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return tableManifestSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The manifest when the table on disk was made from exactly these inputs by this engine, else undefined. */
export async function currentManifest(wanted: Materialization): Promise<TableManifest | undefined> {
  const manifest = await readManifest(wanted.manifestPath);
  if (manifest === undefined) return undefined;
  const size = await stat(wanted.parquetPath).then(
    (found) => found.size,
    () => -1,
  );
  const sameInputs =
    Object.keys(manifest.inputs).length === Object.keys(wanted.inputs).length &&
    Object.entries(wanted.inputs).every(([name, hash]) => manifest.inputs[name] === hash);
  const isCurrent =
    sameInputs &&
    size === manifest.fileBytes &&
    manifest.sqlSha256 === wanted.sqlSha256 &&
    manifest.engineVersion === engineVersion &&
    manifest.sortedBy.join() === wanted.sortedBy.join();
  return isCurrent ? manifest : undefined;
}

/**
 * Runs the query into its Parquet file, then writes the manifest. The old manifest goes first, so a crash at any
 * point only costs a rebuild and never leaves a manifest beside bytes it does not describe.
 */
export async function materialize(session: DuckSession, wanted: Materialization): Promise<TableManifest> {
  await rm(wanted.manifestPath, { force: true });
  const written = await writeParquet(session, wanted.query, wanted.parquetPath, {
    orderBy: wanted.sortedBy,
    // Measured on the 63 concepts: dictionaries of measurements, which hardly repeat, cost a seventh more time and
    // space; Snappy writes a quarter faster than ZSTD, in files half as large again.
    dictionaryEntries: 1000,
    compression: 'snappy',
  });
  const manifest: TableManifest = {
    schemaVersion: 1,
    name: wanted.name,
    sqlSha256: wanted.sqlSha256,
    inputs: { ...wanted.inputs },
    engineVersion,
    rows: written.rows,
    columns: [...written.columns],
    sortedBy: [...wanted.sortedBy],
    fileBytes: (await stat(wanted.parquetPath)).size,
    fileSha256: written.fileSha256,
    contentHash: written.contentHash,
  };
  await writeJsonAtomic(wanted.manifestPath, manifest);
  return manifest;
}
