import { describe, expect, it } from 'vitest';
import {
  bcaInterval,
  familyBalancedInterval,
  familyClusterInterval,
  hierarchicalInterval,
  percentileInterval,
  percentilesOf,
  resampledMeans,
  studentInterval,
  studentisedInterval,
  taskBootstrap,
} from './bootstrap.js';
import { type Resampler, randomStream, resampler } from './random-stream.js';
import { kendallTau, midRanks, rankStability } from './rank-stability.js';
import { signFlipTest, stratifiedPermutationTest } from './sign-flip.js';

/** A resampler that draws what it is told: one list of indices per draw. */
const drawn = (...draws: readonly (readonly number[])[]): Resampler => ({
  resamples: draws.length,
  kind: 'modern',
  draws: () => Uint32Array.from(draws.flat()),
});
const times = (count: number, draw: readonly number[]): readonly (readonly number[])[] =>
  new Array<readonly number[]>(count).fill(draw);

describe('bootstraps over draws written by hand', () => {
  it('percentiles are elements of the sorted draws, and the draws stay as they are', () => {
    // 40 draws: elements 1 and 39.
    const draws = Float64Array.from({ length: 40 }, (_, index) => (index * 7) % 40);
    const before = [...draws];
    expect(percentilesOf(draws)).toEqual({ low: 1, high: 39 });
    expect([...draws]).toEqual(before);
  });

  it('means of the values drawn', () => {
    expect([...resampledMeans([1, 2, 6], drawn([0, 0, 0], [0, 1, 2], [2, 2, 1]), 0)]).toEqual([1, 3, 14 / 3]);
  });

  it('means of all task values of the families drawn, and of the family means', () => {
    const families = [
      { name: 'a', values: [1, 3] },
      { name: 'b', values: [5] },
    ];
    expect(familyClusterInterval(families, drawn([0, 1]), 0)).toEqual({ low: 3, high: 3 });
    expect(familyClusterInterval(families, drawn([0, 0], [1, 1]), 0)).toEqual({ low: 2, high: 5 });
    expect(familyBalancedInterval(families, drawn([0, 1]), 0)).toEqual({ low: 3.5, high: 3.5 });
  });

  it('nothing comes of nothing', () => {
    const none = drawn([]);
    expect(percentileInterval([], none, 0)).toBeUndefined();
    expect(taskBootstrap([])).toBeUndefined();
    expect(familyClusterInterval([], none, 0)).toBeUndefined();
    expect(familyBalancedInterval([], none, 0)).toBeUndefined();
    expect(hierarchicalInterval([], none, 0)).toBeUndefined();
    expect(bcaInterval([1], drawn([0]), 0)).toBeUndefined();
    expect(studentisedInterval([1, 2], drawn([0, 1]), 0)).toBeUndefined();
    expect(studentInterval([1])).toBeUndefined();
  });

  it('BCa of any statistic: bias from the draws, acceleration from the jackknife, ends between them', () => {
    // Digits base 3: every sample of three has its own number from 0 to 26, so that the sorted draws are their places.
    const statistic = (sample: readonly number[]): number =>
      sample.reduce((sum, digit) => 3 * sum + digit, 0);
    const every = Array.from({ length: 27 }, (_, code) => [
      Math.floor(code / 9),
      Math.floor(code / 3) % 3,
      code % 3,
    ]);
    const interval = bcaInterval([0, 1, 2], drawn(...every.toReversed()), 0, statistic)!;
    // Estimate 5: five draws below and one equal, normal quantile of 5.5/27. Left out in turn 5, 2, 1: mean 8/3, cubes
    // (-343 + 8 + 125)/27, squares 78/9. Ends at the shares 0.00002 and 0.59541 of 27.
    expect(interval.bias).toBeCloseTo(-0.828464, 5);
    expect(interval.acceleration).toBeCloseTo(-210 / 27 / (6 * (78 / 9) ** 1.5), 12);
    expect([interval.low, interval.high]).toEqual([0, 16]);
    // Drawn in this order, 1 and 15: neither reversed nor shifted into one another.
    expect(bcaInterval([0, 1, 2], drawn([0, 0, 1], [1, 2, 0]), 0, statistic)).toMatchObject({
      low: 1,
      high: 15,
    });
  });

  it('BCa of the mean counts ties as half, and its bias stays finite', () => {
    // 0, 0, 3: estimate 1. Left out in turn 1.5, 1.5, 0: mean 1, cubes 0.75, squares 1.5.
    const values = [0, 0, 3];
    const acceleration = 0.75 / (6 * 1.5 ** 1.5);
    // One draw below, two equal, one above: a share of a half.
    const balanced = bcaInterval(values, drawn([0, 0, 0], [0, 1, 2], [2, 0, 0], [2, 2, 2]), 0)!;
    expect(balanced.bias).toBeCloseTo(0, 10);
    expect(balanced.acceleration).toBeCloseTo(acceleration, 12);
    const above = bcaInterval(values, drawn([0, 2, 2], [2, 2, 2]), 0)!;
    // Half a draw of two: normal quantile of 0.25.
    expect(above.bias).toBeCloseTo(-0.67449, 5);
    const below = bcaInterval(values, drawn([0, 0, 0], [1, 1, 1]), 0)!;
    expect(below.bias).toBeCloseTo(0.67449, 5);
    expect([below.low, below.high]).toEqual([0, 0]);
  });

  it('the same value everywhere is an interval without width', () => {
    const value = 0.1 + 0.2;
    const constant = [value, 0.3, value];
    expect(bcaInterval(constant, drawn([1, 1, 1]), 0)).toEqual({
      low: (value + 0.3 + value) / 3,
      high: (value + 0.3 + value) / 3,
      bias: 0,
      acceleration: 0,
    });
    expect(studentisedInterval(constant, drawn([1, 1, 1]), 0)).toEqual({
      low: (value + 0.3 + value) / 3,
      high: (value + 0.3 + value) / 3,
    });
    // Zeros, and values that differ by more than rounding.
    expect(bcaInterval([0, 0], drawn([0, 1]), 0)).toEqual({ low: 0, high: 0, bias: 0, acceleration: 0 });
    expect(bcaInterval([-1, 1], drawn([0, 0], [1, 1]), 0)).toMatchObject({ low: -1, high: 1 });
    expect(bcaInterval([1, 1.001], drawn([0, 0], [1, 1]), 0)).toMatchObject({ low: 1, high: 1.001 });
    // However small, and next to zero.
    expect(bcaInterval([1e-13, 3e-13], drawn([0, 0], [1, 1]), 0)).toMatchObject({ low: 1e-13, high: 3e-13 });
    expect(bcaInterval([0, 1e-13], drawn([0, 0], [1, 1]), 0)).toMatchObject({ low: 0, high: 1e-13 });
  });

  it('studentised: quantiles of shift over standard error, infinite without spread', () => {
    // 0, 2, 4: mean 2, standard error 2/sqrt(3). Draw 0, 0, 2 has mean 2/3 and standard error 2/3: ratio -2; 4, 4, 2 has
    // 2; 0, 2, 4 and 2, 2, 2 have 0; 0, 0, 0 is infinitely far. 40 draws: elements 1 and 39.
    const same = times(36, [0, 1, 2]);
    const half = (2 * 2) / Math.sqrt(3);
    const interval = studentisedInterval(
      [0, 2, 4],
      drawn([2, 2, 1], [1, 1, 1], ...same, [0, 0, 1], [0, 0, 0]),
      0,
    )!;
    expect(interval.low).toBeCloseTo(2 - half, 12);
    expect(interval.high).toBeCloseTo(2 + half, 12);
    // -0, from a draw without spread and shift, is no end of its own.
    const wide = studentisedInterval(
      [0, 2, 4],
      drawn([2, 2, 2], ...same, [0, 0, 0], [0, 0, 0], [1, 1, 1]),
      0,
    );
    expect(wide).toEqual({ low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY });
    const lopsided = studentisedInterval([0, 2, 10], drawn(...times(40, [0, 0, 1])), 0)!;
    // Mean 4, variance 28: standard error sqrt(28/3). Every draw 0, 0, 2: shift -10/3, standard error 2/3, ratio -5.
    expect(lopsided.low).toBeCloseTo(4 + 5 * Math.sqrt(28 / 3), 12);
    expect(lopsided.high).toBeCloseTo(4 + 5 * Math.sqrt(28 / 3), 12);
  });

  it('t intervals at other levels', () => {
    // t(0.95, 4) = 2.131847.
    const { low, high } = studentInterval([3, 4, 5, 6, 7], 0.9)!;
    expect(low).toBeCloseTo(5 - 2.131847 * Math.sqrt(0.5), 5);
    expect(high).toBeCloseTo(5 + 2.131847 * Math.sqrt(0.5), 5);
  });

  it('the hierarchical bootstrap: independent tasks are worth themselves, and one family is always drawn', () => {
    const task = (
      name: string,
      family: string,
      baseline: readonly number[],
      treatment: readonly number[],
    ) => ({
      task: name,
      family,
      models: [{ baseline, treatment }],
    });
    const drawing = resampler({ resamples: 20_000 });
    // From different starts: only the gains matter.
    const four = [0, 0.25, 0.5, 1].map((gain, index) =>
      task(`t${index}`, `f${index}`, [index / 4], [index / 4 + gain]),
    );
    const independent = hierarchicalInterval(four, drawing, 1)!;
    // The variance of the variance of 20,000 draws is about 1 %.
    expect(Math.abs(independent.effectiveTasks / 4 - 1)).toBeLessThan(0.05);
    // Of 256 draws, 1 has mean 0, 4 have 0.0625 and 10 have 0.125, which holds the share 0.025; from above 1 has mean 1,
    // 4 have 0.875 and 4 have 0.8125.
    expect([independent.low, independent.high]).toEqual([0.125, 0.8125]);
    // Without any spread, all tasks count.
    const few = resampler({ resamples: 200 });
    const same = ['a', 'b', 'c'].map((name) => task(name, 'f', [0.25], [0.75]));
    expect(hierarchicalInterval(same, few, 1)).toEqual({ low: 0.5, high: 0.5, effectiveTasks: 3 });
    // Two models: the mean of their deltas 1 and 0.
    const models = [
      { baseline: [0], treatment: [1] },
      { baseline: [0.5], treatment: [0.5] },
    ];
    expect(hierarchicalInterval([{ task: 't', family: 'f', models }], few, 1)).toMatchObject({
      low: 0.5,
      high: 0.5,
    });
    // Trials of either arm are drawn: 1 - 0 and 0 - 1 both happen in a sixteenth of the draws or more.
    const noisy = hierarchicalInterval([task('t', 'f', [0, 1], [0, 1])], few, 1)!;
    expect([noisy.low, noisy.high]).toEqual([-1, 1]);
    expect(noisy.effectiveTasks).toBe(0);
  });
});

