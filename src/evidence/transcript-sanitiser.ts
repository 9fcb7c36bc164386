import type { ToolCall, Transcript, Turn } from '../agents/transcript.js';
import { type Json, sanitisingWalk, walkRecord } from './record-sanitiser.js';
import type { PackageMode } from './ruleset.js';
import type { Register } from './text-context.js';
import { addHits, type TextSanitiser } from './text-sanitiser.js';

/**
 * A transcript that may be published. What tools gave back is left out of a public one, and so is a trace without
 * structure, in which nobody can tell the agent's words from the data; commands, reasoning and words go through the
 * rules. Events of a kind that the readers do not know are not in a transcript at all.
 */
export function sanitiseTranscript(
  transcript: Transcript,
  sanitiser: TextSanitiser,
  mode: PackageMode,
  hits: Map<string, number>,
): Transcript {
  const text = (given: string, register: Register = 'prose'): string => {
    const done = sanitiser.sanitise(given, register);
    addHits(hits, done.hits);
    return done.text;
  };
  const optional = (given: string | null, register?: Register): string | null =>
    given === null ? null : text(given, register);
  const isUnstructured = transcript.format === 'text';
  return {
    ...transcript,
    cliVersion: optional(transcript.cliVersion),
    models: transcript.models.map((model) => text(model)),
    skills: transcript.skills.map((skill) => text(skill)),
    turns: transcript.turns.map(
      (turn): Turn => ({
        ...turn,
        model: optional(turn.model),
        reasoning: text(turn.reasoning),
        text: text(turn.text),
        calls: turn.calls.map(
          (call): ToolCall => ({
            ...call,
            tool: text(call.tool),
            command: optional(call.command, 'code'),
            input: inputText(call.input, sanitiser, hits),
            output: mode === 'public' ? withheldText(call.output) : optional(call.output),
          }),
        ),
      }),
    ),
    finalText:
      isUnstructured && mode === 'public'
        ? withheldText(transcript.finalText)
        : optional(transcript.finalText),
    errors: transcript.errors.map((error) => text(error)),
  };
}

/** What stands for a text that is not published. */
function withheldText(text: string | null): string | null {
  if (text === null || text === '') return text;
  const lines = text.split('\n').length;
  return `[withheld: ${lines} ${lines === 1 ? 'line' : 'lines'}, ${Buffer.byteLength(text)} bytes]`;
}

/** Arguments of a tool: JSON is walked member by member, numbers included; anything else is a text. */
function inputText(input: string, sanitiser: TextSanitiser, hits: Map<string, number>): string {
  const parsed = parsedInput(input);
  if (parsed === undefined) {
    const done = sanitiser.sanitise(input, 'code');
    addHits(hits, done.hits);
    return done.text;
  }
  const walk = sanitisingWalk(sanitiser, hits);
  const code = { ...walk, text: (text: string) => walk.text(text, 'code') };
  // What the walk keeps as a measurement is the agent's own number here, so the whole goes through the rules again.
  const done = sanitiser.sanitise(JSON.stringify(walkRecord(parsed, code)), 'code');
  addHits(hits, done.hits);
  return done.text;
}

function parsedInput(input: string): Json | undefined {
  if (!/^\s*[{[]/.test(input)) return undefined;
  try {
    return JSON.parse(input) as Json;
  } catch {
    return undefined;
  }
}
