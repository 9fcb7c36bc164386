import { constants, type Stats } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256File } from '../support/hashing.js';

/** One thing that the files of a run contradict. */
export interface AuditProblem {
  /** For example `HASH_DIFFERS`, `REWARD_DIFFERS`, `VERDICT_DIFFERS`. */
  readonly code: string;
  /** File, relative to the run's folder. */
  readonly where: string;
  readonly detail: string;
}

const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/** A regular file by its status; links are not followed, and anything else counts as absent. */
export async function statusOf(path: string): Promise<Stats | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    return status.isFile() ? status : undefined;
  } finally {
    await file.close();
  }
}

/** Text of a regular file of bounded size, or undefined. */
export async function recordText(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    return status.isFile() && status.size <= MAX_RECORD_BYTES ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

/** JSON of a record, or undefined when it is missing or broken. */
export async function recordJson(path: string): Promise<unknown> {
  const text = await recordText(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Hash of a regular file, or null where there is none. */
export async function recordHash(path: string): Promise<string | null> {
  return (await statusOf(path)) === undefined ? null : await sha256File(path);
}

/** Every entry below a folder, relative and sorted; folders themselves left out. */
export async function entriesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
