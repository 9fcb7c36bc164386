import { readFile } from 'node:fs/promises';
import { M4BenchError } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';

/** The header that opens every SQL file under `benchmark/`; clinicians read it, tests parse it. */
export interface SqlHeader {
  readonly title: string;
  readonly grain: string;
  /** Columns that lead the sort order. */
  readonly keys: readonly string[];
  /** Relations read, schema-qualified; a test compares them with the syntax tree. */
  readonly sources: readonly string[];
  readonly citation: string;
  readonly conventions: readonly string[];
  readonly ties: readonly string[];
  /** References only: differences from the concept of the same name. */
  readonly deviations: readonly string[];
}

export interface SqlFile {
  readonly path: string;
  readonly header: SqlHeader;
  /** The whole text, header included. */
  readonly text: string;
  /** The bare query: no trailing semicolon. */
  readonly query: string;
  readonly sha256: string;
}

/**
 * Parses header lines `-- key: value` followed by list items `--   - text`; a line `--     text` continues the
 * one before. The header ends at the first line that is not a comment.
 */
export function parseSqlHeader(text: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith('--')) break;
    const body = line.slice(2);
    const key = /^ ([a-z]+):(?: (.*))?$/.exec(body);
    if (key) {
      current = key[2] === undefined || key[2].trim() === '' ? [] : [key[2].trim()];
      fields.set(key[1] ?? '', current);
      continue;
    }
    const item = /^\s+- (.*)$/.exec(body);
    if (item && current) current.push((item[1] ?? '').trim());
    else if (current && current.length > 0 && body.trim() !== '')
      current[current.length - 1] += ` ${body.trim()}`;
  }
  return fields;
}

/** Loads one SQL file; a missing header field is an error that names file and field. */
export async function loadSqlFile(path: string): Promise<SqlFile> {
  const text = await readFile(path, 'utf8');
  const fields = parseSqlHeader(text);
  const required = (name: string): readonly string[] => {
    const value = fields.get(name);
    if (value === undefined || value.length === 0) {
      throw new M4BenchError(
        'SQL_HEADER_INVALID',
        `${path}: the header has no \`${name}\`.`,
        `Add a line "-- ${name}: …" at the top of the file.`,
      );
    }
    return value;
  };
  const list = (name: string): readonly string[] =>
    required(name)
      .join(',')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '' && part !== 'none');
  const sentences = (name: string): readonly string[] =>
    (fields.get(name) ?? []).filter((part) => part !== 'none');
  return {
    path,
    text,
    query: text.trimEnd().replace(/;$/, ''),
    sha256: sha256(text),
    header: {
      title: required('title').join(' '),
      grain: required('grain').join(' '),
      keys: list('keys'),
      sources: list('sources'),
      citation: required('citation').join('; '),
      conventions: sentences('conventions'),
      ties: sentences('ties'),
      deviations: sentences('deviations'),
    },
  };
}
