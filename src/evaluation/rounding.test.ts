import { describe, expect, it } from 'vitest';
import { compensatedSum, meanOfRates, round8 } from './rounding.js';

describe('round8', () => {
  it('keeps one wrong row in 200,859 visible below 1 (pinned case P8)', () => {
    expect(round8(200858 / 200859)).toBe(0.99999502);
    expect(round8(200858 / 200859)).toBeLessThan(1);
  });

  it('rounds exact binary ties to even', () => {
    // 2^-9 = 0.001953125 and 3 * 2^-9 = 0.005859375 end in an exact 5 at the ninth decimal.
    expect(round8(0.001953125)).toBe(0.00195312);
    expect(round8(0.005859375)).toBe(0.00585938);
    expect(round8(-0.001953125)).toBe(-0.00195312);
  });

  it('rounds by the exact binary value, not by its shortest decimal text', () => {
    // The double nearest to 0.000000015 is 1.49999999999999998e-8 and rounds down.
    expect(round8(0.000000015)).toBe(0.00000001);
    // The double nearest to 0.000000035 is 3.50000000000000031e-8 and rounds up.
    expect(round8(0.000000035)).toBe(0.00000004);
  });

  it('leaves whole numbers, tiny numbers and large numbers as they should be', () => {
    expect([0, 1, 12, 5e-324, 2 ** 60, 1 / 3].map(round8)).toEqual([0, 1, 12, 0, 2 ** 60, 0.33333333]);
    const whole = [
      2 ** 52 + 1,
      2 ** 53 - 1,
      -3,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ];
    expect(whole.map(round8)).toEqual(whole);
    // At 2^51 a double still holds halves.
    expect([1.5, -1 / 3, 2 ** 51 + 0.5].map(round8)).toEqual([1.5, -0.33333333, 2 ** 51 + 0.5]);
  });
});

describe('meanOfRates', () => {
  it('is the rounded mean of the rounded rates', () => {
    expect(meanOfRates([1, 0.66666667])).toBe(0.83333334);
    expect(meanOfRates([])).toBe(0);
  });

  it('adds with compensation', () => {
    expect(compensatedSum([1, 1e100, 1, -1e100])).toBe(2);
    expect(compensatedSum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
  });
});
