import { cleanForTerminal } from '../support/terminal.js';
import {
  formatBytes,
  formatCount,
  formatEstimate,
  formatFixed,
  formatRange,
  formatThousands,
} from './number-format.js';

export type TableValue = string | number | null;
export type TableRow = Readonly<Record<string, TableValue>>;

/** How one printed column is made of the table's values. */
export interface PrintColumn {
  readonly header: string;
  /** Columns of the table it is made of. */
  readonly from: readonly string[];
  /**
   * `text` (default for one column): 3 decimals throughout where any number of the column has a fraction, else whole
   * numbers; `fixed`: always with decimals;
   * `estimate`: `m [lo, hi]`; `range`: `[lo, hi]`; `count`: `k/n`; `words`: joined by a space; `thousands`; `bytes`.
   */
  readonly as?: 'text' | 'fixed' | 'estimate' | 'range' | 'count' | 'words' | 'thousands' | 'bytes';
  /** Decimals, default 3. */
  readonly digits?: number;
}

/** One table of the analysis; the first column labels the row. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  readonly title?: string;
  /** What a reader must know: exclusions, sources, limits. */
  readonly notes?: readonly string[];
  /** How people read it; without it every column is printed under its own name, in words. */
  readonly print?: readonly PrintColumn[];
  /** Columns that a terminal says once, below the table, when every row has the same value in them. */
  readonly folds?: readonly string[];
}

/** A table as printed: texts, and which columns hold numbers. */
export interface PrintedTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isNumeric: readonly boolean[];
}

/** A cell as people read it: 3 decimals, integers plain, missing as `NA`. */
export function formatCell(value: TableValue | undefined): string {
  if (value === null || value === undefined) return 'NA';
  if (typeof value === 'string') return value;
  return Number.isInteger(value) ? String(value) : formatFixed(value);
}

/** How the cells of a column are written: one number of decimals throughout, so that they can be compared by eye. */
export function cellFormatOf(values: readonly (TableValue | undefined)[]): typeof formatCell {
  const hasFractions = values.some((value) => typeof value === 'number' && value % 1 !== 0);
  return (value) => (hasFractions && typeof value === 'number' ? formatFixed(value) : formatCell(value));
}

