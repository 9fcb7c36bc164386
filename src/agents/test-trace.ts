import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTranscript } from './trace-formats.js';
import type { ToolCall, TraceFormat, Transcript } from './transcript.js';

/** Recorded from the real CLIs in bubblewrap by test/agents/record-traces.ts, all from the same scenarios. */
export const RECORDED_TRACES = join(import.meta.dirname, 'traces');

/** Path of a recorded trace. */
export function recorded(format: TraceFormat, name: string): string {
  return join(RECORDED_TRACES, `${format}-${name}.jsonl`);
}

/** The transcript of a trace with this content. */
export async function transcriptOf(format: TraceFormat, content: string | Uint8Array): Promise<Transcript> {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-trace-'));
  try {
    const path = join(folder, 'trace.jsonl');
    await writeFile(path, content);
    return await readTranscript(format, path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Every call of a transcript, in order. */
export function callsOf(transcript: Transcript): readonly ToolCall[] {
  return transcript.turns.flatMap((turn) => turn.calls);
}
