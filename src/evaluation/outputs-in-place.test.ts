import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DuckSession } from '../duck/session.js';
import { type Pairing, queryPairs } from './pairing.js';
import { csv, ScoringFixture } from './scoring-fixture.js';

/**
 * An output beyond 16 MiB is read where it lies instead of being copied into the session, in no fixed order. Long notes
 * in a column that nobody needs make an output of 20 rows that large.
 */
let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Cell = string | number | null;
type Rows = readonly (readonly Cell[])[];
const note = 'x'.repeat(900_000);
const numbered = (cell: (i: number) => readonly Cell[]): Rows =>
  Array.from({ length: 20 }, (_unused, i) => cell(i));

async function judged(truth: Rows, output: Rows, header: readonly string[] = ['k', 'v']) {
  const { evaluation, examples } = await fixture.evaluate({
    truth: csv(header, truth),
    output: csv(
      ['note', ...header],
      output.map((row, i) => [i < 20 ? note : '', ...row]),
    ),
    keys: header.slice(0, -1),
  });
  const { v } = evaluation.columns;
  const { extraKeys, duplicateKeys, missingKeys, errorKind } = evaluation;
  return {
    counts: `${v?.matched}/${v?.total} ${v?.robustMatched}/${v?.robustTotal}`,
    keys: [extraKeys, duplicateKeys, missingKeys],
    comparison: v?.comparison,
    errorKind,
    examples: examples.columns.v?.map(({ keys, truth: right, output: wrong }) =>
      [...keys, right, wrong].join(' '),
    ),
    kinds: Object.entries(evaluation.mismatchKinds.v ?? {}).filter(([, rows]) => rows > 0),
  };
}

describe('an output read in place', () => {
  const truth = numbered((i) => [i, 10 * i]);

  it('scores like any other', async () => {
    expect(await judged(truth, truth.toReversed())).toEqual({
      counts: '20/20 20/20',
      keys: [0, 0, 0],
      comparison: 'numeric',
      errorKind: null,
      examples: undefined,
      kinds: [],
    });
  });

  it('with repeated, extra and missing rows and wrong cells', async () => {
    // Key 0 twice, the first time wrong; key 1 twice, the second time wrong; key 30 extra; keys 18 and 19 missing.
    const output = [[0, 7], ...truth.slice(0, 18), [1, 8], [30, 1]];
    expect(await judged(truth, output)).toEqual({
      counts: '17/23 16/23',
      keys: [1, 2, 2],
      comparison: 'numeric',
      errorKind: null,
      examples: ['0 0 7', '18 180 ', '19 190 '],
      kinds: [
        ['rowMissing', 2],
        ['tooHigh', 1],
        ['contradictory', 1],
      ],
    });
  });

  it('with a stray token falls to text', async () => {
    const output = truth.map(([k, v]) => [k as Cell, k === 4 ? 'n/a' : `${v}.0`]);
    expect(await judged(truth, output)).toMatchObject({
      counts: '0/20 19/20',
      comparison: 'text',
      examples: ['4 40 n/a'],
      kinds: [['unparsable', 1]],
    });
  });

  it('with text keys, times and numbers as keys', async () => {
    const header = ['k', 'l', 'm', 'v'];
    const rows = numbered((i) => [`key ${i}`, `2150-01-02 10:${10 + i}:00`, 9007199254740992 + 2 * i, i % 3]);
    const output = rows.map(([k, l, m, v]) => [k, String(l).replace(' ', 'T'), m, v] as readonly Cell[]);
    expect(await judged(rows, output, header)).toMatchObject({ counts: '20/20 20/20', keys: [0, 0, 0] });
  });

  it('with times keyed by time', async () => {
    const stamp = (minutes: number) => `2150-01-02 10:${10 + minutes}:00`;
    const stamps = numbered((i) => [stamp(i), stamp(i + 1)]);
    const shifted = numbered((i) => [stamp(i).slice(0, 16), stamp(i + 2)]);
    expect(await judged(stamps, shifted)).toMatchObject({
      counts: '0/20 0/20',
      comparison: 'temporal',
      kinds: [['timeShift', 20]],
    });
    const unread = [[null, stamp(1)] as const, ...stamps.slice(1)];
    expect(await judged(stamps, unread)).toMatchObject({ errorKind: 'key-type', counts: '0/0 19/21' });
  });
});

describe('a query over pairs', () => {
  const source = { from: 't', header: ['k'], hasOddNumbers: false, columns: new Map() };
  const statementsOf = async (place: string | null, rows: () => Promise<readonly never[]>) => {
    const statements: string[] = [];
    const session = {
      run: async (sql: string) => void statements.push(sql),
      rows: async (sql: string) => {
        statements.push(sql.slice(0, 4));
        return rows();
      },
    } as unknown as DuckSession;
    const pairing: Pairing = {
      truth: { ...source, place: 'rowid' },
      output: { ...source, place },
      keys: [],
      columns: [],
    };
    const outcome = await queryPairs(session, pairing, 'select 1').catch(() => 'failed');
    return { statements, outcome };
  };
  const off = "set disabled_optimizers = 'top_n_window_elimination,build_side_probe_side'";
  const on = "set disabled_optimizers = 'top_n_window_elimination'";

  it('keeps the reference on the memory side of the join while the output is read in place', async () => {
    expect(await statementsOf('rowid', async () => [])).toEqual({ statements: ['with'], outcome: [] });
    expect(await statementsOf(null, async () => [])).toEqual({ statements: [off, 'with', on], outcome: [] });
  });

  it('sets the engine back after a failure', async () => {
    const failing = () => Promise.reject(new Error('no memory'));
    expect(await statementsOf(null, failing)).toEqual({ statements: [off, 'with', on], outcome: 'failed' });
  });
});
