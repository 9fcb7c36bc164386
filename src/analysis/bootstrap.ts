import { normalCdf, normalQuantile, studentQuantile } from './distributions.js';
import { groupBy, mean, standardDeviation, variance } from './moments.js';
import {
  type RandomKind,
  type RandomStream,
  type Resampler,
  randomStream,
  resampler,
} from './random-stream.js';

/** Seeds of the published tables; new analyses use the same ones. */
export const seeds = { task: 20260504, openWeights: 20260505, followUp: 20260506 } as const;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The ends as cells of a table: null where there is no interval. */
export function endsOf(interval: Interval | undefined): {
  readonly low: number | null;
  readonly high: number | null;
} {
  return { low: interval?.low ?? null, high: interval?.high ?? null };
}

export interface BootstrapOptions {
  /** Default 20,000. */
  readonly resamples?: number;
  readonly seed?: number;
  readonly rng?: RandomKind;
}

/** One family (or any cluster) with its task values. */
export interface Cluster {
  readonly name: string;
  readonly values: readonly number[];
}

/** Interval ends at level 0.95: elements floor(0.025 R) and floor(0.975 R) of the sorted draws, not interpolated. */
export function percentilesOf(draws: Float64Array): Interval {
  const sorted = draws.slice().sort();
  return {
    low: sorted[Math.floor(0.025 * sorted.length)]!,
    high: sorted[Math.floor(0.975 * sorted.length)]!,
  };
}

/** True when the values differ by rounding at most. */
function isConstant(values: readonly number[]): boolean {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high));
}

/** Resampled means of `values`, in the order drawn. */
export function resampledMeans(values: readonly number[], drawing: Resampler, seed: number): Float64Array {
  const units = values.length;
  const indices = drawing.draws(units, seed);
  const source = Float64Array.from(values);
  const means = new Float64Array(drawing.resamples);
  let at = 0;
  for (let draw = 0; draw < means.length; draw += 1) {
    let sum = 0;
    for (let picked = 0; picked < units; picked += 1, at += 1) sum += source[indices[at]!]!;
    means[draw] = sum / units;
  }
  return means;
}

/**
 * Percentile bootstrap of the mean (Efron 1979). It falls short of 95 % coverage for few values; see
 * docs/statistics.md. Undefined without values.
 */
export function percentileInterval(
  values: readonly number[],
  drawing: Resampler,
  seed: number,
): Interval | undefined {
  if (values.length === 0) return undefined;
  return percentilesOf(resampledMeans(values, drawing, seed));
}

/** `percentileInterval` with options instead of a shared resampler. */
export function taskBootstrap(
  values: readonly number[],
  options: BootstrapOptions = {},
): Interval | undefined {
  return percentileInterval(values, resampler(options), options.seed ?? seeds.task);
}

/**
 * Bias-corrected and accelerated bootstrap (Efron 1987; Efron and Tibshirani 1993, chapter 14) of any statistic:
 * bias from the share of draws below the estimate, acceleration from the jackknife.
 */
export function bcaInterval(
  values: readonly number[],
  drawing: Resampler,
  seed: number,
  statistic: (sample: readonly number[]) => number = mean,
): (Interval & { readonly bias: number; readonly acceleration: number }) | undefined {
  if (values.length < 2) return undefined;
  const estimate = statistic(values);
  if (isConstant(values)) return { low: estimate, high: estimate, bias: 0, acceleration: 0 };
  const draws =
    statistic === mean ? resampledMeans(values, drawing, seed) : drawsOf(values, drawing, seed, statistic);
  const sorted = draws.slice().sort();
  let below = 0;
  for (const draw of sorted) below += draw < estimate ? 1 : draw === estimate ? 0.5 : 0;
  // Never further out than half a draw: a bias of infinity would say nothing.
  const share = Math.min(Math.max(below, 0.5), sorted.length - 0.5) / sorted.length;
  const bias = normalQuantile(share);
  const acceleration = jackknifeAcceleration(values, statistic);
  const endAt = (probability: number): number => {
    const z = bias + normalQuantile(probability);
    const adjusted = normalCdf(bias + z / (1 - acceleration * z));
    const index = Math.floor(adjusted * sorted.length);
    return sorted[Math.min(Math.max(index, 0), sorted.length - 1)]!;
  };
  return { low: endAt(0.025), high: endAt(0.975), bias, acceleration };
}

function drawsOf(
  values: readonly number[],
  drawing: Resampler,
  seed: number,
  statistic: (sample: readonly number[]) => number,
): Float64Array {
  const indices = drawing.draws(values.length, seed);
  const sample = new Array<number>(values.length);
  return Float64Array.from({ length: drawing.resamples }, (_, draw) => {
    for (let picked = 0; picked < sample.length; picked += 1)
      sample[picked] = values[indices[draw * sample.length + picked]!]!;
    return statistic(sample);
  });
}

function jackknifeAcceleration(
  values: readonly number[],
  statistic: (sample: readonly number[]) => number,
): number {
  const leftOut = values.map((_, index) => statistic(values.toSpliced(index, 1)));
  const centre = mean(leftOut);
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    squares += (centre - value) ** 2;
    cubes += (centre - value) ** 3;
  }
  const scale = 6 * squares ** 1.5;
  return scale === 0 ? 0 : cubes / scale;
}

/**
 * Studentised bootstrap, "bootstrap-t" (Efron 1982; Efron and Tibshirani 1993, chapter 12.5): quantiles of
 * (mean* - mean) / se* instead of those of mean*. Undefined for fewer than three values; an end is infinite when too
 * many resamples have no spread.
 */
