import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { M4BenchError, messageOf, reasonOf } from '../support/errors.js';
import { zstdDecompressed } from './zstd.js';

/** Thrown for an archive that cannot be read on; `message` says why. */
export class ArchiveFault extends Error {}

/** The bytes of a tar file, whether it is compressed with Zstandard, gzip or not at all. Throws `ArchiveFault`. */
export async function* tarBytesOf(path: string): AsyncGenerator<Uint8Array> {
  const kind = await compressionOf(path);
  const raw = createReadStream(path, { highWaterMark: 256 * 1024 });
  try {
    if (kind === 'zstd') yield* zstdDecompressed(raw);
    else if (kind === 'gzip') yield* raw.pipe(createGunzip()) as AsyncIterable<Buffer>;
    else yield* raw as AsyncIterable<Buffer>;
  } catch (thrown) {
    throw new ArchiveFault(`it cannot be decompressed: ${messageOf(thrown)}`);
  } finally {
    raw.destroy();
  }
}

async function compressionOf(path: string): Promise<'zstd' | 'gzip' | 'none'> {
  let magic: Buffer;
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) throw new Error('it is no file');
    magic = Buffer.alloc(4);
    await file.read(magic, 0, 4, 0);
  } catch (thrown) {
    throw new M4BenchError(
      'EVIDENCE_UNREADABLE',
      `Cannot read ${path}: ${reasonOf(thrown)}.`,
      'Name an evidence package (.tar.zst).',
      { cause: thrown },
    );
  }
  if (magic.readUInt32LE(0) === 0xfd2fb528 || (magic.readUInt32LE(0) & 0xfffffff0) >>> 0 === 0x184d2a50)
    return 'zstd';
  return magic[0] === 0x1f && magic[1] === 0x8b ? 'gzip' : 'none';
}

/** Takes bytes from a stream in whatever portions are asked for. */
export class ByteFeed {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private current: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  /** Up to `most` bytes; an empty array at the end. */
  async some(most: number): Promise<Uint8Array> {
    while (this.current.length === 0) {
      const next = await this.chunks.next();
      if (next.done) return new Uint8Array();
      this.current = next.value;
    }
    const taken = this.current.subarray(0, most);
    this.current = this.current.subarray(taken.length);
    return taken;
  }

  /** Exactly `count` bytes, or fewer at the end. */
  async exactly(count: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      if (part.length === 0) break;
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Lets go of the source. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }
}
