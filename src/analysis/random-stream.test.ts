import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { numericSeed, randomStream, resampler } from './random-stream.js';

const take = (count: number, next: () => number): readonly number[] => Array.from({ length: count }, next);

describe('the published stream', () => {
  // Vectors of the analysis specification.
  const vectors = [
    {
      seed: 20260504,
      words: [921471631, 911093446, 1011002589, 1006785947],
      below: {
        28: [6, 6, 7, 7, 10, 18, 20, 11, 11, 3, 11, 7],
        15: [3, 3, 3, 3, 5, 9, 10, 5, 5, 1, 5, 3],
        8: [3, 3, 3, 3, 5, 5, 5, 1, 5, 3, 1, 2],
        2: [0, 0, 0, 0, 1, 1, 1, 0, 1, 0],
      },
    },
    {
      seed: 20260505,
      words: [1471263329, 2500488128, 2849934506, 2748684762],
      below: {
        28: [10, 18, 21, 20, 24, 9, 17, 7, 8, 9, 6, 16],
        15: [5, 9, 10, 10, 12, 4, 8, 14, 3, 14, 4, 4],
        8: [5, 4, 3, 4, 4, 3, 1, 6, 0, 7, 0, 0],
      },
    },
    {
      seed: 20260506,
      words: [692677029, 107658581, 2607946567, 2092546401],
      below: {
        28: [5, 0, 19, 15, 7, 19, 15, 20, 14, 3, 1, 4],
        15: [2, 0, 9, 7, 3, 9, 7, 10, 7, 1, 0, 2],
        8: [2, 0, 7, 3, 7, 7, 1, 0, 2, 6, 7, 2],
      },
    },
  ];

  it.each(vectors)('gives the specified words and indices for seed $seed', ({ seed, words, below }) => {
    const stream = randomStream('published', seed);
    expect(take(4, stream.uint32)).toEqual(words);
    for (const [bound, indices] of Object.entries(below)) {
      const fresh = randomStream('published', seed);
      expect(take(indices.length, () => fresh.below(Number(bound)))).toEqual(indices);
    }
  });
});

describe('the modern stream', () => {
  it('gives the words of xoshiro128** for the state that its seed hashes to', () => {
    // Blackman and Vigna 2018, in whole numbers of any size: the state is the first 128 bits of the hash.
    const bytes = createHash('sha256').update('m4bench-resampling:5').digest();
    const state = [0, 4, 8, 12].map((at) => BigInt(bytes.readUInt32LE(at)));
    const word = (value: bigint): bigint => BigInt.asUintN(32, value);
    const rotated = (value: bigint, by: bigint): bigint => word((value << by) | (value >> (32n - by)));
    const next = (): number => {
      const [a, b, c, d] = state as [bigint, bigint, bigint, bigint];
      const result = word(rotated(word(b * 5n), 7n) * 9n);
      const [c2, d2] = [c ^ a, d ^ b];
      state.splice(0, 4, a ^ d2, b ^ c2, c2 ^ word(b << 9n), rotated(d2, 11n));
      return Number(result);
    };
    const stream = randomStream('modern', 5);
    expect(take(200, stream.uint32)).toEqual(take(200, next));
  });

  it('keeps the high word of a product, and draws again where a low word would favour small values', () => {
    // Whole numbers of any size; 2^32 leaves 1,167,296 over 1,400,000, so that about 1 word in 3,700 is drawn again.
    for (const bound of [1, 3, 28, 1_400_000]) {
      const words = randomStream('modern', 11);
      let again = 0;
      const exact = (): number => {
        for (;;) {
          const product = BigInt(words.uint32()) * BigInt(bound);
          if (product % 2n ** 32n >= 2n ** 32n % BigInt(bound)) return Number(product >> 32n);
          again += 1;
        }
      };
      const stream = randomStream('modern', 11);
      const count = bound > 1000 ? 20_000 : 500;
      // Compared as one text: a difference in a long list takes long to print.
      expect(take(count, () => stream.below(bound)).join() === take(count, exact).join()).toBe(true);
      if (bound > 1000) expect(again).toBeGreaterThan(0);
    }
  });

  it('has the first 32 bits of its hash as the number of a text', () => {
    expect(numericSeed(7)).toBe(7);
    // SHA-256 of `abc` begins with ba7816bf (FIPS 180-4).
    expect(numericSeed('abc')).toBe(0xba7816bf);
  });

  it('is the same for equal seeds and another for other seeds', () => {
    const words = (seed: number): readonly number[] => take(20, randomStream('modern', seed).uint32);
    expect(words(1)).toEqual(words(1));
    expect(words(1)).not.toEqual(words(2));
  });

  it('draws every index about equally often', () => {
    const stream = randomStream('modern', 7);
    const counts = new Array<number>(28).fill(0);
    for (let draw = 0; draw < 280_000; draw += 1) counts[stream.below(28)]! += 1;
    // Chi-square with 27 degrees of freedom: 55.5 is its 99.9 % quantile.
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chiSquare).toBeLessThan(55.5);
  });
});

describe('a resampler', () => {
  it('draws below the number of units and remembers what it drew', () => {
    const drawing = resampler({ resamples: 100, rng: 'published' });
    const first = drawing.draws(28, 20260504);
    expect(first).toHaveLength(2800);
    expect([...first.subarray(0, 5)]).toEqual([6, 6, 7, 7, 10]);
    expect(Math.max(...first)).toBeLessThan(28);
    expect(drawing.draws(28, 20260504)).toBe(first);
  });

  it('refuses a number of resamples that is none', () => {
    expect(() => resampler({ resamples: 0 })).toThrow(RangeError);
  });
});
