import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Folder of shared test data: `M4BENCH_TEST_DATA`, default `../shared` beside the repository. */
const sharedFolder = resolve(process.env.M4BENCH_TEST_DATA ?? join(import.meta.dirname, '../../../shared'));

/** The published per-run tables, or undefined where they are not at hand. */
export const publishedRunsFolder = existing(join(sharedFolder, 'data/published-runs'));

/** The published tables as printed. */
export const publishedTablesFile = existing(join(sharedFolder, 'oracle/published-tables.json'));

function existing(path: string): string | undefined {
  if (existsSync(path)) return path;
  console.warn(`Tests against published data are skipped: ${path} does not exist (set M4BENCH_TEST_DATA).`);
  return undefined;
}
