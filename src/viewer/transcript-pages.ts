import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readMeasuredExchanges, withGatewayTimes } from '../agents/gateway-times.js';
import { readTranscript, traceFormatOf } from '../agents/trace-formats.js';
import { type ToolCall, type Transcript, type Turn, transcriptSchema } from '../agents/transcript.js';
import { readSmallJson } from './attempt-files.js';

/** A turn with its place in the transcript, from 1. */
export interface NumberedTurn {
  readonly number: number;
  readonly turn: Turn;
}

/** What a reader asked for. */
export interface TranscriptQuery {
  /** From 1. */
  readonly page: number;
  /** Only turns that hold this text, whatever the case; empty for all. */
  readonly search: string;
}

/** One page of a transcript. */
export interface TranscriptPage {
  readonly transcript: Transcript;
  readonly turns: readonly NumberedTurn[];
  readonly page: number;
  readonly pages: number;
  /** Turns that fit the search; all of them without one. */
  readonly found: number;
}

/** Characters of a page; a single turn may be more. */
const pageCharacters = 120_000;
const mostTurnsOnPage = 100;

/** Splits the turns that fit into pages of bounded length. Pure. */
export function transcriptPage(transcript: Transcript, query: TranscriptQuery): TranscriptPage {
  const wanted = query.search.toLowerCase();
  const found = transcript.turns
    .map((turn, index): NumberedTurn => ({ number: index + 1, turn }))
    .filter(({ turn }) => wanted === '' || holds(turn, wanted));
  const starts: number[] = [];
  let characters = 0;
  for (const [index, { turn }] of found.entries()) {
    const isFull =
      characters + shownLength(turn) > pageCharacters || index - (starts.at(-1) ?? 0) >= mostTurnsOnPage;
    if (starts.length === 0 || isFull) {
      starts.push(index);
      characters = 0;
    }
    characters += shownLength(turn);
  }
  const pages = Math.max(1, starts.length);
  const page = Math.min(Math.max(1, query.page), pages);
  return {
    transcript,
    turns: found.slice(starts[page - 1] ?? 0, starts[page] ?? found.length),
    page,
    pages,
    found: found.length,
  };
}

const textsOf = (turn: Turn): readonly string[] => [
  turn.reasoning,
  turn.text,
  ...turn.calls.flatMap((call) => [call.tool, call.command ?? '', call.input, call.output ?? '']),
];

function holds(turn: Turn, wanted: string): boolean {
  return textsOf(turn).some((text) => text.toLowerCase().includes(wanted));
}

/** Characters of a text that are shown before a reader asks for more. */
export const shownCharacters = 6_000;

function shownLength(turn: Turn): number {
  return textsOf(turn).reduce((sum, text) => sum + Math.min(text.length, shownCharacters), 200);
}

/** Text of one part of a turn, which the page cuts. */
export type TurnPart = 'reasoning' | 'text' | 'command' | 'input' | 'output';

export const turnParts: readonly TurnPart[] = ['reasoning', 'text', 'command', 'input', 'output'];

/** The whole of a text that a page shows in part; undefined when there is none. */
export function turnPart(
  transcript: Transcript,
  turnNumber: number,
  callNumber: number | null,
  part: TurnPart,
): string | undefined {
  const turn = transcript.turns[turnNumber - 1];
  if (part === 'reasoning' || part === 'text') return turn?.[part];
  const call: ToolCall | undefined = callNumber === null ? undefined : turn?.calls[callNumber - 1];
  return call?.[part] ?? undefined;
}

interface KeptTranscript {
  readonly stamp: string;
  readonly transcript: Transcript;
}

const mostKept = 3;
const mostTranscriptBytes = 256 * 1024 * 1024;

/** Transcripts of attempts; the last few stay in memory, since a page is a small part of one. */
export class TranscriptStore {
  readonly #kept = new Map<string, KeptTranscript>();

  /** `transcript.json` of an attempt, or the trace itself where there is none; undefined without either. */
  async read(attemptFolder: string): Promise<Transcript | undefined> {
    const stamp = await stampOf(attemptFolder);
    if (stamp === undefined) return undefined;
    const kept = this.#kept.get(attemptFolder);
    if (kept?.stamp === stamp) return kept.transcript;
    const transcript = (await normalised(attemptFolder)) ?? (await fromTrace(attemptFolder));
    this.#kept.delete(attemptFolder);
    this.#kept.set(attemptFolder, { stamp, transcript });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
    }
    return transcript;
  }
}

async function stampOf(folder: string): Promise<string | undefined> {
  const found = await Promise.all(
    ['transcript.json', 'trace.jsonl', 'gateway.jsonl'].map((name) =>
      stat(join(folder, name)).catch(() => undefined),
    ),
  );
  const [transcript, trace] = found;
  if (!transcript?.isFile() && !trace?.isFile()) return undefined;
  return found.map((file) => `${file?.size} ${file?.mtimeMs}`).join(' ');
}

async function normalised(folder: string): Promise<Transcript | undefined> {
  const parsed = transcriptSchema.safeParse(
    await readSmallJson(folder, 'transcript.json', mostTranscriptBytes),
  );
  return parsed.success ? parsed.data : undefined;
}

async function fromTrace(folder: string): Promise<Transcript> {
  const trace = join(folder, 'trace.jsonl');
  return withGatewayTimes(
    await readTranscript(await traceFormatOf(trace), trace),
    await readMeasuredExchanges(join(folder, 'gateway.jsonl')),
  );
}
