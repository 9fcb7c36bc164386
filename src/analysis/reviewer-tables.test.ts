import { describe, expect, it } from 'vitest';
import { resampler } from './random-stream.js';
import {
  headlineIntervals,
  mixedEffects,
  powerTable,
  rankTable,
  taskSignificance,
  trialReliability,
} from './reviewer-tables.js';
import { armsOf, factsFor } from './run-row.fixture.js';
import { strataOf } from './strata.js';
import type { Table } from './tables.js';
import { taskIndexOf } from './task-facts.js';

const names = ['t1', 't2', 't3', 't4'];
const context = { tasks: taskIndexOf(factsFor(names)), drawing: resampler({ resamples: 400 }) };
const cells = {
  t1: [
    [0.1, 0.2],
    [0.5, 0.6],
  ],
  t2: [
    [0.3, 0.3],
    [0.4, 0.6],
  ],
  t3: [
    [0.5, 0.4],
    [0.5, 0.4],
  ],
  t4: [
    [0.2, 0.1],
    [0.9, 0.8],
  ],
} as const;
/** By how much more the second model gains: 0.1 on average. */
const gains: Readonly<Record<string, number>> = { t1: 0.12, t2: 0.08, t3: 0.12, t4: 0.08 };
const rows = [
  ...armsOf(cells, { model: 'm1' }),
  ...armsOf(cells, { model: 'm2' }).map((row) => ({
    ...row,
    reward: row.condition === 'with-skill' ? row.reward! + gains[row.task]! : row.reward,
  })),
];
const [stratum] = strataOf(rows);
const labels = (table: Table | undefined): readonly unknown[] =>
  table!.rows.map((row) => row[table!.columns[0]!]);

describe('tables for a careful reviewer', () => {
  it('shows the headline under six intervals around one estimate', () => {
    const table = headlineIntervals(stratum!, context)!;
    expect(table.rows).toHaveLength(6);
    // Task deltas of m1 are 0.4, 0.2, 0, 0.7; m2 adds 0.1 on average: mean 0.325 + 0.05.
    for (const row of table.rows) {
      expect(row.delta).toBeCloseTo(0.375, 12);
      expect(Number(row.low)).toBeLessThan(0.375);
      expect(Number(row.high)).toBeGreaterThan(0.375);
    }
    // All four values are positive: only the observed signs and their mirror image reach the mean.
    expect(table.notes![0]).toContain('p = 0.1250 (exact)');
  });

  it('adjusts task tests for their number', () => {
    const table = taskSignificance(stratum!, context)!;
    for (const row of table.rows) {
      expect(Number(row.holm)).toBeGreaterThanOrEqual(Number(row.benjaminiHochberg));
      expect(Number(row.benjaminiHochberg)).toBeGreaterThanOrEqual(Number(row.p));
    }
    expect(labels(table)).toEqual(['t4', 't1', 't2', 't3']);
  });

  it('finds the model difference that was put in, and the spread between and within tasks', () => {
    const table = mixedEffects(stratum!)!;
    const estimate = (label: string): number =>
      Number(table.rows.find((row) => row.term === label)!.estimate);
    expect(estimate('Mean effect of skills')).toBeCloseTo(0.375, 6);
    expect(estimate('m1 - mean')).toBeCloseTo(-0.05, 6);
    expect(estimate('m2 - mean')).toBeCloseTo(0.05, 6);
    // Task means 0.46, 0.24, 0.06, 0.74; residuals +-0.01. Mean squares 2 x 0.2579 / 3 between tasks and 8 x 0.0001 / 3
    // within; balanced REML is the analysis of variance: (0.171933 - 0.000267) / 2 and 0.000267.
    expect(estimate('SD between tasks')).toBeCloseTo(0.29297, 4);
    expect(estimate('SD within tasks (models, trials)')).toBeCloseTo(0.01633, 5);
    expect(mixedEffects(strataOf(armsOf(cells))[0]!)).toBeUndefined();
  });

  it('reports reliability by arm and power by plan', () => {
    expect(labels(trialReliability(stratum!))).toEqual([
      'no-skill / m1',
      'with-skill / m1',
      'no-skill / m2',
      'with-skill / m2',
    ]);
    const power = powerTable(stratum!, context)!;
    const of = (plan: string) => power.rows.find((row) => row.plan === plan)!;
    expect(Number(of('8 tasks x 1 trials').detectable80)).toBeGreaterThan(
      Number(of('28 tasks x 1 trials').detectable80),
    );
    expect(Number(of('8 tasks x 1 trials').detectable80)).toBeGreaterThan(
      Number(of('8 tasks x 10 trials').detectable80),
    );
  });

  it('ranks models on the tasks they share', () => {
    const table = rankTable([stratum!], 'with-skill', context)!;
    expect(labels(table)).toEqual(['m2 (campaign)', 'm1 (campaign)']);
    expect(table.rows[0]).toMatchObject({ tasks: 4, rank: 1, best: 1 });
  });
});
