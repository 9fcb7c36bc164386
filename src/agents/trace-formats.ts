import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { readBasicTrace } from './basic-trace.js';
import { readClaudeTrace } from './claude-trace.js';
import { readCodexTrace } from './codex-trace.js';
import { readGeminiTrace } from './gemini-trace.js';
import { readOpencodeTrace } from './opencode-trace.js';
import { readPiTrace } from './pi-trace.js';
import { readTextTrace } from './text-trace.js';
import { type TraceRecord, traceLines } from './trace-lines.js';
import type { TraceFormat, Transcript } from './transcript.js';

interface FormatEntry {
  readonly read: (tracePath: string) => Promise<Transcript>;
  /** True for an event that only this format has. */
  readonly isTypical: (record: TraceRecord) => boolean;
}

const hasType = (record: TraceRecord, ...types: readonly string[]): boolean =>
  types.includes(String(record.type));

/** Every trace format; a new one is a reader beside this file and an entry here. */
const FORMATS: Readonly<Record<TraceFormat, FormatEntry>> = {
  codex: {
    read: readCodexTrace,
    isTypical: (record) => hasType(record, 'thread.started', 'turn.started', 'item.completed'),
  },
  claude: {
    read: readClaudeTrace,
    isTypical: (record) => hasType(record, 'system', 'assistant') && 'session_id' in record,
  },
  gemini: {
    read: readGeminiTrace,
    isTypical: (record) => hasType(record, 'init') && 'session_id' in record && 'model' in record,
  },
  pi: {
    read: readPiTrace,
    isTypical: (record) => hasType(record, 'session', 'message_end', 'turn_end'),
  },
  opencode: {
    read: readOpencodeTrace,
    isTypical: (record) => 'sessionID' in record,
  },
  basic: {
    read: readBasicTrace,
    isTypical: (record) => hasType(record, 'start') && record.agent === 'm4bench-basic',
  },
  text: { read: readTextTrace, isTypical: () => false },
};

/** The formats by name. */
export const traceFormats = Object.keys(FORMATS) as readonly TraceFormat[];

/** The format of a name that a person gave. Throws `TRACE_FORMAT_UNKNOWN` for any other. */
export function traceFormatNamed(name: string): TraceFormat {
  const found = traceFormats.find((format) => format === name);
  if (found !== undefined) return found;
  throw new M4BenchError(
    'TRACE_FORMAT_UNKNOWN',
    `There is no trace format "${name}".`,
    `${suggestionFor(name, traceFormats)}Known formats: ${traceFormats.join(', ')}.`,
  );
}

/** How many lines are looked at to tell a format. */
const LINES_TO_TELL = 50;

/** The reader of a format. */
export function readTranscript(format: TraceFormat, tracePath: string): Promise<Transcript> {
  return FORMATS[format].read(tracePath);
}

/** Tells the format of a trace by its first events; what no format claims is `text`. */
export async function traceFormatOf(tracePath: string): Promise<TraceFormat> {
  let lines = 0;
  for await (const record of traceLines(tracePath)) {
    const found =
      record === null ? undefined : traceFormats.find((format) => FORMATS[format].isTypical(record));
    if (found !== undefined) return found;
    lines += 1;
    if (lines >= LINES_TO_TELL) break;
  }
  return 'text';
}
