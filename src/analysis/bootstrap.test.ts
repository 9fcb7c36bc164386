import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bcaInterval,
  familyBalancedInterval,
  familyClusterInterval,
  hierarchicalInterval,
  percentileInterval,
  seeds,
  studentInterval,
  studentisedInterval,
  taskBootstrap,
} from './bootstrap.js';
import { mean, variance } from './moments.js';
import { resampler } from './random-stream.js';

const published = resampler({ rng: 'published' });

describe('the published bootstraps give the specified intervals', () => {
  // Test vectors of the analysis specification.
  it.each([
    {
      values: Array.from({ length: 28 }, (_, i) => i / 28),
      seed: seeds.task,
      low: 0.3762755102,
      high: 0.5892857143,
    },
    { values: [-0.05, 0, 0.02, 0.1, 0.4], seed: seeds.openWeights, low: -0.016, high: 0.25 },
    {
      values: Array.from({ length: 8 }, (_, i) => i / 8 - 0.3),
      seed: seeds.followUp,
      low: -0.05,
      high: 0.340625,
    },
  ])('task bootstrap, seed $seed', ({ values, seed, low, high }) => {
    const interval = percentileInterval(values, published, seed)!;
    expect(interval.low).toBeCloseTo(low, 10);
    expect(interval.high).toBeCloseTo(high, 10);
    expect(taskBootstrap(values, { rng: 'published', seed })).toEqual(interval);
  });

  const families = [
    { name: 'a', values: [0.1, 0.3] },
    { name: 'b', values: [0] },
    { name: 'c', values: [0.5, 0.2, 0.2] },
  ];
  it.each([
    ['family-cluster', familyClusterInterval],
    ['family-balanced', familyBalancedInterval],
  ] as const)('%s', (_, interval) => {
    const { low, high } = interval(families, published, seeds.followUp)!;
    expect(low).toBeCloseTo(0, 10);
    expect(high).toBeCloseTo(0.3, 10);
  });
});

describe('BCa', () => {
  it('has the published acceleration and ends for the spatial test data', () => {
    // Efron and Tibshirani 1993, section 14.3: variance with divisor n of 26 scores; estimate 171.5, acceleration
    // 0.061, bias 0.146, BCa interval at 90 % (115.8, 259.6) from 2,000 draws.
    const scores = [
      48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41,
    ];
    const spread = (sample: readonly number[]): number =>
      (variance(sample) * (sample.length - 1)) / sample.length;
    expect(spread(scores)).toBeCloseTo(171.5, 1);
    const interval = bcaInterval(scores, published, 1, spread)!;
    expect(interval.acceleration).toBeCloseTo(0.061, 3);
    expect(Math.abs(interval.bias - 0.146)).toBeLessThan(0.05);
  });

  it('shifts towards the long tail of skewed values', () => {
    const skewed = [0, 0, 0.01, 0.01, 0.02, 0.02, 0.05, 0.9];
    const percentile = percentileInterval(skewed, published, 1)!;
    const bca = bcaInterval(skewed, published, 1)!;
    expect(bca.low).toBeGreaterThan(percentile.low);
    expect(bca.high).toBeGreaterThan(percentile.high);
  });
});

describe('Student and studentised intervals', () => {
  it('gives the textbook t interval', () => {
    // Mean 5, sd sqrt(2.5), n 5: 5 +/- 2.776445 * 0.7071068 = 5 +/- 1.963243.
    const { low, high } = studentInterval([3, 4, 5, 6, 7])!;
    expect(low).toBeCloseTo(3.036757, 5);
    expect(high).toBeCloseTo(6.963243, 5);
  });

  it('is close to the t interval for normal scores, and wider than the percentile interval for few values', () => {
    const scores = [-1.43, -0.85, -0.47, -0.15, 0.15, 0.47, 0.85, 1.43];
    const studentised = studentisedInterval(scores, published, 5)!;
    const student = studentInterval(scores)!;
    const percentile = percentileInterval(scores, published, 5)!;
    expect(Math.abs(studentised.high - student.high)).toBeLessThan(0.15);
    expect(studentised.high - studentised.low).toBeGreaterThan(percentile.high - percentile.low);
  });
});

describe('the hierarchical bootstrap', () => {
  const task = (name: string, family: string, delta: number, noise: number) => ({
    family,
    task: name,
    models: [{ baseline: [0.5 - noise, 0.5 + noise], treatment: [0.5 + delta - noise, 0.5 + delta + noise] }],
  });

  it('counts identical siblings as one unit and trial noise as further spread', () => {
    const pairs = Array.from({ length: 10 }, (_, index) => [index / 10, index / 10]).flat();
    const siblings = pairs.map((delta, index) => task(`t${index}`, `f${Math.floor(index / 2)}`, delta, 0));
    const single = pairs.map((delta, index) => task(`t${index}`, `f${index}`, delta, 0));
    const noisy = pairs.map((delta, index) => task(`t${index}`, `f${index}`, delta, 0.4));
    const drawing = resampler({ resamples: 4000 });
    const units = (tasks: readonly ReturnType<typeof task>[]): number =>
      hierarchicalInterval(tasks, drawing, 3)!.effectiveTasks;
    expect(units(siblings)).toBeGreaterThan(8);
    expect(units(siblings)).toBeLessThan(12.5);
    expect(units(single)).toBeGreaterThan(18);
    expect(units(noisy)).toBeLessThan(units(single) * 0.8);
  });
});

describe('for all values', () => {
  const drawing = resampler({ resamples: 400 });
  const values = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 20 });

  it('constants give intervals without width', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1, max: 1, noNaN: true }),
        fc.integer({ min: 3, max: 20 }),
        (value, count) => {
          const constant = new Array<number>(count).fill(value);
          const intervals = [
            percentileInterval(constant, drawing, 1)!,
            bcaInterval(constant, drawing, 1)!,
            studentInterval(constant)!,
            studentisedInterval(constant, drawing, 1)!,
            familyClusterInterval([{ name: 'a', values: constant }], drawing, 1)!,
            familyBalancedInterval([{ name: 'a', values: constant }], drawing, 1)!,
          ];
          for (const { low, high } of intervals) {
            expect(high - low).toBeLessThan(1e-12);
            expect(low).toBeCloseTo(value, 10);
          }
        },
      ),
    );
  });

  it('percentile and BCa intervals lie within the range, and the percentile interval moves with the values', () => {
    fc.assert(
      fc.property(values, fc.double({ min: -5, max: 5, noNaN: true }), (sample, shift) => {
        const percentile = percentileInterval(sample, drawing, 2)!;
        for (const { low, high } of [percentile, bcaInterval(sample, drawing, 2)!]) {
          expect(low).toBeLessThanOrEqual(high);
          expect(low).toBeGreaterThanOrEqual(Math.min(...sample) - 1e-12);
          expect(high).toBeLessThanOrEqual(Math.max(...sample) + 1e-12);
        }
        const moved = percentileInterval(
          sample.map((value) => value + shift),
          drawing,
          2,
        )!;
        expect(moved.low).toBeCloseTo(percentile.low + shift, 8);
        expect(moved.high).toBeCloseTo(percentile.high + shift, 8);
      }),
    );
  });

  it('t and studentised intervals hold the mean', () => {
    fc.assert(
      fc.property(values, (sample) => {
        const student = studentInterval(sample)!;
        expect(student.low).toBeLessThanOrEqual(mean(sample) + 1e-12);
        expect(student.high).toBeGreaterThanOrEqual(mean(sample) - 1e-12);
      }),
    );
  });
});
