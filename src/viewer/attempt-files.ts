import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** A regular file of an attempt's folder. */
export interface AttemptFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

/** More files than this are not listed: an attempt writes a dozen. */
const mostFiles = 500;

/** Regular files below a folder, sorted; links and whatever else an agent could plant are left out. */
export async function listFiles(folder: string): Promise<readonly AttemptFile[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files: AttemptFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile() || files.length >= mostFiles) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile()) {
      files.push({
        path: path
          .slice(folder.length + 1)
          .split(sep)
          .join('/'),
        bytes: found.size,
      });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Opens a file that must be listed in the folder; never through a link. Undefined when it is not there. */
async function openListed(folder: string, path: string): Promise<FileHandle | undefined> {
  if (!(await listFiles(folder)).some((file) => file.path === path)) return undefined;
  return open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
}

/** A part of a file. */
export interface FileWindow {
  readonly path: string;
  readonly bytes: number;
  readonly offset: number;
  /** First byte behind this part; null at the end of the file. */
  readonly next: number | null;
  readonly text: string;
}

/** Bytes of one part: a page that a browser shows at once, whatever lines are in it. */
export const windowBytes = 64 * 1024;

/**
 * Reads a part of a file from `offset`; only that part is read, so a file may be of any size. The part ends at the
 * last line end in it where there is one, else at the last whole character.
 */
export async function readWindow(
  folder: string,
  path: string,
  offset: number,
): Promise<FileWindow | undefined> {
  await using handle = await openListed(folder, path);
  if (handle === undefined) return undefined;
  const { size } = await handle.stat();
  const from = Math.min(Math.max(0, offset), size);
  const buffer = Buffer.alloc(Math.min(windowBytes, size - from));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  const whole = buffer.subarray(0, bytesRead);
  const isLast = from + bytesRead >= size;
  const part = isLast ? whole : whole.subarray(0, endOfPart(whole));
  return {
    path,
    bytes: size,
    offset: from,
    next: isLast ? null : from + part.length,
    text: part.subarray(from === 0 ? 0 : startOfPart(part)).toString('utf8'),
  };
}

/** Behind what is left of a character that an offset tore. */
function startOfPart(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}

function endOfPart(bytes: Buffer): number {
  const lineEnd = bytes.lastIndexOf(0x0a);
  if (lineEnd >= 0) return lineEnd + 1;
  // Back to before the last lead byte, so that no character is torn.
  let end = bytes.length;
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) !== 0x80) {
      const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      if (length > back) end = bytes.length - back;
      break;
    }
  }
  return end === 0 ? bytes.length : end;
}

/** The whole text of a small file; undefined when it is missing, larger than `mostBytes`, or no regular file. */
export async function readSmallFile(
  folder: string,
  path: string,
  mostBytes = 4 * 1024 * 1024,
): Promise<string | undefined> {
  await using handle = await openListed(folder, path);
  if (handle === undefined || (await handle.stat()).size > mostBytes) return undefined;
  return handle.readFile('utf8');
}

/** JSON of a small file; undefined when it is missing, too large or no JSON. */
export async function readSmallJson(folder: string, path: string, mostBytes?: number): Promise<unknown> {
  const text = await readSmallFile(folder, path, mostBytes);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
