import { describe, expect, test } from 'vitest';
import type { Evaluation, MismatchKinds } from '../evaluation/evaluation.js';
import {
  columnTable,
  componentText,
  confusionTable,
  mismatchText,
  mismatchWords,
  occurringKinds,
  sortedValues,
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

  test('columns: raw values and how they are printed', () => {
    expect(columnTable(evaluation)).toEqual({
      columns: ['column', 'matched', 'rows', 'matchRate', 'robustMatchRate', 'mismatches'],
      rows: [
        {
          column: 'sofa',
          matched: 7,
          rows: 10,
          matchRate: 0.7,
          robustMatchRate: 0.8,
          mismatches: 'too low 2, row missing 1',
        },
      ],
      print: [
        { header: 'column', from: ['column'] },
        { header: 'matched', from: ['matched', 'rows'], as: 'count' },
        { header: 'match rate', from: ['matchRate'], as: 'fixed', digits: 4 },
        { header: 'robust', from: ['robustMatchRate'], as: 'fixed', digits: 4 },
        { header: 'mismatches', from: ['mismatches'] },
      ],
    });
    expect(columnTable({ ...evaluation, mismatchKinds: {} }).rows[0]).toMatchObject({ mismatches: '' });
  });

  test('kinds: those that occur, the most frequent first, in words', () => {
    expect(occurringKinds(undefined)).toEqual([]);
    expect(occurringKinds({ ...none, sign: 1, rounding: 3 })).toEqual([
      { kind: 'rounding', rows: 3 },
      { kind: 'sign', rows: 1 },
    ]);
    const each = Object.fromEntries(Object.keys(none).map((kind, index) => [kind, 20 - index]));
    expect(mismatchText(each as unknown as MismatchKinds)).toBe(
      'row missing 20, null instead of a value 19, value instead of null 18, unreadable 17, sign 16, rounding 15, ' +
        'off by a constant factor 14, off by a constant 13, shifted in time 12, spelling of the label 11, too low 10, ' +
        'too high 9, another label 8, rows of one key disagree 7',
    );
  });

  test('confusion: the title names the column', () => {
    expect(confusionTable(evaluation, 'liver')!.title).toBe(
      'liver: reference values down, output values across',
    );
  });

  test('values: numbers by size, then words, then brackets, each once', () => {
    expect(sortedValues(['b', '10', '(null)', '9', 'a', '(other)', '-1', 'b', '10'])).toEqual([
      '-1',
      '9',
      '10',
      'a',
      'b',
      '(null)',
      '(other)',
    ]);
  });

  test('components: nothing to say without wrong rows, and no other column at fault', () => {
    const components = { column: 'sofa', rows: 1, wrongWith: { cns: 0 } };
    expect(componentText({ ...evaluation, components })).toBe(
      'sofa is wrong in 1 rows that the output has; no other column is.',
    );
    expect(componentText({ ...evaluation, components: { ...components, rows: 0 } })).toBeUndefined();
  });
});
