import { Refusal } from './refusal.js';

/** What the records of a CSV file are, once they have all been read. */
export interface CsvRecords {
  /** Header names as they stand. */
  readonly header: readonly string[];
  /** Positions (in the header) of the kept columns, ascending: the columns of the normal form after its first. */
  readonly kept: readonly number[];
  /** Data records. */
  readonly records: number;
  /** Whether any kept field holds an escape of the normal form. */
  readonly hasEscapes: boolean;
}

const comma = 0x2c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const tab = 0x09;

/** Beyond it a header is not read. */
const mostColumns = 2_000_000;

/** Where the reader stands between two bytes. */
const State = {
  startRecord: 0,
  /** Only blanks and tabs so far in this line. */
  blankSoFar: 1,
  startField: 2,
  inField: 3,
  inQuotes: 4,
  quoteInQuotes: 5,
  afterCarriageReturn: 6,
} as const;
type State = (typeof State)[keyof typeof State];

/** 1 for bytes that are nothing but content in an unquoted field. */
const isContent = new Uint8Array(256).fill(1);
for (const byte of [comma, lineFeed, carriageReturn]) isContent[byte] = 0;

/** Bytes that cannot stand in the normal form, and the digit that follows a backslash in their place. */
const escapeDigit = new Uint8Array(256);
for (const [digit, byte] of [backslash, lineFeed, carriageReturn, comma].entries()) {
  escapeDigit[byte] = 0x30 + digit;
}

/** Turns escapes of the normal form back, as SQL over a text expression. */
export function unescapedSql(text: string): string {
  return `case when contains(${text}, '\\') then replace(replace(replace(replace(${text}, '\\1', chr(10)), '\\2', chr(13)), '\\3', ','), '\\0', '\\') else ${text} end`;
}

function unescaped(text: string): string {
  return text.replace(/\\([0-3])/g, (_all, digit: string) => '\\\n\r,'.charAt(Number(digit)));
}

/**
 * Reads CSV bytes with the published reader's rules and writes the kept columns in a normal form that every CSV
 * reader understands alike: one line feed per record, one comma per field, no quotes; backslash, comma and line
 * breaks inside fields are escaped; the first column is always empty (so no line is blank and none begins with a
 * byte-order mark). Works on pieces of any size in constant memory.
 *
 * The rules (docs/scoring.md, "Reading a CSV"): a quote opens a quoted field only at the start of a field; after the
 * closing quote further characters are taken as they stand; LF, CRLF and CR end a record; lines that are empty or
 * hold only blanks and tabs are skipped; short records are padded; when the first data record has n fields more than
 * the header, the first n fields of every record are dropped; any other surplus field, an open quote at the end and
 * a file without header are refused; a field ends at its first NUL.
 */
export class CsvNormalForm {
  private state: State = State.startRecord;
  private remaining = 0;
  private out = Buffer.allocUnsafe(1 << 16);
  private length = 0;
  private recordStart = 0;
  private field = 0;
  private isKept = true;
  private seenNul = false;
  private blanks: number[] = [];
  private header: string[] | undefined;
  private fieldEnds: number[] = [];
  private keep: Uint8Array | undefined;
  private expected = 0;
  private leading = 0;
  private keptPositions: number[] = [];
  private records = 0;
  private hasEscapes = false;
  private finished: Buffer[] = [];

  constructor(
    private readonly wanted: ReadonlySet<string>,
    private readonly limits: { readonly headerBytes: number; readonly recordBytes: number },
  ) {}

