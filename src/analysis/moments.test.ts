import { describe, expect, it } from 'vitest';
import { distinct, groupBy, mean, median, present, standardDeviation, total, variance } from './moments.js';

describe('moments, by hand', () => {
  it('mean, variance and standard deviation', () => {
    expect(mean([1, 2, 6])).toBe(3);
    expect(mean([])).toBeNaN();
    // Squares 4, 1 and 9 over 2.
    expect(variance([1, 2, 6])).toBe(7);
    expect([variance([5]), variance([]), standardDeviation([])]).toEqual([0, 0, 0]);
    expect(standardDeviation([2, 4])).toBe(Math.SQRT2);
  });

  it('median of any order, of an odd and an even number', () => {
    expect(median([10, 1, 9])).toBe(9);
    expect(median([10, 1, 9, 2])).toBe(5.5);
    expect(median([])).toBeNaN();
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('present values are neither null, undefined nor NaN; a total counts missing ones as 0', () => {
    expect(present([1, null, undefined, Number.NaN, 0])).toEqual([1, 0]);
    expect(total([1, null, undefined, 2.5])).toBe(3.5);
  });

  it('groups keep the order of their first items; distinct texts are sorted by code points', () => {
    const groups = groupBy(['b1', 'a1', 'b2'], (text) => text[0]!);
    expect([...groups]).toEqual([
      ['b', ['b1', 'b2']],
      ['a', ['a1']],
    ]);
    expect(distinct(['b', 'a', 'B', 'b'])).toEqual(['B', 'a', 'b']);
  });
});
