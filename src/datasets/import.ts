import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { engineVersion } from '../duck/engine.js';
import { M4BenchError } from '../support/errors.js';
import { temporaryNameFor, writeJsonAtomic } from '../support/files.js';
import { sha256File } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { checksumListOf, readChecksumFile } from './checksums.js';
import { readCsvHeader } from './csv-header.js';
import {
  type Dataset,
  type DatasetClass,
  type DatasetManifest,
  datasetContentHash,
  datasetFolder,
  datasetSchemaVersion,
  knownDatasets,
  openDataset,
  parquetPath,
} from './dataset.js';
import { duration } from './import-progress.js';
import { importRowGroupSize } from './import-table.js';
import {
  defaultLayout,
  type IdentifiedFile,
  type ImportedTables,
  importTables,
  type Layout,
  recordPathOf,
} from './import-tables.js';
import {
  checksumComplaint,
  isListed,
  isVouchedFor,
  likelyRelease,
  type PublishedChecksums,
  rowCountComplaints,
} from './import-verification.js';
import {
  type OwnDatabase,
  ownReleaseFolder,
  readOwnSchema,
  repeatedKeyComplaints,
  unstatedReasons,
} from './own-schema.js';
import { findReleaseFolder, type ReleaseFolder } from './release-folder.js';
import { type DatabaseKind, loadSourceSchema, type SourceSchema } from './source-schema.js';

export interface ImportOptions {
  /** `mimic-iv`, `mimic-iv-demo`, `eicu`, `eicu-demo`, or a name of the user's own together with `kind` or `schemaFile`. */
  readonly name: string;
  /** Needed only where the name does not tell. */
  readonly kind?: DatabaseKind;
  /** Describes a database that is not part of the benchmark; its files lie in `from`. */
  readonly schemaFile?: string;
  /** A folder at or above the release. */
  readonly from: string;
  /** Stop when a checksum or row count is not the official one; default true. Else mark the dataset unverified. */
  readonly verify?: boolean;
  /** Put the new dataset in the place of an existing one; default false. */
  readonly replace?: boolean;
  /** Default `defaultLayout`. */
  readonly layout?: Layout;
  readonly progress?: Progress;
  /** Memory for DuckDB over all parallel imports, default 2 GiB. */
  readonly memoryBytes?: number;
  /** Default: as many as the machine has. */
  readonly threads?: number;
}

/**
 * Imports a release into `datasets/<name>/`: one Parquet file per table and `dataset.json`, whole or not at all.
 *
 * Finished tables wait in `datasets/<name>.importing.tmp/`, so an import that was interrupted or that failed on
 * one file goes on from there. A rename at the end makes the dataset appear.
 */
export async function importDataset(home: Home, options: ImportOptions): Promise<Dataset> {
  const progress = options.progress ?? silentProgress;
  const target = await importTarget(options);
  const { own, schema } = target;
  const folder = datasetFolder(home, options.name);
  refuseExisting(folder, options);
  const release =
    own === undefined
      ? await findReleaseFolder(options.from, schema)
      : await ownReleaseFolder(options.from, own);
  await checkDiskSpace(home, release);
  for (const file of release.files) if (file.form !== '.parquet') await readCsvHeader(file);

  const published: PublishedChecksums = {
    official: target.release === undefined ? undefined : checksumsOf(schema, target.release),
    ownList: await readChecksumFile(join(release.path, 'SHA256SUMS.txt')),
    release: target.release,
  };
  const { files, complaints } = await identifyFiles(release, published, progress);
  stopUnlessAccepted(complaints, options);

  const staging = `${folder}.importing.tmp`;
  await mkdir(staging, { recursive: true });
  const layout = options.layout ?? defaultLayout;
  // Published bytes have the published types; what types an own file has, only its values tell.
  const read = own === undefined ? files : files.map((file) => ({ ...file, isVouchedFor: false }));
  const imported = await importTables(staging, schema, read, { ...options, layout, progress });
  const { tables } = imported;
  const counted = tables.map((table) => ({ ...table, file: table.source!.file }));
  const releaseName = target.release ?? (target.isKnown ? likelyRelease(schema, counted) : 'unknown');
  const reasons = [...complaints, ...rowCountComplaints(schema, releaseName, counted)];
  if (!target.isKnown) reasons.push(`${options.name} is not the name of a published release`);
  if (own !== undefined) reasons.push(...(await repeatedKeyComplaints(staging, own, tables)));
  stopUnlessAccepted(reasons, options);
  if (own !== undefined) {
    reasons.push(...unstatedReasons(own, files, (file) => isListed(file, published)));
    await copyFile(options.schemaFile!, join(staging, 'schema.toml'));
  }

  const hasChecksums = published.official !== undefined || published.ownList !== undefined;
  const manifest: DatasetManifest = {
    schemaVersion: datasetSchemaVersion,
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
        : `UNVERIFIED: ${own === undefined ? `not the official ${schema.title}` : schema.title}, release ${releaseName}.`,
    tables: [...tables],
    contentHash: datasetContentHash(tables),
    engineVersion,
    options: { verify: options.verify ?? true, layout, rowGroupSize: importRowGroupSize },
  };
  await keepLicence(release, staging);
  await publish(staging, folder, manifest, options);
  for (const reason of reasons.slice(0, 5)) progress.warn(`unverified: ${reason}`);
  progress.done(summaryOf(options.name, release, imported));
  return openDataset(home, options.name);
}

