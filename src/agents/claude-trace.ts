import { z } from 'zod';
import type { TokenCounts } from './agent.js';
import {
  anyObjectField,
  contentTextField,
  countField,
  flagField,
  listField,
  namesField,
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
  beginTurn,
  describeTurn,
  noteError,
  noteFinalText,
  noteModel,
  noteMoment,
  noteSkill,
  noteVersion,
  type TranscriptDraft,
} from './transcript-draft.js';

/** The parts of an event of `claude -p --output-format stream-json` that are read. */
const eventSchema = z.object({
  type: z.string().catch(''),
  subtype: textField,
  timestamp: timeField,
  // system/init
  claude_code_version: textField,
  skills: namesField,
  // system/api_retry
  error_status: numberField,
  error: textField,
  // system/model_fallback
  original_model: textField,
  fallback_model: textField,
  // rate_limit_event
  rate_limit_info: objectField({ status: textField }),
  // assistant, user
  message: objectField({
    id: textField,
    model: textField,
    usage: objectField({
      input_tokens: countField,
      cache_read_input_tokens: countField,
      cache_creation_input_tokens: countField,
    }),
    content: listField({
      type: z.string().catch(''),
      text: textField,
      thinking: textField,
      id: textField,
      name: textField,
      input: anyObjectField,
      tool_use_id: textField,
      content: contentTextField,
      is_error: flagField,
    }),
  }),
  // result
  is_error: flagField,
  result: textField,
  duration_ms: numberField,
  modelUsage: z
    .record(
      z.string(),
      objectField({
        inputTokens: countField,
        outputTokens: countField,
        cacheReadInputTokens: countField,
        cacheCreationInputTokens: countField,
      }),
    )
    .optional()
    .catch(undefined),
});
type Event = z.infer<typeof eventSchema>;
type Message = NonNullable<Event['message']>;

/** Events that say nothing about what the agent did. */
const QUIET_EVENTS = ['stream_event', 'tool_progress', 'keep_alive', 'auth_status', 'prompt_suggestion'];

/**
 * Reads what `claude -p --output-format stream-json --verbose` printed. Each content block is an event of its own
 * that repeats the usage of its API call, so turns go by message id. The repeated usage is that of the call's
 * begin: the input is right and the output is not yet known. Totals are stated per model, background ones included,
 * in the event `result` at the end.
 */
export function readClaudeTrace(tracePath: string): Promise<Transcript> {
  return readJsonTrace('claude', tracePath, takeEvent);
}

function takeEvent(draft: TranscriptDraft, record: TraceRecord): boolean {
  const event = eventSchema.parse(record);
  noteMoment(draft, event.timestamp);
  switch (event.type) {
    case 'system':
      takeSystem(draft, event);
      return true;
    case 'assistant':
      if (event.message !== undefined) takeReply(draft, event.message);
      return true;
    case 'user':
      for (const block of event.message?.content ?? []) {
        if (block.type !== 'tool_result' || block.tool_use_id === undefined) continue;
        addResult(draft, block.tool_use_id, {
          output: block.content,
          exitCode: exitCodeIn(block.content, block.is_error),
          isFailed: block.is_error,
          endedAt: event.timestamp,
        });
      }
      return true;
    case 'rate_limit_event': {
      const status = event.rate_limit_info?.status?.toLowerCase() ?? '';
      if (status !== '' && status !== 'allowed' && status !== 'allowed_warning')
        noteError(draft, `rate limit: ${status}`);
      return true;
    }
    case 'result':
      takeEnd(draft, event);
      return true;
    default:
      return QUIET_EVENTS.includes(event.type);
  }
}

function takeSystem(draft: TranscriptDraft, event: Event): void {
  if (event.subtype === 'init') {
    // Its model is what was asked, perhaps with a mark such as "[1m]"; who answered is in the messages.
    noteVersion(draft, event.claude_code_version);
    for (const skill of event.skills) noteSkill(draft, skill);
  }
  if (event.subtype === 'api_retry')
    noteError(draft, `retry after ${event.error ?? 'an error'} (status ${event.error_status ?? 'unknown'})`);
  if (event.subtype?.endsWith('_fallback')) {
    noteModel(draft, event.fallback_model);
    noteError(draft, `model fallback: ${event.original_model ?? '?'} to ${event.fallback_model ?? '?'}`);
  }
}

function takeReply(draft: TranscriptDraft, message: Message): void {
  // Replies that the CLI makes up itself are notices of errors.
  if (message.model === '<synthetic>') {
    for (const block of message.content) noteError(draft, block.text);
    return;
  }
  // Replies bear no time of their own; one begins when the result before it is there.
  beginTurn(draft, { model: message.model, startedAt: draft.to }, message.id);
  const { usage } = message;
  if (usage !== undefined) {
    const cachedInput = usage.cache_read_input_tokens;
    const cacheWrite = usage.cache_creation_input_tokens;
    const input = usage.input_tokens + cachedInput + cacheWrite;
    describeTurn(
      draft,
      { tokens: { input, cachedInput, cacheWrite, output: null, reasoning: null } },
      message.id,
    );
  }
  for (const block of message.content) {
    if (block.type === 'text') addText(draft, block.text);
    if (block.type === 'thinking') addReasoning(draft, block.thinking);
    if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const id = block.id ?? `unnamed ${draft.calls.size}`;
      addCall(draft, id, { tool: block.name ?? 'unnamed', ...shellInput(block.input) });
    }
  }
}

function takeEnd(draft: TranscriptDraft, event: Event): void {
  draft.ending = event.is_error ? 'failed' : 'completed';
  noteFinalText(draft, event.result);
  if (event.is_error) noteError(draft, event.result ?? event.subtype);
  if (event.duration_ms !== undefined && event.duration_ms >= 0) draft.seconds = event.duration_ms / 1000;
  if (event.modelUsage === undefined) return;
  let total: TokenCounts = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  for (const [model, usage] of Object.entries(event.modelUsage)) {
    noteModel(draft, model.replace(/\[[^\]]*\]$/, ''));
    if (usage === undefined) continue;
    const cachedInput = total.cachedInput + usage.cacheReadInputTokens;
    const cacheWrite = total.cacheWrite + usage.cacheCreationInputTokens;
    const input =
      total.input + usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens;
    total = { input, cachedInput, cacheWrite, output: total.output + usage.outputTokens, reasoning: 0 };
  }
  // Several results are possible (the CLI wakes up for background tasks); each states the session's totals so far.
  draft.tokens = total;
}

/** The Bash tool states a failing exit status in words at the beginning of its result. */
function exitCodeIn(content: string | undefined, isError: boolean | undefined): number | undefined {
  const stated = /^Exit code (\d{1,3})\b/.exec(content ?? '');
  return isError && stated !== null ? Number(stated[1]) : undefined;
}
