import { fisherQuantile } from './distributions.js';
import { mean } from './moments.js';
import { binomial } from './sign-flip.js';

/** Intraclass correlation of one-way random effects, with the F interval. */
export interface IntraclassCorrelation {
  /** Reliability of one trial, ICC(1,1). */
  readonly single: number;
  readonly low: number;
  readonly high: number;
  /** Reliability of the mean of all trials of a target, ICC(1,k). */
  readonly average: number;
  readonly targets: number;
  readonly trials: number;
}

/**
 * ICC(1,1) and ICC(1,k) (Shrout and Fleiss 1979): trials nested in targets. With unequal numbers of trials k is their
 * harmonic-like mean n0 (Searle 1971). Undefined without two targets that have two trials.
 */
export function intraclassCorrelation(
  targets: readonly (readonly number[])[],
): IntraclassCorrelation | undefined {
  const rated = targets.filter((trials) => trials.length > 0);
  const count = rated.reduce((sum, trials) => sum + trials.length, 0);
  if (rated.length < 2 || count - rated.length < 1) return undefined;
  const centre = mean(rated.flat());
  let between = 0;
  let within = 0;
  for (const trials of rated) {
    const own = mean(trials);
    between += trials.length * (own - centre) ** 2;
    for (const value of trials) within += (value - own) ** 2;
  }
  const [betweenDegrees, withinDegrees] = [rated.length - 1, count - rated.length];
  const [betweenSquare, withinSquare] = [between / betweenDegrees, within / withinDegrees];
  const squares = rated.reduce((sum, trials) => sum + trials.length ** 2, 0);
  const k = (count - squares / count) / betweenDegrees;
  if (betweenSquare === 0 && withinSquare === 0) return undefined;
  const ratio = betweenSquare / withinSquare;
  const fromRatio = (f: number): number => (f === Number.POSITIVE_INFINITY ? 1 : (f - 1) / (f + k - 1));
  return {
    single: fromRatio(ratio),
    low: fromRatio(ratio / fisherQuantile(0.975, betweenDegrees, withinDegrees)),
    high: fromRatio(ratio * fisherQuantile(0.975, withinDegrees, betweenDegrees)),
    average: ratio === Number.POSITIVE_INFINITY ? 1 : 1 - 1 / ratio,
    targets: rated.length,
    trials: k,
  };
}

/** Chance that at least one of k trials passes, from c passes in n: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021). */
export function passAtK(trials: number, passes: number, k: number): number {
  return k > trials ? Number.NaN : 1 - binomial(trials - passes, k) / binomial(trials, k);
}

/** Chance that all of k trials pass, from c passes in n: C(c, k) / C(n, k) (Yao et al. 2024, pass^k). */
export function passHatK(trials: number, passes: number, k: number): number {
  return k > trials ? Number.NaN : binomial(passes, k) / binomial(trials, k);
}
