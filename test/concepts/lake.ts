import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Dataset, datasetSchemaVersion, parquetPath } from '../../src/datasets/dataset.js';
import { engineVersion } from '../../src/duck/engine.js';
import { writeParquet } from '../../src/duck/parquet.js';
import { DuckSession } from '../../src/duck/session.js';

/** A lake of a few stated tables in a folder, as an import would leave it. */
export async function writeLake(
  folder: string,
  queries: Readonly<Record<`${string}.${string}`, string>>,
): Promise<Dataset> {
  await using session = await DuckSession.open({ threads: 2 });
  const tables: Dataset['tables'] = [];
  for (const [name, query] of Object.entries(queries)) {
    const [schema, table] = name.split('.') as [string, string];
    const written = await writeParquet(session, query, parquetPath({ folder }, schema, table));
    tables.push({
      schema,
      table,
      rows: written.rows,
      columns: [...written.columns],
      sortedBy: [],
      fileBytes: 0,
      fileSha256: written.fileSha256,
      contentHash: written.contentHash,
      source: null,
    });
  }
  return {
    schemaVersion: datasetSchemaVersion,
    name: 'tiny',
    kind: 'mimic-iv',
    class: 'synthetic',
    release: 'synthetic',
    verified: true,
    verifiedBy: ['generated'],
    unverifiedReasons: [],
    notice: 'Made by a test.',
    tables,
    contentHash: '',
    engineVersion,
    options: {},
    folder,
  };
}

/** Writes concept files; each states its relations, keys and query. */
export async function writeConcepts(
  folder: string,
  concepts: Readonly<
    Record<string, { readonly keys: string; readonly query: string; readonly note?: string }>
  >,
): Promise<void> {
  for (const [table, { keys, query, note }] of Object.entries(concepts)) {
    const path = join(folder, 'measurement', `${table}.sql`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      `-- title: ${table}\n-- grain: one row per row\n-- keys: ${keys}\n-- sources: stated by the query\n-- citation: none\n-- conventions:\n--   - ${note ?? 'none'}\n-- ties: none\n${query}\n`,
    );
  }
}
