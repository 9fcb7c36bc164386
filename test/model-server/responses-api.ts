import { z } from 'zod';
import {
  endWithEvents,
  endWithJson,
  type ModelProtocol,
  serverSentEvent,
  shellCallFor,
  shellScriptFor,
} from './protocol.js';
import type { ModelRequest, StatedUsage, Turn } from './scenario.js';

/** A tool, or a namespace of tools. */
const toolSchema = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).optional(),
});

const itemSchema = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  call_id: z.string().optional(),
  output: z.unknown().optional(),
  /** Newer clients declare their tools in an item of type `additional_tools`. */
  tools: z.array(toolSchema).optional(),
});

const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  input: z.union([z.string(), z.array(itemSchema)]),
  tools: z.array(toolSchema).default([]),
  prompt_cache_key: z.string().optional(),
});

/** OpenAI Responses API, as the Codex CLI uses it. */
export const responsesApi: ModelProtocol = {
  name: 'openai-responses',
  matches: (path) => path.endsWith('/responses'),
  readRequest: (body) => {
    const request = requestSchema.parse(body);
    const items = typeof request.input === 'string' ? [] : request.input;
    const outputs = items.filter((item) => item.type?.endsWith('_call_output') && item.call_id !== undefined);
    const lastOutput = outputs.at(-1)?.output;
    return {
      model: request.model,
      isStreaming: request.stream ?? false,
      tools: [...request.tools, ...items.flatMap((item) => item.tools ?? [])]
        .flatMap((tool) => tool.tools ?? [tool])
        .map((tool) => tool.name ?? tool.type),
      answeredCalls: outputs.map((item) => item.call_id!),
      lastToolOutput: lastOutput === undefined ? undefined : textOfOutput(lastOutput),
      conversation: request.prompt_cache_key ?? JSON.stringify(items.find((item) => item.role === 'user')),
    };
  },
  writeReply: (response, request, turn) => {
    const events = replyEvents(request, turn);
    if (request.isStreaming) {
      endWithEvents(
        response,
        events.map((event, index) => serverSentEvent({ ...event, sequence_number: index }, event.type)),
      );
    } else {
      endWithJson(response, 200, events.at(-1)?.response);
    }
  },
  firstBytes: (request) =>
    serverSentEvent({ type: 'response.created', response: responseObject(request, 'in_progress', []) }),
  errorBody: (status) => ({
    error: {
      message: `The scenario asked for status ${status}.`,
      type: status === 429 ? 'rate_limit_exceeded' : 'server_error',
      code: status === 429 ? 'rate_limit_exceeded' : null,
    },
  }),
};

/** Text of a tool output, which is a string or a list of content parts. */
function textOfOutput(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

type ReplyEvent = { readonly type: string; readonly [field: string]: unknown };

function replyEvents(request: ModelRequest, turn: Extract<Turn, { kind: 'reply' }>): ReplyEvent[] {
  const output: unknown[] = [];
  const events: ReplyEvent[] = [
    { type: 'response.created', response: responseObject(request, 'in_progress', []) },
  ];
  if (turn.text !== undefined) {
    const id = `msg_${output.length}`;
    const item = (status: string, text: string): unknown => ({
      type: 'message',
      id,
      role: 'assistant',
      status,
      content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
    });
    const place = { output_index: output.length, item_id: id, content_index: 0 };
    events.push(
      {
        type: 'response.output_item.added',
        output_index: output.length,
        item: item('in_progress', ''),
      },
      { type: 'response.output_text.delta', ...place, delta: turn.text },
      { type: 'response.output_text.done', ...place, text: turn.text },
      {
        type: 'response.output_item.done',
        output_index: output.length,
        item: item('completed', turn.text),
      },
    );
    output.push(item('completed', turn.text));
  }
  if (turn.call !== undefined) {
    const item = callItem(request, turn.call);
    events.push(
      {
        type: 'response.output_item.added',
        output_index: output.length,
        item: { ...item, status: 'in_progress' },
      },
      { type: 'response.output_item.done', output_index: output.length, item },
    );
    output.push(item);
  }
  events.push({
    type: 'response.completed',
    response: { ...responseObject(request, 'completed', output), usage: usageObject(turn.usage) },
  });
  return events;
}

/** The call in the form of the shell tool that the client declared. */
function callItem(
  request: ModelRequest,
  call: NonNullable<Extract<Turn, { kind: 'reply' }>['call']>,
): Record<string, unknown> {
  if (request.tools.includes('local_shell')) {
    return {
      type: 'local_shell_call',
      id: `lsh_${call.id}`,
      call_id: call.id,
      status: 'completed',
      action: { type: 'exec', command: ['bash', '-lc', call.command], env: {} },
    };
  }
  if (request.tools.includes('exec')) {
    return {
      type: 'custom_tool_call',
      id: `ctc_${call.id}`,
      call_id: call.id,
      name: 'exec',
      input: shellScriptFor(call),
      status: 'completed',
    };
  }
  const shell = shellCallFor(request.tools, call);
  return {
    type: 'function_call',
    id: `fc_${call.id}`,
    call_id: call.id,
    name: shell.tool,
    arguments: JSON.stringify(shell.arguments),
    status: 'completed',
  };
}

function responseObject(request: ModelRequest, status: string, output: readonly unknown[]): object {
  return { id: 'resp_scripted', object: 'response', created_at: 0, model: request.model, status, output };
}

function usageObject(usage: StatedUsage): object {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cachedInput },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
