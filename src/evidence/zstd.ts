import { compress, init } from '@bokuweb/zstd-wasm';
import { Decompress } from 'fzstd';
import { messageOf } from '../support/errors.js';

/** Each so many bytes become a frame of their own, so that memory stays bounded. */
const FRAME_BYTES = 4 * 1024 * 1024;
const LEVEL = 9;

let ready: Promise<void> | undefined;

/** Compresses a stream as Zstandard frames, one after the other; any `zstd` program reads them as one file. */
export async function* zstdCompressed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  ready ??= init();
  await ready;
  const frame = Buffer.alloc(FRAME_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, FRAME_BYTES - filled);
      frame.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled === FRAME_BYTES) {
        yield Buffer.from(compress(frame, LEVEL));
        filled = 0;
      }
    }
  }
  if (filled > 0) yield Buffer.from(compress(frame.subarray(0, filled), LEVEL));
}

/** Fed in such pieces, and refused when one of them unfolds to more than the bound. */
const PIECE_BYTES = 2 * 1024;
const MAX_UNFOLDED = 64 * 1024 * 1024;

/** Thrown for bytes that are no Zstandard, or were made to hurt their reader. */
export class ZstdFault extends Error {}

/** Decompresses Zstandard of any number of frames; throws `ZstdFault`. */
export async function* zstdDecompressed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let unfolded: Uint8Array[] = [];
  let bytes = 0;
  const decoder = new Decompress((data) => {
    bytes += data.length;
    if (bytes > MAX_UNFOLDED) throw new ZstdFault('a few bytes unfold to more than 64 MiB');
    unfolded.push(data);
  });
  const walker = new FrameWalker();
  const push = (piece: Uint8Array, isLast: boolean): readonly Uint8Array[] => {
    unfolded = [];
    bytes = 0;
    try {
      decoder.push(piece, isLast);
    } catch (thrown) {
      throw thrown instanceof ZstdFault ? thrown : new ZstdFault(messageOf(thrown));
    }
    return unfolded;
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      walker.push(piece);
      yield* push(piece, false);
    }
  }
  walker.end();
}

const MAX_WINDOW = 128 * 1024 * 1024;
const MAX_BLOCK = 128 * 1024;
const MAGIC = 0xfd2fb528;

type Part = 'magic' | 'descriptor' | 'block' | 'skippable';

/**
 * Follows the frames and blocks of a Zstandard stream (RFC 8878) without decoding them, and refuses what would make a
 * decoder ask for much memory: large windows, blocks beyond 128 KiB, dictionaries, and a stream that ends early.
 */
class FrameWalker {
  private part: Part = 'magic';
  private held: number[] = [];
  private needed = 4;
  private skip = 0;
  private hasChecksum = false;
  private isInFrame = false;

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(this.skip, bytes.length - at);
      this.skip -= skipped;
      at += skipped;
      if (at >= bytes.length) return;
      this.held.push(bytes[at]!);
      at += 1;
      if (this.held.length === this.needed) this.take();
    }
  }

  end(): void {
    if (this.isInFrame || this.held.length > 0 || this.skip > 0) throw new ZstdFault('it ends too early');
  }

  private expect(part: Part, needed: number): void {
    this.part = part;
    this.held = [];
    this.needed = needed;
  }

  private take(): void {
    const number = this.held.reduce((sum, byte, at) => sum + byte * 2 ** (8 * at), 0);
    switch (this.part) {
      case 'magic':
        if (number !== MAGIC && (number & 0xfffffff0) >>> 0 !== 0x184d2a50)
          throw new ZstdFault('it is no Zstandard');
        this.isInFrame = number === MAGIC;
        this.expect(this.isInFrame ? 'descriptor' : 'skippable', this.isInFrame ? 1 : 4);
        return;
      case 'skippable':
        this.expect('magic', 4);
        this.skip = number;
        return;
      case 'descriptor':
        this.takeDescriptor(number);
        return;
      case 'block': {
        const size = number >> 3;
        const kind = (number >> 1) & 3;
        if (size > MAX_BLOCK || kind === 3) throw new ZstdFault('it holds a block that no encoder writes');
        const isLast = (number & 1) === 1;
        this.isInFrame = !isLast;
        this.expect(isLast ? 'magic' : 'block', isLast ? 4 : 3);
        this.skip = (kind === 1 ? 1 : size) + (isLast && this.hasChecksum ? 4 : 0);
      }
    }
  }

  /** The rest of the header is judged when its window descriptor is there. */
  private takeDescriptor(descriptor: number): void {
    if (this.held.length === 1) {
      const isSingle = (descriptor & 0x20) !== 0;
      if ((descriptor & 0x0b) !== 0) throw new ZstdFault('it needs a dictionary or uses reserved bits');
      this.hasChecksum = (descriptor & 0x04) !== 0;
      const contentBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
      this.needed = 1 + (isSingle ? 0 : 1) + contentBytes;
      if (this.needed > 1) return;
    }
    const [first = 0, window = 0] = this.held;
    const isSingle = (first & 0x20) !== 0;
    const stated = this.held.slice(isSingle ? 1 : 2).reduce((sum, byte, at) => sum + byte * 2 ** (8 * at), 0);
    const base = 2 ** (10 + (window >> 3));
    const bytes = isSingle ? stated : base + (base / 8) * (window & 7);
    if (bytes > MAX_WINDOW) throw new ZstdFault('it asks for a window beyond 128 MiB');
    this.expect('block', 3);
  }
}
