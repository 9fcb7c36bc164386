import { createReadStream } from 'node:fs';
import { M4BenchError, reasonOf, systemCodeOf } from '../support/errors.js';
import type { TraceFormat, Transcript } from './transcript.js';
import { finishDraft, newDraft, type TranscriptDraft } from './transcript-draft.js';

/** Longer lines are skipped: no event of interest is that long, and a trace is hostile input. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** A JSON object on a line of its own. */
export type TraceRecord = Readonly<Record<string, unknown>>;

/**
 * The lines of a trace: a JSON object each, or null for a line that is none (cut, broken, overlong or foreign).
 * Blank lines are left out, and a missing file is an empty trace. Memory is bounded by one line.
 */
export async function* traceLines(tracePath: string): AsyncGenerator<TraceRecord | null> {
  for await (const line of boundedLines(tracePath)) {
    if (line !== '') yield line === undefined ? null : objectIn(line);
  }
}

/**
 * Reads a trace of one format into a transcript. `take` records one event and returns false when it does not know
 * its kind; it must not throw, whatever the event holds.
 */
export async function readJsonTrace(
  format: TraceFormat,
  tracePath: string,
  take: (draft: TranscriptDraft, record: TraceRecord) => boolean,
): Promise<Transcript> {
  const draft = newDraft(format);
  for await (const record of traceLines(tracePath)) {
    if (record === null) draft.unreadableLines += 1;
    else if (!take(draft, record)) draft.unknownEvents += 1;
  }
  return finishDraft(draft);
}

function objectIn(line: string): TraceRecord | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as TraceRecord;
  } catch {
    return null;
  }
}

/** Trimmed lines; undefined for one that is overlong. */
async function* boundedLines(path: string): AsyncGenerator<string | undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): string | undefined => {
    const line = bytes > MAX_LINE_BYTES ? undefined : Buffer.concat(parts).toString('utf8').trim();
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
      `Cannot read the trace ${path}: ${reasonOf(thrown)}.`,
      'Check that it is a readable file.',
      { party: 'environment', cause: thrown },
    );
  }
  yield take();
}
