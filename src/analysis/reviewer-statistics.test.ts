import { describe, expect, it } from 'vitest';
import { noncentralStudentCdf, studentQuantile } from './distributions.js';
import { fitRandomIntercept } from './mixed-effects.js';
import {
  minimalDetectableEffect,
  plannedDeviation,
  tasksNeeded,
  testPower,
  varianceComponents,
} from './power.js';
import { resampler } from './random-stream.js';
import { kendallTau, midRanks, rankStability } from './rank-stability.js';
import { intraclassCorrelation, passAtK, passHatK } from './reliability.js';

describe('the mixed model', () => {
  it('gives the published REML fit of the Dyestuff data', () => {
    // Davies and Goldsmith 1972; fit printed in Bates et al. 2015 and the lme4 documentation: intercept 1527.50
    // (SE 19.38), SD batch 42.00, SD residual 49.51, REML criterion 319.6543.
    const batches = {
      A: [1545, 1440, 1440, 1520, 1580],
      B: [1540, 1555, 1490, 1560, 1495],
      C: [1595, 1550, 1605, 1510, 1560],
      D: [1445, 1440, 1595, 1465, 1545],
      E: [1595, 1630, 1515, 1635, 1625],
      F: [1520, 1455, 1450, 1480, 1445],
    };
    const y = Object.values(batches).flat();
    const group = Object.entries(batches).flatMap(([batch, yields]) => yields.map(() => batch));
    const fit = fitRandomIntercept({ y, x: y.map(() => [1]), group })!;
    expect(fit.coefficients[0]).toBeCloseTo(1527.5, 6);
    expect(Math.sqrt(fit.covariance[0]![0]!)).toBeCloseTo(19.38, 2);
    expect(fit.groupDeviation).toBeCloseTo(42.0, 2);
    expect(fit.residualDeviation).toBeCloseTo(49.51, 2);
    expect(fit.criterion).toBeCloseTo(319.6543, 3);
  });

  it('gives the published fixed effects of the ergonomic stools', () => {
    // Pinheiro and Bates 2000, section 1.2.1: effort ~ type, subject random; intercept 8.5556 (SE 0.5760), types
    // 3.8889, 2.2222, 0.6667 (SE 0.5187), SD subject 1.3325, residual 1.1003.
    const stools = [
      [12, 10, 7, 7, 8, 9, 8, 7, 9],
      [15, 14, 14, 11, 11, 11, 12, 11, 13],
      [12, 13, 13, 10, 8, 11, 12, 8, 10],
      [10, 12, 9, 9, 7, 10, 11, 7, 8],
    ];
    const y = stools.flat();
    const x = stools.flatMap((efforts, type) =>
      efforts.map(() => [1, 1, 2, 3].map((_, c) => (c === 0 || c === type ? 1 : 0))),
    );
    const group = stools.flatMap((efforts) => efforts.map((_, subject) => `s${subject}`));
    const fit = fitRandomIntercept({ y, x, group })!;
    expect(fit.coefficients.map((value) => value.toFixed(4))).toEqual([
      '8.5556',
      '3.8889',
      '2.2222',
      '0.6667',
    ]);
    expect(Math.sqrt(fit.covariance[0]![0]!)).toBeCloseTo(0.576, 3);
    expect(Math.sqrt(fit.covariance[1]![1]!)).toBeCloseTo(0.5187, 4);
    expect(fit.groupDeviation).toBeCloseTo(1.3325, 3);
    expect(fit.residualDeviation).toBeCloseTo(1.1003, 4);
    expect(fit.criterion).toBeCloseTo(121.1308, 3);
  });

  it('finds the maximum on unbalanced data: no nearby variance ratio is more likely', () => {
    const y = [1, 2, 1.5, 4, 4.5, 9, 8, 8.5, 9.5];
    const group = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'c', 'c'];
    const fit = fitRandomIntercept({ y, x: y.map(() => [1]), group })!;
    // Restricted likelihood worked out densely from the covariance matrix.
    const dense = (groupVariance: number, residualVariance: number): number => {
      const v = y.map((_, i) =>
        y.map((__, j) => (group[i] === group[j] ? groupVariance : 0) + (i === j ? residualVariance : 0)),
      );
      const { inverse, logDeterminant } = gaussJordan(v);
      const row = (weights: readonly number[], values: readonly number[]): number =>
        weights.reduce((sum, weight, index) => sum + weight * values[index]!, 0);
      const ones = y.map(() => 1);
      const weighted = inverse.map((weights) => row(weights, ones));
      const information = row(weighted, ones);
      const centre = row(weighted, y) / information;
      const residuals = y.map((value) => value - centre);
      const quadratic = row(
        residuals,
        inverse.map((weights) => row(weights, residuals)),
      );
      return (y.length - 1) * Math.log(2 * Math.PI) + logDeterminant + Math.log(information) + quadratic;
    };
    const at = dense(fit.groupDeviation ** 2, fit.residualDeviation ** 2);
    expect(at).toBeCloseTo(fit.criterion, 6);
    for (const factor of [0.97, 1.03]) {
      expect(dense(fit.groupDeviation ** 2 * factor, fit.residualDeviation ** 2)).toBeGreaterThan(at);
      expect(dense(fit.groupDeviation ** 2, fit.residualDeviation ** 2 * factor)).toBeGreaterThan(at);
    }
  });

  it('has no answer with one observation per group', () => {
    expect(fitRandomIntercept({ y: [1, 2, 3], x: [[1], [1], [1]], group: ['a', 'b', 'c'] })).toBeUndefined();
  });

  it('has no answer for one group, one degree of freedom, or no spread within groups', () => {
    const ones = (count: number) => Array.from({ length: count }, () => [1]);
    expect(fitRandomIntercept({ y: [1, 2, 4], x: ones(3), group: ['a', 'a', 'a'] })).toBeUndefined();
    expect(fitRandomIntercept({ y: [1, 2], x: ones(2), group: ['a', 'a'] })).toBeUndefined();
    const two = [
      [1, 0],
      [1, 1],
      [1, 0],
    ];
    expect(fitRandomIntercept({ y: [1, 2, 4], x: two, group: ['a', 'a', 'b'] })).toBeUndefined();
    expect(fitRandomIntercept({ y: [1, 1, 5, 5], x: ones(4), group: ['a', 'a', 'b', 'b'] })).toBeUndefined();
    expect(fitRandomIntercept({ y: [], x: [], group: [] })).toBeUndefined();
    // Two degrees of freedom and one group with two observations are enough.
    expect(fitRandomIntercept({ y: [1, 2, 4], x: ones(3), group: ['a', 'a', 'b'] })).toBeDefined();
  });

  it('has no spread between groups whose means are alike: then it is the plain mean', () => {
    // Mean 2, squares 4 over 3 degrees of freedom; -2 log likelihood 3 (1 + log 2 pi + log 4/3) + log 4.
    const fit = fitRandomIntercept({
      y: [1, 3, 1, 3],
      x: [[1], [1], [1], [1]],
      group: ['a', 'a', 'b', 'b'],
    })!;
    expect(fit.groupDeviation).toBe(0);
    expect(fit.residualDeviation).toBeCloseTo(Math.sqrt(4 / 3), 12);
    expect(fit.coefficients[0]).toBeCloseTo(2, 12);
    expect(fit.criterion).toBeCloseTo(3 * (1 + Math.log(2 * Math.PI) + Math.log(4 / 3)) + Math.log(4), 12);
  });

  it('refuses a design whose columns say the same', () => {
    const twice = Array.from({ length: 6 }, () => [1, 1]);
    expect(() =>
      fitRandomIntercept({ y: [1, 2, 4, 3, 5, 9], x: twice, group: ['a', 'a', 'b', 'b', 'c', 'c'] }),
    ).toThrow('The design of the mixed model does not have full column rank.');
  });
});

