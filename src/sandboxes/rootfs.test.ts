import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../support/home.js';
import { currentRootfs, digestTree, isIntact } from './rootfs.js';
import { buildRootfs } from './rootfs-build.js';
import { sandboxOf } from './sandboxes.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-rootfs-'));
  mkdirSync(join(folder, 'root/usr/bin'), { recursive: true });
  writeFileSync(join(folder, 'root/usr/bin/tool'), 'text', { mode: 0o755 });
  symlinkSync('tool', join(folder, 'root/usr/bin/link'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const digest = async (): Promise<string> => (await digestTree(join(folder, 'root'))).digest;

describe('the digest of a root file system', () => {
  it('depends on names, modes, contents and links, and not on times', async () => {
    const root = join(folder, 'root');
    const before = await digest();
    expect(await digestTree(root)).toMatchObject({ entries: 4, bytes: 4 });
    utimesSync(join(root, 'usr/bin/tool'), 1, 1);
    expect(await digest()).toBe(before);
    const seen = new Set([before]);
    const changes = [
      () => writeFileSync(join(root, 'usr/bin/tool'), 'Text'),
      () => chmodSync(join(root, 'usr/bin/tool'), 0o4755),
      () => {
        rmSync(join(root, 'usr/bin/link'));
        symlinkSync('/tool', join(root, 'usr/bin/link'));
      },
      () => writeFileSync(join(root, 'usr/bin/\nname'), ''),
      () => mkdirSync(join(root, 'empty')),
    ];
    for (const change of changes) {
      change();
      seen.add(await digest());
    }
    expect(seen.size).toBe(changes.length + 1);
  });

  it('tells a tree that was changed after it was built', async () => {
    const manifest = { digest: await digest() };
    const rootfs = { root: join(folder, 'root'), manifest } as Parameters<typeof isIntact>[0];
    expect(await isIntact(rootfs)).toBe(true);
    writeFileSync(join(folder, 'root/usr/bin/tool'), 'other');
    expect(await isIntact(rootfs)).toBe(false);
  });
});

describe('a home without a root file system', () => {
  it('has none, and its containers say how to build one', async () => {
    expect(await currentRootfs(homeAt(folder))).toBeUndefined();
    for (const kind of ['docker', 'podman']) {
      const state = await sandboxOf(kind).probe();
      expect(state.available).toBe(false);
      expect(state.remedy).toMatch(/sandbox build|apt-get install|daemon|podman info/);
    }
    expect(sandboxOf('bubblewrap').rootfsDigest).toBeNull();
  });

  it('gets none from a tree that is none', async () => {
    await expect(buildRootfs(homeAt(folder), { from: join(folder, 'root') })).rejects.toMatchObject({
      code: 'ROOTFS_BUILD_IMPOSSIBLE',
    });
  });
});
