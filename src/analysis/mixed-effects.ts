/** A linear mixed model with one random intercept, fitted by restricted maximum likelihood. */
export interface MixedFit {
  readonly coefficients: readonly number[];
  /** Covariance of the coefficients. */
  readonly covariance: readonly (readonly number[])[];
  /** Standard deviation of the random intercept. */
  readonly groupDeviation: number;
  readonly residualDeviation: number;
  /** -2 log restricted likelihood, comparable with the REML criterion of lme4. */
  readonly criterion: number;
}

export interface MixedData {
  readonly y: readonly number[];
  /** Design rows of the fixed effects, full column rank. */
  readonly x: readonly (readonly number[])[];
  /** Group of each observation. */
  readonly group: readonly string[];
}

/** Sums over one group that the likelihood is made of. */
interface GroupSums {
  readonly size: number;
  readonly sumX: readonly number[];
  readonly sumY: number;
}

interface Profile {
  readonly criterion: number;
  readonly coefficients: readonly number[];
  readonly inverse: readonly (readonly number[])[];
  readonly residualVariance: number;
}

/**
 * y = X b + u[group] + e, u ~ N(0, s_u^2), e ~ N(0, s^2); REML, profiled over the variance ratio s_u^2 / s^2 (Pinheiro
 * and Bates 2000, section 2.2; Bates et al. 2015). Undefined when the ratio cannot be told: no group with two
 * observations, no degrees of freedom left, or no spread at all within the groups.
 */
export function fitRandomIntercept(data: MixedData): MixedFit | undefined {
  const columns = data.x[0]?.length ?? 0;
  const groups = groupSums(data, columns);
  if (groups.every((group) => group.size < 2) || data.y.length - columns < 2 || groups.length < 2)
    return undefined;
  const cross = crossProducts(data, columns);
  const profile = (ratio: number): Profile => profileAt(ratio, cross, groups, data.y.length);
  const ratio = bestRatio((candidate) => profile(candidate).criterion);
  if (ratio > 10 ** (largestExponent - 1)) return undefined;
  const best = profile(ratio);
  return {
    coefficients: best.coefficients,
    covariance: best.inverse.map((row) => row.map((value) => value * best.residualVariance)),
    groupDeviation: Math.sqrt(ratio * best.residualVariance),
    residualDeviation: Math.sqrt(best.residualVariance),
    criterion: best.criterion,
  };
}

function groupSums(data: MixedData, columns: number): readonly GroupSums[] {
  const groups = new Map<string, { size: number; sumX: number[]; sumY: number }>();
  data.y.forEach((y, index) => {
    const name = data.group[index]!;
    const group = groups.get(name) ?? { size: 0, sumX: new Array<number>(columns).fill(0), sumY: 0 };
    group.size += 1;
    group.sumY += y;
    data.x[index]!.forEach((value, column) => {
      group.sumX[column]! += value;
    });
    groups.set(name, group);
  });
  return [...groups.values()];
}

interface CrossProducts {
  readonly xx: readonly (readonly number[])[];
  readonly xy: readonly number[];
  readonly yy: number;
}

function crossProducts(data: MixedData, columns: number): CrossProducts {
  const sum = (valueAt: (index: number) => number): number =>
    data.y.reduce((all, _, index) => all + valueAt(index), 0);
  const range = Array.from({ length: columns }, (_, column) => column);
  return {
    xx: range.map((a) => range.map((b) => sum((index) => data.x[index]![a]! * data.x[index]![b]!))),
    xy: range.map((a) => sum((index) => data.x[index]![a]! * data.y[index]!)),
    yy: sum((index) => data.y[index]! ** 2),
  };
}