function gaussJordan(matrix: readonly (readonly number[])[]) {
  const size = matrix.length;
  const work = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  let logDeterminant = 0;
  for (let pivot = 0; pivot < size; pivot += 1) {
    const value = work[pivot]![pivot]!;
    logDeterminant += Math.log(value);
    for (let column = 0; column < 2 * size; column += 1) work[pivot]![column]! /= value;
    for (let row = 0; row < size; row += 1) {
      if (row === pivot) continue;
      const factor = work[row]![pivot]!;
      for (let column = 0; column < 2 * size; column += 1)
        work[row]![column]! -= factor * work[pivot]![column]!;
    }
  }
  return { inverse: work.map((row) => row.slice(size)), logDeterminant };
}

describe('trial reliability', () => {
  it('gives the published intraclass correlations', () => {
    // Shrout and Fleiss 1979, table 2: ICC(1,1) 0.17, ICC(1,4) 0.44; interval as in McGraw and Wong 1996.
    const ratings = [
      [9, 2, 5, 8],
      [6, 1, 3, 2],
      [8, 4, 6, 8],
      [7, 1, 2, 6],
      [10, 5, 6, 9],
      [6, 2, 4, 7],
    ];
    const icc = intraclassCorrelation(ratings)!;
    expect(icc.single).toBeCloseTo(0.17, 2);
    expect(icc.average).toBeCloseTo(0.44, 2);
    expect(icc.low).toBeCloseTo(-0.13, 2);
    expect(icc.high).toBeCloseTo(0.72, 2);
  });

  it('is 1 when trials never differ, and unknown when nothing does', () => {
    expect(
      intraclassCorrelation([
        [1, 1],
        [2, 2],
      ])!.single,
    ).toBe(1);
    expect(
      intraclassCorrelation([
        [1, 1],
        [1, 1],
      ]),
    ).toBeUndefined();
    expect(intraclassCorrelation([[1], [2]])).toBeUndefined();
  });

  it('leaves out targets without trials, and needs a second target and a second trial', () => {
    const rated = [
      [0, 0.5],
      [1, 1],
    ];
    expect(intraclassCorrelation([...rated, []])).toEqual(intraclassCorrelation(rated));
    expect(intraclassCorrelation([[0, 1], []])).toBeUndefined();
    expect(intraclassCorrelation([[0, 1, 0.5]])).toBeUndefined();
    // Three trials of two targets. Means 0.5 and 1, grand mean 2/3: between 2/36 + 1/9 = 1/6, within 0.5 with 1 degree:
    // F = 1/3; k = 3 - 5/3 = 4/3.
    const uneven = intraclassCorrelation([[0, 1], [1]])!;
    expect(uneven.trials).toBeCloseTo(4 / 3, 12);
    expect(uneven.single).toBeCloseTo((1 / 3 - 1) / (1 / 3 + 1 / 3), 12);
    expect(uneven.average).toBeCloseTo(1 - 3, 12);
    expect(uneven.targets).toBe(2);
    const perfect = intraclassCorrelation([
      [1, 1],
      [2, 2],
    ])!;
    expect([perfect.single, perfect.low, perfect.high, perfect.average]).toEqual([1, 1, 1, 1]);
  });

  it('more draws than trials have no chance to speak of', () => {
    expect(passAtK(2, 0, 3)).toBeNaN();
    expect(passHatK(2, 2, 3)).toBeNaN();
    expect([passAtK(3, 3, 3), passHatK(3, 3, 3)]).toEqual([1, 1]);
  });

  it('counts pass@k and pass^k by hand', () => {
    // 2 passes in 5: one of two trials passes unless both come from the 3 failures: 1 - 3/10; both pass in 1/10.
    expect(passAtK(5, 2, 2)).toBeCloseTo(0.7, 12);
    expect(passHatK(5, 2, 2)).toBeCloseTo(0.1, 12);
    expect(passAtK(5, 2, 1)).toBeCloseTo(0.4, 12);
    expect(passHatK(5, 2, 1)).toBeCloseTo(0.4, 12);
    expect(passAtK(5, 1, 5)).toBe(1);
    expect(passHatK(5, 4, 5)).toBe(0);
    expect(passAtK(3, 1, 4)).toBeNaN();
  });
});

