import { AppendedLines } from './appended-lines.js';
import type { GatewayExchange, GatewaySummary, ModelRoute } from './gateway-types.js';
import { addTokens, NO_TOKENS } from './usage.js';

/** The summary of no exchange at all. */
export const NO_EXCHANGES: GatewaySummary = {
  requests: 0,
  refused: 0,
  failed: 0,
  models: [],
  routes: [],
  tokens: NO_TOKENS,
  hostedToolsRemoved: [],
  hostedToolCalls: [],
  cost: 0,
  skillsOffered: [],
  skillsOpened: [],
  modelSeconds: 0,
  lastServiceFailure: null,
  replayed: { answers: 0, byTurn: 0 },
};

/** `gateway.jsonl`: one line per exchange, in the order in which they ended; no key can be in it. */
export class ExchangeLog implements AsyncDisposable {
  #summary: GatewaySummary = NO_EXCHANGES;

  private constructor(private readonly lines: AppendedLines) {}

  static async open(path: string, secrets: readonly Buffer[]): Promise<ExchangeLog> {
    return new ExchangeLog(await AppendedLines.open(path, secrets));
  }

  append(exchange: GatewayExchange): void {
    this.#summary = summaryWith(this.#summary, exchange);
    this.lines.append(exchange);
  }

  summary(): GatewaySummary {
    return this.#summary;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.lines[Symbol.asyncDispose]();
  }
}

/** Names come from the agent; more than this many different ones are not gathered. */
const MAX_NAMES = 200;

const together = (known: readonly string[], more: readonly string[]): readonly string[] =>
  known.length >= MAX_NAMES || more.every((name) => known.includes(name))
    ? known
    : [...new Set([...known, ...more])].slice(0, MAX_NAMES);

/** The summary of all exchanges so far and one more. */
export function summaryWith(summary: GatewaySummary, exchange: GatewayExchange): GatewaySummary {
  return {
    requests: summary.requests + 1,
    refused: summary.refused + (exchange.refusal === null ? 0 : 1),
    failed: summary.failed + (exchange.failure === null ? 0 : 1),
    models:
      exchange.model === null || exchange.refusal !== null
        ? summary.models
        : together(summary.models, [exchange.model]),
    routes: routesWith(summary.routes, exchange),
    tokens: exchange.tokens === null ? summary.tokens : addTokens(summary.tokens, exchange.tokens),
    hostedToolsRemoved: together(summary.hostedToolsRemoved, exchange.hostedToolsRemoved),
    hostedToolCalls: together(summary.hostedToolCalls, exchange.hostedToolCalls),
    cost:
      exchange.tokens === null
        ? summary.cost
        : summary.cost === null || exchange.cost === null
          ? null
          : summary.cost + exchange.cost,
    skillsOffered: together(summary.skillsOffered, exchange.skillsOffered),
    skillsOpened: together(summary.skillsOpened, exchange.skillsOpened),
    modelSeconds: summary.modelSeconds + (exchange.refusal === null ? exchange.seconds : 0),
    lastServiceFailure: exchange.refusal === null ? serviceFailure(exchange) : summary.lastServiceFailure,
    replayed: {
      // Logs of earlier versions do not have the field.
      answers: summary.replayed.answers + (exchange.replayed ? 1 : 0),
      byTurn: summary.replayed.byTurn + (exchange.replayed === 'turn' ? 1 : 0),
    },
  };
}

function routesWith(routes: readonly ModelRoute[], exchange: GatewayExchange): readonly ModelRoute[] {
  const { askedModel: asked, model: answered, tokens, failure } = exchange;
  if (asked === null || answered === null || tokens === null || failure !== null) return routes;
  const known = routes.findIndex((route) => route.asked === asked && route.answered === answered);
  if (known >= 0) return routes.with(known, { ...routes[known]!, answers: routes[known]!.answers + 1 });
  return routes.length >= MAX_NAMES ? routes : [...routes, { asked, answered, answers: 1 }];
}

/** Statuses with which a service says that it, the key or the quota is at fault, and not the request. */
const SERVICE_STATUSES: readonly number[] = [401, 402, 403, 404, 408, 409, 425, 429];

function serviceFailure({ failure, status }: GatewayExchange): GatewaySummary['lastServiceFailure'] {
  if (failure === null || failure === 'client-left') return null;
  if (failure === 'upstream-status' && status < 500 && !SERVICE_STATUSES.includes(status)) return null;
  return { kind: failure, status };
}