/** Likelihood profiled over everything but the variance ratio; the inverse of I + ratio J is I - shrink J. */
function profileAt(
  ratio: number,
  cross: CrossProducts,
  groups: readonly GroupSums[],
  count: number,
): Profile {
  const columns = cross.xy.length;
  const xx = cross.xx.map((row) => [...row]);
  const xy = [...cross.xy];
  let { yy } = cross;
  let logSizes = 0;
  for (const { size, sumX, sumY } of groups) {
    const shrink = ratio / (1 + size * ratio);
    logSizes += Math.log1p(size * ratio);
    yy -= shrink * sumY * sumY;
    for (let a = 0; a < columns; a += 1) {
      xy[a]! -= shrink * sumX[a]! * sumY;
      for (let b = 0; b < columns; b += 1) xx[a]![b]! -= shrink * sumX[a]! * sumX[b]!;
    }
  }
  const { inverse, logDeterminant } = invertPositive(xx);
  const coefficients = inverse.map((row) => row.reduce((sum, value, b) => sum + value * xy[b]!, 0));
  const residual = Math.max(
    yy - coefficients.reduce((sum, value, a) => sum + value * xy[a]!, 0),
    Number.MIN_VALUE,
  );
  const degrees = count - columns;
  const residualVariance = residual / degrees;
  const criterion =
    degrees * (1 + Math.log(2 * Math.PI) + Math.log(residualVariance)) + logSizes + logDeterminant;
  return { criterion, coefficients, inverse, residualVariance };
}

/** Inverse and log determinant of a symmetric positive definite matrix, by Cholesky. */
function invertPositive(matrix: readonly (readonly number[])[]): {
  readonly inverse: readonly (readonly number[])[];
  readonly logDeterminant: number;
} {
  const size = matrix.length;
  const lower = matrix.map(() => new Array<number>(size).fill(0));
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let sum = matrix[row]![column]!;
      for (let inner = 0; inner < column; inner += 1) sum -= lower[row]![inner]! * lower[column]![inner]!;
      if (row === column && sum <= 0)
        throw new RangeError('The design of the mixed model does not have full column rank.');
      lower[row]![column] = row === column ? Math.sqrt(sum) : sum / lower[column]![column]!;
    }
  }
  const solve = (unit: number): readonly number[] => {
    const forward = new Array<number>(size).fill(0);
    for (let row = 0; row < size; row += 1) {
      let sum = row === unit ? 1 : 0;
      for (let inner = 0; inner < row; inner += 1) sum -= lower[row]![inner]! * forward[inner]!;
      forward[row] = sum / lower[row]![row]!;
    }
    for (let row = size - 1; row >= 0; row -= 1) {
      let sum = forward[row]!;
      for (let inner = row + 1; inner < size; inner += 1) sum -= lower[inner]![row]! * forward[inner]!;
      forward[row] = sum / lower[row]![row]!;
    }
    return forward;
  };
  return {
    inverse: matrix.map((_, unit) => solve(unit)),
    logDeterminant: 2 * lower.reduce((sum, row, index) => sum + Math.log(row[index]!), 0),
  };
}

/** Ratios beyond 10 to this power mean that nothing varies within groups: the likelihood has no maximum. */
const largestExponent = 8;

/** Variance ratio of least criterion: a grid over 16 decades, refined by golden section, against a ratio of 0. */
function bestRatio(criterionAt: (ratio: number) => number): number {
  const atExponent = (exponent: number): number => criterionAt(10 ** exponent);
  let bestExponent = -8;
  for (let exponent = -8; exponent <= largestExponent; exponent += 0.25)
    if (atExponent(exponent) < atExponent(bestExponent)) bestExponent = exponent;
  const golden = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [bestExponent - 0.25, bestExponent + 0.25];
  for (let step = 0; step < 60; step += 1) {
    const [a, b] = [high - golden * (high - low), low + golden * (high - low)];
    if (atExponent(a) < atExponent(b)) high = b;
    else low = a;
  }
  const ratio = 10 ** ((low + high) / 2);
  return criterionAt(0) <= criterionAt(ratio) ? 0 : ratio;
}
