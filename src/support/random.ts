import { sha256 } from './hashing.js';

/** A seeded stream of uniform numbers (xoshiro128**, Blackman and Vigna 2018). Not for secrets. */
export interface SeededRandom {
  /** Uniform in [0, 1) with 53 bits. */
  next(): number;
  /** Uniform integer in [0, bound). */
  integer(bound: number): number;
}

/** Equal seeds give equal streams on every machine. */
export function seededRandom(seed: string | number): SeededRandom {
  const digest = Buffer.from(sha256(`m4bench-random:${seed}`), 'hex');
  let [a, b, c, d] = [
    digest.readUInt32LE(0),
    digest.readUInt32LE(4),
    digest.readUInt32LE(8),
    digest.readUInt32LE(12),
  ];
  const rotate = (value: number, by: number): number => ((value << by) | (value >>> (32 - by))) >>> 0;
  const uint32 = (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5) >>> 0, 7), 9) >>> 0;
    const shifted = (b << 9) >>> 0;
    c = (c ^ a) >>> 0;
    d = (d ^ b) >>> 0;
    b = (b ^ c) >>> 0;
    a = (a ^ d) >>> 0;
    c = (c ^ shifted) >>> 0;
    d = rotate(d, 11);
    return result;
  };
  const next = (): number => ((uint32() >>> 5) * 67108864 + (uint32() >>> 6)) / 9007199254740992;
  return {
    next,
    integer: (bound) => {
      // Rejection keeps every value equally likely.
      const limit = 4294967296 - (4294967296 % bound);
      let drawn = uint32();
      while (drawn >= limit) drawn = uint32();
      return drawn % bound;
    },
  };
}
