import { z } from 'zod';
import { countField, listField, numberField, objectField, textField, timeField } from './trace-fields.js';
import { readJsonTrace, type TraceRecord } from './trace-lines.js';
import type { Transcript } from './transcript.js';
import {
  addCall,
  addReasoning,
  addResult,
  addText,
  addTokens,
  beginTurn,
  noteError,
  noteModel,
  noteMoment,
  type TranscriptDraft,
} from './transcript-draft.js';

/** Events of sandbox-tools/basic-agent.mjs. */
const eventSchema = z.object({
  type: z.string().catch(''),
  at: timeField,
  startedAt: timeField,
  model: textField,
  text: textField,
  reasoning: textField,
  calls: listField({ id: textField, command: textField }),
  usage: objectField({
    input: countField,
    cachedInput: countField,
    cacheWrite: countField,
    output: countField,
    reasoning: countField,
  }),
  id: textField,
  exitCode: numberField,
  output: textField,
  message: textField,
  ending: textField,
  reason: textField,
});

/** Reads what the agent `basic` printed: every reply and every result with its times and counts. */
export function readBasicTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('basic', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const event = eventSchema.parse(record);
  noteMoment(draft, event.at);
  switch (event.type) {
    case 'start':
      noteModel(draft, event.model);
      return true;
    case 'reply':
      beginTurn(draft, {
        model: event.model,
        startedAt: event.startedAt,
        endedAt: event.at,
        tokens: event.usage,
      });
      addReasoning(draft, event.reasoning);
      addText(draft, event.text);
      if (event.usage !== undefined) addTokens(draft, event.usage);
      for (const { id, command } of event.calls)
        addCall(draft, id ?? `unnamed ${draft.calls.size}`, { tool: 'bash', command: command ?? '' });
      return true;
    case 'result':
      if (event.id !== undefined) {
        addResult(draft, event.id, {
          output: event.output,
          exitCode: event.exitCode,
          isFailed: event.exitCode === undefined,
          startedAt: event.startedAt,
          endedAt: event.at,
        });
      }
      return true;
    case 'error':
      noteError(draft, event.message);
      return true;
    case 'end':
      draft.ending = event.ending === 'completed' ? 'completed' : 'failed';
      if (draft.ending === 'failed' && event.reason !== 'error') noteError(draft, event.reason);
      return true;
    default:
      return false;
  }
}
