import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeLatex,
  stackTables,
  type Table,
  toCsv,
  toJson,
  toLatex,
  toMarkdown,
  toText,
} from './tables.js';

const table: Table = {
  title: 'Effects & more',
  columns: ['name', 'delta', 'low', 'high', 'k', 'n'],
  rows: [
    { name: 'a_b', delta: 0.1362, low: 0.0851, high: 0.1914, k: 26, n: 28 },
    { name: 'Total', delta: Number.NaN, low: null, high: null, k: 0, n: 28 },
  ],
  print: [
    { header: 'Name', from: ['name'] },
    { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
    { header: 'Improved', from: ['k', 'n'], as: 'count' },
  ],
  notes: ['A | note'],
};

describe('writers', () => {
  it('LaTeX: booktabs, escapes, numbers right, a rule before the total', () => {
    expect(toLatex(table).split('\n')).toEqual([
      '% Effects & more',
      '\\begin{tabular}{lrr}',
      '\\toprule',
      'Name & Delta & Improved \\\\',
      '\\midrule',
      'a\\_b & 0.136 [0.085, 0.191] & 26/28 \\\\',
      '\\midrule',
      'Total & NA & 0/28 \\\\',
      '\\bottomrule',
      '\\end{tabular}',
      '',
    ]);
    expect(escapeLatex('\\ & % $ # _ { } ~ ^')).toBe(
      '\\textbackslash{} \\& \\% \\$ \\# \\_ \\{ \\} \\textasciitilde{} \\textasciicircum{}',
    );
  });

  it('Markdown: title, alignment, printed cells, notes', () => {
    expect(toMarkdown(table).split('\n')).toEqual([
      '**Effects & more**',
      '',
      '| Name | Delta | Improved |',
      '| --- | ---: | ---: |',
      '| a_b | 0.136 [0.085, 0.191] | 26/28 |',
      '| Total | NA | 0/28 |',
      '',
      'A \\| note',
      '',
    ]);
  });

  it('CSV: raw values in full, nothing that a spreadsheet would run', () => {
    expect(
      toCsv({
        columns: ['a', 'b'],
        rows: [
          { a: '=1+1', b: 0.1 + 0.2 },
          { a: 'x,"y"', b: null },
        ],
      }),
    ).toBe('a,b\n\'=1+1,0.30000000000000004\n"x,""y""",\n');
  });

  it('JSON: raw values by column with null for what is missing, and the printed texts', () => {
    const json = toJson(table);
    expect(json.rows[1]).toEqual({ name: 'Total', delta: null, low: null, high: null, k: 0, n: 28 });
    expect(json.printed.rows[0]).toEqual(['a_b', '0.136 [0.085, 0.191]', '26/28']);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  });

  it('text: aligned', () => {
    expect(
      toText({
        columns: ['a', 'b'],
        rows: [
          { a: 'x', b: 1 },
          { a: 'long', b: 0.5 },
        ],
      }).split('\n'),
    ).toEqual(['a         b', 'x     1.000', 'long  0.500']);
  });

  it('one number of decimals in a column, names in words, and what all rows share said once below', () => {
    expect(
      toText({
        columns: ['task', 'model', 'meanKeyF1', 'runs'],
        folds: ['model', 'task'],
        rows: [
          { task: 'x', model: 'm', meanKeyF1: 1, runs: 1 },
          { task: 'y', model: 'm', meanKeyF1: 0.25, runs: 10 },
        ],
      }).split('\n'),
    ).toEqual([
      'task  mean key F1  runs',
      'x           1.000     1',
      'y           0.250    10',
      '(in every row: model m)',
    ]);
  });

  it('stacks strata under a column `campaign`, and leaves a single one alone', () => {
    expect(stackTables([])).toBeUndefined();
    expect(stackTables([{ label: 'one', table }])).toBe(table);
    const both = stackTables([
      { label: 'one', table },
      { label: 'two', table },
    ])!;
    expect(both.columns.slice(0, 2)).toEqual(['name', 'campaign']);
    expect(both.rows.map((row) => row.campaign)).toEqual(['one', 'one', 'two', 'two']);
    expect(both.notes).toEqual(['A | note']);
  });
});

describe('whatever names runs may hold', () => {
  const hostile = fc.string({ unit: 'binary', maxLength: 40 });

  it('every writer keeps one line and one column per cell', () => {
    fc.assert(
      fc.property(hostile, hostile, (name, other) => {
        const risky: Table = { columns: ['name', 'value'], rows: [{ name, value: other }] };
        const markdown = toMarkdown(risky).split('\n');
        expect(markdown).toHaveLength(4);
        expect(markdown[2]!.replace(/\\[\s\S]/g, '').match(/\|/g)).toHaveLength(3);
        const latex = toLatex(risky).split('\n');
        expect(latex).toHaveLength(8);
        expect(latex[4]!.replace(/\\[&%$#_{}]/g, '').match(/&/g)).toHaveLength(1);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not appear.
        expect(toText(risky)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(JSON.parse(JSON.stringify(toJson(risky))).rows[0]).toEqual({ name, value: other });
      }),
    );
  });
});
