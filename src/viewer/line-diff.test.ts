import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiffLine, lineDiff } from './line-diff.js';

const short = (lines: readonly DiffLine[]): readonly string[] =>
  lines.map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

describe('a comparison of two texts', () => {
  it('keeps what is the same and names what was taken away and added', () => {
    expect(short(lineDiff('a\nb\nc\nd', 'a\nx\nc\nd\ne'))).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(short(lineDiff('', 'a'))).toEqual(['-', '+a']);
    expect(short(lineDiff('a', 'a'))).toEqual([' a']);
  });

  it('finds the shortest way: of abcabba to cbabac five changes (Myers 1986, figure 1)', () => {
    const lines = lineDiff([...'abcabba'].join('\n'), [...'cbabac'].join('\n'));
    expect(lines.filter(({ kind }) => kind !== 'same')).toHaveLength(5);
  });

  it('gives back both texts for any two texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const side = (kind: DiffLine['kind']): string =>
          lines
            .filter((line) => line.kind === 'same' || line.kind === kind)
            .map((line) => line.text)
            .join('\n');
        expect([side('removed'), side('added')]).toEqual([before, after]);
      }),
    );
  });

  it('stays whole and quick where everything differs', () => {
    const before = Array.from({ length: 5_000 }, (_, i) => `old ${i}`).join('\n');
    const after = Array.from({ length: 5_000 }, (_, i) => `new ${i}`).join('\n');
    const lines = lineDiff(before, after);
    expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(5_000);
    expect(lines.filter(({ kind }) => kind === 'added')).toHaveLength(5_000);
  });
});
