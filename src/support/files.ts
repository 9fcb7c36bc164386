import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { M4BenchError, messageOf, reasonOf, systemCodeOf } from './errors.js';
import { killPoint } from './kill-point.js';

/** A sibling name for a file that is being written; `*.tmp` is debris by definition. */
export function temporaryNameFor(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

export interface AtomicWriteOptions {
  /** File mode, default 0o644. */
  readonly mode?: number;
  /** Fail with `ALREADY_EXISTS` when the file is there (first writer wins). */
  readonly exclusive?: boolean;
}

/** Writes a whole file or nothing: temporary sibling, fsync, rename (or link, when exclusive). */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryNameFor(path);
  try {
    const handle = await open(temporary, 'wx', options.mode ?? 0o644);
    try {
      await killPoint(`half ${basename(path)}`, () =>
        handle.writeFile(content.slice(0, content.length >> 1)),
      );
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await killPoint(`rename ${basename(path)}`);
    if (options.exclusive) await link(temporary, path);
    else await rename(temporary, path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') {
      throw new M4BenchError(
        'ALREADY_EXISTS',
        `${path} exists already.`,
        'Keep the existing file, or choose another name.',
      );
    }
    throw thrown;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** `writeFileAtomic` of indented JSON with a final newline. */
export function writeJsonAtomic(
  path: string,
  value: unknown,
  options: AtomicWriteOptions = {},
): Promise<void> {
  return writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, options);
}

/** Reads and parses JSON; a missing or broken file is an error that names it. */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    throw new M4BenchError(
      'FILE_UNREADABLE',
      `Cannot read ${path}: ${reasonOf(thrown)}.`,
      'Check that the file exists and is readable.',
      {
        cause: thrown,
      },
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw new M4BenchError(
      'JSON_INVALID',
      `${path} is not valid JSON: ${messageOf(thrown)}.`,
      'Restore the file or build it again.',
      {
        cause: thrown,
      },
    );
  }
}

/** Text of a file, or undefined when there is none. */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
