import { printedTable, type Table, type TableValue } from './tables.js';

/** What a table says, in lists as short as a table written by hand: raw values by column, and texts as printed. */
export interface TableContent {
  readonly title: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (TableValue | undefined)[])[];
  /** Header, then rows; absent where every column is printed under its own name. */
  readonly printed?: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}

export function contentOf(table: Table | undefined): TableContent | undefined {
  if (table === undefined) return undefined;
  const printed = printedTable(table);
  return {
    title: table.title,
    columns: table.columns,
    rows: table.rows.map((row) => table.columns.map((column) => row[column])),
    ...(table.print === undefined ? {} : { printed: [printed.columns, ...printed.rows] }),
    ...(table.notes === undefined ? {} : { notes: table.notes }),
  };
}