describe('a bootstrap with options', () => {
  it('has the default seed, and 20,000 draws', () => {
    const values = [0.1, 0.5, 0.2, 0.9];
    const [options, seed] = [{ resamples: 50 }, 20260504];
    expect(taskBootstrap(values, options)).toEqual(percentileInterval(values, resampler(options), seed));
    expect(taskBootstrap(values, { ...options, seed: 3 })).toEqual(
      percentileInterval(values, resampler(options), 3),
    );
    expect(resampler()).toMatchObject({ resamples: 20_000, kind: 'modern' });
  });
});

describe('streams', () => {
  it('a resampler refuses what is no number of draws', () => {
    for (const resamples of [0, -1, 1.5, Number.NaN])
      expect(() => resampler({ resamples })).toThrow(
        `The number of resamples must be a positive whole number, not ${resamples}.`,
      );
    expect(resampler({ resamples: 1 }).draws(3, 1)).toHaveLength(3);
  });

  it('the modern stream fills all 32 bits', () => {
    const stream = randomStream('modern', 1);
    const words = Array.from({ length: 4000 }, () => stream.uint32());
    for (let bit = 0; bit < 32; bit += 1) {
      const ones = words.filter((word) => (word >>> bit) & 1).length;
      // Within five standard deviations of a half.
      expect(Math.abs(ones - 2000)).toBeLessThan(5 * Math.sqrt(1000));
    }
    for (const word of words) expect(Number.isInteger(word) && word >= 0 && word < 2 ** 32).toBe(true);
  });
});

