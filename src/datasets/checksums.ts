import { readTextIfPresent } from '../support/files.js';

/** SHA-256 per file path (relative, forward slashes, lower-cased because releases differ in case). */
export type ChecksumList = ReadonlyMap<string, string>;

/** Key under which a file stands in a checksum list. */
export function checksumKey(file: string): string {
  return file.replaceAll('\\', '/').replace(/^\.\//, '').toLowerCase();
}

/** Reads a `SHA256SUMS.txt`: hash, white space, path per line. Undefined when there is no such file. */
export async function readChecksumFile(path: string): Promise<ChecksumList | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  const list = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const found = /^([0-9a-fA-F]{64})\s+\*?(.+?)\s*$/.exec(line);
    if (found !== null) list.set(checksumKey(found[2]!), found[1]!.toLowerCase());
  }
  return list;
}

/** The same form from a table embedded in a source schema. */
export function checksumListOf(files: Readonly<Record<string, string>>): ChecksumList {
  return new Map(Object.entries(files).map(([file, sha256]) => [checksumKey(file), sha256]));
}
