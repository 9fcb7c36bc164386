import { cleanForTerminal } from '../support/terminal.js';

/** One table of the analysis; the first column labels the row. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}

/** A cell as people read it: 3 decimals, integers plain, missing as `NA`. */
export function formatCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return 'NA';
  if (typeof value === 'string') return value;
  if (Number.isNaN(value)) return 'NA';
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

/** GitHub-flavoured Markdown. Names that come from runs may hold anything, so pipes and line breaks are escaped. */
export function toMarkdown(table: Table): string {
  const escaped = (text: string): string => text.replace(/[\\|<>]/g, '\\$&').replace(/[\r\n]+/g, ' ');
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const isNumber = (column: string): boolean => table.rows.every((row) => typeof row[column] !== 'string');
  return [
    line(table.columns),
    `| ${table.columns.map((column) => (table.rows.length > 0 && isNumber(column) ? '---:' : '---')).join(' | ')} |`,
    ...table.rows.map((row) => line(table.columns.map((column) => formatCell(row[column])))),
    '',
  ].join('\n');
}

/** RFC 4180 CSV with full precision; a text that a spreadsheet would run as a formula is prefixed with an apostrophe. */
export function toCsv(table: Table): string {
  const field = (value: string | number | null | undefined): string => {
    if (value === null || value === undefined) return '';
    const text = typeof value === 'number' ? String(value) : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${[
    table.columns.map(field),
    ...table.rows.map((row) => table.columns.map((column) => field(row[column]))),
  ]
    .map((cells) => cells.join(','))
    .join('\n')}\n`;
}

/** Aligned plain text for a terminal; control characters never reach it. */
export function toText(table: Table): string {
  const grid = [
    table.columns.map(cleanForTerminal),
    ...table.rows.map((row) => table.columns.map((column) => cleanForTerminal(formatCell(row[column])))),
  ];
  const widths = table.columns.map((_, column) => Math.max(...grid.map((cells) => cells[column]!.length)));
  const isNumber = table.columns.map((column) => table.rows.every((row) => typeof row[column] !== 'string'));
  return grid
    .map((cells) =>
      cells
        .map((cell, column) =>
          isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
