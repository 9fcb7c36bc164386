import { EventEmitter } from 'node:events';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { M4BenchError } from '../support/errors.js';

const MAX_STATUS_BYTES = 64 * 1024;

/** A status descriptor being read; emits `record` for each record. */
export interface StatusReader extends EventEmitter {
  /** All fields told so far; a later record wins. */
  told(): Readonly<Record<string, unknown>>;
  /** Settles when nobody holds the other end any more. */
  readonly done: Promise<void>;
}

/** Reads JSON lines from a status descriptor; bounded, and tolerant, since the inside may write there too. */
export function readStatus(source: Readable): StatusReader {
  const told: Record<string, unknown> = {};
  const done = new Promise<void>((resolve) => source.once('close', resolve));
  const reader = Object.assign(new EventEmitter(), { told: () => told, done });
  let pending = '';
  let seen = 0;
  source.setEncoding('utf8');
  source.on('error', () => {});
  source.on('data', (text: string) => {
    seen += text.length;
    if (seen > MAX_STATUS_BYTES) return;
    pending += text;
    const lines = pending.split('\n');
    pending = lines.pop()!;
    for (const line of lines) {
      const record = parseRecord(line);
      if (record === undefined) continue;
      Object.assign(told, record);
      reader.emit('record', record);
    }
  });
  return reader;
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The error for a sandbox that did not come up, with the beginning of what it said. */
export async function startFailure(
  kind: string,
  cause: Error | undefined,
  stderrPath: string,
): Promise<M4BenchError> {
  let said = cause?.message ?? '';
  if (cause === undefined) {
    const file = await open(stderrPath, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(400), 0, 400, 0);
      said = buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }
  return new M4BenchError(
    'SANDBOX_START_FAILED',
    `The ${kind} sandbox did not start: ${said.replace(/\s+/g, ' ').trim() || 'no message'}.`,
    'Run m4bench doctor, or m4bench sandbox check.',
    { party: 'environment', cause },
  );
}
