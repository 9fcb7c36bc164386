import { mean } from './moments.js';
import { type RandomKind, randomStream } from './random-stream.js';

export interface SignFlipOptions {
  /** Draws of the random test, default 200,000. */
  readonly draws?: number;
  readonly seed?: number;
  readonly rng?: RandomKind;
  /** Enumerate all sign patterns when there are at most this many values; default 16, 0 for never. */
  readonly exactUpTo?: number;
}

export interface SignFlipTest {
  readonly p: number;
  /** True when every sign pattern was counted. */
  readonly isExact: boolean;
}

/**
 * Paired sign-flip permutation test of mean 0, two-sided (Fisher 1935, section 21). Random form: per draw and value
 * an index below 2, the sign is kept on 1; p = (hits + 1) / (draws + 1) (Phipson and Smyth 2010).
 */
export function signFlipTest(values: readonly number[], options: SignFlipOptions = {}): SignFlipTest {
  if (values.length === 0) return { p: Number.NaN, isExact: true };
  const observed = Math.abs(mean(values));
  if (values.length <= (options.exactUpTo ?? 16)) return { p: exactP(values, observed), isExact: true };
  const draws = options.draws ?? 200_000;
  const stream = randomStream(options.rng ?? 'modern', options.seed ?? 20260504);
  let hits = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0;
    for (const value of values) sum += stream.below(2) === 1 ? value : -value;
    if (Math.abs(sum / values.length) >= observed) hits += 1;
  }
  return { p: (hits + 1) / (draws + 1), isExact: false };
}

function exactP(values: readonly number[], observed: number): number {
  // Equal sums can differ in their last bits by the order of addition.
  const slack = 1e-12 * values.reduce((sum, value) => sum + Math.abs(value), 0);
  const patterns = 2 ** values.length;
  let hits = 0;
  for (let pattern = 0; pattern < patterns; pattern += 1) {
    let sum = 0;
    for (let index = 0; index < values.length; index += 1)
      sum += (pattern >>> index) & 1 ? values[index]! : -values[index]!;
    if (Math.abs(sum) >= observed * values.length - slack) hits += 1;
  }
  return hits / patterns;
}

/** Rewards of one model on one task: two arms whose labels could be exchanged if nothing differed. */
export interface TwoArms {
  readonly baseline: readonly number[];
  readonly treatment: readonly number[];
}

export interface PermutationOptions {
  readonly draws?: number;
  readonly seed?: number;
  readonly rng?: RandomKind;
  /** Enumerate when there are at most this many relabellings, default 100,000. */
  readonly exactUpTo?: number;
}

/**
 * Permutation test of one task, two-sided: trials are relabelled between the arms within each model (strata), the
 * statistic is the mean over models of the arm differences (Pitman 1937; stratified as in Good 2005, chapter 3).
 */
export function stratifiedPermutationTest(
  strata: readonly TwoArms[],
  options: PermutationOptions = {},
): SignFlipTest {
  const usable = strata.filter((arms) => arms.baseline.length > 0 && arms.treatment.length > 0);
  if (usable.length === 0) return { p: Number.NaN, isExact: true };
  const observed = Math.abs(
    usable.reduce((sum, arms) => sum + mean(arms.treatment) - mean(arms.baseline), 0),
  );
  const size = usable.reduce(
    (product, arms) =>
      product * binomial(arms.baseline.length + arms.treatment.length, arms.treatment.length),
    1,
  );
  const atLeast = (sum: number): boolean => Math.abs(sum) >= observed - 1e-12;
  if (size <= (options.exactUpTo ?? 100_000)) {
    const sums = usable.map(relabelledDifferences).reduce((all, next) => {
      const joined = new Float64Array(all.length * next.length);
      let at = 0;
      for (const left of all) for (const right of next) joined[at++] = left + right;
      return joined;
    });
    let hits = 0;
    for (const sum of sums) if (atLeast(sum)) hits += 1;
    return { p: hits / sums.length, isExact: true };
  }
  return { p: sampledPermutationP(usable, atLeast, options), isExact: false };
}

function sampledPermutationP(
  strata: readonly TwoArms[],
  atLeast: (sum: number) => boolean,
  options: PermutationOptions,
): number {
  const draws = options.draws ?? 20_000;
  const stream = randomStream(options.rng ?? 'modern', options.seed ?? 20260504);
  const pools = strata.map((arms) => ({ values: [...arms.baseline, ...arms.treatment], arms }));
  let hits = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0;
    for (const { values, arms } of pools) {
      for (let last = values.length - 1; last > 0; last -= 1) {
        const other = stream.below(last + 1);
        [values[last], values[other]] = [values[other]!, values[last]!];
      }
      sum += mean(values.slice(arms.baseline.length)) - mean(values.slice(0, arms.baseline.length));
    }
    if (atLeast(sum)) hits += 1;
  }
  return (hits + 1) / (draws + 1);
}

/** Treatment mean minus baseline mean under every relabelling of the trials. */
function relabelledDifferences(arms: TwoArms): Float64Array {
  const pool = [...arms.baseline, ...arms.treatment];
  const all = pool.reduce((sum, value) => sum + value, 0);
  const [treated, untreated] = [arms.treatment.length, arms.baseline.length];
  const differences: number[] = [];
  const choose = (from: number, left: number, sum: number): void => {
    if (left === 0) {
      differences.push(sum / treated - (all - sum) / untreated);
      return;
    }
    for (let index = from; index <= pool.length - left; index += 1)
      choose(index + 1, left - 1, sum + pool[index]!);
  };
  choose(0, treated, 0);
  return Float64Array.from(differences);
}

/** n over k as a float. */
export function binomial(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  let product = 1;
  for (let step = 1; step <= Math.min(k, n - k); step += 1) product = (product * (n - step + 1)) / step;
  return Math.round(product);
}
