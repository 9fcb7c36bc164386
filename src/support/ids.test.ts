import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSegment, encodeSegment } from './ids.js';

describe('text as a path segment', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        expect(encodeSegment(text)).toMatch(/^[A-Za-z0-9._~-]+$/);
        expect(decodeSegment(encodeSegment(text))).toBe(text);
      }),
    );
    expect(encodeSegment('gpt-5/ü')).toBe('gpt-5~2f~c3~bc');
    expect(decodeSegment('gpt-5~2f~c3~bc')).toBe('gpt-5/ü');
  });

  it('is none where it could not have been made', () => {
    for (const segment of ['', '..', '~2', '~41', 'a b', '~zz', '~c3']) {
      expect(decodeSegment(segment)).toBeUndefined();
    }
  });
});
