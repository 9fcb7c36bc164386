import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryNameFor } from '../support/files.js';
import { sha256 } from '../support/hashing.js';
import { type PackageEntry, packageRootName } from './package-manifest.js';
import { tarEnd, tarHeader, tarPadding } from './tar-layout.js';
import { zstdCompressed } from './zstd.js';

export interface WrittenArchive {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly tarBytes: number;
  readonly tarSha256: string;
}

/** The two entries before all others: the hash of the manifest, and the manifest. */
export function manifestEntries(manifest: string): readonly (PackageEntry & { readonly content: string })[] {
  const digest = sha256(manifest);
  const hashLine = `${digest}\n`;
  return [
    { path: 'manifest.sha256', bytes: hashLine.length, sha256: sha256(hashLine), content: hashLine },
    { path: 'manifest.json', bytes: Buffer.byteLength(manifest), sha256: digest, content: manifest },
  ];
}

/**
 * Writes a package: a tar of fixed owners, modes and times, in the order of the manifest, as Zstandard frames. Streams;
 * a file that changed since it was listed stops it. The archive appears under its name when it is whole.
 */
export async function writeArchive(
  path: string,
  folder: string,
  manifest: string,
  entries: readonly PackageEntry[],
): Promise<WrittenArchive> {
  const temporary = temporaryNameFor(path);
  const tar = { hash: createHash('sha256'), bytes: 0 };
  const archive = { hash: createHash('sha256'), bytes: 0 };
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of tarBytes(folder, manifest, entries)) {
      tar.hash.update(chunk);
      tar.bytes += chunk.length;
      yield chunk;
    }
  };
  const file = await open(temporary, 'wx', 0o644);
  try {
    for await (const chunk of zstdCompressed(counted())) {
      archive.hash.update(chunk);
      archive.bytes += chunk.length;
      await file.writeFile(chunk);
    }
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } finally {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
  }
  return {
    path,
    bytes: archive.bytes,
    sha256: archive.hash.digest('hex'),
    tarBytes: tar.bytes,
    tarSha256: tar.hash.digest('hex'),
  };
}

async function* tarBytes(
  folder: string,
  manifest: string,
  entries: readonly PackageEntry[],
): AsyncGenerator<Buffer> {
  for (const { path, bytes, content } of manifestEntries(manifest)) {
    yield await tarHeader(`${packageRootName}/${path}`, bytes);
    yield Buffer.from(content);
    yield tarPadding(bytes);
  }
  for (const { path, bytes } of entries) {
    yield await tarHeader(`${packageRootName}/${path}`, bytes);
    let read = 0;
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      read += chunk.length;
      yield chunk;
    }
    if (read !== bytes) throw new Error(`${path} changed while it was packed.`);
    yield tarPadding(bytes);
  }
  yield tarEnd;
}