  /** Takes a piece of the file (without its byte-order mark); returns the normal form that became ready. */
  write(piece: Uint8Array): readonly Buffer[] {
    this.reserve(2 * piece.length + 64);
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i] as number;
      if (this.state === State.inField && isContent[byte] === 1) {
        if (this.isKept) this.push(byte);
      } else {
        this.remaining = piece.length - i;
        while (!this.consume(byte));
      }
    }
    if (this.keep === undefined) this.checkHeaderBytes();
    else this.flush();
    return this.takeFinished();
  }

  /** The end of the file. */
  end(): { readonly rest: readonly Buffer[]; readonly records: CsvRecords } {
    if (this.state === State.inQuotes) {
      throw new Refusal(
        'output-unreadable',
        `A quoted field that begins in record ${this.records + 1} is never closed.`,
      );
    }
    if (this.state === State.startField) this.beginField();
    this.remaining = 0;
    if (this.state !== State.startRecord && this.state !== State.blankSoFar) this.endRecord();
    if (this.header === undefined) {
      throw new Refusal('output-empty', 'The file is empty: it has no header.');
    }
    if (this.keep === undefined) this.settleColumns(this.header.length);
    this.flush();
    return {
      rest: this.takeFinished(),
      records: {
        header: this.header,
        kept: this.keptPositions,
        records: this.records,
        hasEscapes: this.hasEscapes,
      },
    };
  }

  /** Moves on by one byte; false when the byte is to be looked at again in the new state. */
  private consume(byte: number): boolean {
    switch (this.state) {
      case State.startRecord:
        if (byte === lineFeed || byte === carriageReturn) return true;
        this.state = byte === space || byte === tab ? State.blankSoFar : State.startField;
        return false;
      case State.blankSoFar:
        if (byte === space || byte === tab) {
          this.rememberBlank(byte);
          return true;
        }
        if (byte === lineFeed || byte === carriageReturn) {
          this.blanks = [];
          this.state = State.startRecord;
        } else {
          this.beginField();
          this.pushBlanks();
          this.state = State.inField;
        }
        return false;
      case State.startField:
        this.beginField();
        this.state = byte === quote ? State.inQuotes : State.inField;
        return byte === quote;
      case State.inField:
        return this.consumeInField(byte);
      case State.inQuotes:
        if (byte === quote) this.state = State.quoteInQuotes;
        else if (this.isKept) this.push(byte);
        return true;
      case State.quoteInQuotes:
        if (byte === quote && this.isKept) this.push(byte);
        this.state = byte === quote ? State.inQuotes : State.inField;
        return byte === quote;
      case State.afterCarriageReturn:
        // A line feed that follows is then skipped like a blank line.
        this.endRecord();
        return false;
    }
  }

  private consumeInField(byte: number): boolean {
    if (byte === comma) {
      this.endField();
      this.state = State.startField;
    } else if (byte === lineFeed) this.endRecord();
    else if (byte === carriageReturn) this.state = State.afterCarriageReturn;
    else if (this.isKept) this.push(byte);
    return true;
  }

  private push(byte: number): void {
    if (byte === 0) this.seenNul = true;
    if (this.seenNul) return;
    const digit = escapeDigit[byte] as number;
    if (digit !== 0) {
      this.out[this.length++] = backslash;
      this.out[this.length++] = digit;
      if (this.keep !== undefined) this.hasEscapes = true;
    } else this.out[this.length++] = byte;
  }

  private rememberBlank(byte: number): void {
    if (this.blanks.length >= this.limits.recordBytes) {
      throw new Refusal('output-too-large', `Record ${this.records + 1} begins with too many blanks.`);
    }
    this.blanks.push(byte);
  }

  private pushBlanks(): void {
    const { blanks } = this;
    this.blanks = [];
    if (!this.isKept) return;
    this.reserve(2 * blanks.length);
    for (const byte of blanks) this.push(byte);
  }

  /** Every kept field of the normal form begins with its comma, after the empty first column. */
  private beginField(): void {
    if (this.keep !== undefined && this.isKept) this.out[this.length++] = comma;
  }

  private endField(): void {
    this.seenNul = false;
    this.field++;
    if (this.keep === undefined) this.fieldEnds.push(this.length);
    else this.isKept = this.keep[this.field] === 1;
  }

  /** Ends the last field and the record. */
  private endRecord(): void {
    this.endField();
    if (this.keep !== undefined) this.endDataRecord();
    else if (this.header === undefined) this.takeHeader();
    else this.takeFirstRecord();
    this.reserve(2 * this.remaining + this.keptPositions.length + 64);
    this.field = 0;
    this.recordStart = this.length;
    this.isKept = this.keep === undefined || this.keep[0] === 1;
    this.state = State.startRecord;
  }

  private endDataRecord(): void {
    this.records++;
    if (this.field > this.expected) {
      throw new Refusal(
        'output-unreadable',
        `Data record ${this.records} has ${this.field} fields where ${this.expected} are expected.`,
      );
    }
    for (const position of this.keptPositions) {
      if (position + this.leading >= this.field) this.out[this.length++] = comma;
    }
    this.out[this.length++] = lineFeed;
    this.checkRecordBytes();
  }

  private takeHeader(): void {
    const names: string[] = [];
    for (let index = 0, start = 0; index < this.fieldEnds.length; index++) {
      const end = this.fieldEnds[index] as number;
      names.push(unescaped(this.out.toString('utf8', start, end)));
      start = end;
    }
    this.header = names;
    this.length = 0;
    this.fieldEnds = [];
  }

  private takeFirstRecord(): void {
    const front = this.out;
    const ends = this.fieldEnds;
    this.out = Buffer.allocUnsafe(2 * front.length + 64);
    this.settleColumns(ends.length);
    this.records = 1;
    this.recordStart = this.length;
    for (const position of this.keptPositions) {
      this.out[this.length++] = comma;
      const field = position + this.leading;
      const bytes = front.subarray(ends[field - 1] ?? 0, ends[field] ?? 0);
      this.hasEscapes ||= bytes.includes(backslash);
      this.length += bytes.copy(this.out, this.length);
    }
    this.out[this.length++] = lineFeed;
    this.checkRecordBytes();
  }

  /** Fixes which fields are kept; the line that stands for the header comes first in the normal form. */
  private settleColumns(firstRecordFields: number): void {
    const header = this.header as readonly string[];
    this.expected = Math.max(header.length, firstRecordFields);
    this.leading = this.expected - header.length;
    const seen = new Set<string>();
    this.keep = new Uint8Array(this.expected);
    for (const [position, name] of header.entries()) {
      if (!this.wanted.has(name) || seen.has(name)) continue;
      seen.add(name);
      this.keptPositions.push(position);
      this.keep[position + this.leading] = 1;
    }
    this.length = this.out.write('normal\n');
  }

  private checkRecordBytes(): void {
    if (this.length - this.recordStart > this.limits.recordBytes) {
      throw new Refusal(
        'output-too-large',
        `Data record ${this.records} is longer than ${this.limits.recordBytes} bytes.`,
      );
    }
  }

  private checkHeaderBytes(): void {
    const part = this.header === undefined ? 'header' : 'first record';
    if (this.length > this.limits.headerBytes) {
      throw new Refusal('output-too-large', `The ${part} is longer than ${this.limits.headerBytes} bytes.`);
    }
    if (this.fieldEnds.length > mostColumns) {
      throw new Refusal('output-too-large', `The ${part} has more than ${mostColumns} fields.`);
    }
  }

  /** Makes room; in the body, whole records that are ready leave the buffer. */
  private reserve(bytes: number): void {
    if (this.out.length - this.length >= bytes) return;
    if (this.keep !== undefined) this.flush();
    if (this.out.length - this.length >= bytes) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + bytes));
    this.out.copy(larger, 0, 0, this.length);
    this.out = larger;
  }

  private takeFinished(): readonly Buffer[] {
    const ready = this.finished;
    this.finished = [];
    return ready;
  }

  private flush(): void {
    if (this.length === 0) return;
    this.finished.push(Buffer.from(this.out.subarray(0, this.length)));
    this.recordStart -= this.length;
    this.length = 0;
  }
}
