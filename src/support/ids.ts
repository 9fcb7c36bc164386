import { hashOf } from './hashing.js';

/**
 * Encodes free text (model names hold `:` and `/`) as one safe path segment.
 * Reversible: everything but letters, digits, `.` and `_` and inner `-` becomes `~xx` per UTF-8 byte.
 */
export function encodeSegment(text: string): string {
  const encoded = [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._-]/.test(character) ? character : `~${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
  return encoded.startsWith('.') ? `~2e${encoded.slice(1)}` : encoded;
}

/** The text that `encodeSegment` made this segment of; undefined for a segment that it never makes. */
export function decodeSegment(segment: string): string | undefined {
  const bytes: number[] = [];
  for (const [part, code] of segment.matchAll(/~([0-9a-f]{2})|./gsu)) {
    bytes.push(...(code === undefined ? Buffer.from(part, 'utf8') : [Number.parseInt(code, 16)]));
  }
  const text = Buffer.from(bytes).toString('utf8');
  return segment !== '' && encodeSegment(text) === segment ? text : undefined;
}

/** First `length` hex digits of the hash of a value. */
export function shortHash(value: unknown, length = 12): string {
  return hashOf(value).slice(0, length);
}
