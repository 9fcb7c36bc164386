import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { decompress } from 'fzstd';
import { pack } from 'tar-stream';
import { sha256 } from '../support/hashing.js';
import { writeArchive } from './archive-writer.js';
import type { PackageManifest } from './package-manifest.js';
import { recordText } from './record-sanitiser.js';

/** A folder of a test, removed when it is disposed of. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

export async function testFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'm4bench-package-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A manifest of files, of a campaign that need not exist. */
export function testManifest(
  files: Readonly<Record<string, string>>,
  more: Partial<PackageManifest> = {},
): PackageManifest {
  return {
    schemaVersion: 1,
    kind: 'm4bench-evidence',
    mode: 'public',
    campaign: 'test',
    benchmarkVersion: '0',
    planHash: null,
    rules: { version: '1.1', sha256: sha256('rules') },
    runs: { planned: null, packaged: 0, missing: [], unplanned: [] },
    entries: Object.entries(files).map(([path, content]) => ({
      path,
      bytes: Buffer.byteLength(content),
      sha256: sha256(content),
    })),
    ...more,
  };
}

/** Packs files with a manifest of them, or one that says something else. The bytes of the tar. */
export async function packFiles(
  archive: string,
  files: Readonly<Record<string, string>>,
  manifest: PackageManifest = testManifest(files),
): Promise<Buffer> {
  await using folder = await testFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
  await writeArchive(archive, folder.path, recordText(manifest), manifest.entries);
  return Buffer.from(decompress(await readFile(archive)));
}

/** An entry of a tar made by hand, with whatever header. */
export interface HostileEntry {
  readonly name: string;
  readonly type?: 'file' | 'symlink' | 'link' | 'directory' | 'fifo' | 'character-device';
  readonly linkname?: string;
  readonly content?: string;
}

/** A tar of any entries, as an attacker writes it. */
export async function hostileTar(entries: readonly HostileEntry[]): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  archive.on('data', (chunk: unknown) => chunks.push(chunk as Buffer));
  const ended = new Promise((done) => archive.on('end', () => done(undefined)));
  for (const { name, type = 'file', linkname, content = '' } of entries) {
    const header = {
      name,
      type,
      mode: 0o644,
      mtime: new Date(0),
      ...(linkname === undefined ? {} : { linkname }),
    };
    if (type === 'file') archive.entry(header, content);
    else archive.entry(header);
  }
  archive.finalize();
  await ended;
  return Buffer.concat(chunks);
}
