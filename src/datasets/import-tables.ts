import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { engineVersion } from '../duck/engine.js';
import type { ParquetFile } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Progress } from '../support/progress.js';
import { type DatasetTable, datasetManifestSchema, parquetPath } from './dataset.js';
import { ImportProgress } from './import-progress.js';
import { importTable, interimStoredAs, storedAs } from './import-table.js';
import { layOut, paysToLayOut, seemsToPayToLayOut } from './layout.js';
import type { SourceFile } from './release-folder.js';
import type { SourceSchema } from './source-schema.js';

/** A source file and what identifies its bytes. */
export interface IdentifiedFile extends SourceFile {
  /** Null where nothing is published to compare with. */
  readonly sha256: string | null;
  /** Changes with the bytes: the hash, or else size and time of change. */
  readonly identity: string;
  readonly isVouchedFor: boolean;
}

export const layouts = ['by-item', 'as-read'] as const;
/** `by-item` sorts large event tables so that queries skip most of them; `as-read` keeps the order of the files. */
export type Layout = (typeof layouts)[number];
export const defaultLayout: Layout = 'by-item';

export interface ImportTablesOptions {
  readonly layout: Layout;
  readonly progress: Progress;
  readonly memoryBytes?: number;
  readonly threads?: number;
}

/** Stored tables and what the two stages took. */
export interface ImportedTables {
  readonly tables: readonly DatasetTable[];
  readonly readSeconds: number;
  readonly layoutSeconds: number;
  readonly laidOut: readonly string[];
}

/** DuckDB's limit leaves out part of what it allocates, and Node needs memory too. */
const engineShare = 0.7;

/**
 * Reads all files into the staging folder, several at a time on one engine so that the threads that one file leaves
 * idle go to another, then lays out the large event tables one after the other with the whole memory. What is
 * finished, and still made from the same bytes in the same way, is kept.
 */
export async function importTables(
  staging: string,
  schema: SourceSchema,
  files: readonly IdentifiedFile[],
  options: ImportTablesOptions,
): Promise<ImportedTables> {
  const threads = options.threads ?? availableParallelism();
  await using session = await DuckSession.open({
    memoryBytes: Math.floor((options.memoryBytes ?? 2 * 1024 ** 3) * engineShare),
    threads,
    spillFolder: staging,
    keepsMemory: true,
  });
  const startedAt = performance.now();
  const lanes = Math.max(2, Math.min(4, threads));
  const plans = await Promise.all(
    files.map(
      async (file): Promise<ReadingPlan> => ({
        file,
        isInterim: options.layout === 'by-item' && (await seemsToPayToLayOut(file)),
      }),
    ),
  );
  const staged = await readAll(session, lanes, staging, schema, plans, options.progress);
  const readAt = performance.now();
  const large =
    options.layout === 'by-item'
      ? staged.filter(
          ({ file, isInterim, table }) =>
            (isInterim || paysToLayOut(file.table, table.rows)) && table.sortedBy.length === 0,
        )
      : [];
  for (const [index, entry] of large.entries()) {
    options.progress.update(
      `sorting by item ${index + 1}/${large.length}: ${entry.table.table}, ${entry.table.rows.toLocaleString('en')} rows`,
    );
    entry.table = await layOutOne(session, staging, schema, entry);
  }
  return {
    tables: staged
      .map(({ table }) => table)
      .sort((a, b) => (`${a.schema}.${a.table}` < `${b.schema}.${b.table}` ? -1 : 1)),
    readSeconds: (readAt - startedAt) / 1000,
    layoutSeconds: (performance.now() - readAt) / 1000,
    laidOut: large.map(({ table }) => table.table),
  };
}

/** What is to be read, and whether it is stored only until it is laid out. */
interface ReadingPlan {
  readonly file: IdentifiedFile;
  readonly isInterim: boolean;
}

/** A table in the staging folder; `table` is replaced when it is laid out. */
interface StagedTable extends ReadingPlan {
  table: DatasetTable;
}

