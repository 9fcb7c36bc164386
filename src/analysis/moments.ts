import { byCodePoint } from '../support/code-points.js';

export { byCodePoint };

/** Arithmetic mean, summed from left to right; NaN for an empty list. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Sample variance (n - 1); 0 for fewer than two values. */
export function variance(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  let sum = 0;
  for (const value of values) sum += (value - centre) ** 2;
  return sum / (values.length - 1);
}

/** Sample standard deviation (n - 1); 0 for fewer than two values. */
export function standardDeviation(values: readonly number[]): number {
  return Math.sqrt(variance(values));
}

/** Middle value, or the mean of the two middle values; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const ordered = [...values].sort((a, b) => a - b);
  const half = Math.floor(ordered.length / 2);
  if (ordered.length === 0) return Number.NaN;
  return ordered.length % 2 === 1 ? ordered[half]! : (ordered[half - 1]! + ordered[half]!) / 2;
}

/** The values that are numbers: neither null nor NaN. */
export function present(values: Iterable<number | null | undefined>): readonly number[] {
  const kept: number[] = [];
  for (const value of values) {
    if (value !== null && value !== undefined && !Number.isNaN(value)) kept.push(value);
  }
  return kept;
}

/** Sum, counting missing values as 0. */
export function total(values: Iterable<number | null | undefined>): number {
  let sum = 0;
  for (const value of values) sum += value ?? 0;
  return sum;
}

/** Items by key, groups in the order of their first item. */
export function groupBy<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Distinct texts in code point order. */
export function distinct(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort(byCodePoint);
}
