import { z } from 'zod';
import { endWithEvents, endWithJson, type ModelProtocol, serverSentEvent, shellCallFor } from './protocol.js';
import type { ModelRequest, StatedUsage, Turn } from './scenario.js';

const blockSchema = z.looseObject({
  type: z.string(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});

const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(blockSchema)]) }),
  ),
  tools: z.array(z.looseObject({ name: z.string().optional(), type: z.string().optional() })).default([]),
  metadata: z.looseObject({ user_id: z.string().optional() }).optional(),
});

/** Anthropic Messages API. */
export const messagesApi: ModelProtocol = {
  name: 'anthropic-messages',
  matches: (path) => path.endsWith('/messages'),
  readRequest: (body) => {
    const request = requestSchema.parse(body);
    const results = request.messages
      .flatMap((message) => (typeof message.content === 'string' ? [] : message.content))
      .filter((block) => block.type === 'tool_result');
    const lastResult = results.at(-1)?.content;
    return {
      model: request.model,
      isStreaming: request.stream ?? false,
      tools: request.tools.map((tool) => tool.name ?? tool.type ?? ''),
      answeredCalls: results.flatMap((block) => block.tool_use_id ?? []),
      lastToolOutput: lastResult === undefined ? undefined : JSON.stringify(lastResult),
      conversation: request.metadata?.user_id ?? JSON.stringify(request.messages[0]),
    };
  },
  writeReply: (response, request, turn) => {
    const blocks = contentBlocks(request, turn);
    const stopReason = turn.call === undefined ? 'end_turn' : 'tool_use';
    if (!request.isStreaming) {
      endWithJson(response, 200, {
        ...messageObject(request, blocks, turn.usage),
        stop_reason: stopReason,
      });
      return;
    }
    const events = [
      // The count of the output is not known when it begins.
      { type: 'message_start', message: messageObject(request, [], { ...turn.usage, output: 1 }) },
      ...blocks.flatMap(blockEvents),
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage: { output_tokens: turn.usage.output },
      },
      { type: 'message_stop' },
    ];
    endWithEvents(
      response,
      events.map((event) => serverSentEvent(event, event.type)),
    );
  },
  firstBytes: (request) =>
    serverSentEvent(
      {
        type: 'message_start',
        message: messageObject(request, [], { input: 0, cachedInput: 0, output: 0, reasoning: 0 }),
      },
      'message_start',
    ),
  errorBody: (status) => ({
    type: 'error',
    error: {
      type: status === 429 ? 'rate_limit_error' : status === 529 ? 'overloaded_error' : 'api_error',
      message: `The scenario asked for status ${status}.`,
    },
  }),
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

function contentBlocks(request: ModelRequest, turn: Extract<Turn, { kind: 'reply' }>): Block[] {
  const blocks: Block[] = [];
  if (turn.text !== undefined) blocks.push({ type: 'text', text: turn.text });
  if (turn.call !== undefined) {
    const shell = shellCallFor(request.tools, turn.call);
    blocks.push({ type: 'tool_use', id: turn.call.id, name: shell.tool, input: shell.arguments });
  }
  return blocks;
}

function blockEvents(block: Block, index: number): { readonly type: string }[] {
  const start = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
  const delta =
    block.type === 'text'
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
  return [
    { type: 'content_block_start', index, content_block: start } as { type: string },
    { type: 'content_block_delta', index, delta } as { type: string },
    { type: 'content_block_stop', index } as { type: string },
  ];
}

/** In this protocol `input_tokens` leaves the cached part out. */
function messageObject(request: ModelRequest, content: readonly Block[], usage: StatedUsage): object {
  return {
    id: `msg_scripted_${request.answeredCalls.length}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cachedInput,
      cache_read_input_tokens: usage.cachedInput,
      cache_creation_input_tokens: 0,
      output_tokens: usage.output,
    },
  };
}
