import { describe, expect, it } from 'vitest';
import { compareRuns, versionNotes } from './compare.js';
import { resampler } from './random-stream.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

const context = { tasks: taskIndexOf(factsFor(['t1', 't2'])), drawing: resampler({ resamples: 400 }) };

const run = (task: string, trial: number, reward: number | null, more: Partial<RunRow> = {}): RunRow =>
  rowWith({ task, trial, condition: 'with-skill', model: 'm1', reward, ...more });

/*
 * with-skill   A               B
 * t1           0, 0.5          0.5, 1         delta  0.5
 * t2           0.75            0.5            delta -0.25
 * t1, obfuscated: 0.25 against 0.5.
 */
const a = {
  label: 'old skill',
  rows: [
    run('t1', 1, 0, { matchRates: {}, failure: 'agent' }),
    run('t1', 2, 0.5, { matchRates: { x: 0.5, y: 1 } }),
    run('t2', 1, 0.75, { matchRates: { z: 0.75 } }),
    run('t2', 2, null),
    run('t1', 1, 0.25, { schema: 'obfuscated', matchRates: { x: 0.25 } }),
  ],
};
const b = {
  label: 'new skill',
  rows: [
    run('t1', 1, 0.5, { matchRates: { x: 0.5, y: 0.5 } }),
    run('t1', 2, 1, { matchRates: { x: 1, y: 1 } }),
    run('t2', 1, 0.5, { matchRates: { z: 0.5 } }),
    run('t1', 1, 0.5, { schema: 'obfuscated', matchRates: { x: 0.5 } }),
  ],
};
const notes = ['A: old skill. B: new skill. Deltas are B minus A.'];

