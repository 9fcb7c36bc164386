/** Natural logarithm of the gamma function for x > 0 (Lanczos 1964, g = 7, 9 terms; relative error below 1e-14). */
export function logGamma(x: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const shifted = x - 1;
  const base = shifted + 7.5;
  let series = coefficients[0]!;
  for (let term = 1; term < coefficients.length; term += 1) series += coefficients[term]! / (shifted + term);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(series);
}

/** Regularised incomplete beta function I_x(a, b), by its continued fraction (NIST DLMF 8.17.22). */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b));
  const away = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let step = 1; step <= 500; step += 1) {
    const even = (step * (b - step) * x) / ((a + 2 * step - 1) * (a + 2 * step));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + step) * (a + b + step) * x) / ((a + 2 * step) * (a + 2 * step + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return (front * fraction) / a;
}

/** Distribution function of the standard normal (Hart 1968 as given by West 2005; absolute error below 1e-15). */
export function normalCdf(z: number): number {
  const x = Math.abs(z);
  const tail = x > 37 ? 0 : Math.exp((-x * x) / 2) * (x < 7.07106781186547 ? hartRatio(x) : farRatio(x));
  return z > 0 ? 1 - tail : tail;
}

function hartRatio(x: number): number {
  const above = polynomial(
    x,
    [
      3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871,
      221.213596169931, 220.206867912376,
    ],
  );
  const below = polynomial(
    x,
    [
      8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674,
      637.333633378831, 793.826512519948, 440.413735824752,
    ],
  );
  return above / below;
}

function farRatio(x: number): number {
  return 1 / (x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))) / Math.sqrt(2 * Math.PI);
}

function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}

/** Distribution function of Student's t. */
export function studentCdf(t: number, degrees: number): number {
  const tail = 0.5 * incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

/** Distribution function of Fisher's F. */
export function fisherCdf(f: number, numerator: number, denominator: number): number {
  if (f <= 0) return 0;
  return incompleteBeta((numerator * f) / (numerator * f + denominator), numerator / 2, denominator / 2);
}

/** The x with cdf(x) = p for an increasing cdf, by bisection to the last bits. */
function invert(cdf: (x: number) => number, p: number, low: number, high: number): number {
  let [below, above] = [low, high];
  for (let step = 0; step < 200; step += 1) {
    const middle = (below + above) / 2;
    if (middle === below || middle === above) break;
    if (cdf(middle) < p) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}

/** Quantile of the standard normal; infinite at 0 and 1. */
export function normalQuantile(p: number): number {
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return Number.POSITIVE_INFINITY;
  // The lower half keeps full precision.
  return p > 0.5 ? -invert(normalCdf, 1 - p, -40, 0) : invert(normalCdf, p, -40, 0);
}

/** Quantile of Student's t. */
export function studentQuantile(p: number, degrees: number): number {
  if (p === 0.5) return 0;
  if (p > 0.5) return -studentQuantile(1 - p, degrees);
  let low = -10;
  while (studentCdf(low, degrees) > p) low *= 4;
  return invert((t) => studentCdf(t, degrees), p, low, 0);
}

/** Quantile of Fisher's F. */
export function fisherQuantile(p: number, numerator: number, denominator: number): number {
  let high = 10;
  while (fisherCdf(high, numerator, denominator) < p) high *= 4;
  return invert((f) => fisherCdf(f, numerator, denominator), p, 0, high);
}

/**
 * Distribution function of the noncentral t: P((Z + shift) / sqrt(V / degrees) <= t), V chi-square. The chi density
 * is integrated with Simpson's rule over where it has its mass (Owen 1968 gives the integral).
 */
export function noncentralStudentCdf(t: number, degrees: number, shift: number): number {
  // s = sqrt(V / degrees) has mean about 1 and standard deviation about 1 / sqrt(2 degrees).
  const spread = 10 / Math.sqrt(2 * degrees);
  const from = Math.max(1e-9, 1 - spread);
  const to = 1 + spread + 10 / degrees;
  const steps = 400;
  const width = (to - from) / steps;
  const logScale = Math.log(2) + (degrees / 2) * Math.log(degrees / 2) - logGamma(degrees / 2);
  let sum = 0;
  for (let step = 0; step <= steps; step += 1) {
    const s = from + step * width;
    const density = Math.exp(logScale + (degrees - 1) * Math.log(s) - (degrees * s * s) / 2);
    const weight = step === 0 || step === steps ? 1 : step % 2 === 1 ? 4 : 2;
    sum += weight * density * normalCdf(t * s - shift);
  }
  return (sum * width) / 3;
}
