import type { BigIntStats } from 'node:fs';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../support/errors.js';
import { killPoint } from '../support/kill-point.js';
import type { CopyOutReport } from './sandbox.js';

/** Limits of one copy; the number of entries and the depth are fixed. */
export interface CopyOutLimits {
  readonly only?: readonly string[];
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

const MAX_ENTRIES = 100_000;
const MAX_REFUSALS = 1_000;
const MAX_DEPTH = 40;
/** A file that claims this many times the space it takes, and is large, was made to hurt its reader. */
const SPARSE_FACTOR = 100n;
const SPARSE_FROM_BYTES = 64n * 1024n * 1024n;
const CHUNK_BYTES = 1024 * 1024;

/** Control characters, and the invisible ones that reorder text on screen. */
const ODD_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');

interface Walk {
  readonly into: string;
  readonly limits: CopyOutLimits;
  readonly files: { path: string; bytes: number }[];
  readonly refused: { path: string; reason: string }[];
  totalBytes: number;
  entries: number;
}

function refuse(walk: Walk, path: string, reason: string): void {
  if (walk.refused.length < MAX_REFUSALS) walk.refused.push({ path: printable(path), reason });
}

/** A hostile name made harmless for logs and pages. */
function printable(path: string): string {
  const safe = path.replace(
    new RegExp(ODD_CHARACTERS, 'gu'),
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  return safe.length <= 300 ? safe : `${safe.slice(0, 300)}…`;
}

/** Names an entry through its opened folder, so that no part of the way to it can be swapped for a link. */
function entryPath(folder: FileHandle, folderPath: string, name: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${folder.fd}/${name}` : join(folderPath, name);
}

function kindOf(found: BigIntStats): string {
  if (found.isSymbolicLink()) return 'symbolic link';
  if (found.isFIFO()) return 'named pipe';
  if (found.isSocket()) return 'socket';
  if (found.isBlockDevice() || found.isCharacterDevice()) return 'device';
  return 'not a regular file';
}

/** Why a regular file may not be copied, or undefined. Judged on the opened file, not on its name. */
function objection(found: BigIntStats, walk: Walk): string | undefined {
  if (found.nlink > 1n) return 'hard link';
  if (found.size > BigInt(walk.limits.maxFileBytes)) return `larger than ${walk.limits.maxFileBytes} bytes`;
  if (found.size > SPARSE_FROM_BYTES && found.blocks * 512n * SPARSE_FACTOR < found.size)
    return 'sparse file';
  if (found.size + BigInt(walk.totalBytes) > BigInt(walk.limits.maxTotalBytes))
    return `files together larger than ${walk.limits.maxTotalBytes} bytes`;
  return undefined;
}

async function copyFileOut(walk: Walk, source: string, path: string): Promise<void> {
  let input: FileHandle;
  try {
    // O_NONBLOCK: opening a pipe without a writer must not wait for one.
    input = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    // A named file that is absent is for the caller to notice; it was not refused.
    if (systemCodeOf(thrown) !== 'ENOENT') refuse(walk, path, openFailure(thrown));
    return;
  }
  try {
    const found = await input.stat({ bigint: true });
    const reason = found.isFile() ? objection(found, walk) : kindOf(found);
    if (reason !== undefined) {
      refuse(walk, path, reason);
      return;
    }
    const target = join(walk.into, path);
    await mkdir(dirname(target), { recursive: true });
    const bytes = await copyBytes(input, target, Number(found.size));
    walk.totalBytes += bytes;
    walk.files.push({ path, bytes });
  } catch (thrown) {
    // Names that differ in case only, or that are too long here; a full disk is our trouble and goes on up.
    const code = systemCodeOf(thrown);
    if (code !== 'EEXIST' && code !== 'ENAMETOOLONG' && code !== 'ENOTDIR') throw thrown;
    refuse(walk, path, `cannot be written here (${code})`);
  } finally {
    await input.close();
  }
}

/** Copies at most the bytes the file had when it was judged. */
async function copyBytes(input: FileHandle, target: string, size: number): Promise<number> {
  const output = await open(target, 'wx', 0o644);
  try {
    const buffer = Buffer.alloc(Math.max(1, Math.min(CHUNK_BYTES, size)));
    let done = 0;
    await killPoint('copy-out', () => output.writeFile(Buffer.alloc(size >> 1)));
    while (done < size) {
      const { bytesRead } = await input.read(buffer, 0, Math.min(buffer.length, size - done), done);
      if (bytesRead === 0) break;
      await output.writeFile(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
    return done;
  } finally {
    await output.close();
  }
}

function openFailure(thrown: unknown): string {
  const code = systemCodeOf(thrown) ?? 'error';
  if (code === 'ELOOP') return 'symbolic link';
  if (code === 'ENXIO') return 'socket or device';
  if (code === 'EACCES') return 'not readable';
  if (code === 'ENOTDIR') return 'not a folder';
  return `cannot be opened (${code})`;
}

async function openFolder(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

async function walkFolder(
  walk: Walk,
  folder: FileHandle,
  folderPath: string,
  prefix: string,
  depth: number,
): Promise<void> {
  const here = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${folder.fd}` : folderPath;
  const entries = await readdir(here, { withFileTypes: true, encoding: 'buffer' });
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of entries) {
    walk.entries += 1;
    if (walk.entries > MAX_ENTRIES) {
      if (walk.entries === MAX_ENTRIES + 1) refuse(walk, prefix, `more than ${MAX_ENTRIES} entries`);
      return;
    }
    const name = entry.name.toString('utf8');
    const path = prefix === '' ? name : `${prefix}/${name}`;
    if (!Buffer.from(name, 'utf8').equals(entry.name)) refuse(walk, path, 'name is not UTF-8');
    else if (ODD_CHARACTERS.test(name)) refuse(walk, path, 'control character in the name');
    else if (entry.isDirectory()) await descend(walk, folder, folderPath, name, path, depth);
    else if (entry.isFile()) await copyFileOut(walk, entryPath(folder, folderPath, name), path);
    else if (entry.isSymbolicLink()) refuse(walk, path, 'symbolic link');
    else if (entry.isFIFO()) refuse(walk, path, 'named pipe');
    else if (entry.isSocket()) refuse(walk, path, 'socket');
    else refuse(walk, path, 'device');
  }
}

async function descend(
  walk: Walk,
  parent: FileHandle,
  parentPath: string,
  name: string,
  path: string,
  depth: number,
): Promise<void> {
  if (depth >= MAX_DEPTH) {
    refuse(walk, path, `deeper than ${MAX_DEPTH} folders`);
    return;
  }
  let folder: FileHandle;
  try {
    folder = await openFolder(entryPath(parent, parentPath, name));
  } catch (thrown) {
    refuse(walk, path, openFailure(thrown));
    return;
  }
  try {
    await walkFolder(walk, folder, join(parentPath, name), path, depth + 1);
  } finally {
    await folder.close();
  }
}

/** Copies one named path, folder by folder from the root, each opened without following links. */
async function copyNamed(walk: Walk, root: FileHandle, rootPath: string, path: string): Promise<void> {
  const parts = path.split('/');
  if (path === '' || parts.some((part) => part === '' || part === '.' || part === '..')) {
    refuse(walk, path, 'not a path inside the work folder');
    return;
  }
  const opened: FileHandle[] = [];
  let folder = root;
  let folderPath = rootPath;
  try {
    for (const part of parts.slice(0, -1)) {
      folder = await openFolder(entryPath(folder, folderPath, part));
      folderPath = join(folderPath, part);
      opened.push(folder);
    }
    const last = parts[parts.length - 1]!;
    const lastFolder = await openFolder(entryPath(folder, folderPath, last)).catch(() => undefined);
    if (lastFolder === undefined) {
      await copyFileOut(walk, entryPath(folder, folderPath, last), path);
    } else {
      opened.push(lastFolder);
      await walkFolder(walk, lastFolder, join(folderPath, last), path, parts.length);
    }
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') refuse(walk, path, openFailure(thrown));
  } finally {
    for (const handle of opened.reverse()) await handle.close();
  }
}

/**
 * Copies regular files out of a folder that a hostile program filled. Follows no link, opens nothing that could
 * block or act, believes only the opened file's own status, keeps within the limits, and reports what it refused.
 * No process may be writing to the folder any more.
 */
export async function copyOutOf(
  workFolder: string,
  into: string,
  limits: CopyOutLimits,
): Promise<CopyOutReport> {
  await mkdir(into, { recursive: true });
  const walk: Walk = { into, limits, files: [], refused: [], totalBytes: 0, entries: 0 };
  const root = await openFolder(workFolder);
  try {
    if (limits.only === undefined) await walkFolder(walk, root, workFolder, '', 0);
    else for (const path of limits.only) await copyNamed(walk, root, workFolder, path);
  } finally {
    await root.close();
  }
  return { files: walk.files, refused: walk.refused };
}
