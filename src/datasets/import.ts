import { existsSync } from 'node:fs';
import { mkdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { engineVersion } from '../duck/engine.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent, temporaryNameFor, writeJsonAtomic } from '../support/files.js';
import { hashOf, sha256File } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { checksumListOf, readChecksumFile } from './checksums.js';
import { readCsvHeader } from './csv-header.js';
import {
  type Dataset,
  type DatasetManifest,
  type DatasetTable,
  datasetContentHash,
  datasetFolder,
  datasetManifestSchema,
  knownDatasets,
  openDataset,
  parquetPath,
} from './dataset.js';
import { ImportProgress } from './import-progress.js';
import { importRowGroupSize, importTable } from './import-table.js';
import {
  checksumComplaint,
  isVouchedFor,
  likelyRelease,
  type PublishedChecksums,
  rowCountComplaints,
} from './import-verification.js';
import { findReleaseFolder, type ReleaseFolder, type SourceFile } from './release-folder.js';
import { type DatabaseKind, loadSourceSchema, type SourceSchema } from './source-schema.js';

export interface ImportOptions {
  /** `mimic-iv`, `mimic-iv-demo`, `eicu`, `eicu-demo`, or a name of the user's own together with `kind`. */
  readonly name: string;
  /** Needed only where the name does not tell. */
  readonly kind?: DatabaseKind;
  /** A folder at or above the release. */
  readonly from: string;
  /** Stop when a checksum or row count is not the official one; default true. Else mark the dataset unverified. */
  readonly verify?: boolean;
  /** Put the new dataset in the place of an existing one; default false. */
  readonly replace?: boolean;
  readonly progress?: Progress;
  /** Memory for DuckDB over all parallel imports, default 2 GiB. */
  readonly memoryBytes?: number;
  /** Default: as many as the machine has. */
  readonly threads?: number;
}

/** A source file with its hash. */
interface HashedFile extends SourceFile {
  readonly sha256: string;
  readonly vouchedFor: boolean;
}

/**
 * Imports a release into `datasets/<name>/`: one Parquet file per table and `dataset.json`, whole or not at all.
 *
 * Finished tables wait in `datasets/<name>.importing.tmp/`, so an import that was interrupted or that failed on
 * one file goes on from there. A rename at the end makes the dataset appear.
 */
export async function importDataset(home: Home, options: ImportOptions): Promise<Dataset> {
  const progress = options.progress ?? silentProgress;
  const target = importTarget(options);
  const folder = datasetFolder(home, options.name);
  refuseExisting(folder, options);
  const schema = await loadSourceSchema(target.kind);
  const release = await findReleaseFolder(options.from, schema);
  await checkDiskSpace(home, release);
  for (const file of release.files) if (file.form !== '.parquet') await readCsvHeader(file);

  const published: PublishedChecksums = {
    official: target.release === undefined ? undefined : checksumsOf(schema, target.release),
    ownList: await readChecksumFile(join(release.path, 'SHA256SUMS.txt')),
    release: target.release,
  };
  const { files, complaints } = await hashFiles(release, published, progress);
  stopUnlessAccepted(complaints, options);

  const staging = `${folder}.importing.tmp`;
  await mkdir(staging, { recursive: true });
  const tables = await importTables(staging, schema, files, options, progress);
  const counted = tables.map((table) => ({ ...table, file: table.source!.file }));
  const releaseName = target.release ?? (target.isKnown ? likelyRelease(schema, counted) : 'unknown');
  const reasons = [...complaints, ...rowCountComplaints(schema, releaseName, counted)];
  if (!target.isKnown) reasons.push(`${options.name} is not the name of a published release`);
  stopUnlessAccepted(reasons, options);

  const hasChecksums = published.official !== undefined || published.ownList !== undefined;
  const manifest: DatasetManifest = {
    schemaVersion: 1,
    name: options.name,
    kind: target.kind,
    class: target.class,
    release: releaseName,
    verified: reasons.length === 0,
    verifiedBy: [...(hasChecksums ? ['checksums'] : []), 'row counts'],
    unverifiedReasons: reasons,
    notice:
      reasons.length === 0
        ? `${schema.title}, release ${releaseName}.`
        : `UNVERIFIED: not the official ${schema.title} release ${releaseName}.`,
    tables: [...tables],
    contentHash: datasetContentHash(tables),
    engineVersion,
    options: { verify: options.verify ?? true, rowGroupSize: importRowGroupSize },
  };
  await publish(staging, folder, manifest, options);
  for (const reason of reasons.slice(0, 5)) progress.warn(`unverified: ${reason}`);
  progress.done(`${options.name}: ${tables.length} tables, ${totalRows(tables).toLocaleString('en')} rows`);
  return openDataset(home, options.name);
}

function totalRows(tables: readonly DatasetTable[]): number {
  return tables.reduce((sum, table) => sum + table.rows, 0);
}

function checksumsOf(schema: SourceSchema, release: string) {
  const files = schema.checksums[release];
  return files === undefined ? undefined : checksumListOf(files);
}

function importTarget(options: ImportOptions) {
  const known = knownDatasets[options.name];
  if (known?.class === 'synthetic') {
    throw new M4BenchError(
      'DATASET_NAME_INVALID',
      `${options.name} is the name of generated data.`,
      `Use "m4bench data synthesize ${known.kind}", or import under another name.`,
    );
  }
  if (known !== undefined) return { ...known, isKnown: true };
  if (options.kind === undefined) {
    throw new M4BenchError(
      'DATASET_KIND_UNKNOWN',
      `${options.name} does not tell which database it is.`,
      `Use one of ${Object.keys(knownDatasets).join(', ')}, or say the kind: mimic-iv or eicu.`,
    );
  }
  // Someone's own copy is treated like credentialed data: nothing of it may leave the machine by default.
  return { kind: options.kind, class: 'credentialed' as const, release: undefined, isKnown: false };
}

function refuseExisting(folder: string, options: ImportOptions): void {
  if (options.replace === true || !existsSync(folder)) return;
  throw new M4BenchError(
    'DATASET_EXISTS',
    `Dataset ${options.name} exists already in ${folder}.`,
    'Use it, import under another name, or replace it with --replace.',
  );
}

function stopUnlessAccepted(reasons: readonly string[], options: ImportOptions): void {
  if (reasons.length === 0 || options.verify === false) return;
  const more = reasons.length > 5 ? `; and ${reasons.length - 5} more` : '';
  throw new M4BenchError(
    'IMPORT_MISMATCH',
    `These files are not the official release: ${reasons.slice(0, 5).join('; ')}${more}.`,
    'Download them again, or import with --no-verify, which marks the dataset and every result as unverified.',
  );
}

/** Disk need in bytes per byte of source, measured on the open demos, rounded up. */
const storedPerByte = { '.csv.gz': 1.2, '.csv': 0.2, '.parquet': 1.2 } as const;
const spilledPerByte = { '.csv.gz': 10, '.csv': 1.2, '.parquet': 10 } as const;

async function checkDiskSpace(home: Home, release: ReleaseFolder): Promise<void> {
  await mkdir(home.datasets, { recursive: true });
  const disk = await statfs(home.datasets);
  const freeBytes = disk.bavail * disk.bsize;
  const stored = release.files.reduce((sum, file) => sum + file.bytes * storedPerByte[file.form], 0);
  const spilled = Math.max(
    0,
    ...release.files
      .filter((file) => file.table.sortedBy !== undefined)
      .map((file) => file.bytes * spilledPerByte[file.form]),
  );
  const needed = stored + spilled;
  if (needed <= freeBytes) return;
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new M4BenchError(
    'DISK_TOO_SMALL',
    `The import needs about ${gigabytes(needed)} (${gigabytes(spilled)} of it only while sorting), ${home.datasets} has ${gigabytes(freeBytes)} free.`,
    'Free space, or choose another disk with --home.',
    { party: 'environment' },
  );
}

async function hashFiles(
  release: ReleaseFolder,
  published: PublishedChecksums,
  progress: Progress,
): Promise<{ readonly files: readonly HashedFile[]; readonly complaints: readonly string[] }> {
  const files: HashedFile[] = [];
  const complaints: string[] = release.unknownFiles.map((file) => `${file}: belongs to no table`);
  for (const source of release.files) {
    progress.update(`checksums ${files.length + 1}/${release.files.length}: ${source.file}`);
    const sha256 = await sha256File(source.path);
    const complaint = checksumComplaint(source, sha256, published);
    if (complaint !== undefined) complaints.push(complaint);
    files.push({ ...source, sha256, vouchedFor: isVouchedFor(source, sha256, published) });
  }
  return { files, complaints };
}

/** A finished table in the staging folder. */
const stagedTableSchema = z.object({
  madeFrom: z.string(),
  table: datasetManifestSchema.shape.tables.element,
});

/** Everything that the stored bytes depend on. */
function madeFrom(schema: SourceSchema, file: HashedFile): string {
  return hashOf([
    1,
    file.sha256,
    file.form,
    file.table,
    schema.nullStrings,
    importRowGroupSize,
    engineVersion,
  ]);
}

async function stagedTable(path: string, recordPath: string, key: string): Promise<DatasetTable | undefined> {
  const text = await readTextIfPresent(recordPath);
  if (text === undefined || !existsSync(path)) return undefined;
  const record = stagedTableSchema.safeParse(JSON.parse(text));
  const isCurrent =
    record.success && record.data.madeFrom === key && (await stat(path)).size === record.data.table.fileBytes;
  return isCurrent ? record.data.table : undefined;
}

async function importTables(
  staging: string,
  schema: SourceSchema,
  files: readonly HashedFile[],
  options: ImportOptions,
  progress: Progress,
): Promise<readonly DatasetTable[]> {
  // The largest file first, so that no long one is left over at the end.
  const waiting = [...files].sort((a, b) => b.bytes - a.bytes);
  const threads = options.threads ?? availableParallelism();
  const workers = Math.max(1, Math.min(4, Math.floor(threads / 2)));
  const memoryBytes = Math.floor((options.memoryBytes ?? 2 * 1024 ** 3) / workers);
  const tables: DatasetTable[] = [];
  const tracker = new ImportProgress(progress, files);
  let hasFailed = false;
  const work = async (index: number): Promise<void> => {
    await using session = await DuckSession.open({
      memoryBytes,
      threads: Math.max(1, Math.floor(threads / workers)),
    });
    await session.run(`set temp_directory = ${literal(join(staging, `spill-${index}.tmp`))}`);
    for (let file = waiting.shift(); file !== undefined && !hasFailed; file = waiting.shift()) {
      tracker.begin(file, session);
      tables.push(await importOne(session, staging, schema, file));
      tracker.end(file, tables.at(-1)!.rows);
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: workers }, async (_, index) => {
      try {
        await work(index);
      } catch (thrown) {
        hasFailed = true;
        throw thrown;
      }
    }),
  );
  tracker.stop();
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return tables.sort((a, b) => (`${a.schema}.${a.table}` < `${b.schema}.${b.table}` ? -1 : 1));
}

