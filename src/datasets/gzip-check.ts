import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { M4BenchError, messageOf } from '../support/errors.js';
import type { SourceFile } from './release-folder.js';

/**
 * Decompresses the whole file and checks its length and checksum: DuckDB reads a gzip stream that was cut off or
 * altered as if it were whole (1.5.6), so rows would be lost in silence. Throws `IMPORT_GZIP_BROKEN`.
 */
export async function checkGzip(source: SourceFile): Promise<void> {
  try {
    await decompress(source, () => {});
  } catch (thrown) {
    throw new M4BenchError(
      'IMPORT_GZIP_BROKEN',
      `${source.file}, at or after line ${await lastWholeLine(source)}: the gzip stream is cut off or damaged (${messageOf(thrown)}).`,
      'Download the file again.',
      { cause: thrown },
    );
  }
}

/** Lines are counted only once something is wrong: counting costs a third of decompressing. */
async function lastWholeLine(source: SourceFile): Promise<number> {
  let line = 1;
  const count = (chunk: Buffer): void => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line += 1;
  };
  await decompress(source, count).catch(() => {});
  return line;
}

async function decompress(source: SourceFile, take: (chunk: Buffer) => void): Promise<void> {
  await pipeline(
    createReadStream(source.path, { highWaterMark: 1 << 18 }),
    createGunzip({ chunkSize: 1 << 18 }),
    async (stream: AsyncIterable<Buffer>) => {
      for await (const chunk of stream) take(chunk);
    },
  );
}
