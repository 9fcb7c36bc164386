import { describe, expect, it } from 'vitest';
import { benjaminiHochberg, holm } from './multiplicity.js';
import { binomial, signFlipTest, stratifiedPermutationTest } from './sign-flip.js';

// Darwin's maize pairs, eighths of an inch (Fisher 1935, section 21): 863 of 2^15 sign patterns reach the sum 314.
const maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];

describe('the sign-flip test', () => {
  it("gives Fisher's count for Darwin's maize", () => {
    expect(signFlipTest(maize)).toEqual({ p: 1726 / 32768, isExact: true });
  });

  it('comes close to it when sampled, from either stream', () => {
    for (const rng of ['published', 'modern'] as const) {
      const sampled = signFlipTest(maize, { exactUpTo: 0, rng, draws: 100_000 });
      expect(sampled.isExact).toBe(false);
      // Four standard errors of a share of 0.0527 in 100,000 draws.
      expect(Math.abs(sampled.p - 1726 / 32768)).toBeLessThan(0.0029);
    }
  });

  it('cannot be smaller than two sign patterns when all values agree', () => {
    expect(signFlipTest([0.1, 0.2, 0.3]).p).toBe(2 / 8);
    expect(signFlipTest([0, 0, 0]).p).toBe(1);
  });
});

describe('the permutation test of one task', () => {
  it('counts relabellings by hand', () => {
    // {1, 2} against {3, 4}: differences of the 6 relabellings are +-2, +-1, 0, 0; two reach 2.
    expect(stratifiedPermutationTest([{ baseline: [1, 2], treatment: [3, 4] }])).toEqual({
      p: 2 / 6,
      isExact: true,
    });
    // Two such models: the sum reaches 4 only when both do, with the same sign: 2 of 36.
    const twice = [
      { baseline: [1, 2], treatment: [3, 4] },
      { baseline: [1, 2], treatment: [3, 4] },
    ];
    expect(stratifiedPermutationTest(twice).p).toBeCloseTo(2 / 36, 12);
  });

  it('agrees with itself when sampled', () => {
    const arms = [{ baseline: [0.1, 0.4, 0.35, 0.2, 0.3], treatment: [0.5, 0.3, 0.45, 0.6, 0.25] }];
    const exact = stratifiedPermutationTest(arms);
    const sampled = stratifiedPermutationTest(arms, { exactUpTo: 1, draws: 40_000 });
    expect(exact.isExact).toBe(true);
    expect(sampled.isExact).toBe(false);
    expect(Math.abs(sampled.p - exact.p)).toBeLessThan(0.01);
  });

  it('finds nothing where nothing differs', () => {
    expect(stratifiedPermutationTest([{ baseline: [1, 1], treatment: [1, 1] }]).p).toBe(1);
    expect(stratifiedPermutationTest([{ baseline: [], treatment: [1] }]).p).toBeNaN();
  });
});

describe('multiplicity', () => {
  // Benjamini and Hochberg 1995, section 4.1: 15 tests; Bonferroni-type methods reject 3 at 0.05, theirs rejects 4.
  const thrombolysis = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528,
    0.759, 1,
  ];

  it('rejects as many as published', () => {
    expect(benjaminiHochberg(thrombolysis).filter((p) => p <= 0.05)).toHaveLength(4);
    expect(holm(thrombolysis).filter((p) => p <= 0.05)).toHaveLength(3);
  });

  it('gives adjusted values worked out by hand, in the order given', () => {
    // Holm: 0.01 x 4, then max(0.04, 0.02 x 3), max(0.06, 0.03 x 2), max(0.06, 0.04).
    expect(holm([0.04, 0.01, 0.03, 0.02]).map((p) => p.toFixed(4))).toEqual([
      '0.0600',
      '0.0400',
      '0.0600',
      '0.0600',
    ]);
    // Benjamini-Hochberg: 0.01 x 4, 0.02 x 2, 0.03 x 4/3, 0.04: all 0.04.
    expect(benjaminiHochberg([0.04, 0.01, 0.03, 0.02]).map((p) => p.toFixed(4))).toEqual(
      new Array(4).fill('0.0400'),
    );
    expect(holm([0.01, Number.NaN])).toEqual([0.01, Number.NaN]);
    // NaN is no test: two are left. 0.03 x 2, then 0.5 but not less; Benjamini-Hochberg 0.5 and 0.03 x 2.
    expect(holm([0.5, Number.NaN, 0.03])).toEqual([0.5, Number.NaN, 0.06]);
    expect(benjaminiHochberg([0.5, Number.NaN, 0.03])).toEqual([0.5, Number.NaN, 0.06]);
    // 0.5 x 3 stops at 1. Scaled 0.09, 0.0465, 0.032: the smallest of those from each rank on.
    expect(holm([0.5, 0.5, 0.5])).toEqual([1, 1, 1]);
    expect(benjaminiHochberg([0.03, 0.031, 0.032]).map((p) => p.toFixed(4))).toEqual([
      '0.0320',
      '0.0320',
      '0.0320',
    ]);
    expect(benjaminiHochberg([0.001, 0.5, 0.9])[0]).toBeCloseTo(0.003, 12);
  });
});

it('counts combinations', () => {
  expect(binomial(10, 5)).toBe(252);
  expect(binomial(3, 4)).toBe(0);
  expect(binomial(7, 0)).toBe(1);
  expect(binomial(3, -1)).toBe(0);
  expect(binomial(60, 58)).toBe(1770);
  expect(binomial(60, 30)).toBe(118_264_581_564_861_420);
});
