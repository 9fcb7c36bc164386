import { z } from 'zod';
import { endWithEvents, endWithJson, type ModelProtocol, serverSentEvent, shellCallFor } from './protocol.js';
import type { ModelRequest, StatedUsage, Turn } from './scenario.js';

const partSchema = z.looseObject({
  text: z.string().optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string() }).optional(),
  thoughtSignature: z.string().optional(),
  functionResponse: z
    .looseObject({ id: z.string().optional(), name: z.string(), response: z.unknown().optional() })
    .optional(),
});

const requestSchema = z.looseObject({
  contents: z.array(z.looseObject({ role: z.string().optional(), parts: z.array(partSchema) })),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }))
    .default([]),
});

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Gemini API (`generateContent` and its stream), in which the path names the model. */
export const geminiApi: ModelProtocol = {
  name: 'gemini',
  matches: (path) => PATH.test(path),
  readRequest: (body, path) => {
    const request = requestSchema.parse(body);
    const [, model, method] = PATH.exec(path)!;
    const parts = request.contents.flatMap((content) => content.parts);
    const responses = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    // Ids are optional in this protocol; clients that drop them still return the signature of the call.
    const callIds = parts.flatMap(({ functionCall, thoughtSignature }) =>
      functionCall === undefined
        ? []
        : (functionCall.id ?? Buffer.from(thoughtSignature ?? '', 'base64').toString('utf8')),
    );
    const last = responses.at(-1)?.response;
    return {
      model: decodeURIComponent(model!),
      isStreaming: method === 'streamGenerateContent',
      // A tool object without functions is a hosted one, by its key.
      tools: request.tools.flatMap(
        ({ functionDeclarations, ...hosted }) =>
          functionDeclarations?.map(({ name }) => name) ?? Object.keys(hosted),
      ),
      answeredCalls: responses.flatMap(({ id }, index) => id ?? callIds[index] ?? []),
      lastToolOutput: last === undefined ? undefined : JSON.stringify(last),
      conversation: JSON.stringify(request.contents.find(({ role }) => role === 'user')),
    };
  },
  writeReply: (response, request, turn) => {
    const reply = responseObject(request, partsOf(request, turn), turn.usage);
    if (request.isStreaming) endWithEvents(response, [serverSentEvent(reply)]);
    else endWithJson(response, 200, reply);
  },
  firstBytes: (request) =>
    serverSentEvent({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'I ' }] } }],
      modelVersion: request.model,
    }),
  errorBody: (status, retryAfterSeconds) => ({
    error: {
      code: status,
      message: `The scenario asked for status ${status}.`,
      status: status === 429 ? 'RESOURCE_EXHAUSTED' : status === 400 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE',
      ...(retryAfterSeconds === undefined
        ? {}
        : {
            details: [
              { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` },
            ],
          }),
    },
  }),
};

function partsOf(request: ModelRequest, turn: Extract<Turn, { kind: 'reply' }>): object[] {
  const parts: object[] = [];
  if (turn.text !== undefined) parts.push({ text: turn.text });
  if (turn.call !== undefined) {
    const shell = shellCallFor(request.tools, turn.call);
    parts.push({
      functionCall: { id: turn.call.id, name: shell.tool, args: shell.arguments },
      thoughtSignature: Buffer.from(turn.call.id, 'utf8').toString('base64'),
    });
  }
  return parts;
}

/** In this protocol the candidates' tokens leave the thoughts out. */
function responseObject(request: ModelRequest, parts: readonly object[], usage: StatedUsage): object {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cachedInput,
      candidatesTokenCount: usage.output - usage.reasoning,
      thoughtsTokenCount: usage.reasoning,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: request.model,
    responseId: 'scripted',
  };
}
