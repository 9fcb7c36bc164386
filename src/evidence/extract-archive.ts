import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { M4BenchError, messageOf } from '../support/errors.js';
import { ArchiveFault, tarBytesOf } from './archive-bytes.js';

export interface ExtractLimits {
  readonly entries: number;
  readonly totalBytes: number;
}

const defaultLimits: ExtractLimits = { entries: 200_000, totalBytes: 64 * 1024 ** 3 };
const MAX_PATH = 500;
const MAX_DEPTH = 20;

/** Why an entry of a foreign archive may not be written, or undefined. */
function objectionTo({ name, type, size = 0 }: Header): string | undefined {
  if (type !== 'file' && type !== 'directory')
    return `is a ${type ?? 'thing of no kind'}, and only files are read`;
  const path = name.replace(/\/+$/, '');
  if (path.length > MAX_PATH || path.split('/').some((part) => part.length > 200))
    return 'has too long a name';
  if (!/^[\x20-\x7e]+$/.test(path) || path.includes('\\')) return 'has odd characters in its name';
  const parts = path.split('/');
  if (parts.length > MAX_DEPTH) return 'lies too deep';
  if (path.startsWith('/') || parts.some((part) => part === '..' || part === '')) return 'leaves its folder';
  if (!Number.isSafeInteger(size) || size < 0) return 'states no size';
  return undefined;
}

/**
 * Extracts an archive of somebody else (tar, gzip or Zstandard) into an empty folder. Anything but plain files with
 * plain names stops it: throws `ARCHIVE_REFUSED`. Sizes are counted as they come, whatever the headers state.
 */
export async function extractArchive(
  archive: string,
  folder: string,
  limits: ExtractLimits = defaultLimits,
): Promise<number> {
  let entries = 0;
  let files = 0;
  let total = 0;
  const reader = extract();
  const refuse = (name: string, why: string): never => {
    throw new ArchiveFault(`its entry ${JSON.stringify(name.slice(0, 200))} ${why}`);
  };
  const write = async (): Promise<void> => {
    for await (const entry of reader) {
      const { header } = entry;
      entries += 1;
      if (entries > limits.entries) refuse(header.name, `is one of more than ${limits.entries}`);
      const objection = objectionTo(header);
      if (objection !== undefined) refuse(header.name, objection);
      if (header.type === 'directory') {
        entry.resume();
        continue;
      }
      const target = join(folder, header.name);
      await mkdir(dirname(target), { recursive: true });
      await using file = await open(target, 'wx', 0o644).catch(() => refuse(header.name, 'stands twice'));
      files += 1;
      for await (const chunk of entry as AsyncIterable<Buffer>) {
        total += chunk.length;
        if (total > limits.totalBytes) refuse(header.name, `brings it beyond ${limits.totalBytes} bytes`);
        await file.writeFile(chunk);
      }
    }
  };
  try {
    await Promise.all([pipeline(Readable.from(tarBytesOf(archive)), reader), write()]);
  } catch (thrown) {
    if (thrown instanceof M4BenchError) throw thrown;
    throw new M4BenchError(
      'ARCHIVE_REFUSED',
      `${archive} cannot be read: ${messageOf(thrown)}.`,
      'Fetch the archive again; if it is the same, do not trust it.',
      { cause: thrown },
    );
  }
  return files;
}