describe('power', () => {
  it('agrees with the documented example of power.t.test in R', () => {
    // 20 per group, difference 1, sd 1: power 0.8689528; noncentrality sqrt(10), 38 degrees of freedom.
    const critical = studentQuantile(0.975, 38);
    expect(1 - noncentralStudentCdf(critical, 38, Math.sqrt(10))).toBeCloseTo(0.8689528, 6);
  });

  it('agrees with the textbook: effect size 0.5 needs 34 pairs for 80 %', () => {
    expect(tasksNeeded(0.5, 1)).toBe(34);
    expect(testPower(0.5, 1, 34)).toBeCloseTo(0.8078, 3);
    expect(testPower(0, 1, 20)).toBeCloseTo(0.05, 6);
    expect(testPower(minimalDetectableEffect(1, 34), 1, 34)).toBeCloseTo(0.8, 6);
  });

  it('knows what no test can find, and what any test finds', () => {
    expect(testPower(0.5, 1, 1)).toBeNaN();
    expect(testPower(0.5, 1, 2)).toBeGreaterThan(0.05);
    expect([testPower(0.1, 0, 5), testPower(0, 0, 5)]).toEqual([1, 0.05]);
    // A standardised delta of 1 in either direction and unit: 0.2 of 0.2, -5 of 5.
    expect(testPower(0.2, 0.2, 9)).toBeCloseTo(testPower(1, 1, 9), 12);
    expect(testPower(-5, 5, 9)).toBeCloseTo(testPower(1, 1, 9), 12);
    expect(testPower(100, 1, 20)).toBe(1);
    expect(minimalDetectableEffect(1, 1)).toBeNaN();
    expect(minimalDetectableEffect(0.5, 34)).toBeCloseTo(minimalDetectableEffect(1, 34) / 2, 12);
    // Two tasks: t(0.975, 1) is 12.7, so that only effects of many standard deviations are found.
    expect(testPower(minimalDetectableEffect(1, 2), 1, 2)).toBeCloseTo(0.8, 4);
    expect(tasksNeeded(0, 1)).toBeUndefined();
    // 7.85 / 0.02^2 tasks are 19,600; 0.03 needs about 8,723.
    expect(tasksNeeded(0.02, 1)).toBeUndefined();
    expect(Math.abs(tasksNeeded(0.03, 1)! - 7.849 / 0.0009)).toBeLessThan(5);
    expect(tasksNeeded(100, 1)).toBe(2);
  });

  it('splits the spread over several models, and is nothing for one task', () => {
    // Deltas 1 and 0 of two models: mean 0.5. Arm variances 0.5, 0, 0, 0.5 of two trials each: a trial adds (0.5 + 0.5)/4
    // and two half of it. The other task has delta 0 and no noise. Variance 0.125 - (0.125 + 0)/2.
    const noisy = {
      family: 'a',
      task: 'a',
      models: [
        { baseline: [0, 1], treatment: [1.5, 1.5] },
        { baseline: [0.5, 0.5], treatment: [0, 1] },
      ],
    };
    const still = { family: 'b', task: 'b', models: [{ baseline: [0.25], treatment: [0.25] }] };
    const components = varianceComponents([noisy, still])!;
    expect(components).toEqual({ task: 0.0625, trial: 0.125, tasks: 2, delta: 0.25 });
    // Noise that explains more than there is leaves nothing.
    const both = { ...noisy, models: [{ baseline: [0, 1], treatment: [0, 1] }] };
    expect(varianceComponents([both, { ...both, task: 'c' }])!.task).toBe(0);
    expect(varianceComponents([noisy])).toBeUndefined();
  });

  it('splits the spread of deltas into tasks and trials', () => {
    // Two tasks, one model, two trials per arm. Deltas 0.1 and 0.3: variance 0.02. Each arm varies with variance
    // 0.005, so a trial adds 0.01 and two trials 0.005: 0.015 is left for the tasks.
    const arm = (centre: number): readonly number[] => [centre - 0.05, centre + 0.05];
    const components = varianceComponents([
      { family: 'a', task: 'a', models: [{ baseline: arm(0.5), treatment: arm(0.6) }] },
      { family: 'b', task: 'b', models: [{ baseline: arm(0.5), treatment: arm(0.8) }] },
    ])!;
    expect(components.trial).toBeCloseTo(0.01, 12);
    expect(components.task).toBeCloseTo(0.015, 12);
    expect(plannedDeviation(components, 10)).toBeCloseTo(Math.sqrt(0.016), 12);
  });
});

