import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf } from '../support/errors.js';
import { type CassetteAnswer, type CassetteEntry, playedPieces } from './cassette.js';
import type { ExchangeFailure, Protocol, Provider } from './gateway-types.js';
import { withoutHostedBetas } from './hosted-tools.js';
import { withRetryAfter } from './rate-limit.js';
import { secretFilter } from './secrets.js';
import { type AnswerReading, answerReader } from './usage.js';
import { usageEventRemover } from './usage-event.js';

const CONNECT_TIMEOUT_MILLISECONDS = 30_000;

/** Request headers that go on to the provider; nothing else that the client sends does, its keys least of all. */
const FORWARDED_REQUEST_HEADERS = [
  'accept',
  'anthropic-version',
  'content-type',
  'idempotency-key',
  'openai-beta',
  'user-agent',
];

/** Response headers that go back; others may tell about the account behind the key. */
const RETURNED_HEADERS =
  /^(content-type|content-encoding|retry-after(-ms)?|x-should-retry|x-request-id|request-id|x-ratelimit-.*|anthropic-ratelimit-.*|openai-processing-ms|openai-model|openai-version)$/;

/** How one forwarded exchange went. */
export interface UpstreamOutcome extends AnswerReading {
  readonly status: number;
  readonly failure: ExchangeFailure | null;
  readonly responseBytes: number;
  readonly removedBetas: readonly string[];
  /** The answer as it came, when it came whole and was to be kept. */
  readonly answer?: CassetteAnswer;
}

export interface UpstreamRequest {
  readonly provider: Provider;
  readonly protocol: Protocol;
  readonly url: URL;
  readonly body: Buffer | undefined;
  readonly secrets: readonly Buffer[];
  readonly idleTimeoutSeconds: number;
  /** The client did not ask for the counts-only event of a Chat Completions stream; it is kept here. */
  readonly hidesUsageEvent: boolean;
  /** Keep the answer for a cassette. */
  readonly keepsAnswer?: boolean;
  /** Answer with this, and connect to nothing. */
  readonly recorded?: CassetteEntry;
}

/** Where an answer comes from: a provider, or a cassette. */
interface AnswerSource {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Larger answers are passed on but not kept for a cassette, whose replay then tells that they are missing. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

function requestHeaders(
  client: IncomingMessage,
  { provider, body }: UpstreamRequest,
): { readonly headers: Record<string, string>; readonly removedBetas: readonly string[] } {
  const headers: Record<string, string> = {};
  for (const name of FORWARDED_REQUEST_HEADERS) {
    const value = client.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const betas = client.headers['anthropic-beta'];
  const kept = withoutHostedBetas(Array.isArray(betas) ? betas.join(',') : (betas ?? ''));
  if (kept.value !== '') headers['anthropic-beta'] = kept.value;
  // Plain bytes, so that usage can be read as they pass.
  headers['accept-encoding'] = 'identity';
  if (body !== undefined) headers['content-length'] = String(body.length);
  if (provider.apiKey !== '') {
    if (provider.keyHeader === 'authorization-bearer') headers.authorization = `Bearer ${provider.apiKey}`;
    else headers[provider.keyHeader] = provider.apiKey;
  }
  return { headers, removedBetas: kept.removed };
}

function returnedHeaders(upstream: IncomingMessage, secrets: readonly Buffer[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(upstream.headers)) {
    if (typeof value !== 'string' || !RETURNED_HEADERS.test(name)) continue;
    if (!secrets.some((secret) => value.includes(secret.toString('utf8')))) headers[name] = value;
  }
  return headers;
}

/** Answers with an error in a shape that all three protocols' clients can show. */
export function answerError(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): number {
  const body = JSON.stringify({ type: 'error', error: { type, code: type, message } });
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return 0;
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...headers,
  });
  response.end(body);
  return Buffer.byteLength(body);
}

/** Sends a request to its provider and streams the answer back as it comes. Never throws. */
export async function forward(
  client: IncomingMessage,
  response: ServerResponse,
  request: UpstreamRequest,
): Promise<UpstreamOutcome> {
  const { headers, removedBetas } = requestHeaders(client, request);
  const abort = new AbortController();
  const onClientGone = (): void => {
    if (!response.writableFinished) abort.abort();
  };
  response.once('close', onClientGone);
  try {
    const outcome = await exchange(client.method ?? 'POST', headers, response, request, abort.signal);
    return { ...outcome, removedBetas };
  } finally {
    response.off('close', onClientGone);
  }
}