/** What was read at which rate, and what the layout added to that. */
function summaryOf(name: string, release: ReleaseFolder, imported: ImportedTables): string {
  const rows = imported.tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = release.files.reduce((sum, file) => sum + file.bytes, 0);
  const seconds = Math.max(imported.readSeconds, 0.001);
  const read = `${name}: ${imported.tables.length} tables, ${rows.toLocaleString('en')} rows, ${(bytes / 1e9).toFixed(2)} GB read in ${duration(seconds)} (${Math.round(rows / seconds).toLocaleString('en')} rows/s)`;
  if (imported.laidOut.length === 0) return read;
  return `${read}; ${imported.laidOut.join(', ')} sorted by item in ${duration(imported.layoutSeconds)}`;
}

function checksumsOf(schema: SourceSchema, release: string) {
  const files = schema.checksums[release];
  return files === undefined ? undefined : checksumListOf(files);
}

/** What is to be imported, as far as its name and description tell. */
interface ImportTarget {
  readonly kind: DatabaseKind;
  readonly class: DatasetClass;
  readonly release?: string | undefined;
  readonly schema: SourceSchema;
  readonly isKnown: boolean;
  /** Present for a database that the user describes. */
  readonly own?: OwnDatabase;
}

async function importTarget(options: ImportOptions): Promise<ImportTarget> {
  if (options.schemaFile !== undefined) return await ownTarget(options, options.schemaFile);
  const target = shippedTarget(options);
  return { ...target, schema: await loadSourceSchema(target.kind) };
}

async function ownTarget(options: ImportOptions, schemaFile: string): Promise<ImportTarget> {
  if (Object.hasOwn(knownDatasets, options.name)) {
    throw new M4BenchError(
      'DATASET_NAME_INVALID',
      `${options.name} is the name of a published release, which needs no schema file.`,
      'Leave --schema out, or import under a name of your own.',
    );
  }
  const own = await readOwnSchema(schemaFile);
  const { schema, release } = own;
  return { kind: schema.kind, class: own.class, release, schema, isKnown: true, own };
}

function shippedTarget(options: ImportOptions) {
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
      `Use one of ${Object.keys(knownDatasets).join(', ')}; say the kind of a copy of one of them (--kind mimic-iv or eicu), or describe another database (--schema FILE).`,
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
    `These files are not ${options.schemaFile === undefined ? 'the official release' : 'what the schema file says'}: ${reasons.slice(0, 5).join('; ')}${more}.`,
    `${options.schemaFile === undefined ? 'Download them again' : 'Correct one of the two'}, or import with --no-verify, which marks the dataset and every result as unverified.`,
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

/**
 * Hashes the files that a published list tells something about, before anything is imported. Where nothing is
 * published a hash would be compared with nothing and cost a whole read; the content hash of the rows is kept anyway.
 */
async function identifyFiles(
  release: ReleaseFolder,
  published: PublishedChecksums,
  progress: Progress,
): Promise<{ readonly files: readonly IdentifiedFile[]; readonly complaints: readonly string[] }> {
  const files: IdentifiedFile[] = [];
  const complaints: string[] = release.unknownFiles.map((file) => `${file}: belongs to no table`);
  for (const source of release.files) {
    if (!isListed(source, published)) {
      const { size, mtimeNs, ino } = await stat(source.path, { bigint: true });
      files.push({ ...source, sha256: null, identity: `${size} ${mtimeNs} ${ino}`, isVouchedFor: false });
      continue;
    }
    progress.update(`checksums ${files.length + 1}/${release.files.length}: ${source.file}`);
    const sha256 = await sha256File(source.path);
    const complaint = checksumComplaint(source, sha256, published);
    if (complaint !== undefined) complaints.push(complaint);
    files.push({
      ...source,
      sha256,
      identity: sha256,
      isVouchedFor: complaint === undefined && isVouchedFor(source, sha256, published),
    });
  }
  return { files, complaints };
}

/** The licence goes where the data goes. */
async function keepLicence(release: ReleaseFolder, staging: string): Promise<void> {
  for (const name of await readdir(release.path)) {
    if (/^licen[cs]e\.txt$/i.test(name))
      await copyFile(join(release.path, name), join(staging, 'LICENSE.txt'));
  }
}

/** Makes the staged tables the dataset: manifest last, then one rename. */
async function publish(
  staging: string,
  folder: string,
  manifest: DatasetManifest,
  options: ImportOptions,
): Promise<void> {
  for (const { schema, table } of manifest.tables) {
    await rm(recordPathOf(parquetPath({ folder: staging }, schema, table)), { force: true });
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
