import { readTextIfPresent } from '../support/files.js';

/** SHA-256 per file path (relative, forward slashes, lower-cased because releases differ in case). */
export type ChecksumList = ReadonlyMap<string, string>;

/** Key under which a file stands in a checksum list. */
export function checksumKey(file: string): string {
  return file.replaceAll('\\', '/').replace(/^\.\//, '').toLowerCase();
}

/** Lines of a `SHA256SUMS.txt`: hash, white space, path. Other lines are left out. */
export function parseChecksums(text: string): readonly { readonly file: string; readonly sha256: string }[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const found = /^([0-9a-fA-F]{64})\s+\*?(.+?)\s*$/.exec(line);
    return found === null ? [] : [{ file: found[2]!, sha256: found[1]!.toLowerCase() }];
  });
}

/** Reads a `SHA256SUMS.txt`. Undefined when there is no such file. */
export async function readChecksumFile(path: string): Promise<ChecksumList | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  return new Map(parseChecksums(text).map(({ file, sha256 }) => [checksumKey(file), sha256]));
}

/** The same form from a table embedded in a source schema. */
export function checksumListOf(files: Readonly<Record<string, string>>): ChecksumList {
  return new Map(Object.entries(files).map(([file, sha256]) => [checksumKey(file), sha256]));
}
