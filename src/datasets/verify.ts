import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { contentHash, describeQuery } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { messageOf } from '../support/errors.js';
import { sha256File } from '../support/hashing.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { checksumKey, checksumListOf } from './checksums.js';
import { type Dataset, type DatasetTable, datasetContentHash, parquetPath } from './dataset.js';
import { loadSourceSchema, type SourceSchema } from './source-schema.js';

/** One table of a dataset held against its manifest and against what its release publishes. */
export interface VerifiedTable {
  readonly schema: string;
  readonly table: string;
  readonly rows: number;
  /** Rows that the release publishes; null where nothing is published. */
  readonly publishedRows: number | null;
  /** Whether the source file had the published SHA-256; null where nothing is published or the file was not hashed. */
  readonly hasPublishedSource: boolean | null;
  /** Each one sentence; empty when the table is sound. */
  readonly faults: readonly string[];
}

export interface DatasetVerification {
  readonly dataset: string;
  readonly release: string;
  readonly isSound: boolean;
  readonly tables: readonly VerifiedTable[];
  /** Faults of the dataset as a whole, and differences from the release that were accepted at import. */
  readonly faults: readonly string[];
  readonly accepted: readonly string[];
}

/**
 * Reads every base table of a dataset again and compares file hash, columns, row count and content hash with
 * `dataset.json`, and row counts and source hashes with what the release publishes. A difference from the release
 * that was accepted at import (`--no-verify`) is told, but is no fault: the dataset says so itself.
 */
export async function verifyDataset(
  dataset: Dataset,
  options: {
    readonly progress?: Progress;
    readonly memoryBytes?: number;
    readonly threads?: number;
    readonly source?: SourceSchema;
  } = {},
): Promise<DatasetVerification> {
  const progress = options.progress ?? silentProgress;
  const source = options.source ?? (await loadSourceSchema(dataset.kind));
  await using session = await DuckSession.open(options);
  const tables: VerifiedTable[] = [];
  for (const table of dataset.tables) {
    progress.update(`verify ${tables.length + 1}/${dataset.tables.length}: ${table.schema}.${table.table}`);
    const published = publishedOf(source, dataset.release, table);
    const stored = await storedFaults(session, dataset, table);
    const differences = dataset.verified ? releaseFaults(table, published) : [];
    tables.push({
      schema: table.schema,
      table: table.table,
      rows: table.rows,
      publishedRows: published.rows,
      hasPublishedSource: published.sha256 === null ? null : published.sha256 === table.source?.sha256,
      faults: [...stored, ...differences],
    });
  }
  const faults = [...manifestFaults(dataset), ...(await strayFiles(dataset))];
  return {
    dataset: dataset.name,
    release: dataset.release,
    isSound: faults.length === 0 && tables.every((table) => table.faults.length === 0),
    tables,
    faults,
    accepted: dataset.unverifiedReasons,
  };
}

interface Published {
  readonly rows: number | null;
  readonly sha256: string | null;
}

function publishedOf(
  source: SourceSchema,
  release: string,
  { schema, table, source: file }: DatasetTable,
): Published {
  const known = source.tables.find((entry) => entry.schema === schema && entry.name === table);
  const checksums = source.checksums[release];
  const sha256 =
    checksums === undefined || file === null || file.sha256 === null
      ? null
      : (checksumListOf(checksums).get(checksumKey(file.file)) ?? null);
  return { rows: known?.rowCounts[release] ?? null, sha256 };
}

function releaseFaults(table: DatasetTable, published: Published): readonly string[] {
  return [
    ...(published.rows !== null && published.rows !== table.rows
      ? [`${count(table.rows)} rows, the release has ${count(published.rows)}`]
      : []),
    ...(published.sha256 !== null && published.sha256 !== table.source?.sha256
      ? ['was read from a file whose SHA-256 is not the published one']
      : []),
  ];
}

const count = (rows: number): string => rows.toLocaleString('en');

async function storedFaults(
  session: DuckSession,
  dataset: Dataset,
  table: DatasetTable,
): Promise<readonly string[]> {
  const path = parquetPath(dataset, table.schema, table.table);
  if (!existsSync(path)) return ['the file is missing'];
  if ((await stat(path)).size === table.fileBytes && (await sha256File(path)) === table.fileSha256) {
    // The bytes are those whose rows were hashed: only the manifest's own account of them can be wrong.
    const { rows } = await session.row(
      `select sum(num_rows)::bigint::varchar as rows from parquet_file_metadata(${literal(path)})`,
    );
    return Number(rows) === table.rows
      ? []
      : [`dataset.json says ${count(table.rows)} rows, the file has ${rows}`];
  }
  const changed = 'the file was changed since it was written';
  try {
    const from = `read_parquet(${literal(path)})`;
    const columns = await describeQuery(session, `select * from ${from}`);
    const found = await contentHash(session, from, columns);
    if (found.contentHash === table.contentHash) return [`${changed}; its rows are the same`];
    return [
      found.rows === table.rows
        ? `${changed}; its rows or columns are others`
        : `${changed}; it has ${count(found.rows)} rows instead of ${count(table.rows)}`,
    ];
  } catch (thrown) {
    return [`${changed} and cannot be read: ${messageOf(thrown).split('\n')[0]!.slice(0, 200)}`];
  }
}

function manifestFaults(dataset: Dataset): readonly string[] {
  if (datasetContentHash(dataset.tables) === dataset.contentHash) return [];
  return ['dataset.json was changed: its content hash is not that of its tables'];
}

/** Files among the base tables that the manifest does not know. */
async function strayFiles(dataset: Dataset): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const schema of new Set(dataset.tables.map((table) => table.schema))) {
    const known = new Set(
      dataset.tables.filter((table) => table.schema === schema).map((table) => `${table.table}.parquet`),
    );
    for (const name of await readdir(join(dataset.folder, schema)).catch(() => [])) {
      if (!known.has(name)) faults.push(`${schema}/${name} is not in dataset.json`);
    }
  }
  return faults;
}
