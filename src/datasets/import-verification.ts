import { type ChecksumList, checksumKey } from './checksums.js';
import type { SourceFile } from './release-folder.js';
import type { SourceSchema } from './source-schema.js';

/** What a release publishes about its files. */
export interface PublishedChecksums {
  /** Embedded official list of the release, if there is one. */
  readonly official: ChecksumList | undefined;
  /** `SHA256SUMS.txt` of the folder, if there is one. */
  readonly ownList: ChecksumList | undefined;
  readonly release: string | undefined;
}

/**
 * Why a file is not what the release publishes; undefined when it agrees, or when nothing is published about it.
 * `LICENSE.txt` and other files that hold no table are never asked about.
 */
export function checksumComplaint(
  source: SourceFile,
  sha256: string,
  { official, ownList, release }: PublishedChecksums,
): string | undefined {
  const key = checksumKey(source.file);
  const own = ownList?.get(key);
  if (own !== undefined && own !== sha256) {
    return `${source.file}: SHA-256 is ${sha256.slice(0, 12)}…, SHA256SUMS.txt beside it says ${own.slice(0, 12)}…`;
  }
  if (official === undefined) return undefined;
  const published = official.get(key);
  if (published === sha256) return undefined;
  if (published === undefined)
    return `${source.file}: release ${release} publishes no such file, only its .csv.gz form`;
  return `${source.file}: SHA-256 is ${sha256.slice(0, 12)}…, release ${release} has ${published.slice(0, 12)}…`;
}

/** True when a published checksum says that these are the published bytes. */
export function isVouchedFor(
  source: SourceFile,
  sha256: string,
  { official, ownList }: PublishedChecksums,
): boolean {
  const key = checksumKey(source.file);
  return official?.get(key) === sha256 || ownList?.get(key) === sha256;
}

/** True when something is published to compare the file with, be it that the release has no such file. */
export function isListed(source: SourceFile, { official, ownList }: PublishedChecksums): boolean {
  return official !== undefined || ownList?.has(checksumKey(source.file)) === true;
}

interface CountedTable {
  readonly schema: string;
  readonly table: string;
  readonly rows: number;
  readonly file: string;
}

/** The release whose published row counts agree with the most tables; the target version on a tie. */
export function likelyRelease(source: SourceSchema, tables: readonly CountedTable[]): string {
  const candidates = Object.keys(source.releases).filter(
    (release) => source.releases[release]!.access === 'credentialed',
  );
  const agreeing = (release: string): number =>
    tables.filter(({ schema, table, rows }) => publishedRows(source, release, schema, table) === rows).length;
  return candidates.reduce(
    (best, release) => (agreeing(release) > agreeing(best) ? release : best),
    source.targetVersion,
  );
}

function publishedRows(
  source: SourceSchema,
  release: string,
  schema: string,
  table: string,
): number | null | undefined {
  return source.tables.find((known) => known.schema === schema && known.name === table)?.rowCounts[release];
}

/** One sentence per table whose row count is not the published one. */
export function rowCountComplaints(
  source: SourceSchema,
  release: string,
  tables: readonly CountedTable[],
): readonly string[] {
  return tables.flatMap(({ schema, table, rows, file }) => {
    const published = publishedRows(source, release, schema, table);
    if (published === undefined || published === null || published === rows) return [];
    return [
      `${file}: ${rows.toLocaleString('en')} rows, release ${release} has ${published.toLocaleString('en')}`,
    ];
  });
}
