import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeLatex,
  formatCell,
  printedTable,
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

describe('printing', () => {
  it('has a way for every kind of column', () => {
    const row = { a: 1234.5678, low: 0.25, high: 0.75, k: 3, word: 'tasks', nothing: null };
    const printed = (
      as: 'text' | 'fixed' | 'estimate' | 'range' | 'count' | 'words' | 'thousands' | 'bytes',
      ...from: string[]
    ) => printedTable({ columns: [], rows: [row], print: [{ header: 'h', from, as }] }).rows[0]![0];
    expect(printed('text', 'a')).toBe('1234.568');
    expect(printed('text', 'word')).toBe('tasks');
    expect(printed('fixed', 'k')).toBe('3.000');
    expect(printed('fixed', 'word')).toBe('NA');
    expect(printed('estimate', 'k', 'low', 'high')).toBe('3.000 [0.250, 0.750]');
    expect(printed('estimate', 'k')).toBe('3.000');
    expect(printed('range', 'low', 'high')).toBe('[0.250, 0.750]');
    expect(printed('range', 'low', 'nothing')).toBe('NA');
    expect(printed('count', 'k', 'k')).toBe('3/3');
    expect(printed('count', 'k', 'absent')).toBe('NA');
    expect(printed('words', 'k', 'word')).toBe('3 tasks');
    expect(printed('thousands', 'a')).toBe('1,235');
    expect(printed('bytes', 'a')).toBe('1.2 KB');
    const digits = {
      columns: [],
      rows: [row],
      print: [{ header: 'h', from: ['low', 'low', 'high'], as: 'estimate', digits: 1 }],
    } as const;
    expect(printedTable(digits).rows).toEqual([['0.2 [0.2, 0.8]']]);
    const unsaid = { columns: [], rows: [row], print: [{ header: 'h', from: ['k'] }] };
    expect(printedTable(unsaid).rows).toEqual([['3']]);
  });

  it('prints cells: texts as they are, whole numbers plain, others with three decimals', () => {
    expect(['x', 2, -0.5, null, undefined, Number.NaN].map(formatCell)).toEqual([
      'x',
      '2',
      '-0.500',
      'NA',
      'NA',
      'NA',
    ]);
  });

  it('aligns as numbers what holds no text, in rows that there are', () => {
    const columns = ['a', 'b'];
    const numeric = (rows: readonly Record<string, string | number | null>[], print?: Table['print']) =>
      printedTable({ columns, rows, ...(print === undefined ? {} : { print }) }).isNumeric;
    expect(
      numeric([
        { a: 1, b: 'x' },
        { a: null, b: 2 },
      ]),
    ).toEqual([true, false]);
    expect(numeric([])).toEqual([false, false]);
    const print: Table['print'] = [
      { header: 'words', from: ['a', 'a'], as: 'words' },
      { header: 'both', from: ['a', 'b'], as: 'count' },
    ];
    expect(numeric([{ a: 1, b: 2 }], print)).toEqual([false, true]);
    expect(numeric([{ a: 1, b: 'x' }], print)).toEqual([false, false]);
  });
});

