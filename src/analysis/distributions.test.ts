import { describe, expect, it } from 'vitest';
import {
  fisherCdf,
  fisherQuantile,
  incompleteBeta,
  logGamma,
  noncentralStudentCdf,
  normalCdf,
  normalQuantile,
  studentCdf,
  studentQuantile,
} from './distributions.js';

describe('distributions agree with printed tables', () => {
  it('normal', () => {
    expect(normalCdf(1.959963984540054)).toBeCloseTo(0.975, 12);
    expect(normalCdf(-3)).toBeCloseTo(0.0013498980316301, 14);
    expect(normalCdf(-6)).toBeCloseTo(9.865876450377e-10, 17);
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 10);
    expect(normalQuantile(0.8)).toBeCloseTo(0.8416212335729143, 10);
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('Student t: the textbook 97.5 % points', () => {
    expect(studentQuantile(0.975, 1)).toBeCloseTo(12.7062, 4);
    expect(studentQuantile(0.975, 7)).toBeCloseTo(2.364624, 6);
    expect(studentQuantile(0.975, 27)).toBeCloseTo(2.051831, 6);
    expect(studentQuantile(0.05, 10)).toBeCloseTo(-1.812461, 6);
    // One degree of freedom is the Cauchy distribution: F(1) = 3/4.
    expect(studentCdf(1, 1)).toBeCloseTo(0.75, 12);
    // Two degrees of freedom: F(t) = 1/2 + t / (2 sqrt(2 + t^2)).
    expect(studentCdf(1.5, 2)).toBeCloseTo(0.5 + 1.5 / (2 * Math.sqrt(4.25)), 12);
  });

  it('Fisher F: the textbook 95 % points', () => {
    expect(fisherQuantile(0.95, 5, 18)).toBeCloseTo(2.7729, 4);
    expect(fisherQuantile(0.975, 3, 10)).toBeCloseTo(4.8256, 4);
    // F(1, n) is the square of t(n).
    expect(fisherCdf(2.364624 ** 2, 1, 7)).toBeCloseTo(0.95, 6);
  });

  it('log gamma at whole and half numbers', () => {
    expect(logGamma(6)).toBeCloseTo(Math.log(120), 12);
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 12);
  });

  it('noncentral t: central when not shifted, and the normal in the limit', () => {
    expect(noncentralStudentCdf(1.3, 9, 0)).toBeCloseTo(studentCdf(1.3, 9), 8);
    expect(noncentralStudentCdf(2, 100_000, 1)).toBeCloseTo(normalCdf(1), 4);
    // Two degrees of freedom, published value (Owen 1968 form): P(T <= 0) = normalCdf(-shift) for every degree.
    expect(noncentralStudentCdf(0, 2, 1.25)).toBeCloseTo(normalCdf(-1.25), 6);
  });
});

