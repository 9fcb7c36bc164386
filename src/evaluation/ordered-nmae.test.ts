import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, type ScoringCase, ScoringFixture } from './scoring-fixture.js';

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const header = ['k', 'a', 'b'] as const;
type Cell = string | number | null;
/** Reference: keys 1, 2, 3; a = {0, 4, null} spans 4, b = {10, 20, 30} spans 20. */
const truthRows: readonly (readonly Cell[])[] = [
  [1, 0, 10],
  [2, 4, 20],
  [3, null, 30],
];
const truth = csv(header, truthRows);

async function nmaeOf(one: Partial<ScoringCase> & Pick<ScoringCase, 'output'>) {
  const { evaluation } = await fixture.evaluate({
    truth,
    values: ['a', 'b'],
    request: { scoresOnly: true },
    ...one,
  });
  return evaluation;
}

function changed(row: number, column: number, value: Cell): string {
  return csv(
    header,
    truthRows.map((cells, r) => cells.map((cell, c) => (r === row && c === column ? value : cell))),
  );
}

describe('ordered-value nMAE, measured cases', () => {
  it('is 0 for an identical output', async () => {
    expect(await nmaeOf({ output: truth })).toMatchObject({
      orderedNmae: 0,
      nmae: { value: 0, columns: 2, coverage: 1 },
    });
  });

  it('divides a difference by the span of the reference', async () => {
    // 1/4 in one of three rows of one of two columns.
    expect((await nmaeOf({ output: changed(0, 1, 1) })).orderedNmae).toBeCloseTo(1 / 4 / 3 / 2, 12);
  });

  it('counts a value beside a null as 1', async () => {
    const output = csv(header, [
      [1, 0, 10],
      [2, null, 20],
      [3, 2, 30],
    ]);
    expect((await nmaeOf({ output })).orderedNmae).toBeCloseTo(1 / 3, 12);
  });

  it('caps an error at 1', async () => {
    expect((await nmaeOf({ output: changed(0, 1, 100) })).orderedNmae).toBeCloseTo(1 / 6, 12);
  });

  it('counts NaN in the output as 1', async () => {
    expect((await nmaeOf({ output: changed(0, 1, 'NaN') })).orderedNmae).toBeCloseTo(1 / 6, 12);
  });

  it.each([
    ['absent', ['k', 'a', 'x']],
    ['in another letter case', ['k', 'a', 'B']],
  ])('counts a column %s as 1 in every row', async (_name, names) => {
    expect((await nmaeOf({ output: csv(names, truthRows) })).orderedNmae).toBe(0.5);
  });

  it('is 1 when both columns are absent and keys match', async () => {
    expect((await nmaeOf({ output: csv(['k'], [[1], [2], [3]]) })).orderedNmae).toBe(1);
  });

  it('ignores missing rows, so coverage stands beside it', async () => {
    const { orderedNmae, nmae } = await nmaeOf({ output: csv(header, [[1, 0, 10]]) });
    expect([orderedNmae, nmae]).toEqual([0, { value: 0, columns: 2, coverage: 1 / 3 }]);
  });

  it('is null with 2 columns when no key matches, 1 in the corrected form', async () => {
    const { orderedNmae, nmae } = await nmaeOf({ output: csv(header, [[9, 0, 10]]) });
    expect([orderedNmae, nmae]).toEqual([null, { value: 1, columns: 2, coverage: 0 }]);
  });

  it('is null when a key is a word, and still defined in the corrected form', async () => {
    const { orderedNmae, nmae } = await nmaeOf({
      output: csv(header, [
        ['one', 0, 10],
        [2, 4, 20],
      ]),
    });
    expect(orderedNmae).toBeNull();
    expect(nmae).toEqual({ value: 0, columns: 2, coverage: 1 / 3 });
  });

  it('joins an empty key with nothing but goes on', async () => {
    const evaluation = await nmaeOf({
      output: csv(header, [
        [null, 0, 10],
        [2, 4, 20],
      ]),
    });
    expect(evaluation).toMatchObject({ errorKind: 'key-type', reward: 0, orderedNmae: 0 });
  });

  it('joins float keys', async () => {
    const output = csv(header, [
      ['1.0', 0, 10],
      ['2.0', 4, 20],
      ['3.0', null, 30],
    ]);
    expect((await nmaeOf({ output })).orderedNmae).toBe(0);
  });

  it('uses scale 1 for a constant reference', async () => {
    const constant = csv(
      ['k', 'a'],
      [
        [1, 3],
        [2, 3],
      ],
    );
    const output = csv(
      ['k', 'a'],
      [
        [1, 3.5],
        [2, 3],
      ],
    );
    expect((await nmaeOf({ truth: constant, output, values: ['a'] })).orderedNmae).toBeCloseTo(0.25, 12);
  });

  it('orders a column with a single castable value and counts word against word as 0', async () => {
    const words = csv(
      ['k', 'a'],
      [
        [1, 'x'],
        [2, 7],
      ],
    );
    expect(await nmaeOf({ truth: words, output: words, values: ['a'] })).toMatchObject({
      orderedNmae: 0,
      nmae: { columns: 1 },
    });
  });

  it('reads boolean truth against 1/0', async () => {
    const flags = csv(
      ['k', 'a'],
      [
        [1, 'true'],
        [2, 'false'],
      ],
    );
    const output = csv(
      ['k', 'a'],
      [
        [1, 1],
        [2, 0],
      ],
    );
    expect((await nmaeOf({ truth: flags, output, values: ['a'] })).orderedNmae).toBe(0);
  });

  it('reads booleans in the output against 1/0', async () => {
    const numbers = csv(
      ['k', 'a'],
      [
        [1, 1],
        [2, 0],
        [3, 0],
      ],
    );
    const output = csv(
      ['k', 'a'],
      [
        [1, 'true'],
        [2, 'False'],
        [3, 'true'],
      ],
    );
    expect((await nmaeOf({ truth: numbers, output, values: ['a'] })).orderedNmae).toBeCloseTo(1 / 3, 12);
  });

  it('is null without ordered columns: labels by name, or no castable value', async () => {
    const labels = csv(['k', 'specimen', 'c'], [[1, 5, 'x']]);
    expect(await nmaeOf({ truth: labels, output: labels, values: ['specimen', 'c'] })).toMatchObject({
      orderedNmae: null,
      nmae: { value: null, columns: 0 },
    });
  });

  it('takes the first of several rows with one key', async () => {
    const output = csv(header, [
      [1, 0, 10],
      [1, 4, 30],
      [2, 4, 20],
      [3, null, 30],
    ]);
    expect((await nmaeOf({ output })).orderedNmae).toBe(0);
  });

  it('leaves columns that are scored but not headline columns out', async () => {
    const output = changed(0, 2, 30);
    expect((await nmaeOf({ output, values: ['a'], scored: ['a', 'b'] })).orderedNmae).toBe(0);
  });

  it('is null for an unreadable output, 1 in the corrected form', async () => {
    const { orderedNmae, nmae } = await nmaeOf({ output: 'k,a,b\n"' });
    expect([orderedNmae, nmae]).toEqual([null, { value: 1, columns: 2, coverage: 0 }]);
  });
});
