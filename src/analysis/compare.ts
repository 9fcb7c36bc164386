import { endsOf, percentileInterval, seeds, studentisedInterval } from './bootstrap.js';
import { type ArmPair, cellsOf, improvedCount, pairCells, taskValues } from './cells.js';
import type { AnalysisContext } from './estimates.js';
import { byCodePoint, distinct, groupBy, mean, present } from './moments.js';
import { benjaminiHochberg, holm } from './multiplicity.js';
import { judgedRows, type RunRow } from './run-row.js';
import { signFlipTest, stratifiedPermutationTest } from './sign-flip.js';
import type { Table, TableRow } from './tables.js';

/** One side of a comparison. */
export interface ComparedRuns {
  readonly label: string;
  readonly rows: readonly RunRow[];
}

export interface Comparison {
  readonly tables: {
    readonly 'compare-summary': Table;
    readonly 'compare-by-task': Table;
    readonly 'compare-by-column': Table;
  };
  /** Cells that only one side has, in words; empty when the sides match. */
  readonly unmatched: readonly string[];
}

/** Task, condition and schema of which both sides have runs. */
interface ComparedGroup {
  readonly condition: string;
  readonly schema: string;
  readonly pairs: readonly ArmPair[];
}

/**
 * Two campaigns (two agents, or two versions of a skill) side by side: B minus A by condition, by task and by column.
 * Cells are paired by task, condition and schema, and by model where both sides ran the same models; otherwise each
 * side's models are averaged first, run by run.
 */
export function compareRuns(a: ComparedRuns, b: ComparedRuns, context: AnalysisContext): Comparison {
  const sameModels =
    distinct(a.rows.map((row) => row.model)).join('\u0000') ===
    distinct(b.rows.map((row) => row.model)).join('\u0000');
  const comparable = (rows: readonly RunRow[]): readonly RunRow[] =>
    sameModels ? rows : rows.map((row) => ({ ...row, model: 'all models' }));
  const [left, right] = [comparable(a.rows), comparable(b.rows)];
  const arms = distinct([...left, ...right].map((row) => `${row.condition}\u0000${row.schema}`));
  const groups = arms.flatMap((arm): readonly ComparedGroup[] => {
    const [condition, schema] = arm.split('\u0000') as [string, string];
    const ofArm = (rows: readonly RunRow[]): readonly RunRow[] =>
      rows.filter((row) => row.condition === condition && row.schema === schema);
    const pairs = pairCells(cellsOf(ofArm(left)), cellsOf(ofArm(right)), 'reward');
    return pairs.length === 0 ? [] : [{ condition, schema, pairs }];
  });
  const notes = [`A: ${a.label}. B: ${b.label}. Deltas are B minus A.`, ...versionNotes(a.rows, b.rows)];
  return {
    tables: {
      'compare-summary': summaryTable(groups, context, notes),
      'compare-by-task': taskTable(groups, context, notes),
      'compare-by-column': columnTable(groups, notes),
    },
    unmatched: unmatchedCells(left, right, a.label, b.label),
  };
}

/** Versions of the benchmark that the sides do not share, in a sentence; empty where they are the same one. */
export function versionNotes(a: readonly RunRow[], b: readonly RunRow[]): readonly string[] {
  const versionsOf = (rows: readonly RunRow[]): string =>
    distinct(rows.map((row) => row.benchmarkVersion)).join(', ');
  const [left, right] = [versionsOf(a), versionsOf(b)];
  if (left === right && !left.includes(',')) return [];
  return [
    `Benchmark versions differ (A: ${left}; B: ${right}): a delta may be one of the tasks and not of the runs.`,
  ];
}

const armLabel = (group: ComparedGroup): string =>
  group.schema === 'native' ? group.condition : `${group.condition}/${group.schema}`;

