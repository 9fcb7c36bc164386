import { createHash, type Hash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { ArchiveFault, ByteFeed, tarBytesOf } from './archive-bytes.js';
import { manifestEntries } from './archive-writer.js';
import {
  manifestSchema,
  objectionToPaths,
  type PackageEntry,
  type PackageManifest,
  packageRootName,
} from './package-manifest.js';
import { describeHeader, sizeIn, tarEnd, tarHeader, tarPadding } from './tar-layout.js';

/** Something that is wrong with a package; `file` is a file of it, or the name of the archive. */
export interface PackageProblem {
  readonly code: string;
  readonly file: string;
  readonly detail: string;
}

export interface UnpackedPackage {
  /** Undefined when the manifest itself cannot be trusted; then nothing else was read. */
  readonly manifest: PackageManifest | undefined;
  readonly problems: readonly PackageProblem[];
  readonly tarSha256: string | undefined;
}

export interface UnpackLimits {
  /** Of the manifest. */
  readonly manifestBytes: number;
  /** Of all files together. */
  readonly totalBytes: number;
}

export const defaultLimits: UnpackLimits = { manifestBytes: 256 * 1024 ** 2, totalBytes: 64 * 1024 ** 3 };

/**
 * Reads a package and writes its files into a folder. A package has one layout, which follows from its manifest, byte
 * by byte: links, devices, other names, other owners, bytes between files or after the end are all something else than
 * what must stand there. Names come from the manifest after they were checked, never from the tar. Problems name the
 * file; reading goes on as far as it can.
 */
export async function unpackPackage(
  archivePath: string,
  folder: string,
  archiveName: string,
  limits: UnpackLimits = defaultLimits,
): Promise<UnpackedPackage> {
  const reader = new PackageReader(archivePath, folder, archiveName, limits);
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
}

class PackageReader {
  private readonly problems: PackageProblem[] = [];
  private readonly tar: Hash = createHash('sha256');
  private readonly feed: ByteFeed;
  /** What is being read, for faults of the archive. */
  private file: string;

  constructor(
    archivePath: string,
    private readonly folder: string,
    private readonly archiveName: string,
    private readonly limits: UnpackLimits,
  ) {
    this.file = archiveName;
    const { tar } = this;
    this.feed = new ByteFeed(
      (async function* () {
        for await (const chunk of tarBytesOf(archivePath)) {
          tar.update(chunk);
          yield chunk;
        }
      })(),
    );
  }

  async read(): Promise<UnpackedPackage> {
    let manifest: PackageManifest | undefined;
    try {
      manifest = await this.readManifest();
      if (manifest !== undefined) {
        for (const entry of manifest.entries) await this.readEntry(entry);
        await this.readEnd();
      }
    } catch (thrown) {
      if (!(thrown instanceof ArchiveFault)) throw thrown;
      this.add('ARCHIVE_BROKEN', this.file, thrown.message);
    }
    const isWhole = this.problems.length === 0;
    return {
      manifest,
      problems: this.problems,
      tarSha256: isWhole ? this.tar.digest('hex') : undefined,
    };
  }

  close(): Promise<void> {
    return this.feed.close();
  }

  private add(code: string, file: string, detail: string): void {
    this.problems.push({ code, file, detail });
  }

  private async exactly(count: number): Promise<Buffer> {
    const bytes = await this.feed.exactly(count);
    if (bytes.length < count) throw new ArchiveFault('it ends too early');
    return bytes;
  }

  private async readManifest(): Promise<PackageManifest | undefined> {
    this.file = 'manifest.sha256';
    const hashBytes = 65;
    const first = await this.exactly(512);
    const expected = await tarHeader(`${packageRootName}/manifest.sha256`, hashBytes);
    if (!first.equals(expected)) {
      const found = `it begins with ${describeHeader(first)} where the hash of its manifest belongs`;
      this.add('NOT_A_PACKAGE', this.file, found);
      return undefined;
    }
    const stated = (await this.exactly(hashBytes)).toString('latin1');
    await this.readPadding(hashBytes);
    this.file = 'manifest.json';
    const header = await this.exactly(512);
    const bytes = sizeIn(header) ?? 0;
    if (!header.equals(await tarHeader(`${packageRootName}/manifest.json`, bytes))) {
      this.add('HEADER_DIFFERS', this.file, `there is ${describeHeader(header)} where the manifest belongs`);
      return undefined;
    }
    if (bytes > this.limits.manifestBytes) {
      this.add('TOO_LARGE', this.file, `the manifest states ${bytes} bytes`);
      return undefined;
    }
    const text = (await this.exactly(bytes)).toString('utf8');
    await this.readPadding(bytes);
    if (stated !== `${sha256(text)}\n`) {
      this.add('HASH_DIFFERS', 'manifest.json', 'it is not what manifest.sha256 states');
      this.add('HASH_DIFFERS', 'manifest.sha256', 'it is not the hash of manifest.json');
      return undefined;
    }
    const manifest = this.parseManifest(text);
    if (manifest !== undefined)
      for (const { path, content } of manifestEntries(text)) await this.keep(path, content);
    return manifest;
  }

  private parseManifest(text: string): PackageManifest | undefined {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (thrown) {
      this.add('MANIFEST_INVALID', 'manifest.json', messageOf(thrown));
      return undefined;
    }
    const parsed = manifestSchema.safeParse(json);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      this.add('MANIFEST_INVALID', 'manifest.json', `${issue?.path.join('.')}: ${issue?.message}`);
      return undefined;
    }
    const objection = objectionToPaths(parsed.data.entries);
    if (objection !== undefined) {
      this.add('NAME_REFUSED', JSON.stringify(objection.path), `the name ${objection.why}`);
      return undefined;
    }
    const total = parsed.data.entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (total > this.limits.totalBytes) {
      this.add('TOO_LARGE', 'manifest.json', `its files state ${total} bytes together`);
      return undefined;
    }
    return parsed.data;
  }

  private async readEntry({ path, bytes, sha256: stated }: PackageEntry): Promise<void> {
    this.file = path;
    const expected = await tarHeader(`${packageRootName}/${path}`, bytes);
    const header = await this.exactly(expected.length);
    if (!header.equals(expected))
      this.add('HEADER_DIFFERS', path, `there is ${describeHeader(header)} where it belongs`);
    const target = join(this.folder, path);
    await mkdir(dirname(target), { recursive: true });
    const hash = createHash('sha256');
    await using file = await open(target, 'wx', 0o644);
    for (let left = bytes; left > 0; ) {
      const part = await this.feed.some(left);
      if (part.length === 0) throw new ArchiveFault('it ends too early');
      hash.update(part);
      await file.writeFile(part);
      left -= part.length;
    }
    if (hash.digest('hex') !== stated) this.add('HASH_DIFFERS', path, 'it was changed');
    await this.readPadding(bytes);
  }

  private async readPadding(bytes: number): Promise<void> {
    const padding = tarPadding(bytes);
    if (!(await this.exactly(padding.length)).equals(padding))
      this.add('PADDING_DIFFERS', this.file, 'something stands between it and the next file');
  }

  private async readEnd(): Promise<void> {
    this.file = this.archiveName;
    if (!(await this.exactly(tarEnd.length)).equals(tarEnd))
      this.add('FILE_UNLISTED', this.file, 'there are files that the manifest does not list');
    else if ((await this.feed.some(1)).length > 0)
      this.add('FILE_UNLISTED', this.file, 'something stands after its end');
  }

  private async keep(path: string, content: string): Promise<void> {
    await using file = await open(join(this.folder, path), 'wx', 0o644);
    await file.writeFile(content);
  }
}