describe('distributions agree with closed forms', () => {
  it('gamma: factorials, halves and small values', () => {
    expect(logGamma(10)).toBeCloseTo(Math.log(362_880), 10);
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 12);
    // Gamma(1/4) and Gamma(1/10), Abramowitz and Stegun 1964, table 6.1.
    expect(logGamma(0.25)).toBeCloseTo(Math.log(3.6256099082), 9);
    expect(logGamma(0.1)).toBeCloseTo(Math.log(9.5135076987), 9);
  });

  it('incomplete beta: polynomials for whole parameters, and its ends', () => {
    for (const x of [0.05, 0.3, 0.5, 0.8, 0.99]) {
      expect(incompleteBeta(x, 1, 1)).toBeCloseTo(x, 13);
      expect(incompleteBeta(x, 2, 1)).toBeCloseTo(x ** 2, 13);
      expect(incompleteBeta(x, 1, 3)).toBeCloseTo(1 - (1 - x) ** 3, 13);
      expect(incompleteBeta(x, 2, 2)).toBeCloseTo(x ** 2 * (3 - 2 * x), 13);
      expect(incompleteBeta(x, 0.5, 0.5)).toBeCloseTo((2 / Math.PI) * Math.asin(Math.sqrt(x)), 13);
    }
    expect([-0.5, 0, 1, 1.5].map((x) => incompleteBeta(x, 2, 3))).toEqual([0, 0, 1, 1]);
  });

  it('Student t with one and two degrees of freedom, at any distance', () => {
    for (const t of [-50, -3, -0.4, 0, 0.4, 3, 50]) {
      expect(studentCdf(t, 1)).toBeCloseTo(0.5 + Math.atan(t) / Math.PI, 12);
      expect(studentCdf(t, 2)).toBeCloseTo(0.5 + t / (2 * Math.sqrt(2 + t * t)), 12);
    }
    expect([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY].map((t) => studentCdf(t, 4))).toEqual([0, 1]);
    for (const p of [0.001, 0.2, 0.7, 0.999])
      expect(studentQuantile(p, 1)).toBeCloseTo(Math.tan(Math.PI * (p - 0.5)), 6);
    expect(studentQuantile(0.5, 7)).toBe(0);
    // No number is no probability: 0 would be read as proof.
    expect(studentCdf(Number.NaN, 4)).toBeNaN();
  });

  it('Fisher F with two and two degrees of freedom', () => {
    for (const f of [0.1, 1, 5, 100]) expect(fisherCdf(f, 2, 2)).toBeCloseTo(f / (1 + f), 12);
    expect([-10, -1, 0].map((f) => fisherCdf(f, 2, 2))).toEqual([0, 0, 0]);
    for (const p of [0.025, 0.5, 0.975]) expect(fisherQuantile(p, 2, 2)).toBeCloseTo(p / (1 - p), 9);
    // F(0.975; 2, 1) = (1 / (1 - p)^2 - 1) / 2 = 799.5.
    expect(fisherQuantile(0.975, 2, 1)).toBeCloseTo(799.5, 6);
  });

  it('normal: far tails, symmetry and the ends', () => {
    // Half of the complementary error function of z / sqrt(2).
    for (const [z, tail] of [
      [7.2, 3.0106279811174455e-13],
      [8, 6.220960574271819e-16],
      [10, 7.619853024160593e-24],
    ] as const)
      expect(Math.abs(normalCdf(-z) / tail - 1)).toBeLessThan(1e-7);
    // Abramowitz and Stegun 1964, table 26.2: -log10 of the tails at 5, 10 and 20 is 6.54265, 23.11805 and 88.56010.
    for (const [z, digits] of [
      [5, 6.54265],
      [10, 23.11805],
      [20, 88.5601],
    ] as const)
      expect(-Math.log10(normalCdf(-z))).toBeCloseTo(digits, 4);
    expect(normalCdf(-38)).toBe(0);
    expect(normalCdf(38)).toBe(1);
    expect(normalCdf(0)).toBeCloseTo(0.5, 15);
    for (const z of [0.5, 2, 7]) expect(normalCdf(z) + normalCdf(-z)).toBeCloseTo(1, 15);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(normalQuantile(0.5)).toBeCloseTo(0, 12);
    expect(normalQuantile(0.2)).toBeCloseTo(-0.8416212335729143, 10);
  });

  it('noncentral t: central without a shift, and normal with many degrees of freedom', () => {
    for (const [t, degrees] of [
      [-1, 2],
      [0.7, 2],
      [2, 5],
      [2, 40],
    ] as const)
      expect(noncentralStudentCdf(t, degrees, 0)).toBeCloseTo(studentCdf(t, degrees), 5);
    // P(T <= 0) is P(Z <= -shift), whatever the degrees.
    for (const degrees of [2, 9, 100])
      expect(noncentralStudentCdf(0, degrees, 1.2)).toBeCloseTo(normalCdf(-1.2), 6);
  });
});
