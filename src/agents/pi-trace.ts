import { z } from 'zod';
import {
  anyObjectField,
  contentTextField,
  countField,
  flagField,
  listField,
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
  noteError,
  noteMoment,
  type TranscriptDraft,
} from './transcript-draft.js';

const messageSchema = z.object({
  role: textField,
  model: textField,
  timestamp: timeField,
  stopReason: textField,
  errorMessage: textField,
  usage: objectField({
    input: countField,
    output: countField,
    cacheRead: countField,
    cacheWrite: countField,
  }),
  // Of an assistant: blocks. Of a tool result: see `resultSchema`.
  content: listField({
    type: z.string().catch(''),
    text: textField,
    thinking: textField,
    id: textField,
    name: textField,
    arguments: anyObjectField,
  }),
});
type Message = z.infer<typeof messageSchema>;

const resultSchema = z.object({
  toolCallId: textField,
  timestamp: timeField,
  isError: flagField,
  content: contentTextField,
});

/** The parts of an event of `pi --mode json` that are read. */
const eventSchema = z.object({
  type: z.string().catch(''),
  timestamp: timeField,
  errorMessage: textField,
  finalError: textField,
  message: anyObjectField,
});

/** Events that repeat what others say, or say nothing of what the agent did. */
const QUIET_EVENTS = [
  'agent_start',
  'turn_start',
  'turn_end',
  'message_start',
  'message_update',
  'tool_execution_start',
  'tool_execution_update',
  'tool_execution_end',
  'queue_update',
  'compaction_start',
  'auto_retry_end',
];

/** Reads what `pi --mode json` printed. Each reply and each result comes whole in a `message_end`, with its time. */
export function readPiTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('pi', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const event = eventSchema.parse(record);
  switch (event.type) {
    case 'session':
      noteMoment(draft, event.timestamp);
      return true;
    case 'message_end':
      takeMessage(draft, event.message ?? {});
      return true;
    case 'auto_retry_start':
    case 'compaction_end':
      noteError(draft, event.errorMessage);
      return true;
    case 'agent_end':
      // Ends every try; the last one holds.
      draft.ending = draft.lastReplyFailed ? 'failed' : 'completed';
      return true;
    default:
      return QUIET_EVENTS.includes(event.type);
  }
}

function takeMessage(draft: TranscriptDraft, record: TraceRecord): void {
  const message = messageSchema.parse(record);
  if (message.role === 'assistant') takeReply(draft, message);
  if (message.role !== 'toolResult') return;
  const result = resultSchema.parse(record);
  if (result.toolCallId === undefined) return;
  addResult(draft, result.toolCallId, {
    output: result.content,
    exitCode: exitCodeIn(result.content, result.isError),
    isFailed: result.isError,
    endedAt: result.timestamp,
  });
}

function takeReply(draft: TranscriptDraft, message: Message): void {
  draft.lastReplyFailed = message.stopReason === 'error' || message.stopReason === 'aborted';
  if (draft.lastReplyFailed) noteError(draft, message.errorMessage ?? message.stopReason);
  // A request that failed gave no reply.
  if (draft.lastReplyFailed && message.content.length === 0) return;
  const { usage } = message;
  const cached = (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const tokens = usage && {
    input: usage.input + cached,
    cachedInput: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    output: usage.output,
  };
  if (tokens !== undefined) addTokens(draft, { ...tokens, reasoning: 0 });
  beginTurn(draft, {
    model: message.model,
    startedAt: message.timestamp,
    tokens: tokens && { ...tokens, reasoning: null },
  });
  for (const block of message.content) {
    if (block.type === 'text') addText(draft, block.text);
    if (block.type === 'thinking') addReasoning(draft, block.thinking);
    if (block.type === 'toolCall') {
      const id = block.id ?? `unnamed ${draft.calls.size}`;
      addCall(draft, id, { tool: block.name ?? 'unnamed', ...shellInput(block.arguments) });
    }
  }
}

/** The bash tool states a failing exit status in words at the end of its result. */
function exitCodeIn(content: string | undefined, isError: boolean | undefined): number | undefined {
  const stated = /Command exited with code (\d{1,3})\s*$/.exec(content ?? '');
  return isError && stated !== null ? Number(stated[1]) : undefined;
}
