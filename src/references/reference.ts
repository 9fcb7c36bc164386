import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DatabaseKind } from '../datasets/dataset.js';
import { loadSqlFile, type SqlFile } from '../duck/sql-file.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';

/** The query behind one reference table. */
export interface ReferenceQuery {
  /** For example `meld-24h`. */
  readonly key: string;
  readonly database: DatabaseKind;
  readonly sql: SqlFile;
}

/** Every reference query of a database kind, sorted by key. */
export async function loadReferenceQueries(
  database: DatabaseKind,
  folder: string = join(benchmarkFolder(), 'references', database),
): Promise<readonly ReferenceQuery[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => ({
      key: basename(file, '.sql'),
      database,
      sql: await loadSqlFile(join(folder, file)),
    })),
  );
}

/** One reference query by key; an unknown key is an error. */
export async function findReferenceQuery(database: DatabaseKind, key: string): Promise<ReferenceQuery> {
  const queries = await loadReferenceQueries(database);
  const found = queries.find((query) => query.key === key);
  if (found === undefined) {
    throw new M4BenchError(
      'REFERENCE_UNKNOWN',
      `There is no reference ${key} for ${database}.`,
      `Known references: ${queries.map((query) => query.key).join(', ')}.`,
    );
  }
  return found;
}
