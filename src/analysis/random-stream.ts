import { sha256 } from '../support/hashing.js';

/**
 * Which stream resampling draws from: `published` is the Mersenne Twister stream that the published intervals were
 * computed with, `modern` (xoshiro128**, Blackman and Vigna 2018) is faster and the default of new analyses.
 */
export type RandomKind = 'published' | 'modern';

/** A seeded stream of uniform whole numbers. Not for secrets. */
export interface RandomStream {
  /** Uniform in [0, 2^32). */
  uint32(): number;
  /** Uniform whole number in [0, bound), bound from 1 to 2^21: a word times the bound stays below 2^53. */
  below(bound: number): number;
}

/** Equal kinds and seeds give equal streams on every machine. */
export function randomStream(kind: RandomKind, seed: number): RandomStream {
  return kind === 'published' ? mersenneTwister(seed) : xoshiro(seed);
}

/** A seed as a number: a text becomes the first 32 bits of its hash. */
export function numericSeed(seed: number | string): number {
  return typeof seed === 'number' ? seed : Number.parseInt(sha256(seed).slice(0, 8), 16);
}

const stateSize = 624;

/** MT19937 state, seeded by array with the one 32-bit word `seed` (Matsumoto and Nishimura 1998, 2002). */
function seededState(seed: number): Uint32Array {
  const state = new Uint32Array(stateSize);
  state[0] = 19650218;
  const mixed = (index: number): number => {
    const previous = state[index - 1]!;
    return (previous ^ (previous >>> 30)) >>> 0;
  };
  for (let index = 1; index < stateSize; index += 1)
    state[index] = Math.imul(1812433253, mixed(index)) + index;
  let index = 1;
  const advance = (): void => {
    index += 1;
    if (index < stateSize) return;
    state[0] = state[stateSize - 1]!;
    index = 1;
  };
  for (let round = 0; round < stateSize; round += 1) {
    state[index] = (state[index]! ^ Math.imul(mixed(index), 1664525)) + (seed >>> 0);
    advance();
  }
  for (let round = 0; round < stateSize - 1; round += 1) {
    state[index] = (state[index]! ^ Math.imul(mixed(index), 1566083941)) - index;
    advance();
  }
  state[0] = 0x80000000;
  return state;
}

function mersenneTwister(seed: number): RandomStream {
  const state = seededState(seed);
  let position = stateSize;
  const refill = (): void => {
    for (let index = 0; index < stateSize; index += 1) {
      const joined = (state[index]! & 0x80000000) | (state[(index + 1) % stateSize]! & 0x7fffffff);
      const twist = joined & 1 ? 0x9908b0df : 0;
      state[index] = state[(index + 397) % stateSize]! ^ (joined >>> 1) ^ twist;
    }
    position = 0;
  };
  const uint32 = (): number => {
    if (position >= stateSize) refill();
    let word = state[position]!;
    position += 1;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    return word >>> 0;
  };
  return {
    uint32,
    below: (bound) => {
      // The leading bit_length(bound) bits of an output; values that are too large are drawn again.
      const shift = Math.clz32(bound);
      let drawn = uint32() >>> shift;
      while (drawn >= bound) drawn = uint32() >>> shift;
      return drawn;
    },
  };
}

function xoshiro(seed: number): RandomStream {
  const digest = Buffer.from(sha256(`m4bench-resampling:${seed}`), 'hex');
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let d = digest.readInt32LE(12);
  const uint32 = (): number => {
    const scaled = Math.imul(b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  return {
    uint32,
    below: (bound) => {
      // Multiply and keep the high word; the few low words that would favour small values are drawn again
      // (Lemire 2019).
      for (;;) {
        const product = uint32() * bound;
        const high = (product * 2 ** -32) | 0;
        const low = product - high * 4294967296;
        if (low >= bound || low >= 4294967296 % bound) return high;
      }
    },
  };
}

/** Draws with replacement, shared by every interval over equally many units from the same seed. */
export interface Resampler {
  readonly resamples: number;
  readonly kind: RandomKind;
  /** `resamples` rows of `units` indices below `units`, flat; from a fresh stream of `seed`. */
  draws(units: number, seed: number): Uint32Array;
}

export interface ResamplerOptions {
  /** Default 20,000. */
  readonly resamples?: number;
  /** Default `modern`. */
  readonly rng?: RandomKind;
}

/** Remembers what it has drawn: every interval starts a fresh stream, so equal sizes and seeds have equal draws. */
export function resampler(options: ResamplerOptions = {}): Resampler {
  const resamples = options.resamples ?? 20_000;
  const kind = options.rng ?? 'modern';
  if (!Number.isInteger(resamples) || resamples < 1)
    throw new RangeError(`The number of resamples must be a positive whole number, not ${resamples}.`);
  const drawn = new Map<string, Uint32Array>();
  return {
    resamples,
    kind,
    draws: (units, seed) => {
      const key = `${units} ${seed}`;
      const known = drawn.get(key);
      if (known !== undefined) return known;
      const stream = randomStream(kind, seed);
      const indices = new Uint32Array(units * resamples);
      for (let index = 0; index < indices.length; index += 1) indices[index] = stream.below(units);
      drawn.set(key, indices);
      return indices;
    },
  };
}
