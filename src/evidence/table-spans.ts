import { apart, type Register, type Span, type TextContext } from './text-context.js';

/** How many rows, or numbers in a row, make a table. Rows that hold an identifier or a date count sooner. */
interface Bounds {
  readonly rows: number;
  readonly knownRows: number;
  readonly records: number;
  readonly numbers: number;
}

const BOUNDS: Readonly<Record<Register, Bounds>> = {
  prose: { rows: 3, knownRows: 2, records: 3, numbers: 20 },
  code: { rows: 20, knownRows: 2, records: 20, numbers: 60 },
  reviewed: { rows: Infinity, knownRows: 2, records: Infinity, numbers: Infinity },
};

/** Whether a part of a text holds something of the dataset. */
export type KnownTest = (text: string) => boolean;

/** Rows of data in a text; `isKnown` tells rows that hold an identifier or a date of the dataset. */
export function tableSpans(
  text: string,
  register: Register,
  context: TextContext,
  isKnown: KnownTest,
): readonly Span[] {
  const bounds = BOUNDS[register];
  const isCodeNumber = (cell: string): boolean =>
    context.databases.some(({ codeNumbers }) => new RegExp(codeNumbers.source).test(cell));
  const spans = [
    ...lineBlocks(text, register, bounds, isCodeNumber, isKnown),
    ...recordRuns(text, bounds, isCodeNumber, isKnown),
    ...numberLists(text, bounds, isCodeNumber),
  ];
  return apart(spans);
}

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Lines, also those whose ends are written as the two characters of an escape. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const match of text.matchAll(/\r?\n|\\+r?\\*n/g)) {
    lines.push({ text: text.slice(start, match.index), start, end: match.index });
    start = match.index + match[0].length;
  }
  lines.push({ text: text.slice(start), start, end: text.length });
  return lines;
}

const MAX_LINE = 4_000;
const MAX_CELL = 60;
const RULER = /^[\s|+\-=:─━┼├┤┌┐└┘┬┴═╪╞╡]{3,}$/;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?%?$/i;
const TIME = /^\d{4}-\d{2}-\d{2}|^\d{1,2}:\d{2}(?::\d{2})?$/;
const EMPTY = /^(?:|null|nan|na|none|nat)$/i;

interface Cells {
  readonly cells: readonly string[];
  /** Commas, tabs or bars stand between them, and not blanks alone. */
  readonly isMarked: boolean;
}

function cellsOf(line: string, register: Register): Cells | undefined {
  if (line.length > MAX_LINE || line.trim() === '') return undefined;
  const trimmed = line.trim().replace(/^[|│]|[|│]$/g, '');
  const byMark = [/[|│]/, /\t/, /;/, /,/].map((mark) => trimmed.split(mark));
  const best = byMark.reduce((a, b) => (b.length > a.length ? b : a));
  const isMarked = best.length >= 2;
  const cells = isMarked ? best : trimmed.split(/\s+/);
  if (!isMarked && cells.length < 3) return undefined;
  // A quoted number is a text in code; in prose quotes and brackets come from whatever the table was cut out of.
  const unquoted = register === 'prose' ? /^[\\"'[{(]+|[\\"'\]}),]+$/g : /^$/g;
  return { cells: cells.map((cell) => cell.trim().replace(unquoted, '')), isMarked };
}

/** Whether a line is a row of data: short cells of which two are numbers or times, and most are values. */
function isDataRow(
  row: Cells | undefined,
  isCodeNumber: (cell: string) => boolean,
  isKnownRow: boolean,
): boolean {
  if (row === undefined || row.cells.some((cell) => cell.length > MAX_CELL)) return false;
  const { cells, isMarked } = row;
  const values = cells.filter((cell) => NUMBER.test(cell) || TIME.test(cell));
  if (values.length === 0 || values.every(isCodeNumber)) return false;
  if (isKnownRow && isMarked) return true;
  const empty = cells.filter((cell) => EMPTY.test(cell));
  return values.length >= 2 && values.length + empty.length >= cells.length * 0.4;
}

function lineBlocks(
  text: string,
  register: Register,
  bounds: Bounds,
  isCodeNumber: (cell: string) => boolean,
  isKnown: KnownTest,
): readonly Span[] {
  const spans: Span[] = [];
  let rows: { readonly line: Line; readonly columns: number; readonly isKnown: boolean }[] = [];
  const close = (): void => {
    const known = rows.filter((row) => row.isKnown).length;
    if (rows.length >= bounds.rows || known >= bounds.knownRows) {
      const columns = Math.max(...rows.map((row) => row.columns));
      spans.push({
        start: rows[0]!.line.start,
        end: rows.at(-1)!.line.end,
        instead: `<table of ${rows.length} rows, ${columns} columns>`,
      });
    }
    rows = [];
  };
  for (const line of linesOf(text)) {
    if (RULER.test(line.text) && line.text.trim() !== '') continue;
    const row = cellsOf(line.text, register);
    const hasKnown = row !== undefined && /\d/.test(line.text) && isKnown(line.text);
    if (row !== undefined && isDataRow(row, isCodeNumber, hasKnown))
      rows.push({ line, columns: row.cells.length, isKnown: hasKnown });
    else close();
  }
  close();
  return spans;
}

const RECORD = /[[{(][^[\]{}()]{3,1000}[\]})]/g;

/** Runs of JSON objects, lists or tuples, one after the other, of numbers. */
function recordRuns(
  text: string,
  bounds: Bounds,
  isCodeNumber: (cell: string) => boolean,
  isKnown: KnownTest,
): readonly Span[] {
  const spans: Span[] = [];
  let run: { readonly start: number; readonly end: number; readonly isKnown: boolean }[] = [];
  const close = (): void => {
    if (run.length >= bounds.records || run.filter((one) => one.isKnown).length >= bounds.knownRows)
      spans.push({
        start: run[0]!.start,
        end: run.at(-1)!.end,
        instead: `<table of ${run.length} records>`,
      });
    run = [];
  };
  for (const { 0: record, index } of text.matchAll(RECORD)) {
    const numbers = (record.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []).filter(
      (number) => !isCodeNumber(number),
    );
    const last = run.at(-1);
    if (last !== undefined && !/^[\s,;\\nr]*$/.test(text.slice(last.end, index))) close();
    const hasKnown = isKnown(record);
    if (numbers.length >= 2 || (hasKnown && numbers.length >= 1))
      run.push({ start: index, end: index + record.length, isKnown: hasKnown });
    else close();
  }
  close();
  return spans;
}

/** Long lists of numbers, such as a pasted column. */
function numberLists(text: string, bounds: Bounds, isCodeNumber: (cell: string) => boolean): readonly Span[] {
  const spans: Span[] = [];
  const list = /(?<![\w.])-?\d+(?:\.\d+)?(?:(?:[\s,;|]|\\n){1,4}-?\d+(?:\.\d+)?)+(?![\w.])/g;
  for (const { 0: found, index } of text.matchAll(list)) {
    const numbers = found.match(/-?\d+(?:\.\d+)?/g)!;
    const values = numbers.filter((number) => !isCodeNumber(number));
    if (values.length >= bounds.numbers)
      spans.push({
        start: index,
        end: index + found.length,
        instead: `<table of ${numbers.length} numbers>`,
      });
  }
  return spans;
}
