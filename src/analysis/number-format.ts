/**
 * Fixed decimals, correctly rounded from the exact binary value, exact ties to even: 0.0625 at 3 digits is 0.062
 * (`toFixed` alone rounds such ties away from zero). Missing and NaN are `NA`.
 */
export function formatFixed(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'NA';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const magnitude = Math.abs(value);
  // A tie has exactly digits + 1 decimals, the last of them 5: an odd multiple of 2^-(digits + 1).
  const isTie = (magnitude * 2 ** (digits + 1)) % 2 === 1;
  const rounded = magnitude.toFixed(digits);
  const text = isTie && /[13579]$/.test(rounded) ? truncated(magnitude, digits) : rounded;
  return value < 0 || Object.is(value, -0) ? `-${text}` : text;
}

function truncated(magnitude: number, digits: number): string {
  // One more digit is exact for a tie, so cutting it rounds down.
  const exact = magnitude.toFixed(digits + 1).slice(0, -1);
  return exact.endsWith('.') ? exact.slice(0, -1) : exact;
}

/** `[lo, hi]`; `NA` when either end is missing. */
export function formatRange(low: number | null, high: number | null, digits = 3): string {
  if (low === null || high === null || Number.isNaN(low) || Number.isNaN(high)) return 'NA';
  return `[${formatFixed(low, digits)}, ${formatFixed(high, digits)}]`;
}

/** `m [lo, hi]`; only `m` when there is no interval. */
export function formatEstimate(
  value: number | null,
  low: number | null,
  high: number | null,
  digits = 3,
): string {
  const range = formatRange(low, high, digits);
  return range === 'NA' ? formatFixed(value, digits) : `${formatFixed(value, digits)} ${range}`;
}

/** `k/n`. */
export function formatCount(count: number | null, of: number | null): string {
  return count === null || of === null ? 'NA' : `${count}/${of}`;
}

/** Whole numbers with thousands separators: `586,293,569`. */
export function formatThousands(value: number | null): string {
  if (value === null || Number.isNaN(value)) return 'NA';
  return Math.round(value).toLocaleString('en-US');
}

/** Bytes with binary multiples and 1 decimal: `48.0 GB`; `0 B` for nothing. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null || Number.isNaN(bytes)) return 'NA';
  if (bytes <= 0) return '0 B';
  let power = 0;
  while (power < 4 && bytes >= 1024 ** (power + 1)) power += 1;
  return `${formatFixed(bytes / 1024 ** power, 1)} ${['B', 'KB', 'MB', 'GB', 'TB'][power]!}`;
}
