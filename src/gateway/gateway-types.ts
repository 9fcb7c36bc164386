import type { TokenCounts } from '../agents/agent.js';

export type Protocol = 'openai-responses' | 'openai-chat' | 'anthropic-messages' | 'gemini';

/** One upstream model service. The key stays in this process. */
export interface Provider {
  /** Route prefix inside: `http://127.0.0.1:PORT/<name>/…`. */
  readonly name: string;
  readonly baseUrl: string;
  /** Secret; never logged, never sent into a sandbox. */
  readonly apiKey: string;
  /** How the key travels. */
  readonly keyHeader: 'authorization-bearer' | 'x-api-key' | 'x-goog-api-key';
  readonly protocols: readonly Protocol[];
}

/** `upstream-status`: the provider answered with an error; the others: no complete answer came through. */
export type ExchangeFailure =
  | 'upstream-status'
  | 'upstream-unreachable'
  | 'upstream-timeout'
  | 'upstream-broke-off'
  | 'upstream-redirect'
  | 'client-left';

/** A skill that was put into the work folder, and how to recognise it in a request. */
export interface PlantedSkill {
  readonly name: string;
  readonly description: string;
  /** A line of the body that occurs nowhere else. */
  readonly bodyProbe: string;
}

/** Spending limits of one run; what is beyond is refused with 429. */
export interface GatewayBudget {
  readonly maxRequests?: number;
  /** Input and output tokens together. */
  readonly maxTokens?: number;
  /** US dollars by the price table; a model without a price is then refused. */
  readonly maxCost?: number;
  /** Seconds since the gateway started, whether a request is under way or not. */
  readonly maxSeconds?: number;
}

/** One line of `gateway.jsonl`. */
export interface GatewayExchange {
  readonly startedAt: string;
  readonly seconds: number;
  readonly provider: string | null;
  readonly protocol: Protocol | null;
  readonly method: string;
  readonly path: string;
  /** Host contacted, or null when the request was refused here. */
  readonly host: string | null;
  /** As the request named it. */
  readonly askedModel: string | null;
  /** As the answer named it, else as asked. */
  readonly model: string | null;
  readonly status: number;
  /** Why the gateway did not forward the request, or null. */
  readonly refusal: string | null;
  /** What went wrong between gateway, provider and client on a forwarded request, or null. */
  readonly failure: ExchangeFailure | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly tokens: TokenCounts | null;
  /** Provider-hosted tools that were removed from the request. */
  readonly hostedToolsRemoved: readonly string[];
  /** Provider-hosted tools that the answer shows as used all the same; `unread-answer` when it hid that. */
  readonly hostedToolCalls: readonly string[];
  /** US dollars by the price table, or null when the model has no price there or no tokens were counted. */
  readonly cost: number | null;
  /** Names of planted skills whose description, or whose body, occurred in the request. */
  readonly skillsOffered: readonly string[];
  readonly skillsOpened: readonly string[];
  /** The answer came from a cassette, found by what was asked or only by its turn; null: from a provider. */
  readonly replayed: 'body' | 'turn' | null;
}

/** Answers of one model to requests for one model: the provider may answer with another, or with a dated snapshot. */
export interface ModelRoute {
  readonly asked: string;
  readonly answered: string;
  readonly answers: number;
}

export interface GatewaySummary {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly models: readonly string[];
  /** Complete answers by asked and answering model, in order of appearance. */
  readonly routes: readonly ModelRoute[];
  readonly tokens: TokenCounts;
  readonly hostedToolsRemoved: readonly string[];
  readonly hostedToolCalls: readonly string[];
  /** Sum over all exchanges with counted tokens; null when one of them has no price. */
  readonly cost: number | null;
  readonly skillsOffered: readonly string[];
  readonly skillsOpened: readonly string[];
  /** Seconds spent waiting for models. */
  readonly modelSeconds: number;
  /**
   * How the last forwarded exchange went wrong on the side of the model service (no connection, broken off, refused
   * key, rate limit, overload), or null when it went well or the fault was the client's.
   */
  readonly lastServiceFailure: { readonly kind: ExchangeFailure; readonly status: number } | null;
  /** Answers that came from a cassette, and how many of them were found only by their turn. */
  readonly replayed: { readonly answers: number; readonly byTurn: number };
}
