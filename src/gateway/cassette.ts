import { z } from 'zod';
import { hashOf } from '../support/hashing.js';
import { differencesOf, digestOf, type RequestDigest, rulesHash } from './cassette-rules.js';
import type { Protocol, Provider } from './gateway-types.js';

/**
 * A cassette: the exchanges of one or several runs, to be played again without a model. One JSON object a line: the
 * first says what the file is, every further one is an exchange. It holds what models were told of patients' rows and
 * answered, so that only its owner may read it, and it lies outside the folders of runs and is never packed.
 *
 * Requests are kept as digests (`cassette-rules.ts`), answers as they came: server-sent events one by one.
 */
const protocolSchema = z.enum(['openai-responses', 'openai-chat', 'anthropic-messages', 'gemini']);

export const headerSchema = z.strictObject({
  kind: z.literal('cassette'),
  schemaVersion: z.literal(1),
  recordedAt: z.string(),
  benchmarkVersion: z.string(),
  /** Of the rules by which the digests were made. */
  rules: z.string(),
  /** Routes that the gateway had; no address and no key. */
  providers: z.array(
    z.strictObject({
      name: z.string(),
      keyHeader: z.enum(['authorization-bearer', 'x-api-key', 'x-goog-api-key']),
      protocols: z.array(protocolSchema),
    }),
  ),
});
export type CassetteHeader = z.infer<typeof headerSchema>;

const answerSchema = z.union([
  z.strictObject({ events: z.array(z.string()) }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
]);

export const entrySchema = z.strictObject({
  kind: z.literal('exchange'),
  /** Run and attempt. */
  session: z.string(),
  /** Position in the session, from 1. */
  turn: z.number().int().positive(),
  provider: z.string(),
  protocol: protocolSchema,
  method: z.string(),
  /** At the gateway, without a query. */
  path: z.string(),
  request: z.record(z.string(), z.string()),
  status: z.number().int(),
  headers: z.record(z.string(), z.string()),
  answer: answerSchema,
  /** Seconds until the answer was complete. */
  seconds: z.number(),
});
export type CassetteEntry = z.infer<typeof entrySchema>;

/** A request as cassettes compare it. */
export interface CassetteRequest {
  readonly provider: string;
  readonly protocol: Protocol;
  readonly method: string;
  readonly path: string;
  readonly request: RequestDigest;
}

/** An answer as it came from a provider. */
export interface CassetteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function cassetteHeader(
  providers: readonly Pick<Provider, 'name' | 'keyHeader' | 'protocols'>[],
  benchmarkVersion: string,
): CassetteHeader {
  return {
    kind: 'cassette',
    schemaVersion: 1,
    recordedAt: new Date().toISOString(),
    benchmarkVersion,
    rules: rulesHash,
    providers: providers.map(({ name, keyHeader, protocols }) => ({
      name,
      keyHeader,
      protocols: [...protocols],
    })),
  };
}

/** A request at the gateway as cassettes compare it. `body`: as the client sent it, undefined without one. */
export function cassetteRequest(
  provider: string,
  protocol: Protocol,
  method: string,
  path: string,
  body: unknown,
): CassetteRequest {
  return { provider, protocol, method, path, request: digestOf(protocol, body) };
}

/** Equal for requests that ask the same of the same service. */
export function keyOf({ provider, protocol, method, path, request }: CassetteRequest): string {
  return hashOf({ provider, protocol, method, path, request });
}

/** Whether two requests go to the same place, whatever they say. */
export function goesToSamePlace(a: CassetteRequest, b: CassetteRequest): boolean {
  return a.provider === b.provider && a.protocol === b.protocol && a.method === b.method && a.path === b.path;
}

const MAX_NAMED_DIFFERENCES = 6;

/** Names of the parts in which a request differs from a recorded one; never their content, which may be rows. */
export function differenceWords(asked: CassetteRequest, recorded: CassetteRequest): string {
  const parts = differencesOf(asked.request, recorded.request).map((part) =>
    part.replace(/\.(\d+)/g, '[$1]').slice(0, 60),
  );
  const named = parts.slice(0, MAX_NAMED_DIFFERENCES).join(', ');
  return parts.length > MAX_NAMED_DIFFERENCES
    ? `${named} and ${parts.length - MAX_NAMED_DIFFERENCES} more`
    : named;
}

/** The form in which an answer is kept: events one by one, else text, else bytes. */
export function keptAnswer({ headers, body }: CassetteAnswer): CassetteEntry['answer'] {
  const text = body.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return { base64: body.toString('base64') };
  const isEventStream = (headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
  return isEventStream ? { events: eventsOf(text) } : { text };
}

/** A stream cut after each blank line, every character kept (WHATWG HTML, section 9.2.6). */
export function eventsOf(text: string): string[] {
  return text.match(/[\s\S]*?(?:\r\n\r\n|\n\n|\r\r)|[\s\S]+$/g) ?? [];
}

/** The pieces in which an answer is played. */
export function playedPieces(answer: CassetteEntry['answer']): readonly Buffer[] {
  if ('events' in answer) return answer.events.map((event) => Buffer.from(event, 'utf8'));
  return ['text' in answer ? Buffer.from(answer.text, 'utf8') : Buffer.from(answer.base64, 'base64')];
}
