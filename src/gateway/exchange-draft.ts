import type { IncomingMessage } from 'node:http';
import type { GatewayExchange } from './gateway-types.js';
import { type Route, splitTarget } from './routes.js';
import type { UpstreamOutcome } from './upstream.js';

/** One exchange while it is going on. */
export type Draft = { -readonly [Key in keyof GatewayExchange]: GatewayExchange[Key] };

/** The record of a request of which nothing but its first line is known. */
export function newDraft(request: IncomingMessage): Draft {
  return {
    startedAt: new Date().toISOString(),
    seconds: 0,
    provider: null,
    protocol: null,
    method: (request.method ?? '').slice(0, 20),
    path: splitTarget(request.url ?? '')[0].slice(0, 200),
    host: null,
    askedModel: null,
    model: null,
    status: 0,
    refusal: null,
    failure: null,
    requestBytes: 0,
    responseBytes: 0,
    tokens: null,
    hostedToolsRemoved: [],
    hostedToolCalls: [],
    cost: null,
    skillsOffered: [],
    skillsOpened: [],
    replayed: null,
  };
}

/** Adds how a forwarded exchange went. */
export function complete(
  draft: Draft,
  outcome: UpstreamOutcome,
  route: Extract<Route, { readonly url: URL }>,
  askedModel: string | null,
): void {
  draft.status = outcome.status;
  draft.failure = outcome.failure;
  draft.responseBytes = outcome.responseBytes;
  draft.model = (route.isGeneration ? outcome.model : null) ?? askedModel;
  draft.tokens = route.isGeneration ? outcome.tokens : null;
  draft.hostedToolCalls = route.isGeneration ? outcome.hostedToolCalls : [];
  draft.hostedToolsRemoved = [...new Set([...draft.hostedToolsRemoved, ...outcome.removedBetas])];
}
