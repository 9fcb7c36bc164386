import type { Register } from './text-context.js';
import { addHits, type TextSanitiser } from './text-sanitiser.js';

/** Keys whose whole value, or whose members, are hashes. */
const HASH_KEY = /hash|sha256|digest/i;
const HASH = /^(?:sha256:)?[0-9a-f]{64}$/;

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What is done with the parts of a record; the same walk sanitises and scans. */
export interface RecordWalk {
  readonly text: (text: string, register: Register) => string;
  /** A number that stands under the name of an identifier column. */
  readonly identifier: (value: number) => Json;
  readonly identifierNames: ReadonlySet<string>;
}

const MAX_DEPTH = 100;

/**
 * Walks a record of a run. Numbers are measurements and stay, but for those under the name of an identifier column
 * and those in lists below one; hashes under a key that says so stay; every other text and every key is handed out.
 */
export function walkRecord(value: Json, walk: RecordWalk, key = '', depth = 0): Json {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') {
    if (HASH_KEY.test(key) && HASH.test(value)) return value;
    return walk.text(value, registerOf(key));
  }
  if (typeof value === 'number')
    return walk.identifierNames.has(key.toLowerCase()) ? walk.identifier(value) : value;
  if (value === null || typeof value !== 'object') return value;
  // Members of a list, and of an object below a hash key, are judged under the name of their list.
  if (Array.isArray(value)) return value.map((member: Json) => walkRecord(member, walk, key, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      walk.text(name, 'prose'),
      walkRecord(member, walk, HASH_KEY.test(key) ? key : name, depth + 1),
    ]),
  );
}

function registerOf(key: string): Register {
  return /^(?:command|input|sql|query|code|script)$/i.test(key) ? 'code' : 'prose';
}

/** The walk that sanitises. `exempt` are texts of the plan (run ids), which were judged once and for all. */
export function sanitisingWalk(
  sanitiser: TextSanitiser,
  hits: Map<string, number>,
  exempt: ReadonlySet<string> = new Set(),
): RecordWalk {
  const names = sanitiser.context.databases.flatMap((database) => database.names);
  return {
    text: (text, register) => {
      if (exempt.has(text)) return text;
      const done = sanitiser.sanitise(text, register);
      addHits(hits, done.hits);
      return done.text;
    },
    identifier: (value) => {
      addHits(hits, new Map([['named-identifiers', 1]]));
      const prefix = sanitiser.context.prefixOf(String(value));
      return prefix === undefined ? '<id>' : (sanitiser.context.pseudonym?.(prefix, String(value)) ?? '<id>');
    },
    identifierNames: new Set(names),
  };
}

/** The same walk for a record that people wrote: a plan. */
export function reviewedWalk(walk: RecordWalk): RecordWalk {
  return { ...walk, text: (text) => walk.text(text, 'reviewed') };
}

/** A record as this project writes it: indented, with a final newline. */
export function recordText(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
