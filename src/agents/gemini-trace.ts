import { z } from 'zod';
import type { TokenCounts } from './agent.js';
import {
  anyObjectField,
  contentTextField,
  countField,
  flagField,
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
  addResult,
  addText,
  beginReply,
  noteError,
  noteModel,
  noteMoment,
  type TranscriptDraft,
} from './transcript-draft.js';

const usageShape = {
  total_tokens: countField,
  input_tokens: countField,
  output_tokens: countField,
  cached: countField,
};

/** The parts of an event of `gemini --output-format stream-json` that are read. */
const eventSchema = z.object({
  type: z.string().catch(''),
  timestamp: timeField,
  model: textField,
  // message
  role: textField,
  content: textField,
  delta: flagField,
  // tool_use, tool_result
  tool_name: textField,
  tool_id: textField,
  parameters: anyObjectField,
  status: textField,
  output: contentTextField,
  // error, result
  message: textField,
  error: objectField({ message: textField }),
  stats: objectField({
    ...usageShape,
    duration_ms: numberField,
    models: z.record(z.string(), z.unknown()).optional().catch(undefined),
  }),
});
type Event = z.infer<typeof eventSchema>;

/**
 * Reads what `gemini --output-format stream-json` printed. Messages come in pieces, and where one reply of the model
 * ends and the next begins is not said: what comes after a tool's result counts as a new reply. Totals come once, in
 * the event `result`; thoughts are missing from its output and are what is left of its total.
 */
export function readGeminiTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('gemini', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const event = eventSchema.parse(record);
  noteMoment(draft, event.timestamp);
  switch (event.type) {
    case 'init':
      noteModel(draft, event.model);
      return true;
    case 'message':
      if (event.role === 'assistant' && event.content) {
        beginReply(draft, { startedAt: event.timestamp });
        addText(draft, event.content, event.delta ? '' : '\n');
      }
      return event.role !== undefined;
    case 'tool_use': {
      const id = event.tool_id ?? `unnamed ${draft.calls.size}`;
      if (!draft.calls.has(id)) beginReply(draft, { startedAt: event.timestamp });
      const input = shellInput(event.parameters);
      addCall(draft, id, { tool: event.tool_name ?? 'unnamed', ...input, startedAt: event.timestamp });
      return true;
    }
    case 'tool_result':
      takeResult(draft, event);
      return true;
    case 'error':
      noteError(draft, event.message ?? event.error?.message);
      return true;
    case 'result':
      takeEnd(draft, event);
      return true;
    default:
      return false;
  }
}

function takeResult(draft: TranscriptDraft, event: Event): void {
  if (event.tool_id === undefined) return;
  const output = event.output ?? event.error?.message;
  addResult(draft, event.tool_id, {
    output,
    exitCode: exitCodeIn(output),
    isFailed: event.status === 'error',
    endedAt: event.timestamp,
  });
}

function takeEnd(draft: TranscriptDraft, event: Event): void {
  draft.ending = event.status === 'success' ? 'completed' : 'failed';
  noteError(draft, event.error?.message);
  const { stats } = event;
  if (stats === undefined) return;
  for (const model of Object.keys(stats.models ?? {})) noteModel(draft, model);
  if (stats.duration_ms !== undefined && stats.duration_ms >= 0) draft.seconds = stats.duration_ms / 1000;
  const reasoning = Math.max(0, stats.total_tokens - stats.input_tokens - stats.output_tokens);
  draft.tokens = {
    input: stats.input_tokens,
    cachedInput: stats.cached,
    cacheWrite: 0,
    output: stats.output_tokens + reasoning,
    reasoning,
  } satisfies TokenCounts;
}

/** The shell tool states a failing exit status in words. */
function exitCodeIn(output: string | undefined): number | undefined {
  const stated = /(?:^|\n)Command exited with code: (\d{1,3})\s*$/.exec(output ?? '');
  return stated === null ? undefined : Number(stated[1]);
}