describe('two campaigns side by side, by hand', () => {
  const compared = () => compareRuns(a, b, context);

  it('by condition, with both intervals and the sign-flip test', () => {
    expect(contentOf(compared().tables['compare-summary'])).toEqual({
      title: 'B against A by condition; task-balanced',
      columns: [
        'arm',
        'tasks',
        'a',
        'b',
        'delta',
        'low',
        'high',
        'studentisedLow',
        'studentisedHigh',
        'p',
        'better',
        'worse',
      ],
      rows: [
        // Two tasks: no studentised interval below three. Sign patterns of 0.5 and -0.25 with |sum| of 0.25 or more: all.
        ['with-skill', 2, 0.5, 0.625, 0.125, -0.25, 0.5, null, null, 1, 1, 1],
        ['with-skill/obfuscated', 1, 0.25, 0.5, 0.25, 0.25, 0.25, null, null, 1, 1, 0],
      ],
      printed: [
        ['Condition', 'Tasks', 'A', 'B', 'Delta', 'Studentised', 'Sign-flip p', 'Better', 'Worse'],
        ['with-skill', '2', '0.500', '0.625', '0.125 [-0.250, 0.500]', 'NA', '1.0000', '1', '1'],
        ['with-skill/obfuscated', '1', '0.250', '0.500', '0.250 [0.250, 0.250]', 'NA', '1.0000', '1', '0'],
      ],
      notes,
    });
  });

  it('by task, tests adjusted over all of them', () => {
    // t1 has 6 relabellings: {0, 0.5} against {0.5, 1} can be chosen in two ways, and so can its reverse; the two with
    // {0, 1} on one side differ by 0. One trial each: both relabellings are as far apart.
    expect(contentOf(compared().tables['compare-by-task'])).toEqual({
      title: 'B against A by task; permutation test over trials',
      columns: ['task', 'arm', 'a', 'b', 'delta', 'runsA', 'runsB', 'p', 'holm', 'benjaminiHochberg'],
      rows: [
        ['t2', 'with-skill', 0.75, 0.5, -0.25, 1, 1, 1, 1, 1],
        ['t1', 'with-skill', 0.25, 0.75, 0.5, 2, 2, 4 / 6, 1, 1],
        ['t1', 'with-skill/obfuscated', 0.25, 0.5, 0.25, 1, 1, 1, 1, 1],
      ],
      printed: [
        ['Task', 'Condition', 'A', 'B', 'Delta', 'Runs A', 'Runs B', 'p', 'Holm', 'Benjamini-Hochberg'],
        ['t2', 'with-skill', '0.750', '0.500', '-0.250', '1', '1', '1.0000', '1.0000', '1.0000'],
        ['t1', 'with-skill', '0.250', '0.750', '0.500', '2', '2', '0.6667', '1.0000', '1.0000'],
        ['t1', 'with-skill/obfuscated', '0.250', '0.500', '0.250', '1', '1', '1.0000', '1.0000', '1.0000'],
      ],
      notes,
    });
  });

  it('by column: a failure matched nothing', () => {
    expect(contentOf(compared().tables['compare-by-column'])).toEqual({
      title: 'B against A by task and column: mean match rate',
      columns: ['task', 'arm', 'column', 'a', 'b', 'delta'],
      rows: [
        // y: (0 + 1)/2 against (0.5 + 1)/2; x: (0 + 0.5)/2 against 0.75.
        ['t1', 'with-skill', 'y', 0.5, 0.75, 0.25],
        ['t1', 'with-skill', 'x', 0.25, 0.75, 0.5],
        ['t2', 'with-skill', 'z', 0.75, 0.5, -0.25],
        ['t1', 'with-skill/obfuscated', 'x', 0.25, 0.5, 0.25],
      ],
      printed: [
        ['Task', 'Condition', 'Column', 'A', 'B', 'Delta'],
        ['t1', 'with-skill', 'y', '0.500', '0.750', '0.250'],
        ['t1', 'with-skill', 'x', '0.250', '0.750', '0.500'],
        ['t2', 'with-skill', 'z', '0.750', '0.500', '-0.250'],
        ['t1', 'with-skill/obfuscated', 'x', '0.250', '0.500', '0.250'],
      ],
      notes,
    });
    expect(compared().unmatched).toEqual([]);
  });

  it('columns with equal deltas stand in the order of their names', () => {
    const rates = (reward: number) => ({
      label: '',
      rows: [run('t1', 1, reward, { matchRates: { b: reward, a: reward } })],
    });
    expect(
      compareRuns(rates(0.25), rates(0.5), context).tables['compare-by-column'].rows.map((row) => row.column),
    ).toEqual(['a', 'b']);
  });

  it('three tasks have a studentised interval and a smaller p', () => {
    const side = (label: string, values: readonly number[]) => ({
      label,
      rows: values.map((reward, index) => run(`t${index}`, 1, reward)),
    });
    const table = compareRuns(side('A', [0, 0, 0]), side('B', [0.25, 0.5, 0.75]), context).tables[
      'compare-summary'
    ];
    const [row] = table.rows;
    // One task three times over is 1 of 27 draws at either end, without any spread.
    expect(contentOf(table)!.printed![1]![5]).toBe('[-inf, inf]');
    // All positive: only the observed signs and their mirror image, 2 of 8.
    expect(row).toMatchObject({ delta: 0.5, better: 3, worse: 0, p: 0.25 });
    expect(Number(row!.studentisedLow)).toBeLessThan(0.5);
    expect(Number(row!.studentisedHigh)).toBeGreaterThan(0.5);
  });

  it('sides with the same models are paired by model, others by their mean over all runs', () => {
    const of = (label: string, byModel: Readonly<Record<string, number>>) => ({
      label,
      rows: Object.entries(byModel).map(([model, reward]) => run('t1', 1, reward, { model })),
    });
    const same = compareRuns(of('A', { m1: 0, m2: 0.5 }), of('B', { m1: 0.5, m2: 0.5 }), context);
    expect(same.tables['compare-by-task'].rows[0]).toMatchObject({ delta: 0.25, runsA: 2, runsB: 2 });
    const differing = compareRuns(of('A', { m1: 0, m2: 0.5 }), of('B', { m3: 1 }), context);
    expect(differing.tables['compare-by-task'].rows[0]).toMatchObject({ a: 0.25, b: 1, runsA: 2, runsB: 1 });
  });

  it('names what only one side has, by condition, schema and model', () => {
    const left = { label: 'A', rows: [...a.rows, ...armsOf({ t7: [[1], [1]] }, { model: 'm1' })] };
    const right = { label: 'B', rows: [...b.rows, run('t8', 1, 1, { schema: 'restructured' })] };
    expect(compareRuns(left, right, context).unmatched).toEqual([
      't7 no-skill native m1: only in A',
      't7 with-skill native m1: only in A',
      't8 with-skill restructured m1: only in B',
    ]);
  });

  it('compares each condition of a schema with itself, and has no line for one that a side lacks', () => {
    const conditions = (label: string, reward: number, more: readonly RunRow[]) => ({
      label,
      rows: [...armsOf({ t1: [[0.25], [reward]] }, { model: 'm1' }), ...more],
    });
    const alone = [run('t1', 1, 1, { condition: 'operational-spec' })];
    const { tables } = compareRuns(conditions('A', 0.5, alone), conditions('B', 0.75, []), context);
    expect(tables['compare-summary'].rows.map((row) => [row.arm, row.a, row.b])).toEqual([
      ['no-skill', 0.25, 0.25],
      ['with-skill', 0.5, 0.75],
    ]);
    expect(tables['compare-by-task'].rows.map((row) => row.arm)).toEqual(['no-skill', 'with-skill']);
  });

  it('tells models apart by all of their name', () => {
    const of = (...models: readonly string[]) => ({
      label: '',
      rows: models.map((model) => run('t1', 1, 0.5, { model })),
    });
    // a and bc are not ab and c.
    expect(
      compareRuns(of('a', 'bc'), of('ab', 'c'), context).tables['compare-by-task'].rows[0],
    ).toMatchObject({
      runsA: 2,
      runsB: 2,
    });
  });

  it('draws from the stream of the analysis', () => {
    // More relabellings than are counted: 252 cubed, by model.
    const many = (label: string, shift: number) => ({
      label,
      rows: ['m1', 'm2', 'm3'].flatMap((model) =>
        [0.1, 0.35, 0.2, 0.6, 0.5].map((reward, index) =>
          run('t1', index + 1, reward + shift * (index % 3), { model }),
        ),
      ),
    });
    const pOf = (rng: 'published' | 'modern') =>
      compareRuns(many('A', 0), many('B', 0.03), { ...context, drawing: resampler({ resamples: 10, rng }) })
        .tables['compare-by-task'].rows[0]!.p;
    expect(pOf('published')).not.toBe(pOf('modern'));
  });

  it('says when the versions of the benchmark differ', () => {
    const version = (benchmarkVersion: string) => [rowWith({ reward: 1, benchmarkVersion })];
    expect(versionNotes(version('1'), version('2'))).toEqual([
      'Benchmark versions differ (A: 1; B: 2): a delta may be one of the tasks and not of the runs.',
    ]);
    const mixed = [...version('2'), ...version('1')];
    expect(versionNotes(mixed, mixed)).toEqual([
      'Benchmark versions differ (A: 1, 2; B: 1, 2): a delta may be one of the tasks and not of the runs.',
    ]);
    const later = { label: 'B', rows: b.rows.map((row) => ({ ...row, benchmarkVersion: '2.0.0' })) };
    expect(compareRuns(a, later, context).tables['compare-summary'].notes).toEqual([
      'A: old skill. B: B. Deltas are B minus A.',
      'Benchmark versions differ (A: 1.0.0; B: 2.0.0): a delta may be one of the tasks and not of the runs.',
    ]);
  });
});
