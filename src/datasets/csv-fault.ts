import { isUtf8 } from 'node:buffer';
import type { ColumnType, SourceColumn } from './source-schema.js';

/** The first thing in a CSV file that does not fit. Lines count from 1 and include the header. */
export interface CsvFault {
  readonly kind: 'ragged' | 'quote' | 'encoding' | 'newline' | 'value';
  readonly line: number;
  /** Column name, or undefined where the row as a whole is wrong. */
  readonly column: string | undefined;
  readonly detail: string;
}

/** Longest field that is looked at; DuckDB's own limit for a line is 2 MB. */
const longestFieldBytes = 2_000_000;

const wholeNumber = /^\s*[+-]?\d+(\.0*)?\s*$/;
const number = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;
const date = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const timestamp = /^(\d{4}-\d{1,2}-\d{1,2})([ T](\d{1,2}):(\d{2})(:(\d{2})(\.\d+)?)?)?$/;

function isDate(text: string): boolean {
  const found = date.exec(text);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const made = new Date(Date.UTC(year, month - 1, day));
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
}

const fitsType: Readonly<Record<ColumnType, (text: string) => boolean>> = {
  BIGINT: (text) => {
    if (!wholeNumber.test(text)) return false;
    const value = BigInt(text.trim().replace(/^\+/, '').replace(/\..*$/, ''));
    return value >= -(2n ** 63n) && value < 2n ** 63n;
  },
  DOUBLE: (text) => number.test(text) && Number.isFinite(Number(text)),
  VARCHAR: () => true,
  DATE: isDate,
  TIMESTAMP: (text) => {
    const found = timestamp.exec(text);
    if (found === null || !isDate(found[1]!)) return false;
    const part = (index: number): number => Number(found[index] ?? 0);
    const [hour, minute, second, fraction] = [part(3), part(4), part(6), part(7)];
    // The end of a day (ISO 8601) is read as the midnight after it.
    if (hour === 24) return minute === 0 && second === 0 && fraction === 0;
    return hour < 24 && minute < 60 && second < 60;
  },
  BOOLEAN: (text) => /^(t|f|true|false|0|1)$/i.test(text),
};

/**
 * Reads CSV bytes until the first fault and says exactly where it is: DuckDB's own messages lack the column, or
 * the line, for several kinds. Only called after an import failed; memory is bounded by one field.
 */
export async function findCsvFault(
  chunks: AsyncIterable<Buffer>,
  columns: readonly SourceColumn[],
  nullStrings: readonly string[],
): Promise<CsvFault | undefined> {
  const scanner = new CsvScanner(columns, new Set(nullStrings));
  let isFirst = true;
  for await (const chunk of chunks) {
    // latin1 keeps one character per byte; encoding is checked per field.
    const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    const fault = scanner.read((hasMark ? chunk.subarray(3) : chunk).toString('latin1'));
    if (fault !== undefined) return fault;
    isFirst = false;
  }
  return scanner.end();
}

type State = 'start' | 'plain' | 'quoted' | 'afterQuote' | 'carriage';

class CsvScanner {
  private state: State = 'start';
  private field = '';
  private column = 0;
  private line = 1;
  private rowLine = 1;
  private fieldLine = 1;
  private newline: string | undefined;
  private isBlankRow = true;

  constructor(
    private readonly columns: readonly SourceColumn[],
    private readonly nulls: ReadonlySet<string>,
  ) {}

  read(text: string): CsvFault | undefined {
    for (let index = 0; index < text.length; index += 1) {
      const fault = this.step(text[index]!);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  end(): CsvFault | undefined {
    if (this.state === 'quoted') return this.fault('quote', 'the quotation that begins here is never closed');
    if (this.state === 'carriage') return this.endRow('\r');
    return this.isBlankRow ? undefined : (this.endField() ?? this.endRow(''));
  }

  private step(character: string): CsvFault | undefined {
    if (character !== '\n' && character !== '\r') this.isBlankRow = false;
    if (this.state === 'quoted') return this.stepQuoted(character);
    if (this.state === 'carriage') {
      if (character === '\n') return this.endRow('\r\n');
      return this.endRow('\r') ?? this.step(character);
    }
    if (character === ',') {
      const fault = this.endField();
      this.column += 1;
      return fault;
    }
    if (character === '\n') return this.endField() ?? this.endRow('\n');
    if (character === '\r') {
      this.state = 'carriage';
      return undefined;
    }
    if (character === '"') {
      if (this.state === 'afterQuote') this.field += '"';
      if (this.state === 'start' || this.state === 'afterQuote') {
        this.state = 'quoted';
        return undefined;
      }
    }
    if (this.state === 'afterQuote') return this.fault('quote', 'text follows a closing quotation mark');
    this.state = 'plain';
    return this.append(character);
  }

  private stepQuoted(character: string): CsvFault | undefined {
    if (character === '"') {
      this.state = 'afterQuote';
      return undefined;
    }
    if (character === '\n') this.line += 1;
    return this.append(character);
  }

  private append(character: string): CsvFault | undefined {
    this.field += character;
    if (this.field.length <= longestFieldBytes) return undefined;
    return this.fault(
      'quote',
      'the field that begins here is longer than 2 MB; its quotation is hardly closed',
    );
  }

  private endField(): CsvFault | undefined {
    const { field } = this;
    const column = this.columns[this.column];
    this.field = '';
    this.state = 'start';
    const line = this.fieldLine;
    this.fieldLine = this.line;
    if (this.rowLine === 1 || column === undefined || this.nulls.has(field)) return undefined;
    if (!isUtf8(Buffer.from(field, 'latin1'))) {
      return { kind: 'encoding', line, column: column.name, detail: 'the text is not UTF-8' };
    }
    if (fitsType[column.type](field)) return undefined;
    const shown = field.length > 40 ? `${field.slice(0, 40)}…` : field;
    return { kind: 'value', line, column: column.name, detail: `"${shown}" is not a ${column.type}` };
  }

  /** `newline` is empty at the end of the file. */
  private endRow(newline: string): CsvFault | undefined {
    if (this.state === 'carriage') {
      const fault = this.endField();
      if (fault !== undefined) return fault;
    }
    const fields = this.column + 1;
    const isBlank = this.isBlankRow;
    const line = this.rowLine;
    this.isBlankRow = true;
    this.column = 0;
    this.line += 1;
    this.rowLine = this.line;
    this.fieldLine = this.line;
    if (newline !== '') {
      this.newline ??= newline;
      if (newline !== this.newline) {
        return {
          kind: 'newline',
          line,
          column: undefined,
          detail: 'the line ends otherwise than the lines before it',
        };
      }
    }
    if (fields === this.columns.length || isBlank) return undefined;
    return {
      kind: 'ragged',
      line,
      column: fields < this.columns.length ? this.columns[fields]!.name : undefined,
      detail: `the row has ${fields} field${fields === 1 ? '' : 's'}, the header ${this.columns.length}`,
    };
  }

  private fault(kind: CsvFault['kind'], detail: string): CsvFault {
    return { kind, line: this.fieldLine, column: this.columns[this.column]?.name, detail };
  }
}