/** A column's name as a reader's words: `meanKeyF1` as `mean key F1`. */
function inWords(name: string): string {
  return name
    .replace(
      /([a-z])([A-Z](?!\d))/g,
      (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
    )
    .replace(/([a-z])([A-Z]\d)/g, '$1 $2');
}

const numberOrNull = (value: TableValue | undefined): number | null =>
  typeof value === 'number' ? value : null;

function printedCell(row: TableRow, column: PrintColumn, format: typeof formatCell): string {
  const values = column.from.map((name) => row[name]);
  const [a, b, c] = values.map(numberOrNull);
  const { digits = 3 } = column;
  switch (column.as ?? 'text') {
    case 'text':
      return format(values[0]);
    case 'fixed':
      return formatFixed(a, digits);
    case 'estimate':
      return formatEstimate(a ?? null, b ?? null, c ?? null, digits);
    case 'range':
      return formatRange(a ?? null, b ?? null, digits);
    case 'count':
      return formatCount(a ?? null, b ?? null);
    case 'words':
      return values.map(formatCell).join(' ');
    case 'thousands':
      return formatThousands(a ?? null);
    case 'bytes':
      return formatBytes(a ?? null);
  }
}

/** Every column under its own name, the named ones with thousands separators. */
export function printWithThousands(
  columns: readonly string[],
  thousands: readonly string[],
): readonly PrintColumn[] {
  return columns.map((column) => ({
    header: inWords(column),
    from: [column],
    ...(thousands.includes(column) ? { as: 'thousands' as const } : {}),
  }));
}

/** The table as people read it: every cell a text, by `print` where there is one. */
export function printedTable(table: Table): PrintedTable {
  const print =
    table.print ?? table.columns.map((column): PrintColumn => ({ header: inWords(column), from: [column] }));
  const formats = print.map(({ from }) => cellFormatOf(table.rows.map((row) => row[from[0]!])));
  return {
    columns: print.map((column) => column.header),
    rows: table.rows.map((row) => print.map((column, place) => printedCell(row, column, formats[place]!))),
    isNumeric: print.map(
      (column) =>
        column.as !== 'words' &&
        table.rows.length > 0 &&
        table.rows.every((row) => column.from.every((name) => typeof row[name] !== 'string')),
    ),
  };
}

/** GitHub-flavoured Markdown. Names that come from runs may hold anything, so pipes and line breaks are escaped. */
export function toMarkdown(table: Table): string {
  const printed = printedTable(table);
  const escaped = (text: string): string => text.replace(/[\\|<>]/g, '\\$&').replace(/[\r\n]+/g, ' ');
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  return [
    ...(table.title === undefined ? [] : [`**${escaped(table.title)}**`, '']),
    line(printed.columns),
    `| ${printed.isNumeric.map((isNumber) => (isNumber ? '---:' : '---')).join(' | ')} |`,
    ...printed.rows.map(line),
    '',
    ...(table.notes ?? []).flatMap((note) => [escaped(note), '']),
  ].join('\n');
}

/** RFC 4180 CSV with full precision; a text that a spreadsheet would run as a formula is prefixed with an apostrophe. */
export function toCsv(table: Table): string {
  const field = (value: TableValue | undefined): string => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${[
    table.columns.map(field),
    ...table.rows.map((row) => table.columns.map((column) => field(row[column]))),
  ]
    .map((cells) => cells.join(','))
    .join('\n')}\n`;
}

/** A table without those of the named columns that hold one value only. */
export function withoutDull(table: Table, names: readonly string[]): Table {
  const isDull = (column: string): boolean =>
    names.includes(column) && new Set(table.rows.map((row) => row[column])).size < 2;
  return { ...table, columns: table.columns.filter((column) => !isDull(column)) };
}

/** Aligned plain text for a terminal; control characters never reach it. */
export function toText(table: Table): string {
  const kept = withoutDull(table, table.rows.length > 0 ? (table.folds ?? []) : []);
  const folded = table.columns.filter((column) => !kept.columns.includes(column));
  const said = folded.map((column) => `${inWords(column)} ${formatCell(table.rows[0]![column])}`).join(', ');
  return folded.length === 0
    ? alignedText(kept)
    : `${alignedText(kept)}\n(in every row: ${cleanForTerminal(said)})`;
}

function alignedText(table: Table): string {
  const { columns, rows, isNumeric } = printedTable(table);
  const grid = [columns, ...rows].map((cells) => cells.map(cleanForTerminal));
  const widths = columns.map((_, column) => Math.max(...grid.map((cells) => cells[column]!.length)));
  return grid
    .map((cells) =>
      cells
        .map((cell, column) =>
          isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const latexReplacements: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '&': '\\&',
  '%': '\\%',
  $: '\\$',
  '#': '\\#',
  _: '\\_',
  '{': '\\{',
  '}': '\\}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};

/** Text that LaTeX prints as it stands. */
export function escapeLatex(text: string): string {
  return text.replace(/[\\&%$#_{}~^]/g, (character) => latexReplacements[character]!).replace(/\s+/g, ' ');
}

/** LaTeX `tabular` with booktabs rules; text left, numbers right; one more rule before a row labelled `Total`. */
export function toLatex(table: Table): string {
  const { columns, rows, isNumeric } = printedTable(table);
  const line = (cells: readonly string[]): string => `${cells.map(escapeLatex).join(' & ')} \\\\`;
  return [
    ...(table.title === undefined ? [] : [`% ${table.title.replace(/\s+/g, ' ')}`]),
    `\\begin{tabular}{${isNumeric.map((isNumber) => (isNumber ? 'r' : 'l')).join('')}}`,
    '\\toprule',
    line(columns),
    '\\midrule',
    ...rows.flatMap((cells) => (cells[0] === 'Total' ? ['\\midrule', line(cells)] : [line(cells)])),
    '\\bottomrule',
    '\\end{tabular}',
    '',
  ].join('\n');
}

/** A table as JSON: raw values by column, and beside them the texts as printed. NaN becomes null. */
export interface JsonTable {
  readonly title: string | null;
  readonly notes: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  readonly printed: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export function toJson(table: Table): JsonTable {
  const { columns, rows } = printedTable(table);
  const clean = (value: TableValue | undefined): TableValue =>
    value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value;
  return {
    title: table.title ?? null,
    notes: table.notes ?? [],
    columns: table.columns,
    rows: table.rows.map((row) =>
      Object.fromEntries(table.columns.map((column) => [column, clean(row[column])])),
    ),
    printed: { columns, rows },
  };
}

/** One stratum's table with the label of the stratum. */
export interface LabelledTable {
  readonly label: string;
  readonly table: Table;
}

/**
 * Several strata's tables as one: with more than one stratum a column `campaign` stands second, so that one's own
 * campaign and the published one can be read side by side. Columns that only some have are kept; others print `NA`.
 */
export function stackTables(parts: readonly LabelledTable[]): Table | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  if (parts.length === 1) return first.table;
  const [label, ...rest] = union(parts.flatMap((part) => part.table.columns));
  const [labelPrint, ...restPrint] = unionOfPrints(parts);
  const notes = union(parts.flatMap((part) => part.table.notes ?? []));
  return {
    ...first.table,
    columns: [label!, 'campaign', ...rest],
    rows: parts.flatMap((part) => part.table.rows.map((row) => ({ ...row, campaign: part.label }))),
    ...(notes.length === 0 ? {} : { notes }),
    ...(labelPrint === undefined
      ? {}
      : { print: [labelPrint, { header: 'Campaign', from: ['campaign'] }, ...restPrint] }),
  };
}

const union = (names: readonly string[]): readonly string[] => [...new Set(names)];

function unionOfPrints(parts: readonly LabelledTable[]): readonly PrintColumn[] {
  const seen = new Map<string, PrintColumn>();
  for (const column of parts.flatMap((part) => part.table.print ?? [])) {
    const key = `${column.header}\u0000${column.from.join('\u0000')}`;
    if (!seen.has(key)) seen.set(key, column);
  }
  return [...seen.values()];
}
