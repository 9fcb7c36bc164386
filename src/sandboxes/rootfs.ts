import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { M4BenchError } from '../support/errors.js';
import { readJson, readTextIfPresent } from '../support/files.js';
import type { Home } from '../support/home.js';

/** `rootfs.json`: what a root file system is made of. */
export const rootfsManifestSchema = z.object({
  schemaVersion: z.literal(1),
  /** `sha256:` and a hash over names, kinds, modes and contents of everything in it; times do not count. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  builtAt: z.string(),
  /** For example `debian bookworm, from http://deb.debian.org/debian`. */
  base: z.string(),
  architecture: z.string(),
  entries: z.number(),
  bytes: z.number(),
  /** Packages and programs with their versions. */
  tools: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      /** Of agent CLIs: the checksum of the package, as their lock has it. */
      integrity: z.string().optional(),
    }),
  ),
});
export type RootfsManifest = z.infer<typeof rootfsManifestSchema>;

/** A root file system on disk. */
export interface Rootfs {
  /** Absolute folder that stands for `/`. */
  readonly root: string;
  readonly manifest: RootfsManifest;
}

/** Where agent CLIs stand in a root file system, each in a folder of its agent's name with a `node_modules`. */
export const AGENTS_IN_ROOTFS = 'usr/local/lib/m4bench/agents';

/** A root file system as agents look for their CLI in it. */
export function placeForAgents({ root }: Rootfs): { readonly root: string; readonly agentsFolder: string } {
  return { root, agentsFolder: join(root, AGENTS_IN_ROOTFS) };
}

/** Folders of root file systems under the home folder. */
export function rootfsFolders(home: Home): { readonly all: string; readonly current: string } {
  const all = join(home.root, 'rootfs');
  return { all, current: join(all, 'current') };
}

/** Name of the folder, and tag of the image, of a digest. */
export const shortDigest = (digest: string): string => digest.slice('sha256:'.length).slice(0, 16);

/** The root file system last built under this home, or undefined when there is none. */
export async function currentRootfs(home: Home): Promise<Rootfs | undefined> {
  const { all, current } = rootfsFolders(home);
  const name = (await readTextIfPresent(current))?.trim();
  if (name === undefined) return undefined;
  const parsed = rootfsManifestSchema.safeParse(await readJson(join(all, name, 'rootfs.json')));
  if (parsed.success) return { root: join(all, name, 'root'), manifest: parsed.data };
  throw new M4BenchError(
    'ROOTFS_INVALID',
    `${join(all, name, 'rootfs.json')} does not describe a root file system.`,
    'Run m4bench sandbox build again.',
  );
}

/** Digest, number of entries and bytes of a tree. */
export interface TreeDigest {
  readonly digest: string;
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Hashes a tree: one line per entry in byte order of paths, with kind, mode and content (files) or target (links).
 * Owners and times are left out, since they differ from build to build and change nothing for an agent.
 */
export async function digestTree(root: string): Promise<TreeDigest> {
  const hash = createHash('sha256');
  let entries = 0;
  let bytes = 0;
  const visit = async (relative: string): Promise<void> => {
    const names = (await readdir(join(root, relative))).sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    for (const name of names) {
      const path = relative === '' ? name : `${relative}/${name}`;
      const status = await lstat(join(root, path));
      const mode = (status.mode & 0o7777).toString(8);
      entries += 1;
      if (status.isSymbolicLink()) {
        hash.update(`link ${JSON.stringify(path)} ${JSON.stringify(await readlink(join(root, path)))}\n`);
      } else if (status.isDirectory()) {
        hash.update(`folder ${mode} ${JSON.stringify(path)}\n`);
        await visit(path);
      } else if (status.isFile()) {
        bytes += status.size;
        hash.update(
          `file ${mode} ${JSON.stringify(path)} ${await fileHash(join(root, path), status.size)}\n`,
        );
      } else hash.update(`other ${JSON.stringify(path)}\n`);
    }
  };
  await visit('');
  return { digest: `sha256:${hash.digest('hex')}`, entries, bytes };
}

async function fileHash(path: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  if (size < 4 * 1024 * 1024) hash.update(await readFile(path));
  else await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Whether a root file system is still what its manifest says; reads all of it. */
export async function isIntact({ root, manifest }: Rootfs): Promise<boolean> {
  return (await digestTree(root)).digest === manifest.digest;
}
