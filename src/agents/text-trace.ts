import { open } from 'node:fs/promises';
import { M4BenchError, reasonOf, systemCodeOf } from '../support/errors.js';
import type { Transcript } from './transcript.js';
import { finishDraft, newDraft, noteFinalText } from './transcript-draft.js';

/** What is kept of the end of a trace without structure. */
const TAIL_BYTES = 10_000;

/** Reads a trace of plain text: its end is the agent's last words, and there is nothing else to tell. */
export async function readTextTrace(tracePath: string): Promise<Transcript> {
  const draft = newDraft('text');
  const tail = await tailOf(tracePath);
  noteFinalText(draft, tail);
  return finishDraft(draft);
}

async function tailOf(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, bytesRead).toString('utf8').trim();
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return '';
    throw new M4BenchError(
      'TRACE_UNREADABLE',
      `Cannot read the trace ${path}: ${reasonOf(thrown)}.`,
      'Check that it is a readable file.',
      { party: 'environment', cause: thrown },
    );
  }
}
