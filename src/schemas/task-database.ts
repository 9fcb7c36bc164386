import { constants } from 'node:fs';
import { chmod, copyFile, link, lstat, mkdir, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DuckSession } from '../duck/session.js';
import { identifier } from '../duck/sql.js';
import { createParquetViews, type ParquetRelation } from '../duck/views.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { temporaryNameFor } from '../support/files.js';
import { hashOf } from '../support/hashing.js';

/** One relation an agent may read: a Parquet file of the lake under the name it is presented with. */
export interface AllowedRelation extends ParquetRelation {
  readonly contentHash: string;
}

/** A small DuckDB file of views over exactly the files a task allows (architecture, decision 2). */
export interface TaskDatabase {
  /** The view file on the host; copied into each run's work folder as `database.duckdb`. */
  readonly path: string;
  /** Hash of the names and row contents it presents; part of a cell's identity. */
  readonly hash: string;
  readonly relations: readonly AllowedRelation[];
  /** What a sandbox must mount, always read-only, at the same absolute path as on the host. */
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
}

export interface TaskDatabaseOptions {
  /**
   * Folder for the link farm; short, neutral, outside `--home`, owned by this user. The views hold this path, so it
   * must exist under the same name on the host and inside.
   */
  readonly farmRoot: string;
  /** Folder for view files. */
  readonly folder: string;
  /** Schemas that exist even when nothing is left in them. */
  readonly emptySchemas?: readonly string[];
  /** Copies instead of links: for the `process` sandbox, where nothing else protects the lake. */
  readonly copies?: boolean;
}

/** Hash of what a task database presents, before it is built. */
export function taskDatabaseHash(
  relations: readonly AllowedRelation[],
  emptySchemas: readonly string[] = [],
): string {
  const names = relations.map(({ schema, table, contentHash }) => [schema, table, contentHash]).sort();
  return hashOf({ names, emptySchemas: [...emptySchemas].sort() });
}

/**
 * Builds, or finds, the task database of a set of relations. The files stand in a link farm: hard links to the lake
 * where the file system allows, else symbolic links that a sandbox replaces by read-only mounts of the files. A
 * relation that is not listed has no file there: it is absent, not hidden.
 */
export async function buildTaskDatabase(
  relations: readonly AllowedRelation[],
  options: TaskDatabaseOptions,
): Promise<TaskDatabase> {
  const sorted = [...relations].sort((a, b) =>
    `${a.schema}.${a.table}` < `${b.schema}.${b.table}` ? -1 : 1,
  );
  const hash = taskDatabaseHash(sorted, options.emptySchemas);
  await ensureFarmRoot(options.farmRoot);
  const data = join(options.farmRoot, hash.slice(0, 12), 'data');
  const farmed: ParquetRelation[] = [];
  let linksAreSymbolic = false;
  for (const { schema, table, path } of sorted) {
    const target = join(data, schema, `${table}.parquet`);
    await mkdir(dirname(target), { recursive: true });
    linksAreSymbolic = (await place(path, target, options.copies ?? false)) || linksAreSymbolic;
    farmed.push({ schema, table, path: target });
  }
  await removeStrangers(data, farmed);
  await chmod(data, 0o755);

  const path = join(options.folder, `${hash.slice(0, 12)}.duckdb`);
  await writeViewFile(path, farmed, options.emptySchemas ?? []);
  const mounts = linksAreSymbolic
    ? sorted.map((entry, index) => ({ source: entry.path, target: farmed[index]!.path }))
    : [{ source: data, target: data }];
  return { path, hash, relations: sorted, mounts: sorted.length === 0 ? [] : mounts };
}

/** The farm folder must be a real directory of this user: another user could otherwise plant files in it. */
async function ensureFarmRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o711 });
  const found = await lstat(root);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) {
    throw new M4BenchError(
      'FARM_NOT_OWNED',
      `${root} is not a folder of the current user.`,
      'Remove it, or set M4BENCH_FARM_DIR to a short path that belongs to you.',
      { party: 'environment' },
    );
  }
}

/** Puts one lake file into the farm; true when only a symbolic link was possible. */
async function place(source: string, target: string, copies: boolean): Promise<boolean> {
  const wanted = await stat(source);
  const present = await lstat(target).catch(() => undefined);
  if (
    present !== undefined &&
    !copies &&
    present.isFile() &&
    present.ino === wanted.ino &&
    present.dev === wanted.dev
  )
    return false;
  const temporary = temporaryNameFor(target);
  let isSymbolic = false;
  if (copies) {
    await copyFile(source, temporary, constants.COPYFILE_FICLONE);
  } else {
    try {
      await link(source, temporary);
    } catch (thrown) {
      if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(systemCodeOf(thrown) ?? '')) throw thrown;
      await symlink(source, temporary);
      isSymbolic = true;
    }
  }
  await rename(temporary, target);
  // rename() of two links to one inode is a no-op that leaves the source name behind.
  await rm(temporary, { force: true });
  return isSymbolic;
}

/** Nothing but the listed files may stand in a farm: what a stopped build left, or anyone planted, goes. */
async function removeStrangers(data: string, farmed: readonly ParquetRelation[]): Promise<void> {
  const wanted = new Set(farmed.map((entry) => entry.path));
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true }).catch(() => [])) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !wanted.has(path)) await rm(path, { force: true });
  }
}

async function writeViewFile(
  path: string,
  farmed: readonly ParquetRelation[],
  emptySchemas: readonly string[],
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryNameFor(path);
  try {
    {
      await using session = await DuckSession.open({ path: temporary });
      for (const schema of emptySchemas)
        await session.run(`create schema if not exists ${identifier(schema)}`);
      await createParquetViews(session, farmed);
      await session.run('checkpoint');
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
    await rm(`${temporary}.wal`, { force: true });
  }
}