describe('random tests over the published stream', () => {
  // Two bits of its outputs for seed 20260504: 0 0 0 0 1 2 2 1 1 0 1 0, those of 28 and 8 in the specification.
  const published = { rng: 'published', seed: 20260504, exactUpTo: 0 } as const;

  it('sign-flip: a sign is kept on 1, and the observed pattern counts as one draw', () => {
    // Signs -- -- ++ +- +-, of 3 and 1: three of five means are as far from 0 as 2.
    expect(signFlipTest([3, 1], { ...published, draws: 5 })).toEqual({ p: 4 / 6, isExact: false });
    expect(signFlipTest([3, 1], { ...published, draws: 1 })).toEqual({ p: 1, isExact: false });
    expect(signFlipTest([-3, -1], { ...published, draws: 5 })).toEqual({ p: 4 / 6, isExact: false });
  });

  it('sign-flip: counts all patterns up to sixteen values, or as told', () => {
    const ones = (count: number) => new Array<number>(count).fill(1);
    expect(signFlipTest(ones(16))).toEqual({ p: 2 / 2 ** 16, isExact: true });
    expect(signFlipTest(ones(17), { draws: 10 }).isExact).toBe(false);
    expect(signFlipTest(ones(3), { exactUpTo: 3 })).toEqual({ p: 0.25, isExact: true });
    expect(signFlipTest(ones(3), { exactUpTo: 2, draws: 10 }).isExact).toBe(false);
    expect(signFlipTest([])).toEqual({ p: Number.NaN, isExact: true });
  });

  it('permutation: labels shuffled within a model, the observed ones counted as one draw', () => {
    // 4 against 0 and 1. Shuffles, each of the one before: 0 | 1 4, 1 | 4 0, 1 | 0 4, 4 | 1 0; only the last is as far.
    const arms = [{ baseline: [4], treatment: [0, 1] }];
    expect(stratifiedPermutationTest(arms, { ...published, draws: 4 })).toEqual({ p: 2 / 5, isExact: false });
    expect(stratifiedPermutationTest(arms, { ...published, draws: 3 })).toEqual({ p: 1 / 4, isExact: false });
  });

  it('permutation: counts all relabellings of all models up to 100,000, or as told', () => {
    const arms = { baseline: [0, 0.1], treatment: [1, 1.3] };
    // 6 relabellings each.
    expect(stratifiedPermutationTest([arms, arms], { exactUpTo: 36 })).toMatchObject({ isExact: true });
    expect(stratifiedPermutationTest([arms, arms], { exactUpTo: 35, draws: 9 })).toMatchObject({
      isExact: false,
    });
    // 252 squared is below 100,000; cubed it is not.
    const five = { baseline: [0, 0, 0, 0, 0], treatment: [0, 0, 0, 0, 0] };
    expect(stratifiedPermutationTest([five, five])).toEqual({ p: 1, isExact: true });
    expect(stratifiedPermutationTest([five, five, five], { draws: 9 })).toEqual({ p: 1, isExact: false });
  });

  it('permutation: differences of models add up with their signs', () => {
    // 1 - 0 and 0 - 1: the observed sum is 0, so that all relabellings are as far.
    const opposite = [
      { baseline: [0], treatment: [1] },
      { baseline: [1], treatment: [0] },
    ];
    expect(stratifiedPermutationTest(opposite).p).toBe(1);
    // 1 and 2 differ from 3 and 1 relabelled: |1 + 2| in two of four.
    const alike = [
      { baseline: [0], treatment: [1] },
      { baseline: [0], treatment: [2] },
    ];
    expect(stratifiedPermutationTest(alike).p).toBe(0.5);
    // A model with one arm only takes no part.
    expect(stratifiedPermutationTest([...alike, { baseline: [5], treatment: [] }]).p).toBe(0.5);
    expect(stratifiedPermutationTest([{ baseline: [], treatment: [1] }])).toEqual({
      p: Number.NaN,
      isExact: true,
    });
  });
});

