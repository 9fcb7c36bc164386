const scale = 10n ** 8n;

/**
 * Rounds to 8 decimals from the exact binary value, exact ties to even, as the published scorer does
 * (0.001953125 -> 0.00195312). Eight decimals keep one wrong row in 200,859 visible below 1.
 */
export function round8(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const raw = bits.getBigUint64(0);
  // value = mantissa / denominator. The leading bit is wrong for subnormal numbers, which round to 0 with it as without.
  const mantissa = (raw & (2n ** 52n - 1n)) | (2n ** 52n);
  const denominator = 2n ** (1075n - (raw >> 52n));
  const scaled = mantissa * scale;
  let quotient = scaled / denominator;
  const doubledRest = 2n * (scaled % denominator);
  if (doubledRest > denominator || (doubledRest === denominator && quotient % 2n === 1n)) quotient += 1n;
  const text = `${quotient / scale}.${String(quotient % scale).padStart(8, '0')}`;
  return Math.sign(value) * Number(text);
}

/** Sum with Neumaier's compensation, the way the published scorer's interpreter adds floats. */
export function compensatedSum(values: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

/** The reward: mean of the already rounded match rates, rounded again; 0 without columns. */
export function meanOfRates(roundedRates: readonly number[]): number {
  return roundedRates.length === 0 ? 0 : round8(compensatedSum(roundedRates) / roundedRates.length);
}
