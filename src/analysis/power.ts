import type { TaskTrials } from './bootstrap.js';
import { noncentralStudentCdf, studentQuantile } from './distributions.js';
import { mean, variance } from './moments.js';

/** Where the spread of task deltas comes from. */
export interface VarianceComponents {
  /** Variance of the true deltas between tasks. */
  readonly task: number;
  /** Variance that one trial per arm and model adds to a task's delta; n trials add an nth of it. */
  readonly trial: number;
  readonly tasks: number;
  /** Mean delta observed. */
  readonly delta: number;
}

/**
 * Method of moments: the variance of the task deltas less the part that the trials explain, not below 0. Undefined
 * for fewer than two tasks.
 */
export function varianceComponents(tasks: readonly TaskTrials[]): VarianceComponents | undefined {
  if (tasks.length < 2) return undefined;
  const deltas = tasks.map((task) =>
    mean(task.models.map(({ baseline, treatment }) => mean(treatment) - mean(baseline))),
  );
  const over = (task: TaskTrials, perArm: (rewards: readonly number[]) => number): number =>
    task.models.reduce((sum, arms) => sum + perArm(arms.baseline) + perArm(arms.treatment), 0) /
    task.models.length ** 2;
  const noise = mean(tasks.map((task) => over(task, (rewards) => variance(rewards) / rewards.length)));
  return {
    task: Math.max(0, variance(deltas) - noise),
    trial: mean(tasks.map((task) => over(task, variance))),
    tasks: tasks.length,
    delta: mean(deltas),
  };
}

/** Standard deviation of a task's delta with `trials` trials per arm and model. */
export function plannedDeviation(components: VarianceComponents, trials: number): number {
  return Math.sqrt(components.task + components.trial / trials);
}

/** Power of the two-sided one-sample t test at 5 % for a true mean `delta` over `tasks` values (Cohen 1988). */
export function testPower(delta: number, deviation: number, tasks: number): number {
  if (tasks < 2) return Number.NaN;
  if (deviation === 0) return delta === 0 ? 0.05 : 1;
  return standardisedPower(Math.abs(delta) / deviation, tasks, studentQuantile(0.975, tasks - 1));
}

function standardisedPower(effect: number, tasks: number, critical: number): number {
  const degrees = tasks - 1;
  const shift = effect * Math.sqrt(tasks);
  // Beyond this the test all but never misses, and the integral is not needed.
  if (shift > critical + 40) return 1;
  const above = 1 - noncentralStudentCdf(critical, degrees, shift);
  // A rejection on the wrong side is rarer than 1e-9 from there on.
  return shift > 6 ? above : above + noncentralStudentCdf(-critical, degrees, shift);
}

/** Smallest true mean that the test finds with the given power. */
export function minimalDetectableEffect(deviation: number, tasks: number, power = 0.8): number {
  return tasks < 2 ? Number.NaN : deviation * detectableEffectSize(tasks, power);
}

/** The same in standard deviations; it depends on nothing else. */
export function detectableEffectSize(tasks: number, power = 0.8): number {
  const critical = studentQuantile(0.975, tasks - 1);
  let [low, high] = [0, 1];
  while (standardisedPower(high, tasks, critical) < power) high *= 2;
  for (let step = 0; step < 30; step += 1) {
    const middle = (low + high) / 2;
    if (standardisedPower(middle, tasks, critical) < power) low = middle;
    else high = middle;
  }
  return high;
}

/** Fewest tasks with which the test finds `delta` with the given power; undefined beyond 10,000. */
export function tasksNeeded(delta: number, deviation: number, power = 0.8): number | undefined {
  const most = 10_000;
  if (delta === 0 || testPower(delta, deviation, most) < power) return undefined;
  let [low, high] = [1, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (testPower(delta, deviation, middle) < power) low = middle;
    else high = middle;
  }
  return high;
}
