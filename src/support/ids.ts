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

/** First `length` hex digits of the hash of a value. */
export function shortHash(value: unknown, length = 12): string {
  return hashOf(value).slice(0, length);
}
