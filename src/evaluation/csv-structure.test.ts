import { describe, expect, it } from 'vitest';
import { PlainCsvCheck, Utf8Check } from './csv-structure.js';
import { Refusal } from './refusal.js';

const mebibyte = 1024 ** 2;

describe('UTF-8', () => {
  const refusal = (...pieces: readonly (string | readonly number[])[]) => {
    const check = new Utf8Check();
    try {
      for (const piece of pieces) check.add(Buffer.from(piece as string));
      check.end();
    } catch (thrown) {
      if (thrown instanceof Refusal) return [thrown.kind, thrown.message];
      throw thrown;
    }
    return undefined;
  };

  // Lead bytes c3, e2, e0 and f0; the second byte of the ellipsis is 80, the lowest of a continuation.
  it.each(['é', '€', '…', 'ก', '😀', 'aé€😀'])('may be split inside %s', (text) => {
    const bytes = [...Buffer.from(text)];
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const pieces = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
        expect(refusal(...pieces)).toBeUndefined();
      }
    }
  });

  it.each(['é', '€', '…', 'ก', '😀'])('does not end inside %s', (text) => {
    const bytes = [...Buffer.from(text)];
    for (let kept = 1; kept < bytes.length; kept++) {
      expect(refusal('ab', bytes.slice(0, kept))).toEqual([
        'output-unreadable',
        'The file is not valid UTF-8 text (near byte 3).',
      ]);
    }
  });

  it('is refused at the piece in which it breaks, counted from the start of the file', () => {
    expect(refusal('abc', 'de', [0x66, 0xff, 0x67])).toEqual([
      'output-unreadable',
      'The file is not valid UTF-8 text (near byte 6).',
    ]);
    // A continuation without its lead, a lead without its continuation, an overlong slash, half a surrogate pair.
    for (const bytes of [[0x80], [0xc3, 0x61], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x80, 0x80, 0x80, 0x80]]) {
      expect(refusal(bytes)?.[0]).toBe('output-unreadable');
    }
  });
});

describe('a plainly written file', () => {
  const factsOf = (...pieces: readonly (string | Uint8Array)[]) => {
    const check = new PlainCsvCheck();
    for (const piece of pieces) {
      check.add(Buffer.from(piece as string));
      if (!check.isPlain) return undefined;
    }
    return check.end();
  };

  it('has equal commas in every line, line feeds, no quotes and no blank lines', () => {
    expect(factsOf('a,b\n1,2\n3,\n')).toEqual({ header: ['a', 'b'], hasOddNumbers: false });
    expect(factsOf('\ufeffa,b\n1,2\n3,4')).toEqual({ header: ['a', 'b'], hasOddNumbers: false });
    expect(factsOf('a,b\n')).toEqual({ header: ['a', 'b'], hasOddNumbers: false });
  });

  it('may hold blanks, signs and any other character below the comma or above it', () => {
    expect(factsOf("a,b\n 1\t!,#$%&'()*+\n-./:;,\u0001\u001f\u007f\n")).toBeDefined();
    // Begins with the byte ef, as a byte-order mark does.
    expect(factsOf('a,b\nﬁne,！\n1,2 is enough\n')).toBeDefined();
  });

  it.each([
    ['short line', 'a,b\n1\n'],
    ['long line', 'a,b\n1,2,3\n'],
    ['short last line', 'a,b\n1,2\n3'],
    ['long last line', 'a,b\n1,2\n3,4,5'],
    ['quote', 'a,b\n"1",2\n'],
    ['quote in the header', '"a",b\n1,2\n'],
    ['CRLF', 'a,b\r\n1,2\r\n'],
    ['CR in the data', 'a,b\n1,2\r\n'],
    ['CR in the header', 'a\r,b\n1,2\n'],
    ['NUL', 'a,b\n1\u0000,2\n'],
    ['NUL in the header', 'a\u0000,b\n1,2\n'],
    ['blank line', 'a,b\n\n1,2\n'],
    ['blank line before the header', '\na,b\n1,2\n'],
    ['line of blanks before the header', '  \na,b\n1,2\n'],
    ['a mark inside', 'a,b\n\ufeff1,2\n'],
    ['two marks', '\ufeff\ufeffa,b\n1,2\n'],
    ['one column', 'a\n1\n'],
    ['no line feed', 'a,b'],
    ['nothing', ''],
  ])('is not one with a %s', (_name, content) => {
    expect(factsOf(content)).toBeUndefined();
  });

  it('may come in pieces that are cut anywhere', () => {
    const whole = Buffer.from('stay_id,b\n1,2\n3,4\n5,6\n');
    const header = ['stay_id', 'b'];
    for (let cut = 1; cut < whole.length; cut++) {
      expect(factsOf(whole.subarray(0, cut), whole.subarray(cut))).toEqual({ header, hasOddNumbers: false });
    }
    expect(factsOf('a,b\n1,', '2', ',3\n')).toBeUndefined();
    expect(factsOf('a,b\n', '1,2\n', '3')).toBeUndefined();
    expect(factsOf('\n', 'a,b\n1,2\n')).toBeUndefined();
  });

  it('may have its header in two pieces, not in more', () => {
    expect(factsOf('a', ',b\n1,2\n')).toBeDefined();
    expect(factsOf('a', ',b', '\n1,2\n')).toBeUndefined();
  });

  it('has no byte-order mark at the start or end of a piece', () => {
    expect(factsOf('a,b\n', '\ufeff1,2\n')).toBeUndefined();
    expect(factsOf('a,b\n1,2\n', Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf))).toBeUndefined();
    expect(factsOf('a,b\n1,2\n', Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xbf))).toBeUndefined();
  });

  it.each([
    ['an underscore', ['a,b\n1_0,2\n']],
    ['a sign after a plus', ['a,b\n+-3,2\n']],
    ['both', ['a,b\n+-3,1_0\n']],
    ['a sign after a plus, cut between them', ['a,b\n+', '-3,2\n']],
    ['an underscore before other pieces', ['a,b\n1_0,2\n', '3,4\n']],
  ])('tells when numbers may hold %s', (_name, pieces) => {
    expect(factsOf(...pieces)?.hasOddNumbers).toBe(true);
  });

  it('has lines of at most 1 MiB', () => {
    const line = (bytes: number) => `a,b\n1,${'x'.repeat(bytes - 2)}`;
    expect(factsOf(`${line(mebibyte)}\n`)).toBeDefined();
    expect(factsOf(line(mebibyte))).toBeDefined();
    expect(factsOf(`${line(mebibyte + 1)}\n`)).toBeUndefined();
    expect(factsOf(line(mebibyte + 1))).toBeUndefined();
    const [half, rest] = ['x'.repeat(600_000), `${'x'.repeat(600_000)}\n`];
    expect(factsOf(`a,b\n1,${half}`, rest)).toBeUndefined();
    expect(factsOf(`a,b\n1,${half}\n`, `3,${rest}`)).toBeDefined();
    // Many short lines in one piece are no long line.
    expect(factsOf(`a,b\n${'12345,67\n'.repeat(200_000)}`)).toBeDefined();
  });

  it('has 2 to 1000 columns', () => {
    const columns = (count: number) => `${'a,'.repeat(count - 1)}a\n`;
    expect(factsOf(columns(2))).toBeDefined();
    expect(factsOf(columns(1000))).toBeDefined();
    expect(factsOf(columns(1001))).toBeUndefined();
  });
});
