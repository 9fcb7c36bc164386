import { isUtf8 } from 'node:buffer';
import { Refusal } from './refusal.js';

/** What is known of a plainly written CSV file after one look at its bytes. */
export interface PlainCsv {
  readonly header: readonly string[];
  readonly hasOddNumbers: boolean;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Whether a file's first piece begins with a byte-order mark. */
export function startsWithMark(piece: Buffer): boolean {
  return piece.subarray(0, 3).equals(byteOrderMark);
}

/** A longer line, or more columns, is left to the exact reader. */
const longestLine = 1024 ** 2;
const mostColumns = 1000;

/** Checks that pieces joined together are UTF-8, also where a character is split between pieces. */
export class Utf8Check {
  private carry: Buffer = Buffer.alloc(0);
  private checked = 0;

  add(piece: Buffer): void {
    const joined = this.carry.length === 0 ? piece : Buffer.concat([this.carry, piece]);
    const whole = joined.length - unfinishedBytes(joined);
    if (!isUtf8(joined.subarray(0, whole))) this.refuse();
    this.checked += whole;
    this.carry = Buffer.from(joined.subarray(whole));
  }

  end(): void {
    if (this.carry.length > 0) this.refuse();
  }

  private refuse(): never {
    throw new Refusal(
      'output-unreadable',
      `The file is not valid UTF-8 text (near byte ${this.checked + 1}).`,
    );
  }
}

/** Bytes at the end that begin a character without ending it. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/**
 * Decides whether a CSV file is so plain that any CSV reader takes it alike: no quotes, no NUL, line feeds only, no
 * blank line, and every line with as many commas as the header. Feed it pieces until `isPlain` is false.
 * The loop runs at about 1 GB/s and is what allows the engine's own parallel reader for large outputs.
 */
export class PlainCsvCheck {
  isPlain = true;
  private headerParts: Buffer[] = [];
  private header: readonly string[] | undefined;
  private headerCommas = 0;
  private commas = 0;
  private lineBytes = 0;
  private lastByte = 0;
  private isFirst = true;
  private hasOddNumbers = false;

  add(piece: Buffer): void {
    let bytes = piece;
    if (this.isFirst && startsWithMark(bytes)) bytes = bytes.subarray(3);
    this.isFirst = false;
    // The engine drops a mark at the start of its own first line, and one may be split between two pieces.
    if (bytes.includes(byteOrderMark) || bytes.subarray(-2).includes(0xef)) this.isPlain = false;
    if (this.header === undefined) bytes = this.takeHeader(bytes);
    this.hasOddNumbers ||= bytes.includes(0x5f) || bytes.includes('+-') || this.lastByte === 0x2b;
    this.countCommas(bytes);
    this.lastByte = bytes.at(-1) ?? this.lastByte;
  }

  /** The facts, or undefined when the exact reader has to decide. */
  end(): PlainCsv | undefined {
    if (this.lineBytes > 0 && this.commas !== this.headerCommas) return undefined;
    if (!this.isPlain || this.header === undefined) return undefined;
    return { header: this.header, hasOddNumbers: this.hasOddNumbers };
  }

  private countCommas(bytes: Buffer): void {
    const expected = this.headerCommas;
    let commas = this.commas;
    let lineStart = -this.lineBytes;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte > 0x2c) continue;
      if (byte === 0x2c) commas++;
      else if (byte === 0x0a) {
        if (commas !== expected || i - lineStart > longestLine) {
          this.isPlain = false;
          return;
        }
        commas = 0;
        lineStart = i + 1;
      } else if (byte === 0x22 || byte === 0x0d || byte === 0) {
        this.isPlain = false;
        return;
      }
    }
    this.commas = commas;
    this.lineBytes = bytes.length - lineStart;
    if (this.lineBytes > longestLine) this.isPlain = false;
  }

  private takeHeader(bytes: Buffer): Buffer {
    const end = bytes.indexOf(0x0a);
    if (end < 0) {
      this.headerParts.push(Buffer.from(bytes));
      // A file of one line, or a header beyond one piece, is for the exact reader.
      this.isPlain = this.headerParts.length === 1;
      return Buffer.alloc(0);
    }
    const line = Buffer.concat([...this.headerParts, bytes.subarray(0, end)]).toString('utf8');
    const names = line.split(',');
    this.headerCommas = names.length - 1;
    this.header = names;
    if (names.length < 2 || names.length > mostColumns || /["\r\0]/.test(line)) this.isPlain = false;
    return bytes.subarray(end + 1);
  }
}
