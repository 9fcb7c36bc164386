import { z } from 'zod';
import { endWithEvents, endWithJson, type ModelProtocol, serverSentEvent, shellCallFor } from './protocol.js';
import type { ModelRequest, StatedUsage, Turn } from './scenario.js';

const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown().optional(),
      tool_call_id: z.string().optional(),
    }),
  ),
  tools: z
    .array(z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }))
    .default([]),
});

/** OpenAI Chat Completions API. */
export const chatCompletionsApi: ModelProtocol = {
  name: 'openai-chat',
  matches: (path) => path.endsWith('/chat/completions'),
  readRequest: (body) => {
    const request = requestSchema.parse(body);
    const outputs = request.messages.filter((message) => message.role === 'tool');
    const lastOutput = outputs.at(-1)?.content;
    return {
      model: request.model,
      isStreaming: request.stream ?? false,
      tools: request.tools.map((tool) => tool.function?.name ?? tool.type),
      answeredCalls: outputs.flatMap((message) => message.tool_call_id ?? []),
      lastToolOutput: lastOutput === undefined ? undefined : JSON.stringify(lastOutput),
      conversation: JSON.stringify(request.messages.find((message) => message.role === 'user')),
    };
  },
  writeReply: (response, request, turn) => {
    const message = messageObject(request, turn);
    const finish = turn.call === undefined ? 'stop' : 'tool_calls';
    if (!request.isStreaming) {
      const choices = [{ index: 0, message, finish_reason: finish }];
      endWithJson(response, 200, {
        ...base(request, 'chat.completion'),
        choices,
        usage: usageObject(turn.usage),
      });
      return;
    }
    const chunk = (delta: object, reason: string | null): string =>
      serverSentEvent({
        ...base(request, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: reason }],
      });
    endWithEvents(response, [
      chunk(message, null),
      chunk({}, finish),
      serverSentEvent({
        ...base(request, 'chat.completion.chunk'),
        choices: [],
        usage: usageObject(turn.usage),
      }),
      serverSentEvent('[DONE]'),
    ]);
  },
  firstBytes: (request) =>
    serverSentEvent({
      ...base(request, 'chat.completion.chunk'),
      choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    }),
  errorBody: (status) => ({
    error: { message: `The scenario asked for status ${status}.`, type: 'scripted', code: null },
  }),
};

function base(request: ModelRequest, object: string): object {
  return { id: 'chatcmpl-scripted', object, created: 0, model: request.model };
}

function messageObject(request: ModelRequest, turn: Extract<Turn, { kind: 'reply' }>): object {
  const shell = turn.call === undefined ? undefined : shellCallFor(request.tools, turn.call);
  const calls = shell && {
    tool_calls: [
      {
        index: 0,
        id: turn.call!.id,
        type: 'function',
        function: { name: shell.tool, arguments: JSON.stringify(shell.arguments) },
      },
    ],
  };
  return { role: 'assistant', content: turn.text ?? null, ...calls };
}

function usageObject(usage: StatedUsage): object {
  return {
    prompt_tokens: usage.input,
    prompt_tokens_details: { cached_tokens: usage.cachedInput },
    completion_tokens: usage.output,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
