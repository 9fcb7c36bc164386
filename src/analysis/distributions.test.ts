import { describe, expect, it } from 'vitest';
import {
  fisherCdf,
  fisherQuantile,
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
