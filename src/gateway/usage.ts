import type { TokenCounts } from '../agents/agent.js';
import type { Protocol } from './gateway-types.js';
import { hostedCallsIn, UNREAD_ANSWER } from './hosted-calls.js';
import { eventReader } from './server-sent-events.js';

/** A JSON answer larger than this is passed on but not read. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/** What an answer said about itself. */
export interface AnswerReading {
  /** The model that answered, as the provider names it. */
  readonly model: string | null;
  readonly tokens: TokenCounts | null;
  /** Kinds of hosted-tool use that the answer shows; `unread-answer` when it could not be looked into. */
  readonly hostedToolCalls: readonly string[];
}

/** Reads an answer as it passes by. */
export interface AnswerReader {
  push(chunk: Buffer): void;
  finish(): AnswerReading;
}

export const NO_TOKENS: TokenCounts = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    cachedInput: a.cachedInput + b.cachedInput,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

function objectIn(value: unknown, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const inner = (value as Json)[key];
  return typeof inner === 'object' && inner !== null ? (inner as Json) : undefined;
}

function countIn(value: Json | undefined, key: string): number {
  const count = value?.[key];
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? Math.trunc(count) : 0;
}

/**
 * Token counts of one answer in the same terms for all providers: `input` is the whole prompt, with the parts read
 * from and written to a cache in `cachedInput` and `cacheWrite`; `output` is everything generated, with the
 * reasoning part in `reasoning`. Anthropic counts the cached parts beside `input_tokens`, OpenAI and Google within;
 * Google counts thoughts beside the answer's tokens.
 */
export function tokensFromUsage(protocol: Protocol, usage: Json): TokenCounts {
  switch (protocol) {
    case 'openai-responses':
      return {
        input: countIn(usage, 'input_tokens'),
        cachedInput: countIn(objectIn(usage, 'input_tokens_details'), 'cached_tokens'),
        cacheWrite: 0,
        output: countIn(usage, 'output_tokens'),
        reasoning: countIn(objectIn(usage, 'output_tokens_details'), 'reasoning_tokens'),
      };
    case 'openai-chat':
      return {
        input: countIn(usage, 'prompt_tokens'),
        cachedInput: countIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens'),
        cacheWrite: 0,
        output: countIn(usage, 'completion_tokens'),
        reasoning: countIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens'),
      };
    case 'anthropic-messages': {
      const cachedInput = countIn(usage, 'cache_read_input_tokens');
      const cacheWrite = countIn(usage, 'cache_creation_input_tokens');
      return {
        input: countIn(usage, 'input_tokens') + cachedInput + cacheWrite,
        cachedInput,
        cacheWrite,
        output: countIn(usage, 'output_tokens'),
        reasoning: 0,
      };
    }
    case 'gemini': {
      const reasoning = countIn(usage, 'thoughtsTokenCount');
      return {
        input: countIn(usage, 'promptTokenCount') + countIn(usage, 'toolUsePromptTokenCount'),
        cachedInput: countIn(usage, 'cachedContentTokenCount'),
        cacheWrite: 0,
        output: countIn(usage, 'candidatesTokenCount') + reasoning,
        reasoning,
      };
    }
  }
}

/** Gathers model and usage from the objects of one answer, whether they come as one document or as events. */
class AnswerState {
  model: string | null = null;
  private usage: Json | undefined;
  private readonly hostedCalls = new Set<string>();

  constructor(private readonly protocol: Protocol) {}

  notRead(): void {
    this.hostedCalls.add(UNREAD_ANSWER);
  }

  take(value: unknown): void {
    // A Gemini stream that is not one of events is a list of answers.
    if (Array.isArray(value)) {
      for (const one of value) if (!Array.isArray(one)) this.take(one);
      return;
    }
    for (const name of hostedCallsIn(value, this.protocol)) this.hostedCalls.add(name);
    // Responses events carry the response, Messages' first event the message; other objects are the answer itself.
    const holder = objectIn(value, 'response') ?? objectIn(value, 'message') ?? (value as Json);
    if (typeof holder !== 'object' || holder === null) return;
    const model = this.protocol === 'gemini' ? holder.modelVersion : holder.model;
    if (typeof model === 'string' && model !== '') this.model = model.slice(0, 200);
    const usage =
      this.protocol === 'gemini'
        ? objectIn(value, 'usageMetadata')
        : (objectIn(holder, 'usage') ?? objectIn(value, 'usage'));
    if (usage === undefined) return;
    // message_delta repeats the counts so far, and may leave out those of message_start.
    const told = Object.entries(usage).filter(([, count]) => count !== null && count !== undefined);
    this.usage =
      this.protocol === 'anthropic-messages' ? { ...this.usage, ...Object.fromEntries(told) } : usage;
  }

  reading(): AnswerReading {
    return {
      model: this.model,
      tokens: this.usage === undefined ? null : tokensFromUsage(this.protocol, this.usage),
      hostedToolCalls: [...this.hostedCalls].slice(0, 20),
    };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A reader for an answer with this content type. Damage is passed over: the answer belongs to the client. An answer
 * that cannot be looked into is told, since a hosted tool may have been used in it.
 */
export function answerReader(protocol: Protocol, contentType: string, contentEncoding = ''): AnswerReader {
  const state = new AnswerState(protocol);
  if (contentEncoding !== '' && contentEncoding !== 'identity') state.notRead();
  if (contentType.toLowerCase().startsWith('text/event-stream')) {
    const push = eventReader(
      (data) => state.take(parsed(data)),
      () => state.notRead(),
    );
    return { push, finish: () => state.reading() };
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes <= MAX_JSON_BYTES) chunks.push(chunk);
      else if (chunks.length > 0) {
        chunks.length = 0;
        state.notRead();
      }
    },
    finish() {
      if (chunks.length > 0) state.take(parsed(Buffer.concat(chunks).toString('utf8')));
      return state.reading();
    },
  };
}