async function readAll(
  session: DuckSession,
  lanes: number,
  staging: string,
  schema: SourceSchema,
  plans: readonly ReadingPlan[],
  progress: Progress,
): Promise<readonly StagedTable[]> {
  // The largest file first, so that no long one is left over at the end.
  const waiting = [...plans].sort((a, b) => b.file.bytes - a.file.bytes);
  const tracker = new ImportProgress(
    progress,
    plans.map(({ file }) => file),
  );
  const staged: StagedTable[] = [];
  let hasFailed = false;
  const work = async (): Promise<void> => {
    await using lane = await session.fork();
    // Without this the engine counts nothing; printing stays off.
    await lane.run('set enable_progress_bar = true; set enable_progress_bar_print = false');
    for (let plan = waiting.shift(); plan !== undefined && !hasFailed; plan = waiting.shift()) {
      await tracker.begin(plan.file, lane);
      const table = await readOne(lane, staging, schema, plan);
      tracker.end(plan.file, table.rows);
      staged.push({ ...plan, table });
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: lanes }, async () => {
      try {
        await work();
      } catch (thrown) {
        hasFailed = true;
        throw thrown;
      }
    }),
  );
  tracker.stop();
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return staged;
}

async function readOne(
  session: DuckSession,
  staging: string,
  schema: SourceSchema,
  plan: ReadingPlan,
): Promise<DatasetTable> {
  const { file, isInterim } = plan;
  const path = parquetPath({ folder: staging }, file.table.schema, file.table.name);
  const kept = await stagedTable(path, recordPathOf(path), madeFrom(schema, plan));
  if (kept !== undefined) return kept;
  const written = await importTable(session, file, path, {
    nullStrings: schema.nullStrings,
    isVouchedFor: file.isVouchedFor,
    storage: isInterim ? interimStoredAs : storedAs,
  });
  return record(path, schema, plan, written, []);
}

async function layOutOne(
  session: DuckSession,
  staging: string,
  schema: SourceSchema,
  { table, ...plan }: StagedTable,
): Promise<DatasetTable> {
  const { file } = plan;
  const path = parquetPath({ folder: staging }, table.schema, table.table);
  const written = await layOut(session, file.table, path, table);
  return record(path, schema, plan, written, file.table.sortedBy ?? []);
}

const stagedTableSchema = z.object({
  madeFrom: z.string(),
  table: datasetManifestSchema.shape.tables.element,
});

/** Where the record of a staged table lies until the dataset is published. */
export function recordPathOf(path: string): string {
  return path.replace(/\.parquet$/, '.import.json');
}

/** Everything that the stored rows depend on. */
function madeFrom(schema: SourceSchema, { file, isInterim }: ReadingPlan): string {
  const storage = isInterim ? [interimStoredAs, storedAs] : [storedAs];
  return hashOf([3, file.identity, file.form, file.table, schema.nullStrings, storage, engineVersion]);
}

async function record(
  path: string,
  schema: SourceSchema,
  plan: ReadingPlan,
  written: ParquetFile,
  sortedBy: readonly string[],
): Promise<DatasetTable> {
  const { file } = plan;
  const table: DatasetTable = {
    schema: file.table.schema,
    table: file.table.name,
    rows: written.rows,
    columns: [...written.columns],
    sortedBy: [...sortedBy],
    fileBytes: (await stat(path)).size,
    fileSha256: written.fileSha256,
    contentHash: written.contentHash,
    source: { file: file.file, bytes: file.bytes, sha256: file.sha256 },
  };
  await writeJsonAtomic(recordPathOf(path), { madeFrom: madeFrom(schema, plan), table });
  return table;
}

async function stagedTable(path: string, recordPath: string, key: string): Promise<DatasetTable | undefined> {
  const text = await readTextIfPresent(recordPath);
  if (text === undefined || !existsSync(path)) return undefined;
  const found = stagedTableSchema.safeParse(JSON.parse(text));
  // A crash between the rewritten file and its record leaves another size: the table is read again.
  const isCurrent =
    found.success && found.data.madeFrom === key && (await stat(path)).size === found.data.table.fileBytes;
  return isCurrent ? found.data.table : undefined;
}
