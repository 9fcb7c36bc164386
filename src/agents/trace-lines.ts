import { createReadStream } from 'node:fs';
import { M4BenchError, messageOf, systemCodeOf } from '../support/errors.js';

/** Longer lines are skipped: no event of interest is that long, and a trace is hostile input. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** A JSON object on a line of its own. */
export type TraceRecord = Readonly<Record<string, unknown>>;

/**
 * The JSON objects of a trace, one a line. Lines that are cut, broken, overlong or no objects are skipped, and a
 * missing file is an empty trace. Memory is bounded by one line.
 */
export async function* traceRecords(tracePath: string): AsyncGenerator<TraceRecord> {
  for await (const line of boundedLines(tracePath)) {
    const record = objectIn(line);
    if (record !== undefined) yield record;
  }
}

function objectIn(line: string): TraceRecord | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as TraceRecord;
  } catch {
    return undefined;
  }
}

async function* boundedLines(path: string): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): string => {
    const line = bytes > MAX_LINE_BYTES ? '' : Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    bytes = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= MAX_LINE_BYTES) parts.push(part);
    else parts = [];
  };
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        add(chunk.subarray(start, end));
        yield take();
        start = end + 1;
      }
      add(chunk.subarray(start));
    }
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return;
    throw new M4BenchError(
      'TRACE_UNREADABLE',
      `Cannot read the trace ${path}: ${messageOf(thrown)}.`,
      'Check that it is a readable file.',
      { party: 'environment', cause: thrown },
    );
  }
  yield take();
}