function summaryTable(
  groups: readonly ComparedGroup[],
  context: AnalysisContext,
  notes: readonly string[],
): Table {
  const rows = groups.map((group): TableRow => {
    const deltas = taskValues(group.pairs).map(({ value }) => value);
    const side = (pick: (pair: ArmPair) => number): number =>
      mean(taskValues(group.pairs, pick).map(({ value }) => value));
    const interval = percentileInterval(deltas, context.drawing, seeds.task);
    const studentised = studentisedInterval(deltas, context.drawing, seeds.task);
    return {
      arm: armLabel(group),
      tasks: deltas.length,
      a: side((pair) => pair.baseline),
      b: side((pair) => pair.treatment),
      delta: mean(deltas),
      ...endsOf(interval),
      studentisedLow: studentised?.low ?? null,
      studentisedHigh: studentised?.high ?? null,
      p: signFlipTest(deltas, { rng: context.drawing.kind }).p,
      better: improvedCount(deltas),
      worse: improvedCount(deltas, true),
    };
  });
  return {
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
    rows,
    notes,
    print: [
      { header: 'Condition', from: ['arm'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'A', from: ['a'], as: 'fixed' },
      { header: 'B', from: ['b'], as: 'fixed' },
      { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
      { header: 'Studentised', from: ['studentisedLow', 'studentisedHigh'], as: 'range' },
      { header: 'Sign-flip p', from: ['p'], as: 'fixed', digits: 4 },
      { header: 'Better', from: ['better'] },
      { header: 'Worse', from: ['worse'] },
    ],
  };
}

function taskTable(
  groups: readonly ComparedGroup[],
  context: AnalysisContext,
  notes: readonly string[],
): Table {
  const rewards = (rows: readonly RunRow[]): readonly number[] => judgedRows(rows).map((row) => row.reward);
  const tested = groups.flatMap((group) =>
    [...groupBy(group.pairs, (pair) => pair.task)].map(([task, pairs]) => ({
      task,
      arm: armLabel(group),
      a: mean(pairs.map((pair) => pair.baseline)),
      b: mean(pairs.map((pair) => pair.treatment)),
      delta: mean(pairs.map((pair) => pair.delta)),
      runsA: pairs.reduce((sum, pair) => sum + rewards(pair.baselineCell.rows).length, 0),
      runsB: pairs.reduce((sum, pair) => sum + rewards(pair.treatmentCell.rows).length, 0),
      p: stratifiedPermutationTest(
        pairs.map((pair) => ({
          baseline: rewards(pair.baselineCell.rows),
          treatment: rewards(pair.treatmentCell.rows),
        })),
        { rng: context.drawing.kind, seed: seeds.task },
      ).p,
    })),
  );
  const pValues = tested.map((row) => row.p);
  const [byHolm, byHochberg] = [holm(pValues), benjaminiHochberg(pValues)];
  return {
    title: 'B against A by task; permutation test over trials',
    columns: ['task', 'arm', 'a', 'b', 'delta', 'runsA', 'runsB', 'p', 'holm', 'benjaminiHochberg'],
    rows: tested
      .map((row, index) => ({ ...row, holm: byHolm[index]!, benjaminiHochberg: byHochberg[index]! }))
      .sort((left, right) => byCodePoint(left.arm, right.arm) || left.delta - right.delta),
    notes,
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Condition', from: ['arm'] },
      { header: 'A', from: ['a'], as: 'fixed' },
      { header: 'B', from: ['b'], as: 'fixed' },
      { header: 'Delta', from: ['delta'], as: 'fixed' },
      { header: 'Runs A', from: ['runsA'] },
      { header: 'Runs B', from: ['runsB'] },
      { header: 'p', from: ['p'], as: 'fixed', digits: 4 },
      { header: 'Holm', from: ['holm'], as: 'fixed', digits: 4 },
      { header: 'Benjamini-Hochberg', from: ['benjaminiHochberg'], as: 'fixed', digits: 4 },
    ],
  };
}

/** Mean match rate of a column over judged runs; a run without match rates (a failure) matched nothing. */
function columnMean(rows: readonly RunRow[], column: string): number {
  return mean(
    judgedRows(rows).map((row) => (Object.hasOwn(row.matchRates, column) ? row.matchRates[column]! : 0)),
  );
}

function columnTable(groups: readonly ComparedGroup[], notes: readonly string[]): Table {
  const rows = groups.flatMap((group) =>
    [...groupBy(group.pairs, (pair) => pair.task)].flatMap(([task, pairs]) => {
      const columns = distinct(
        pairs.flatMap((pair) =>
          [...pair.baselineCell.rows, ...pair.treatmentCell.rows].flatMap((row) =>
            Object.keys(row.matchRates),
          ),
        ),
      );
      return columns.map((column) => {
        const side = (pick: (pair: ArmPair) => readonly RunRow[]): number =>
          mean(present(pairs.map((pair) => columnMean(pick(pair), column))));
        const [a, b] = [side((pair) => pair.baselineCell.rows), side((pair) => pair.treatmentCell.rows)];
        return { task, arm: armLabel(group), column, a, b, delta: b - a };
      });
    }),
  );
  return {
    title: 'B against A by task and column: mean match rate',
    columns: ['task', 'arm', 'column', 'a', 'b', 'delta'],
    rows: rows.sort(
      (left, right) =>
        byCodePoint(left.arm, right.arm) ||
        byCodePoint(left.task, right.task) ||
        left.delta - right.delta ||
        byCodePoint(left.column, right.column),
    ),
    notes,
    print: [
      { header: 'Task', from: ['task'] },
      { header: 'Condition', from: ['arm'] },
      { header: 'Column', from: ['column'] },
      { header: 'A', from: ['a'], as: 'fixed' },
      { header: 'B', from: ['b'], as: 'fixed' },
      { header: 'Delta', from: ['delta'], as: 'fixed' },
    ],
  };
}

function unmatchedCells(
  a: readonly RunRow[],
  b: readonly RunRow[],
  labelA: string,
  labelB: string,
): readonly string[] {
  const names = (rows: readonly RunRow[]): readonly string[] =>
    distinct(rows.map((row) => `${row.task} ${row.condition} ${row.schema} ${row.model}`));
  const [inA, inB] = [new Set(names(a)), new Set(names(b))];
  return [
    ...[...inA].filter((name) => !inB.has(name)).map((name) => `${name}: only in ${labelA}`),
    ...[...inB].filter((name) => !inA.has(name)).map((name) => `${name}: only in ${labelB}`),
  ];
}
