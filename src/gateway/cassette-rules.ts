import { canonicalJson, hashOf, sha256 } from '../support/hashing.js';
import type { Protocol } from './gateway-types.js';

/** What differs between requests that ask the same, as data: one entry per protocol. */
interface CassetteRules {
  /** Fields left out, as names joined by dots; `*` is any name or position. */
  readonly dropped: readonly string[];
  /** Parts of texts, anywhere in the body, and what stands for them. */
  readonly texts: readonly TextRule[];
}

interface TextRule {
  readonly pattern: RegExp;
  readonly placeholder: string;
}

/** Found by comparing every request of two identical runs of each CLI (Codex 0.171, Claude Code 2.1, Gemini CLI, pi, OpenCode). */
const EVERY_PROTOCOL: readonly TextRule[] = [
  { pattern: /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, placeholder: '<uuid>' },
  // The day that CLIs tell the model; dates in rows of data count.
  {
    pattern: /((?:today'?s|current)[ _]date(?: and time)?(?: is|:|>)\s*)[^\n<(]+/gi,
    placeholder: '$1<date>',
  },
  // Folder and port of the `process` sandbox; inside the others both are fixed.
  { pattern: /\/tmp\/m4b(-\d+)?\/w-[0-9a-f]{8}\b/g, placeholder: '<sandbox>' },
  { pattern: /\b127\.0\.0\.1:\d+/g, placeholder: '127.0.0.1:<port>' },
  // What the duckdb shell prints with `.timer on`.
  { pattern: /Run Time(?: \(s\))?: real [0-9.]+.*/g, placeholder: '<run time>' },
];

const RULES: Readonly<Record<Protocol, CassetteRules>> = {
  'openai-responses': {
    dropped: ['client_metadata', 'prompt_cache_key', 'safety_identifier', 'input.*.id'],
    texts: [
      ...EVERY_PROTOCOL,
      // How Codex words the result of a command.
      { pattern: /\bChunk ID: [0-9a-f]+/g, placeholder: 'Chunk ID: <id>' },
      { pattern: /\bWall time: [0-9.]+ seconds/g, placeholder: 'Wall time: <seconds>' },
    ],
  },
  'openai-chat': {
    dropped: ['prompt_cache_key', 'user', 'safety_identifier'],
    texts: EVERY_PROTOCOL,
  },
  'anthropic-messages': {
    dropped: ['metadata.user_id'],
    texts: [
      ...EVERY_PROTOCOL,
      { pattern: /x-anthropic-billing-header:[^\n]*/g, placeholder: '<billing header>' },
    ],
  },
  gemini: { dropped: ['session_id', 'user_prompt_id'], texts: EVERY_PROTOCOL },
};

/** Of the rules themselves: digests made by other rules cannot be compared. */
export const rulesHash = hashOf(
  Object.entries(RULES).map(([protocol, { dropped, texts }]) => [
    protocol,
    dropped,
    texts.map(({ pattern, placeholder }) => [String(pattern), placeholder]),
  ]),
).slice(0, 16);

/** Hash of each part of a request (`model`, `input.3`), with what differs between identical runs left out. */
export type RequestDigest = Readonly<Record<string, string>>;

/** Items of lists get a hash each, so that a difference can be named. */
const DIGEST_DEPTH = 2;

/** The digest of a request's body; of no body, an empty one. */
export function digestOf(protocol: Protocol, body: unknown): RequestDigest {
  const rules = RULES[protocol];
  const dropped = rules.dropped.map((path) => path.split('.'));
  const digest: Record<string, string> = {};
  const visit = (value: unknown, path: readonly string[]): void => {
    if (isDropped(path, dropped)) return;
    if (path.length < DIGEST_DEPTH && typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name]);
      return;
    }
    const text = canonicalJson(normalised(value, path, dropped, rules.texts));
    digest[path.join('.')] = sha256(text).slice(0, 16);
  };
  if (body !== undefined) visit(body, []);
  return digest;
}

function isDropped(path: readonly string[], dropped: readonly (readonly string[])[]): boolean {
  return dropped.some(
    (rule) => rule.length === path.length && rule.every((name, at) => name === '*' || name === path[at]),
  );
}

function normalised(
  value: unknown,
  path: readonly string[],
  dropped: readonly (readonly string[])[],
  texts: readonly TextRule[],
): unknown {
  if (typeof value === 'string')
    return texts.reduce((text, { pattern, placeholder }) => text.replace(pattern, placeholder), value);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value)
    .map(([name, one]) => [name, [...path, name], one] as const)
    .filter(([, at]) => !isDropped(at, dropped))
    .map(([name, at, one]) => [name, normalised(one, at, dropped, texts)] as const);
  return Array.isArray(value) ? inner.map(([, one]) => one) : Object.fromEntries(inner);
}

/** Parts in which two requests differ, those of the first request first. */
export function differencesOf(asked: RequestDigest, recorded: RequestDigest): readonly string[] {
  return [...new Set([...Object.keys(asked), ...Object.keys(recorded)])].filter(
    (part) => asked[part] !== recorded[part],
  );
}