type Outcome = Omit<UpstreamOutcome, 'removedBetas'>;

async function exchange(
  method: string,
  headers: Record<string, string>,
  response: ServerResponse,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  if (request.recorded !== undefined) return passOn(sourceOf(request.recorded), response, request, signal);
  let upstream: IncomingMessage;
  try {
    upstream = await openUpstream(method, headers, request, signal);
  } catch (thrown) {
    if (signal.aborted) return failed(499, 'client-left', 0);
    const isTimeout = systemCodeOf(thrown) === 'ETIMEDOUT';
    const failure = isTimeout ? 'upstream-timeout' : 'upstream-unreachable';
    const reason = `${request.url.host} ${isTimeout ? 'did not answer in time' : 'cannot be reached'} (${systemCodeOf(thrown) ?? 'error'})`;
    return failed(502, failure, answerError(response, 502, failure.replaceAll('-', '_'), reason));
  }
  const status = upstream.statusCode ?? 502;
  if (status >= 300 && status < 400) {
    upstream.destroy();
    const message = `${request.url.host} answered with a redirect, which is not followed`;
    return failed(502, 'upstream-redirect', answerError(response, 502, 'upstream_redirect', message));
  }
  if (status === 401) {
    // Providers repeat parts of the key in this answer.
    upstream.resume();
    const message = `${request.url.host} does not accept the key that the gateway holds`;
    return failed(401, 'upstream-status', answerError(response, 401, 'authentication_error', message));
  }
  const answered = returnedHeaders(upstream, request.secrets);
  return passOn({ status, headers: answered, body: upstream }, response, request, signal);
}

/** Each recorded event is handed on by itself, as a provider sends them. */
function sourceOf(entry: CassetteEntry): AnswerSource {
  const { status, headers, answer } = entry;
  return { status, headers, body: Readable.from(playedPieces(answer), { objectMode: false }) };
}

function failed(status: number, failure: ExchangeFailure, responseBytes: number): Outcome {
  return { status, failure, responseBytes, model: null, tokens: null, hostedToolCalls: [] };
}

function openUpstream(
  method: string,
  headers: Record<string, string>,
  { url, body, idleTimeoutSeconds }: UpstreamRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = open(url, { method, headers, signal });
    const timedOut = (): void => {
      outgoing.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    };
    let connectTimer: NodeJS.Timeout | undefined;
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) return;
      connectTimer = setTimeout(timedOut, CONNECT_TIMEOUT_MILLISECONDS);
      socket.once('connect', () => clearTimeout(connectTimer));
    });
    outgoing.setTimeout(idleTimeoutSeconds * 1000, timedOut);
    outgoing.once('close', () => clearTimeout(connectTimer));
    outgoing.on('error', reject);
    outgoing.once('response', resolve);
    outgoing.end(body);
  });
}

async function passOn(
  source: AnswerSource,
  response: ServerResponse,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  const { status, headers, body } = source;
  const contentType = headers['content-type'] ?? '';
  const reader = answerReader(request.protocol, contentType, headers['content-encoding'] ?? '');
  const isEventStream = contentType.toLowerCase().startsWith('text/event-stream');
  const kept: Buffer[] = [];
  let responseBytes = 0;
  const filter = secretFilter(request.secrets);
  filter.on('data', (chunk: Buffer) => {
    responseBytes += chunk.length;
    reader.push(chunk);
    if (request.keepsAnswer && responseBytes <= MAX_KEPT_BYTES) kept.push(chunk);
  });
  response.writeHead(status, withRetryAfter(status, headers));
  response.flushHeaders();
  let failure: ExchangeFailure | null = status >= 400 ? 'upstream-status' : null;
  let isWhole = true;
  try {
    // A slow reader slows the provider down: each stage waits for the next.
    if (request.hidesUsageEvent && isEventStream) await pipeline(body, filter, usageEventRemover(), response);
    else await pipeline(body, filter, response);
  } catch (thrown) {
    isWhole = false;
    failure = signal.aborted
      ? 'client-left'
      : systemCodeOf(thrown) === 'ETIMEDOUT'
        ? 'upstream-timeout'
        : 'upstream-broke-off';
  }
  const isKept = request.keepsAnswer === true && isWhole && responseBytes <= MAX_KEPT_BYTES;
  const answer = isKept ? { answer: { status, headers, body: Buffer.concat(kept) } } : {};
  return { ...reader.finish(), status, failure, responseBytes, ...answer };
}
