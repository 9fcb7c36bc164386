import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemCodeOf } from '../support/errors.js';

const CHUNK_BYTES = 1024 * 1024;

/** What a scan of one file found. */
export interface FileScan {
  readonly bytes: number;
  /** Positions of the texts in the list that occur. */
  readonly found: ReadonlySet<number>;
}

/**
 * Looks for texts in the bytes of a file of any size, also across the borders of what is read at once. Follows no
 * link; undefined when there is no regular file.
 */
export async function scanFile(path: string, texts: readonly string[]): Promise<FileScan | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(systemCodeOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const needles = texts.map((text) => Buffer.from(text, 'utf8'));
    const overlap = Math.max(0, ...needles.map((needle) => needle.length - 1));
    const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
    const found = new Set<number>();
    let kept = 0;
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES);
      if (bytesRead === 0) return { bytes, found };
      bytes += bytesRead;
      const view = buffer.subarray(0, kept + bytesRead);
      for (const [at, needle] of needles.entries())
        if (needle.length > 0 && !found.has(at) && view.includes(needle)) found.add(at);
      const tail = view.subarray(Math.max(0, view.length - overlap));
      kept = tail.length;
      buffer.copyWithin(0, view.length - tail.length, view.length);
    }
  } finally {
    await file.close();
  }
}