describe('rank stability', () => {
  it('keeps the order of agents that dominate on every task', () => {
    const stability = rankStability(
      [
        { name: 'weak', values: [0.1, 0.2, 0.3] },
        { name: 'strong', values: [0.5, 0.6, 0.7] },
      ],
      resampler({ resamples: 200 }),
      1,
    )!;
    expect(
      stability.agents.map((agent) => [agent.name, agent.rank, agent.low, agent.high, agent.best]),
    ).toEqual([
      ['strong', 1, 1, 1, 1],
      ['weak', 2, 2, 2, 0],
    ]);
    expect(stability.kendall).toBe(1);
  });

  it('shows that agents which win on half of the tasks each cannot be told apart', () => {
    const stability = rankStability(
      [
        { name: 'a', values: [1, 0, 1, 0] },
        { name: 'b', values: [0, 1, 0, 1] },
      ],
      resampler({ resamples: 4000 }),
      1,
    )!;
    for (const agent of stability.agents) {
      expect(agent.best).toBeGreaterThan(0.46);
      expect(agent.best).toBeLessThan(0.54);
      expect([agent.low, agent.high]).toEqual([1, 2]);
    }
  });

  it('ranks with ties, and correlates by hand', () => {
    expect(midRanks([0.3, 0.5, 0.3])).toEqual([2.5, 1, 2.5]);
    // Pairs of (1,2,3,4) and (1,3,2,4): five agree, one does not: 4/6.
    expect(kendallTau([1, 2, 3, 4], [1, 3, 2, 4])).toBeCloseTo(4 / 6, 12);
    expect(kendallTau([1, 1], [1, 2])).toBe(0);
  });
});
