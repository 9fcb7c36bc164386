import { z } from 'zod';
import {
  anyObjectField,
  countField,
  numberField,
  objectField,
  shellInput,
  textField,
  timeField,
} from './trace-fields.js';
import { readJsonTrace, type TraceRecord } from './trace-lines.js';
import type { Transcript } from './transcript.js';
import {
  addCall,
  addReasoning,
  addResult,
  addText,
  addTokens,
  beginTurn,
  describeTurn,
  noteError,
  noteMoment,
  type TranscriptDraft,
} from './transcript-draft.js';

const timesField = objectField({ start: timeField, end: timeField });

/** The parts of an event of `opencode run --format json` that are read. */
const eventSchema = z.object({
  type: z.string().catch(''),
  timestamp: timeField,
  error: objectField({
    name: textField,
    message: textField,
    data: objectField({ message: textField }),
  }),
  part: objectField({
    messageID: textField,
    text: textField,
    time: timesField,
    // tool_use
    tool: textField,
    callID: textField,
    state: objectField({
      status: textField,
      input: anyObjectField,
      output: textField,
      error: textField,
      metadata: objectField({ exit: numberField }),
      time: timesField,
    }),
    // step_finish
    reason: textField,
    tokens: objectField({
      input: countField,
      output: countField,
      reasoning: countField,
      cache: objectField({ read: countField, write: countField }),
    }),
  }),
});
type Event = z.infer<typeof eventSchema>;
type Part = NonNullable<Event['part']>;

/**
 * Reads what `opencode run --format json` printed: one event per finished part of a reply. A tool that was running
 * when the run was cut has no event. The trace names no model.
 */
export function readOpencodeTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('opencode', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const { type, timestamp, part, error } = eventSchema.parse(record);
  noteMoment(draft, timestamp);
  if (type === 'error') {
    draft.ending = 'failed';
    noteError(draft, error?.data?.message ?? error?.message ?? error?.name);
    return true;
  }
  if (!['step_start', 'text', 'reasoning', 'tool_use', 'step_finish'].includes(type)) return false;
  if (part === undefined) return true;
  beginTurn(draft, { startedAt: part.time?.start ?? timestamp }, part.messageID);
  if (type === 'text') addText(draft, part.text);
  if (type === 'reasoning') addReasoning(draft, part.text);
  if (type === 'tool_use') takeCall(draft, part);
  if (type === 'step_finish') takeEnd(draft, part);
  return true;
}

function takeCall(draft: TranscriptDraft, { callID, tool, state }: Part): void {
  const id = callID ?? `unnamed ${draft.calls.size}`;
  addCall(draft, id, { tool: tool ?? 'unnamed', ...shellInput(state?.input), startedAt: state?.time?.start });
  if (state?.status !== 'completed' && state?.status !== 'error') return;
  addResult(draft, id, {
    output: state.output ?? state.error,
    exitCode: state.metadata?.exit,
    isFailed: state.status === 'error',
    endedAt: state.time?.end,
  });
}

function takeEnd(draft: TranscriptDraft, { messageID, reason, tokens }: Part): void {
  draft.ending = reason === 'tool-calls' ? 'unstated' : 'completed';
  if (tokens === undefined) return;
  // Beside one another: what was not cached, read from the cache, written to it; what was said, and thought.
  const cachedInput = tokens.cache?.read ?? 0;
  const cacheWrite = tokens.cache?.write ?? 0;
  const counted = {
    input: tokens.input + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    output: tokens.output + tokens.reasoning,
    reasoning: tokens.reasoning,
  };
  describeTurn(draft, { tokens: counted }, messageID);
  addTokens(draft, counted);
}
