import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { messageOf } from '../support/errors.js';
import { CsvNormalForm, type CsvRecords, unescapedSql } from './csv-records.js';
import { type PlainCsv, PlainCsvCheck, startsWithMark, Utf8Check } from './csv-structure.js';
import type { EvaluationLimits } from './limits.js';
import type { OpenedFile } from './output-file.js';
import { Refusal } from './refusal.js';
import type { ScratchFolder } from './scratch-folder.js';
import { inFileOrder, type SourceColumn, type TableSource } from './table-source.js';

export interface CsvRequest {
  readonly session: DuckSession;
  readonly file: OpenedFile;
  readonly isGzip: boolean;
  /** What `checkPlain` comes to, begun early; for a gzip file it is left out. */
  readonly plain?: Promise<PlainCsv | undefined>;
  /** Names of the columns to keep; absent ones are simply not in the result. */
  readonly wanted: ReadonlySet<string>;
  readonly limits: EvaluationLimits;
  readonly scratch: ScratchFolder;
}

/** Up to this size a table is copied into the session at once, so that each later query is short. */
const smallFileBytes = 16 * 1024 ** 2;

/**
 * A CSV file as a relation of text cells.
 *
 * A plainly written file is read by the engine's parallel reader where it lies; every other file is first brought
 * into a normal form by our own reader, so that no rule depends on what the engine makes of odd input.
 *
 * @throws Refusal when the file cannot be read under the rules, or is over a limit.
 */
export async function csvSource(request: CsvRequest): Promise<TableSource> {
  const plain = request.isGzip ? undefined : await (request.plain ?? checkPlain(request.file));
  const source =
    plain === undefined
      ? await normalFormSource(request)
      : {
          from: readCsvSql(request.file.enginePath, plain.header.length),
          place: null,
          header: plain.header,
          hasOddNumbers: plain.hasOddNumbers,
          columns: columnsOf(
            plain.header.map((name, index) => ({ name, sql: identifier(`c${index}`) })),
            request.wanted,
          ),
        };
  return request.file.bytes <= smallFileBytes ? inFileOrder(request.session, source) : source;
}

function columnsOf(
  columns: readonly { readonly name: string; readonly sql: string }[],
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, SourceColumn> {
  const found = new Map<string, SourceColumn>();
  for (const { name, sql } of columns) {
    if (wanted.has(name) && !found.has(name)) found.set(name, { name, sql, type: 'VARCHAR' });
  }
  return found;
}

/**
 * One look at all bytes: the facts of a plainly written file, undefined for any other.
 *
 * @throws Refusal when the bytes before the first oddity are not UTF-8.
 */
export async function checkPlain(file: OpenedFile): Promise<PlainCsv | undefined> {
  const utf8 = new Utf8Check();
  const check = new PlainCsvCheck();
  for await (const piece of file.pieces()) {
    utf8.add(piece);
    check.add(piece);
    if (!check.isPlain) return undefined;
  }
  utf8.end();
  return check.end();
}

async function normalFormSource(request: CsvRequest): Promise<TableSource> {
  const path = await request.scratch.newPath();
  const records = await writeNormalForm(request, path);
  const text = (column: number) => {
    const raw = identifier(`c${column}`);
    return records.hasEscapes ? unescapedSql(raw) : raw;
  };
  return {
    from: readCsvSql(path, records.kept.length + 1),
    place: null,
    header: records.header,
    // Such a file may also have odd numbers; looking for them costs more than excluding them cell by cell.
    hasOddNumbers: true,
    columns: columnsOf(
      records.kept.map((position, index) => ({
        name: records.header[position] as string,
        sql: text(index + 1),
      })),
      request.wanted,
    ),
  };
}

async function writeNormalForm(request: CsvRequest, path: string): Promise<CsvRecords> {
  const utf8 = new Utf8Check();
  const form = new CsvNormalForm(request.wanted, request.limits);
  const target = await open(path, 'wx', 0o600);
  let isFirst = true;
  try {
    for await (const piece of contentOf(request)) {
      utf8.add(piece);
      const isMarked = isFirst && startsWithMark(piece);
      isFirst = false;
      for (const ready of form.write(isMarked ? piece.subarray(3) : piece)) await target.write(ready);
    }
    utf8.end();
    const { rest, records } = form.end();
    for (const ready of rest) await target.write(ready);
    return records;
  } finally {
    await target.close();
  }
}

/** The file's bytes, decompressed when it is a gzip file, refused beyond the limit. */
async function* contentOf({ file, isGzip, limits }: CsvRequest): AsyncGenerator<Buffer> {
  if (!isGzip) {
    yield* file.pieces();
    return;
  }
  const stream = file.handle.createReadStream({ start: 0, autoClose: false });
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  stream.on('error', (thrown) => gunzip.destroy(thrown));
  stream.pipe(gunzip);
  let bytes = 0;
  try {
    for await (const piece of gunzip) {
      file.throwIfAborted();
      bytes += (piece as Buffer).length;
      if (bytes > limits.fileBytes) {
        throw new Refusal(
          'output-too-large',
          `The output holds more than ${limits.fileBytes} bytes when decompressed.`,
        );
      }
      yield piece as Buffer;
    }
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    throw new Refusal('output-unreadable', `The gzip data are broken: ${messageOf(thrown)}.`);
  } finally {
    stream.unpipe(gunzip);
    stream.destroy();
    gunzip.destroy();
  }
}

/** The engine's CSV reader with everything said and nothing guessed: one header line, commas, no quotes. */
function readCsvSql(path: string, columns: number): string {
  const types = Array.from({ length: columns }, (_unused, index) => `c${index}: 'VARCHAR'`).join(', ');
  return `read_csv(${literal(path)}, auto_detect = false, columns = {${types}}, delim = ',', quote = '', escape = '', comment = '', header = false, skip = 1, nullstr = '', new_line = '\\n', strict_mode = true, null_padding = false, compression = 'none', max_line_size = 4194304)`;
}
