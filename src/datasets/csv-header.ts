import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { M4BenchError, messageOf } from '../support/errors.js';
import type { SourceFile } from './release-folder.js';
import type { SourceColumn } from './source-schema.js';

const longestHeaderBytes = 1 << 20;

/**
 * The first line of a CSV file as lower-cased column names, in file order.
 * Throws one error for an empty file, a broken gzip stream, a wrong delimiter, and columns that are unknown,
 * missing or given twice.
 */
export async function readCsvHeader(source: SourceFile): Promise<readonly SourceColumn[]> {
  const line = await readFirstLine(source);
  const names = splitHeader(line);
  checkDelimiter(source, names, line);
  return bindColumns(source, names);
}

/** Matches column names of a file with those of its table, without regard to order and case. */
export function bindColumns(source: SourceFile, names: readonly string[]): readonly SourceColumn[] {
  const { table, file } = source;
  const place = source.form === '.parquet' ? file : `${file}, line 1`;
  const bound = names.map((spelled, index) => {
    const name = spelled.trim().toLowerCase();
    const column = table.columns.find((known) => known.name === name);
    if (column === undefined) {
      throw new M4BenchError(
        'IMPORT_COLUMN_UNKNOWN',
        `${place}, column ${index + 1}: "${spelled}" is no column of ${table.schema}.${table.name}.`,
        `Known columns: ${table.columns.map((known) => known.name).join(', ')}. Remove or rename the column.`,
      );
    }
    if (names.findIndex((other) => other.trim().toLowerCase() === name) !== index) {
      throw new M4BenchError(
        'IMPORT_COLUMN_TWICE',
        `${place}, column ${index + 1}: "${spelled}" stands in the header twice.`,
        'Remove one of the two columns.',
      );
    }
    return column;
  });
  const missing = table.columns.filter((column) => !bound.includes(column)).map((column) => column.name);
  if (missing.length > 0) {
    throw new M4BenchError(
      'IMPORT_COLUMN_MISSING',
      `${place}: column${missing.length > 1 ? 's' : ''} ${missing.join(', ')} of ${table.schema}.${table.name} missing.`,
      'Use the file as PhysioNet ships it.',
    );
  }
  return bound;
}

async function readFirstLine(source: SourceFile): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const collect = async (stream: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of stream) {
      chunks.push(chunk);
      length += chunk.length;
      if (chunk.includes(0x0a) || length > longestHeaderBytes) return;
    }
  };
  try {
    if (source.form === '.csv.gz') await pipeline(createReadStream(source.path), createGunzip(), collect);
    else await pipeline(createReadStream(source.path), collect);
  } catch (thrown) {
    // The header may well be whole although the stream breaks right after it; the import finds that out.
    if (!Buffer.concat(chunks).includes(0x0a)) {
      throw new M4BenchError(
        source.form === '.csv.gz' ? 'IMPORT_GZIP_BROKEN' : 'IMPORT_FILE_UNREADABLE',
        `${source.file}, line 1: the file cannot be read: ${messageOf(thrown)}.`,
        'Download the file again.',
        { cause: thrown },
      );
    }
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const line = (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
  if (line === '') {
    throw new M4BenchError(
      'IMPORT_FILE_EMPTY',
      `${source.file}, line 1: there is no header line.`,
      'Download the file again.',
    );
  }
  return line;
}

/** Fields of a header line; quotes as in the body. */
function splitHeader(line: string): readonly string[] {
  const names: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index]!;
    if (character === '"') {
      if (isQuoted && line[index + 1] === '"') {
        field += '"';
        index += 1;
      } else isQuoted = !isQuoted;
    } else if (character === ',' && !isQuoted) {
      names.push(field);
      field = '';
    } else field += character;
  }
  return [...names, field];
}

const otherDelimiters: Readonly<Record<string, string>> = { ';': 'semicolon', '\t': 'tab', '|': 'bar' };

function checkDelimiter(source: SourceFile, names: readonly string[], line: string): void {
  const known = new Set(source.table.columns.map((column) => column.name));
  if (names.some((name) => known.has(name.trim().toLowerCase()))) return;
  for (const [delimiter, word] of Object.entries(otherDelimiters)) {
    const fields = line.split(delimiter).map((field) => field.replaceAll('"', '').trim().toLowerCase());
    if (fields.length > 1 && fields.some((field) => known.has(field))) {
      throw new M4BenchError(
        'IMPORT_DELIMITER',
        `${source.file}, line 1, column 1: fields are separated by a ${word}, not by a comma.`,
        'Use the file as PhysioNet ships it, or convert it to comma-separated values.',
      );
    }
  }
}