async function importOne(
  session: DuckSession,
  staging: string,
  schema: SourceSchema,
  file: HashedFile,
): Promise<DatasetTable> {
  const path = parquetPath({ folder: staging }, file.table.schema, file.table.name);
  const recordPath = path.replace(/\.parquet$/, '.import.json');
  const key = madeFrom(schema, file);
  const kept = await stagedTable(path, recordPath, key);
  if (kept !== undefined) return kept;
  const written = await importTable(session, file, path, {
    nullStrings: schema.nullStrings,
    isVouchedFor: file.vouchedFor,
  });
  const table: DatasetTable = {
    schema: file.table.schema,
    table: file.table.name,
    rows: written.rows,
    columns: [...written.columns],
    sortedBy: file.table.sortedBy ?? [],
    fileBytes: (await stat(path)).size,
    fileSha256: written.fileSha256,
    contentHash: written.contentHash,
    source: { file: file.file, bytes: file.bytes, sha256: file.sha256 },
  };
  await writeJsonAtomic(recordPath, { madeFrom: key, table });
  return table;
}

/** Makes the staged tables the dataset: manifest last, then one rename. */
async function publish(
  staging: string,
  folder: string,
  manifest: DatasetManifest,
  options: ImportOptions,
): Promise<void> {
  for (const { schema, table } of manifest.tables) {
    await rm(parquetPath({ folder: staging }, schema, table).replace(/\.parquet$/, '.import.json'), {
      force: true,
    });
  }
  await writeJsonAtomic(join(staging, 'dataset.json'), manifest);
  await placeDataset(staging, folder, options.replace === true);
}

/** Renames a finished folder into place; the dataset that it replaces is removed after that. */
export async function placeDataset(staging: string, folder: string, replace: boolean): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const old = temporaryNameFor(folder);
  const hasOld = replace && existsSync(folder);
  if (hasOld) await rename(folder, old);
  await rename(staging, folder);
  if (hasOld) await rm(old, { recursive: true, force: true });
}
