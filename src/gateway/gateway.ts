import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { M4BenchError, messageOf } from '../support/errors.js';
import { createRuntimeFolder, removeTree } from '../support/runtime-folders.js';
import { type CassetteEntry, type CassetteRequest, cassetteRequest } from './cassette.js';
import type { ReplaySession } from './cassette-player.js';
import type { RecordingSession } from './cassette-recorder.js';
import { complete, type Draft, newDraft } from './exchange-draft.js';
import { ExchangeLog } from './exchange-log.js';
import type { GatewayBudget, GatewaySummary, PlantedSkill, Provider } from './gateway-types.js';
import { cleanRequest } from './hosted-tools.js';
import { skillSearch } from './planted-skills.js';
import { costOf, hasPrice, type PriceTable } from './prices.js';
import { readBody } from './request-body.js';
import { type Route, routeOf } from './routes.js';
import { secretForms } from './secrets.js';
import { type TunnelOptions, type TunnelSummary, Tunnels } from './tunnels.js';
import { answerError, forward } from './upstream.js';
import { withUsageAsked } from './usage-event.js';

/** Longer paths are cut off silently by the system, and two runs would share a socket. */
const MAX_SOCKET_PATH = 100;
/** Requests are held in memory while they are read and cleaned; agents ask a few at a time. */
const MAX_AT_ONCE = 16;
/** A run that asks more often than this is not working; its further requests would only fill the disk with log. */
const MAX_LOGGED_EXCHANGES = 20_000;
const MAX_LOGGED_NAMES = 50;
const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;
/** Models may think long before the first byte. */
const DEFAULT_IDLE_TIMEOUT_SECONDS = 600;

export interface GatewayOptions {
  readonly providers: readonly Provider[];
  /** Host file outside the sandbox that receives one JSON line per exchange. */
  readonly logPath: string;
  readonly skills?: readonly PlantedSkill[];
  readonly budget?: GatewayBudget;
  /** For `cost` in the log and budgets in money; without it no cost is known. */
  readonly prices?: PriceTable;
  /** Called once, when the first request is refused because the budget is spent, or when its time is over. */
  readonly onBudgetSpent?: (reason: string) => void;
  /** Receives every answer that came whole. */
  readonly recording?: RecordingSession;
  /** Answers instead of the providers; nothing is connected to. */
  readonly replay?: ReplaySession;
  /** Called when a request has no recorded answer. */
  readonly onReplayMismatch?: (reason: string) => void;
  /** Hosts that a CLI with a login of its own may tunnel to; without it CONNECT is refused. */
  readonly tunnels?: TunnelOptions;
  readonly maxRequestBytes?: number;
  /** Seconds without a byte from the provider after which an exchange is given up. */
  readonly idleTimeoutSeconds?: number;
}

/** Reads a request body as far as the gateway must understand it. */
interface ParsedRequest {
  readonly body: Buffer | undefined;
  readonly model: string | null;
  readonly hidesUsageEvent: boolean;
  /** As cassettes compare it; undefined when there is none. */
  readonly asked: CassetteRequest | undefined;
}

/**
 * The only thing a sandbox can reach: an HTTP server on a Unix socket that passes model requests on to providers,
 * adds the key, takes hosted tools out, counts tokens, and writes down every exchange.
 */
export class Gateway implements AsyncDisposable {
  readonly socketPath: string;
  readonly #secrets: readonly Buffer[];
  readonly #skillsIn: ReturnType<typeof skillSearch>;
  readonly #open = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  #budgetTimer: NodeJS.Timeout | undefined;
  #isBudgetSpent = false;
  #admitted = 0;

  private constructor(
    private readonly folder: string,
    private readonly server: Server,
    private readonly log: ExchangeLog,
    private readonly tunnels: Tunnels | undefined,
    private readonly options: GatewayOptions,
  ) {
    this.socketPath = join(folder, 's');
    this.#secrets = secretForms(options.providers.map(({ apiKey }) => apiKey));
    this.#skillsIn = skillSearch(options.skills ?? []);
    const { maxSeconds } = options.budget ?? {};
    if (maxSeconds !== undefined)
      this.#budgetTimer = setTimeout(() => this.#spend(timeSpent(maxSeconds)), maxSeconds * 1000).unref();
  }

  /** Starts a gateway with a socket of its own. Dispose it to end all exchanges and complete the log. */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const folder = await createRuntimeFolder('gateway');
    let log: ExchangeLog | undefined;
    let tunnels: Tunnels | undefined;
    try {
      log = await ExchangeLog.open(
        options.logPath,
        secretForms(options.providers.map(({ apiKey }) => apiKey)),
      );
      if (options.tunnels !== undefined) tunnels = await Tunnels.open(options.tunnels);
      const server = createServer();
      const gateway = new Gateway(folder, server, log, tunnels, options);
      server.on('request', (request, response) => gateway.#track(gateway.#serve(request, response)));
      server.on('connect', (request, socket: Socket, head) => {
        if (tunnels !== undefined) tunnels.serve(request, socket, head);
        else gateway.#refuseRaw(request, socket, 405, 'CONNECT is not offered');
      });
      server.on('upgrade', (request, socket: Socket) =>
        gateway.#refuseRaw(request, socket, 426, 'upgrades are not offered'),
      );
      await listen(server, gateway.socketPath);
      return gateway;
    } catch (thrown) {
      await log?.[Symbol.asyncDispose]();
      await tunnels?.[Symbol.asyncDispose]();
      await removeTree(folder);
      throw thrown;
    }
  }

