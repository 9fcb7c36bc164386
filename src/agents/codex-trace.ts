import { z } from 'zod';
import { withoutShell } from './shell-words.js';
import { countField, numberField, objectField, textField } from './trace-fields.js';
import { readJsonTrace, type TraceRecord } from './trace-lines.js';
import type { Transcript } from './transcript.js';
import {
  addCall,
  addReasoning,
  addResult,
  addText,
  addTokens,
  beginReply,
  noteError,
  noteModel,
  type TranscriptDraft,
} from './transcript-draft.js';

/** The parts of an event of `codex exec --json` that are read; everything else may be anything. */
const eventSchema = z.object({
  type: z.string().catch(''),
  model: textField,
  model_id: textField,
  message: textField,
  error: objectField({ message: textField }),
  usage: objectField({
    input_tokens: countField,
    cached_input_tokens: countField,
    cache_write_input_tokens: countField,
    output_tokens: countField,
    reasoning_output_tokens: countField,
  }),
  item: z
    .looseObject({ type: z.string().catch('') })
    .optional()
    .catch(undefined),
});

const itemSchema = z.looseObject({
  id: textField,
  text: textField,
  message: textField,
  command: textField,
  aggregated_output: textField,
  exit_code: numberField,
  status: textField,
});
type Item = z.infer<typeof itemSchema>;

/** Items that are uses of a tool, beside the shell. */
const TOOL_ITEMS = ['file_change', 'mcp_tool_call', 'web_search', 'collab_tool_call'];

/**
 * Reads what `codex exec --json` printed. It holds no times, and usage once a turn of the conversation
 * (`turn.completed`), as the sum over its requests; a run that was cut has none. Where one reply of the model ends
 * and the next begins is not said: what comes after a finished command counts as a new reply.
 */
export function readCodexTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('codex', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const event = eventSchema.parse(record);
  switch (event.type) {
    case 'thread.started':
      noteModel(draft, event.model ?? event.model_id);
      return true;
    case 'turn.started':
      return true;
    case 'turn.completed': {
      draft.ending = 'completed';
      const { usage } = event;
      if (usage !== undefined) {
        addTokens(draft, {
          input: usage.input_tokens,
          cachedInput: usage.cached_input_tokens,
          cacheWrite: usage.cache_write_input_tokens,
          output: usage.output_tokens,
          reasoning: usage.reasoning_output_tokens,
        });
      }
      return true;
    }
    case 'turn.failed':
      draft.ending = 'failed';
      noteError(draft, event.error?.message);
      return true;
    case 'error':
      // Retry notices too: they tell of provider trouble.
      noteError(draft, event.message);
      return true;
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return event.item !== undefined && takeItem(draft, event.type, event.item.type, event.item);
    default:
      return false;
  }
}

function takeItem(draft: TranscriptDraft, event: string, type: string, record: TraceRecord): boolean {
  const item = itemSchema.parse(record);
  const isComplete = event === 'item.completed';
  if (type === 'error') {
    if (isComplete) noteError(draft, item.message);
    return true;
  }
  if (type === 'agent_message' || type === 'reasoning') {
    if (!isComplete) return true;
    beginReply(draft);
    if (type === 'reasoning') addReasoning(draft, item.text);
    else addText(draft, item.text);
    return true;
  }
  if (type === 'command_execution' && item.command !== undefined) {
    takeCall(draft, isComplete, 'shell', item);
    return true;
  }
  if (TOOL_ITEMS.includes(type)) {
    takeCall(draft, isComplete, type, item);
    return true;
  }
  return type === 'todo_list';
}

function takeCall(draft: TranscriptDraft, isComplete: boolean, tool: string, item: Item): void {
  const { id: given, command, aggregated_output: output, exit_code: exitCode, status, ...rest } = item;
  const id = given ?? `unnamed ${draft.calls.size}`;
  if (!draft.calls.has(id)) beginReply(draft);
  const { type: _type, text: _text, message: _message, ...input } = rest;
  addCall(draft, id, { tool, ...(command === undefined ? { input } : { command: withoutShell(command) }) });
  if (isComplete) addResult(draft, id, { output, exitCode, isFailed: status === 'failed' });
}
