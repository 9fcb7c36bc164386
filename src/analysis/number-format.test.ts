import { expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatEstimate,
  formatFixed,
  formatRange,
  formatThousands,
} from './number-format.js';

it('rounds exact ties to even and everything else to the nearest', () => {
  expect(formatFixed(0.0625)).toBe('0.062');
  expect(formatFixed(0.1875)).toBe('0.188');
  expect(formatFixed(0.3125)).toBe('0.312');
  expect(formatFixed(-0.0625)).toBe('-0.062');
  expect(formatFixed(2.5, 0)).toBe('2');
  expect(formatFixed(3.5, 0)).toBe('4');
  expect(formatFixed(0.5, 0)).toBe('0');
  // 0.0005 and 1.0005 are not ties in binary: the first lies above, the second below.
  expect(formatFixed(0.0005)).toBe('0.001');
  expect(formatFixed(1.0005)).toBe('1.000');
});

it('keeps the sign of a negative value that rounds to zero, and prints NA for what is missing', () => {
  expect(formatFixed(-0.0001)).toBe('-0.000');
  expect(formatFixed(0)).toBe('0.000');
  expect(formatFixed(null)).toBe('NA');
  expect(formatFixed(Number.NaN)).toBe('NA');
});

it('prints intervals, counts, thousands and bytes as the published tables do', () => {
  expect(formatEstimate(0.1362, 0.0851, 0.1914)).toBe('0.136 [0.085, 0.191]');
  expect(formatEstimate(0.1362, null, null)).toBe('0.136');
  expect(formatRange(-0.01, 0.018)).toBe('[-0.010, 0.018]');
  expect(formatCount(26, 28)).toBe('26/28');
  expect(formatThousands(586293569)).toBe('586,293,569');
  expect(formatBytes(51519609254)).toBe('48.0 GB');
  expect(formatBytes(0)).toBe('0 B');
  expect(formatBytes(1023)).toBe('1023.0 B');
});

it('prints what is infinite or missing as words', () => {
  expect(
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined].map((value) => formatFixed(value)),
  ).toEqual(['inf', '-inf', 'NA']);
  expect(formatFixed(-0)).toBe('-0.000');
  for (const [low, high] of [
    [null, 1],
    [1, null],
    [Number.NaN, 1],
    [1, Number.NaN],
  ] as const) {
    expect(formatRange(low, high)).toBe('NA');
    expect(formatEstimate(0.5, low, high)).toBe('0.500');
  }
  expect(formatEstimate(null, 0, 1)).toBe('NA [0.000, 1.000]');
  expect(formatEstimate(0.25, 0, 1, 1)).toBe('0.2 [0.0, 1.0]');
  expect([formatCount(null, 1), formatCount(1, null), formatCount(0, 0)]).toEqual(['NA', 'NA', '0/0']);
  expect([formatThousands(null), formatThousands(Number.NaN), formatThousands(1234.5)]).toEqual([
    'NA',
    'NA',
    '1,235',
  ]);
});

it('prints bytes in the largest unit of which there is one, up to terabytes', () => {
  const kilo = 1024;
  expect(
    [null, Number.NaN, -1, 1, kilo, kilo ** 2, kilo ** 3, kilo ** 4, 2048 * kilo ** 4].map(formatBytes),
  ).toEqual(['NA', 'NA', '0 B', '1.0 B', '1.0 KB', '1.0 MB', '1.0 GB', '1.0 TB', '2048.0 TB']);
});
