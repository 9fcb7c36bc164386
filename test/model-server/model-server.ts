import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { chatCompletionsApi } from './chat-completions-api.js';
import { geminiApi } from './gemini-api.js';
import { messagesApi } from './messages-api.js';
import { endWithJson, type ModelProtocol } from './protocol.js';
import { responsesApi } from './responses-api.js';
import {
  type CheckedScenario,
  type ModelRequest,
  play,
  type Scenario,
  type SpentSteps,
  type StatedUsage,
  scenarioSchema,
} from './scenario.js';

const PROTOCOLS: readonly ModelProtocol[] = [responsesApi, chatCompletionsApi, messagesApi, geminiApi];

/** One request as it arrived, and what was answered. */
export interface RecordedExchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON body, or the text when it is not JSON. */
  readonly body: unknown;
  readonly scenario: string | null;
  /** Names of the client's tools. */
  readonly tools: readonly string[];
  /** Index in the scenario of the step that was played. */
  readonly step: number | null;
  readonly status: number;
  /** Stated in the reply; null for failures. */
  readonly usage: StatedUsage | null;
}

export interface ModelServerOptions {
  /** Scenarios by id. A request names one by its model, or else by the header `x-scenario` or the API key. */
  readonly scenarios: Readonly<Record<string, Scenario>>;
  /** Listen on this Unix socket instead of a free loopback port. */
  readonly socketPath?: string;
}

/** A model that plays scenarios over four APIs. Disposing closes it and every open connection. */
export class ModelServer implements AsyncDisposable {
  readonly exchanges: RecordedExchange[] = [];
  readonly #scenarios: ReadonlyMap<string, CheckedScenario>;
  readonly #spent: SpentSteps = new Map();
  readonly #closing = new AbortController();
  readonly #server: Server;

  private constructor(scenarios: Readonly<Record<string, Scenario>>) {
    this.#scenarios = new Map(
      Object.entries(scenarios).map(([id, scenario]) => [id, scenarioSchema.parse(scenario)]),
    );
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((thrown: unknown) => {
        if (!response.headersSent) endWithJson(response, 500, { error: { message: String(thrown) } });
        else response.destroy();
      });
    });
  }

  /** Starts listening; throws when a scenario is malformed or the address is taken. */
  static async start(options: ModelServerOptions): Promise<ModelServer> {
    const server = new ModelServer(options.scenarios);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      if (options.socketPath !== undefined) server.#server.listen(options.socketPath, resolve);
      else server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** `http://127.0.0.1:PORT`, without a path. Throws on a Unix socket. */
  get baseUrl(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no TCP port.');
    return `http://127.0.0.1:${(address satisfies AddressInfo).port}`;
  }

  /** Requests that named a scenario, in order of arrival. */
  exchangesOf(scenario: string): RecordedExchange[] {
    return this.exchanges.filter((exchange) => exchange.scenario === scenario);
  }

  /** Names of the tools that the requests of a scenario declared. */
  toolsOf(scenario: string): ReadonlySet<string> {
    return new Set(this.exchangesOf(scenario).flatMap(({ tools }) => tools));
  }

  /** Sum of the usage stated for a scenario; what a gateway should have counted. */
  statedUsage(scenario: string): StatedUsage {
    return this.exchangesOf(scenario).reduce<StatedUsage>(
      (sum, { usage }) =>
        usage === null
          ? sum
          : {
              input: sum.input + usage.input,
              cachedInput: sum.cachedInput + usage.cachedInput,
              output: sum.output + usage.output,
              reasoning: sum.reasoning + usage.reasoning,
            },
      { input: 0, cachedInput: 0, output: 0, reasoning: 0 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? '/').split('?')[0]!;
    const text = await readText(incoming);
    const body = parseJson(text);
    let request: ModelRequest | undefined;
    const record = (answered: Pick<RecordedExchange, 'scenario' | 'step' | 'status' | 'usage'>): void => {
      this.exchanges.push({
        method: incoming.method ?? '',
        path,
        headers: flatHeaders(incoming),
        body,
        tools: request?.tools ?? [],
        ...answered,
      });
    };
    const refuse = (status: number, message: string): void => {
      record({ scenario: null, step: null, status, usage: null });
      endWithJson(response, status, { error: { message, type: 'invalid_request_error' } });
    };

    const protocol = PROTOCOLS.find((candidate) => candidate.matches(path));
    if (protocol === undefined || incoming.method !== 'POST') return refuse(404, `Nothing at ${path}.`);
    try {
      request = protocol.readRequest(body, path);
    } catch (thrown) {
      return refuse(400, `The body is not a ${protocol.name} request: ${String(thrown)}`);
    }
    const id = this.#scenarioIdOf(request.model, incoming);
    if (id === undefined) return refuse(404, `No scenario for model ${request.model}.`);

    const { turn, step, delaySeconds } = play(this.#scenarios.get(id)!, request, this.#spent);
    if (delaySeconds > 0) await wait(delaySeconds * 1000, undefined, { signal: this.#closing.signal });
    if (turn.kind === 'fail') {
      record({ scenario: id, step, status: turn.status, usage: null });
      if (turn.retryAfterSeconds !== undefined) response.setHeader('retry-after', turn.retryAfterSeconds);
      return endWithJson(response, turn.status, protocol.errorBody(turn.status, turn.retryAfterSeconds));
    }
    if (turn.kind === 'disconnect') {
      record({ scenario: id, step, status: 200, usage: null });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(protocol.firstBytes(request), () => response.destroy());
      return;
    }
    try {
      protocol.writeReply(response, request, turn);
    } catch (thrown) {
      return refuse(400, String(thrown));
    }
    record({ scenario: id, step, status: 200, usage: turn.usage });
  }

  #scenarioIdOf(model: string, incoming: IncomingMessage): string | undefined {
    const key =
      incoming.headers.authorization?.replace(/^Bearer /i, '') ??
      String(incoming.headers['x-api-key'] ?? incoming.headers['x-goog-api-key']);
    const named = [model, String(incoming.headers['x-scenario']), key];
    return named.find((candidate) => this.#scenarios.has(candidate));
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function flatHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
}
