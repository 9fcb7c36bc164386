import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DatabaseKind } from '../datasets/dataset.js';
import { loadSqlFile, type SqlFile } from '../duck/sql-file.js';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';

/** The query behind one reference table. */
export interface ReferenceQuery {
  /** For example `meld-24h`. */
  readonly key: string;
  readonly database: DatabaseKind;
  readonly sql: SqlFile;
}

/** What a task says of its reference; a loaded `Task` is one. */
export interface ReferenceOfTask {
  readonly reference: string;
  readonly referenceFile: string;
  readonly database: DatabaseKind;
}

/** The query that a task is scored against: of the benchmark, or of the task's own family. */
export async function referenceQueryOf(task: ReferenceOfTask): Promise<ReferenceQuery> {
  try {
    return { key: task.reference, database: task.database, sql: await loadSqlFile(task.referenceFile) };
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    throw new M4BenchError(
      'REFERENCE_UNKNOWN',
      `${task.referenceFile}, the query of reference ${task.reference}, does not exist.`,
      'Add the query, or correct the name of the reference in family.toml.',
    );
  }
}

/** The shipped reference queries of a database kind and those of own families, sorted by key, each once. */
export async function allReferenceQueries(
  database: DatabaseKind,
  tasks: readonly ReferenceOfTask[],
): Promise<readonly ReferenceQuery[]> {
  const queries = new Map((await loadReferenceQueries(database)).map((query) => [query.key, query]));
  for (const task of tasks) {
    if (task.database === database && !queries.has(task.reference))
      queries.set(task.reference, await referenceQueryOf(task));
  }
  return [...queries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Every reference query of a database kind that the benchmark ships, sorted by key. */
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

/** One of the given queries by key; an unknown key is an error. */
export function pickReferenceQuery(queries: readonly ReferenceQuery[], key: string): ReferenceQuery {
  const found = queries.find((query) => query.key === key);
  if (found !== undefined) return found;
  const keys = queries.map((query) => query.key);
  throw new M4BenchError(
    'REFERENCE_UNKNOWN',
    `There is no reference ${key}.`,
    `${suggestionFor(key, keys)}Known references: ${keys.join(', ')}.`,
  );
}

/** One shipped reference query by key; an unknown key is an error. */
export async function findReferenceQuery(database: DatabaseKind, key: string): Promise<ReferenceQuery> {
  return pickReferenceQuery(await loadReferenceQueries(database), key);
}
