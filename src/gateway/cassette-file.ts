import { type FileHandle, open } from 'node:fs/promises';
import { M4BenchError } from '../support/errors.js';
import { type CassetteHeader, headerSchema } from './cassette.js';
import { rulesHash } from './cassette-rules.js';

const CHUNK_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** Position after the last line feed of a file, 0 when there is none. */
export async function lastWholeLineEnd(file: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.lastIndexOf(LINE_FEED);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

/** The first line of a cassette. Throws `CASSETTE_INVALID`, or `CASSETTE_OUTDATED` when its digests cannot be compared. */
export async function readHeader(path: string, file: FileHandle): Promise<CassetteHeader> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(LINE_FEED);
  const parsed = headerSchema.safeParse(parsedLine(buffer.toString('utf8', 0, Math.max(0, end))));
  if (!parsed.success) throw invalidCassette(path, 1);
  if (parsed.data.rules === rulesHash) return parsed.data;
  throw new M4BenchError(
    'CASSETTE_OUTDATED',
    `The cassette ${path} was recorded by version ${parsed.data.benchmarkVersion}, which compared requests by other rules.`,
    'Record it again.',
  );
}

/** One line of a cassette with its place in the file. */
export interface CassetteLine {
  readonly value: unknown;
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  readonly bytes: number;
}

/** Every whole line, one at a time; what a killed process left of a last one is passed over. */
export async function* cassetteLines(path: string): AsyncGenerator<CassetteLine> {
  await using file = await open(path, 'r');
  let pending: Buffer = Buffer.alloc(0);
  let offset = 0;
  let number = 0;
  for await (const chunk of file.createReadStream({
    autoClose: false,
    highWaterMark: CHUNK_BYTES,
  }) as AsyncIterable<Buffer>) {
    const parts: Buffer[] = [];
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      parts.push(chunk.subarray(start, at));
      start = at + 1;
    }
    for (const part of parts) {
      const line = pending.length === 0 ? part : Buffer.concat([pending, part]);
      pending = Buffer.alloc(0);
      number += 1;
      yield { value: parsedLine(line.toString('utf8')), number, offset, bytes: line.length };
      offset += line.length + 1;
    }
    pending = Buffer.concat([pending, chunk.subarray(start)]);
  }
}

export function parsedLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function invalidCassette(path: string, line: number): M4BenchError {
  return new M4BenchError(
    'CASSETTE_INVALID',
    `Line ${line} of ${path} is no line of a cassette.`,
    'Name a file that --record wrote, or record it again.',
  );
}