describe('writers, further', () => {
  const plain: Table = { columns: ['a', 'b'], rows: [{ a: 'x|<y>\\', b: 1 }] };

  it('Markdown without a title and notes; what could be markup is escaped, lines stay lines', () => {
    expect(toMarkdown(plain)).toBe('| a | b |\n| --- | ---: |\n| x\\|\\<y\\>\\\\ | 1 |\n');
    const broken = { ...plain, title: 'a\r\nb', notes: ['one\n\ntwo', 'three'] };
    expect(toMarkdown(broken).split('\n')).toEqual([
      '**a b**',
      '',
      '| a | b |',
      '| --- | ---: |',
      '| x\\|\\<y\\>\\\\ | 1 |',
      '',
      'one two',
      '',
      'three',
      '',
    ]);
  });

  it('CSV quotes commas, quotes and breaks, and disarms every start of a formula', () => {
    const texts = ['a,b', 'a"b', 'a\nb', 'a\rb', '=1', '+1', '-1', '@x', '\tx', '\rx', 'a=b'];
    const lines = toCsv({ columns: ['t', 'n'], rows: texts.map((t) => ({ t, n: Number.NaN })) });
    expect(lines).toBe(
      [
        't,n',
        '"a,b",',
        '"a""b",',
        '"a\nb",',
        '"a\rb",',
        "'=1,",
        "'+1,",
        "'-1,",
        "'@x,",
        "'\tx,",
        '"\'\rx",',
        'a=b,',
        '',
      ].join('\n'),
    );
    expect(toCsv({ columns: ['a', 'b', 'c'], rows: [{ a: -1, b: Number.POSITIVE_INFINITY }] })).toBe(
      'a,b,c\n-1,Infinity,\n',
    );
  });

  it('text pads by the widest cell, numbers from the left, and ends no line with blanks', () => {
    const table: Table = {
      columns: ['name', 'value'],
      rows: [
        { name: 'long name', value: 1.5 },
        { name: 'x', value: 1234 },
      ],
    };
    expect(toText(table)).toBe('name          value\nlong name     1.500\nx          1234.000');
    expect(
      toText({
        columns: ['a', 'b'],
        rows: [
          { a: 'x', b: 'y' },
          { a: 'xx', b: '' },
        ],
      }),
    ).toBe('a   b\nx   y\nxx');
  });

  it('LaTeX without a title has no comment; a break in a title or cell is a blank', () => {
    expect(toLatex({ columns: ['a'], rows: [{ a: 'x\n y' }] })).toBe(
      '\\begin{tabular}{l}\n\\toprule\na \\\\\n\\midrule\nx y \\\\\n\\bottomrule\n\\end{tabular}\n',
    );
    expect(toLatex({ title: 'a\n b', columns: ['a'], rows: [] }).split('\n')[0]).toBe('% a b');
  });

  it('JSON holds null for what is missing or infinite, and empty lists', () => {
    expect(toJson({ columns: ['a', 'b', 'c'], rows: [{ a: Number.POSITIVE_INFINITY, b: 'x' }] })).toEqual({
      title: null,
      notes: [],
      columns: ['a', 'b', 'c'],
      rows: [{ a: null, b: 'x', c: null }],
      printed: { columns: ['a', 'b', 'c'], rows: [['inf', 'x', 'NA']] },
    });
    expect(toJson(table)).toMatchObject({ title: 'Effects & more', notes: ['A | note'] });
  });

  it('stacking keeps the columns, prints and notes of all strata, each once', () => {
    const print: Table['print'] = [{ header: 'A', from: ['a'] }];
    const left: Table = {
      title: 'T',
      columns: ['a', 'x'],
      rows: [{ a: 'r', x: 1 }],
      print: [...print, { header: 'X', from: ['x'] }],
    };
    const right: Table = {
      title: 'other',
      columns: ['a', 'y'],
      rows: [{ a: 's', y: 2 }],
      print: [...print, { header: 'X', from: ['y'] }],
      notes: ['n'],
    };
    expect(
      stackTables([
        { label: 'one', table: left },
        { label: 'two', table: right },
      ]),
    ).toEqual({
      title: 'T',
      columns: ['a', 'campaign', 'x', 'y'],
      rows: [
        { a: 'r', x: 1, campaign: 'one' },
        { a: 's', y: 2, campaign: 'two' },
      ],
      notes: ['n'],
      print: [
        ...print,
        { header: 'Campaign', from: ['campaign'] },
        { header: 'X', from: ['x'] },
        { header: 'X', from: ['y'] },
      ],
    });
    const bare = { columns: ['a'], rows: [] };
    const stacked = stackTables([
      { label: 'one', table: bare },
      { label: 'two', table: bare },
    ]);
    expect(stacked).toEqual({ columns: ['a', 'campaign'], rows: [] });
  });
});
