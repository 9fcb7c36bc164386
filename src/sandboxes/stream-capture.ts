import { constants, createWriteStream, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Bytes of one stream on their way into a host file. */
export interface StreamCapture {
  /** Bytes the command has written so far; the file holds at most the limit of them. */
  seenBytes(): number;
  /** Settles when the stream has ended and the file is complete. */
  readonly done: Promise<void>;
  /** Gives up on a stream that something outside the sandbox holds open. */
  abandon(): void;
}

/**
 * Copies a command's output to a host file, up to a limit. The command writes into a pipe, never into the file
 * itself, so it cannot rewrite what it said. Bytes beyond the limit are counted, dropped and reported once.
 */
export function captureStream(
  source: Readable,
  path: string,
  limitBytes: number,
  onOverflow: () => void,
): StreamCapture {
  const descriptor = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    0o600,
  );
  const file = createWriteStream(path, { fd: descriptor });
  let seen = 0;
  source.on('data', (chunk: Buffer) => {
    const room = limitBytes - seen;
    seen += chunk.length;
    if (room > 0) {
      const kept = chunk.length <= room ? chunk : chunk.subarray(0, room);
      if (!file.write(kept)) {
        source.pause();
        file.once('drain', () => source.resume());
      }
    }
    if (seen > limitBytes && room >= 0) onOverflow();
  });
  source.on('error', () => file.end());
  source.on('close', () => file.end());
  source.on('end', () => file.end());
  return { seenBytes: () => seen, done: finished(file), abandon: () => source.destroy() };
}