export function studentisedInterval(
  values: readonly number[],
  drawing: Resampler,
  seed: number,
): Interval | undefined {
  const units = values.length;
  if (units < 3) return undefined;
  const estimate = mean(values);
  const standardError = standardDeviation(values) / Math.sqrt(units);
  if (isConstant(values)) return { low: estimate, high: estimate };
  const indices = drawing.draws(units, seed);
  // Centred first, so that the one-pass variance loses no digits.
  const centred = Float64Array.from(values, (value) => value - estimate);
  const ratios = new Float64Array(drawing.resamples);
  let at = 0;
  for (let draw = 0; draw < ratios.length; draw += 1) {
    let sum = 0;
    let squares = 0;
    for (let picked = 0; picked < units; picked += 1, at += 1) {
      const value = centred[indices[at]!]!;
      sum += value;
      squares += value * value;
    }
    const shift = sum / units;
    const spread = Math.max(squares - units * shift * shift, 0) / (units - 1) / units;
    ratios[draw] =
      spread > 1e-30 ? shift / Math.sqrt(spread) : Math.sign(shift) * Number.POSITIVE_INFINITY || 0;
  }
  const { low, high } = percentilesOf(ratios);
  return { low: estimate - high * standardError, high: estimate - low * standardError };
}

/** Student's t interval of the mean, n - 1 degrees of freedom. Undefined for fewer than two values. */
export function studentInterval(values: readonly number[], level = 0.95): Interval | undefined {
  if (values.length < 2) return undefined;
  const centre = mean(values);
  const half =
    (studentQuantile((1 + level) / 2, values.length - 1) * standardDeviation(values)) /
    Math.sqrt(values.length);
  return { low: centre - half, high: centre + half };
}

/**
 * Family-cluster bootstrap: as many families as there are, with replacement; the mean of all their task values
 * pooled (Cameron, Gelbach and Miller 2008, pairs cluster bootstrap). Families in the order given.
 */
export function familyClusterInterval(
  families: readonly Cluster[],
  drawing: Resampler,
  seed: number,
): Interval | undefined {
  if (families.length === 0) return undefined;
  const indices = drawing.draws(families.length, seed);
  const draws = new Float64Array(drawing.resamples);
  let at = 0;
  for (let draw = 0; draw < draws.length; draw += 1) {
    let sum = 0;
    let count = 0;
    for (let picked = 0; picked < families.length; picked += 1, at += 1) {
      const { values } = families[indices[at]!]!;
      for (const value of values) sum += value;
      count += values.length;
    }
    draws[draw] = sum / count;
  }
  return percentilesOf(draws);
}

/** Family-balanced bootstrap: percentile bootstrap of the family means. */
export function familyBalancedInterval(
  families: readonly Cluster[],
  drawing: Resampler,
  seed: number,
): Interval | undefined {
  return percentileInterval(
    families.map((family) => mean(family.values)),
    drawing,
    seed,
  );
}

/** Rewards of one task by model and arm, for the hierarchical bootstrap. */
export interface TaskTrials {
  readonly family: string;
  readonly task: string;
  readonly models: readonly { readonly baseline: readonly number[]; readonly treatment: readonly number[] }[];
}

export interface HierarchicalInterval extends Interval {
  /** How many independent tasks would vary as much: variance (divisor n) of the task values over that of the draws. */
  readonly effectiveTasks: number;
}

/**
 * Hierarchical bootstrap of the task-balanced delta: families, then tasks within them, then trials within each arm,
 * all with replacement (Davison and Hinkley 1997, section 3.8). It carries the likeness of sibling tasks and the
 * noise of trials, which the task bootstrap leaves out.
 */
export function hierarchicalInterval(
  tasks: readonly TaskTrials[],
  drawing: Resampler,
  seed: number,
): HierarchicalInterval | undefined {
  if (tasks.length === 0) return undefined;
  const grouped = [...groupBy(tasks, (task) => task.family).values()];
  const stream = randomStream(drawing.kind, seed);
  const draws = new Float64Array(drawing.resamples);
  for (let draw = 0; draw < draws.length; draw += 1) {
    let sum = 0;
    let count = 0;
    for (let picked = 0; picked < grouped.length; picked += 1) {
      const family = grouped[stream.below(grouped.length)]!;
      for (let member = 0; member < family.length; member += 1)
        sum += resampledDelta(family[stream.below(family.length)]!, stream);
      count += family.length;
    }
    draws[draw] = sum / count;
  }
  const values = tasks.map((task) =>
    mean(task.models.map((model) => mean(model.treatment) - mean(model.baseline))),
  );
  const spread = variance(Array.from(draws));
  // With divisor n, as a bootstrap of n independent values has a variance of that over n.
  const ofTasks = (variance(values) * (values.length - 1)) / values.length;
  const effectiveTasks = spread === 0 ? tasks.length : ofTasks / spread;
  return { ...percentilesOf(draws), effectiveTasks };
}

function resampledDelta(task: TaskTrials, stream: RandomStream): number {
  let sum = 0;
  for (const model of task.models)
    sum += resampledMean(model.treatment, stream) - resampledMean(model.baseline, stream);
  return sum / task.models.length;
}

function resampledMean(values: readonly number[], stream: RandomStream): number {
  const count = values.length;
  let sum = 0;
  for (let picked = 0; picked < count; picked += 1) sum += values[stream.below(count)]!;
  return sum / count;
}