  /** Totals of all exchanges that have ended. */
  summary(): GatewaySummary {
    return this.log.summary();
  }

  /** Ends all tunnels, whose client is gone, and tells their totals; undefined where none are offered. */
  async endTunnels(): Promise<TunnelSummary | undefined> {
    return this.tunnels?.endAll();
  }

  #track(exchange: Promise<void>): void {
    this.#open.add(exchange);
    void exchange.finally(() => this.#open.delete(exchange));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isLogFull()) {
      request.socket.destroy();
      return;
    }
    const began = performance.now();
    const draft = newDraft(request);
    try {
      await this.#answer(request, response, draft);
    } catch (thrown) {
      // The client broke off while it was sending, or something is wrong here; either way the exchange is on record.
      draft.failure ??= request.destroyed ? 'client-left' : null;
      draft.refusal ??= draft.failure === null ? `gateway error: ${messageOf(thrown).slice(0, 200)}` : null;
      draft.status = draft.failure === null ? 500 : 499;
      draft.responseBytes = answerError(
        response,
        500,
        'gateway_error',
        'the gateway could not handle the request',
      );
    }
    draft.seconds = (performance.now() - began) / 1000;
    this.log.append(draft);
  }

  async #answer(request: IncomingMessage, response: ServerResponse, draft: Draft): Promise<void> {
    const route = routeOf(request.method ?? '', request.url ?? '', this.options.providers);
    draft.provider = route.provider?.name ?? null;
    if ('refusal' in route) return this.#refuse(request, response, draft, route.status, route.refusal);
    draft.protocol = route.protocol;
    if (this.#open.size >= MAX_AT_ONCE) {
      const refusal = `more than ${MAX_AT_ONCE} requests at once`;
      return this.#refuse(request, response, draft, 429, refusal, { 'retry-after': '1' });
    }
    const refuseSpent = (reason: string): void =>
      this.#refuse(request, response, draft, 429, reason, { 'x-should-retry': 'false' });
    const overspent = route.isGeneration ? this.#overspent() : undefined;
    if (overspent !== undefined) return refuseSpent(overspent);
    const parsed = await this.#parse(request, response, draft, route);
    if (parsed === undefined) return;
    if (route.isGeneration) {
      const unpriced = this.#unpriced(route.provider.name, parsed.model);
      if (unpriced !== undefined) return refuseSpent(unpriced);
    }
    const recorded = await this.#recorded(request, response, draft, parsed.asked);
    if (recorded === 'refused') return;
    draft.host = recorded === undefined ? route.url.host : null;
    const began = performance.now();
    const outcome = await forward(request, response, {
      provider: route.provider,
      protocol: route.protocol,
      url: route.url,
      body: parsed.body,
      secrets: this.#secrets,
      hidesUsageEvent: parsed.hidesUsageEvent,
      idleTimeoutSeconds: this.options.idleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT_SECONDS,
      keepsAnswer: this.options.recording !== undefined,
      ...(recorded === undefined ? {} : { recorded }),
    });
    if (parsed.asked !== undefined && outcome.answer !== undefined)
      this.options.recording?.record(parsed.asked, outcome.answer, (performance.now() - began) / 1000);
    complete(draft, outcome, route, parsed.model);
    if (this.options.prices !== undefined && draft.tokens !== null)
      draft.cost = costOf(this.options.prices, route.provider.name, draft.model, draft.tokens);
  }

  /** The recorded answer where a cassette is played; `refused` when it has none and that was answered. */
  async #recorded(
    request: IncomingMessage,
    response: ServerResponse,
    draft: Draft,
    asked: CassetteRequest | undefined,
  ): Promise<CassetteEntry | 'refused' | undefined> {
    if (this.options.replay === undefined || asked === undefined) return undefined;
    const found = await this.options.replay.find(asked);
    if ('refusal' in found) {
      this.#refuse(request, response, draft, 400, found.refusal, { 'x-should-retry': 'false' });
      this.options.onReplayMismatch?.(found.refusal);
      return 'refused';
    }
    draft.replayed = found.by;
    return found.entry;
  }

  /** Reads, decodes and cleans the body; answers itself and returns undefined when the request is refused. */
  async #parse(
    request: IncomingMessage,
    response: ServerResponse,
    draft: Draft,
    { protocol, model: modelInPath }: Extract<Route, { readonly url: URL }>,
  ): Promise<ParsedRequest | undefined> {
    const compared = (body: unknown): CassetteRequest | undefined =>
      this.options.replay === undefined && this.options.recording === undefined
        ? undefined
        : cassetteRequest(draft.provider ?? '', protocol, draft.method, draft.path, body);
    if (request.method === 'GET')
      return { body: undefined, model: null, hidesUsageEvent: false, asked: compared(undefined) };
    const read = await readBody(request, this.options.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES);
    if ('refusal' in read) {
      this.#refuse(request, response, draft, read.status, read.refusal);
      return undefined;
    }
    draft.requestBytes = read.wireBytes;
    const body = jsonObject(read.body);
    if (body === undefined) {
      this.#refuse(request, response, draft, 400, 'request body is not a JSON object');
      return undefined;
    }
    const model = modelInPath ?? (typeof body.model === 'string' ? body.model.slice(0, 200) : null);
    draft.askedModel = model;
    draft.model = model;
    const clean = cleanRequest(body, protocol, model);
    draft.hostedToolsRemoved = [...new Set(clean.removed)].slice(0, MAX_LOGGED_NAMES);
    if (clean.refusal !== undefined) {
      this.#refuse(request, response, draft, 403, clean.refusal);
      return undefined;
    }
    const skills = this.#skillsIn(body);
    draft.skillsOffered = skills.offered;
    draft.skillsOpened = skills.opened;
    const asking = protocol === 'openai-chat' ? withUsageAsked(clean.body) : undefined;
    const isChanged = asking !== undefined || clean.removed.length > 0 || clean.body.include !== body.include;
    return {
      body: isChanged ? Buffer.from(JSON.stringify(asking ?? clean.body), 'utf8') : read.body,
      model,
      hidesUsageEvent: asking !== undefined,
      asked: compared(body),
    };
  }

  #isLogFull(): boolean {
    return this.log.summary().requests >= MAX_LOGGED_EXCHANGES;
  }

  /** Why a further generation would overspend, or undefined; counts the request when it is admitted. */
  #overspent(): string | undefined {
    const budget = this.options.budget ?? {};
    const { tokens, cost } = this.log.summary();
    const seconds = (performance.now() - this.#startedAt) / 1000;
    let reason: string | undefined;
    if (budget.maxRequests !== undefined && this.#admitted >= budget.maxRequests)
      reason = `the budget of ${budget.maxRequests} requests is spent`;
    else if (budget.maxTokens !== undefined && tokens.input + tokens.output >= budget.maxTokens)
      reason = `the budget of ${budget.maxTokens} tokens is spent`;
    else if (budget.maxCost !== undefined && (cost === null || cost >= budget.maxCost))
      reason = `the budget of ${budget.maxCost} US dollars is spent${cost === null ? ', or cannot be told from answers without a price' : ''}`;
    else if (budget.maxSeconds !== undefined && seconds >= budget.maxSeconds)
      reason = timeSpent(budget.maxSeconds);
    if (reason === undefined) this.#admitted += 1;
    else this.#spend(reason);
    return reason;
  }

  /** A budget in money needs a price for what is asked. */
  #unpriced(provider: string, model: string | null): string | undefined {
    const { budget, prices } = this.options;
    if (budget?.maxCost === undefined || (prices !== undefined && hasPrice(prices, provider, model)))
      return undefined;
    const reason = `there is a budget in money, and the price table has no model ${model ?? '(none named)'}`;
    this.#spend(reason);
    return reason;
  }

  #spend(reason: string): void {
    if (this.#isBudgetSpent) return;
    this.#isBudgetSpent = true;
    this.options.onBudgetSpent?.(reason);
  }

  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    draft: Draft,
    status: number,
    refusal: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    request.resume();
    draft.status = status;
    draft.refusal = refusal;
    const type =
      status === 429 ? 'budget_exceeded' : status === 413 ? 'request_too_large' : 'request_refused';
    draft.responseBytes = answerError(response, status, type, `m4bench gateway: ${refusal}`, headers);
  }

  #refuseRaw(request: IncomingMessage, socket: Socket, status: number, refusal: string): void {
    socket.on('error', () => {});
    if (this.#isLogFull()) {
      socket.destroy();
      return;
    }
    socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    this.log.append({ ...newDraft(request), status, refusal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#budgetTimer);
    this.server.close();
    this.server.closeAllConnections();
    await Promise.allSettled([...this.#open]);
    await this.tunnels?.[Symbol.asyncDispose]();
    await this.log[Symbol.asyncDispose]();
    await removeTree(this.folder);
  }
}

const timeSpent = (seconds: number): string => `the budget of ${seconds} seconds is spent`;

function jsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

async function listen(server: Server, socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) >= MAX_SOCKET_PATH) {
    throw new M4BenchError(
      'SOCKET_PATH_TOO_LONG',
      `The socket path ${socketPath} has ${MAX_SOCKET_PATH} bytes or more.`,
      'Report this; sockets belong at a short path.',
      { party: 'internal' },
    );
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // The agent is another user; the folder around the socket keeps everyone else out.
  await chmod(socketPath, 0o666);
}