describe('rank stability over draws written by hand', () => {
  // Tasks:     1    2    3
  const agents = [
    { name: 'a', values: [0.5, 0.5, 0] },
    { name: 'b', values: [0.25, 0.5, 0.75] },
  ];

  it('counts ranks, shared firsts and kept ranks', () => {
    // Means 1/3 and 0.5: b is first. Draws: a first (1.5 to 0.75), tied (1.5 each), b first twice.
    const stability = rankStability(agents, drawn([0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 2]), 0)!;
    expect(stability.agents).toEqual([
      { name: 'b', mean: 0.5, rank: 1, low: 1, high: 2, best: 2.5 / 4, kept: 0.5 },
      { name: 'a', mean: 1 / 3, rank: 2, low: 1, high: 2, best: 1.5 / 4, kept: 0.5 },
    ]);
    // Tau: -1, 0 (all tied), 1, 1.
    expect(stability.kendall).toBe(0.25);
  });

  it('needs two agents and two tasks', () => {
    expect(rankStability([], drawn([0]), 0)).toBeUndefined();
    expect(rankStability(agents.slice(1), drawn([0, 1, 2]), 0)).toBeUndefined();
    expect(
      rankStability(
        agents.map(({ name, values }) => ({ name, values: values.slice(2) })),
        drawn([0]),
        0,
      ),
    ).toBeUndefined();
    const two = agents.map(({ name, values }) => ({ name, values: values.slice(1) }));
    expect(rankStability(two, drawn([0, 1]), 0)!.agents).toHaveLength(2);
  });

  it('ranks and correlates with ties by hand', () => {
    expect(midRanks([1, 3, 3, 2])).toEqual([4, 1.5, 1.5, 3]);
    // Of three pairs, one is tied in b; one agrees, one does not: 0. Then two agree: 2 / sqrt(3 x 2).
    expect(kendallTau([1, 2, 3], [2, 3, 2])).toBe(0);
    expect(kendallTau([1, 2, 3], [1, 2, 2])).toBeCloseTo(2 / Math.sqrt(6), 12);
    expect(kendallTau([1, 2, 3], [3, 2, 1])).toBe(-1);
    expect(kendallTau([1, 2], [1, 1])).toBe(0);
  });
});
