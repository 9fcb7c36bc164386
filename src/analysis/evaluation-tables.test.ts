import { describe, expect, test } from 'vitest';
import type { Evaluation, MismatchKinds } from '../evaluation/evaluation.js';
import {
  columnTable,
  componentText,
  confusionTable,
  mismatchText,
  mismatchWords,
} from './evaluation-tables.js';
import { toText } from './tables.js';

const none = Object.fromEntries(
  Object.keys(mismatchWords).map((kind) => [kind, 0]),
) as unknown as MismatchKinds;

const evaluation = {
  columns: {
    sofa: {
      comparison: 'numeric',
      matched: 7,
      total: 10,
      matchRate: 0.7,
      robustMatched: 8,
      robustTotal: 10,
      robustMatchRate: 0.8,
    },
  },
  mismatchKinds: { sofa: { ...none, rowMissing: 1, tooLow: 2 } },
  confusion: {
    liver: [
      { truth: '10', output: '2', rows: 1 },
      { truth: '2', output: '(no row)', rows: 4 },
      { truth: '2', output: '10', rows: 3 },
    ],
  },
  components: { column: 'sofa', rows: 2, wrongWith: { liver: 1, cns: 2, renal: 0 } },
} as unknown as Evaluation;

describe('an evaluation in tables', () => {
  test('columns: matches of reference rows, and the kinds of mismatch by number', () => {
    expect(mismatchText(evaluation.mismatchKinds.sofa)).toBe('too low 2, row missing 1');
    const line = toText(columnTable(evaluation)).split('\n')[1];
    expect(line?.trim().split(/\s{2,}/)).toEqual([
      'sofa',
      '7/10',
      '0.7000',
      '0.8000',
      'too low 2, row missing 1',
    ]);
  });

  test('confusion: numbers in order of size, brackets last, zero where nothing is', () => {
    expect(confusionTable(evaluation, 'liver')).toMatchObject({
      columns: ['reference', '2', '10', '(no row)'],
      rows: [
        { reference: '2', 2: 0, 10: 3, '(no row)': 4 },
        { reference: '10', 2: 1, 10: 0, '(no row)': 0 },
      ],
    });
    expect(confusionTable(evaluation, 'sofa')).toBeUndefined();
  });

  test('components: those wrong together with the total, most often first', () => {
    expect(componentText(evaluation)).toBe(
      'sofa is wrong in 2 rows that the output has; also wrong there: cns in 2, liver in 1.',
    );
    expect(componentText({ ...evaluation, components: null })).toBeUndefined();
  });
});
