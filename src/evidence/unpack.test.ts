import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../support/hashing.js';
import { manifestEntries } from './archive-writer.js';
import type { PackageManifest } from './package-manifest.js';
import { recordText } from './record-sanitiser.js';
import {
  type HostileEntry,
  hostileTar,
  packFiles,
  type TestFolder,
  testFolder,
  testManifest,
} from './test-package.js';
import { type UnpackedPackage, type UnpackLimits, unpackPackage } from './unpack.js';

const files = {
  'README.md': '# A package\n',
  'empty.txt': '',
  'exactly-a-block.txt': 'x'.repeat(512),
  [`runs/${'long-name-of-a-run-'.repeat(6)}/result.json`]: '{\n  "reward": 0.5\n}\n',
  // So long that its name needs a header of its own.
  [`runs/${'very-long-name-of-a-run-'.repeat(8)}/attempts/1/transcript.json`]: '{}\n',
  'tables/attempts.csv': `a,b\n${'1,2\n'.repeat(400)}`,
};

let folder: TestFolder;
let archive: string;
let tar: Buffer;

beforeAll(async () => {
  folder = await testFolder();
  archive = join(folder.path, 'good.tar.zst');
  tar = await packFiles(archive, files);
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Reads bytes as a package into a folder of its own, which must stay the only place that is written to. */
async function unpacked(
  bytes: Uint8Array,
  limits?: UnpackLimits,
): Promise<UnpackedPackage & { names: string[] }> {
  await using scratch = await testFolder();
  const path = join(scratch.path, 'package.tar.zst');
  const into = join(scratch.path, 'into');
  await writeFile(path, bytes);
  await mkdir(into);
  const result = await unpackPackage(
    path,
    into,
    'package.tar.zst',
    ...(limits === undefined ? [] : [limits]),
  );
  const beside = await readdir(scratch.path);
  expect(beside.sort()).toEqual(['into', 'package.tar.zst']);
  return { ...result, names: await readdir(into, { recursive: true }) };
}

const filesOf = ({ problems }: UnpackedPackage): readonly string[] => problems.map(({ file }) => file);

/** Which file of the package a byte of the tar belongs to, worked out from the sizes alone. */
function fileAt(position: number): string {
  let end = 0;
  const blocks = (bytes: number): number => Math.ceil(bytes / 512) * 512;
  const all = [
    ...manifestEntries(recordText(testManifest(files))).map(({ path, bytes }) => [path, bytes] as const),
    ...Object.entries(files).map(([path, content]) => [path, content.length] as const),
  ];
  for (const [path, bytes] of all) {
    // Names beyond what a header holds take a header and a block more.
    const header = `evidence/${path}`.length > 180 ? 512 * 3 : 512;
    end += header + blocks(bytes);
    if (position < end) return path;
  }
  return 'package.tar.zst';
}

describe('a package that was changed', () => {
  test('is read whole when nothing was', async () => {
    const { problems, names, tarSha256 } = await unpacked(await readFile(archive));
    expect(problems).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['manifest.json', ...Object.keys(files)]));
    expect(tarSha256).toBe(sha256(tar));
  });

  test('names the file of any byte that was flipped: headers, contents, padding, end', async () => {
    const positions = new Set<number>();
    for (let block = 0; block < tar.length; block += 512) {
      // The first and last byte of each block, and one that moves through it.
      for (const at of [0, 511, (block / 512) * 37]) positions.add(block + (at % 512));
    }
    // Every field of a header: name, mode, owner, size, time, sum, kind, link, magic, names, prefix.
    const header = 1024 + 512;
    for (const at of [0, 101, 110, 118, 130, 140, 150, 156, 160, 258, 264, 270, 300, 332, 340, 350, 505])
      positions.add(tar.length - 1024 - header - 512 * 3 + at);
    for (const position of positions) {
      const changed = Buffer.from(tar);
      changed[position]! ^= 0x01;
      const result = await unpacked(changed);
      expect(filesOf(result), `byte ${position}`).toContain(fileAt(position));
    }
  }, 120_000);

  test('is refused wherever it is cut off', async () => {
    const bytes = await readFile(archive);
    for (const share of [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999]) {
      const result = await unpacked(bytes.subarray(0, Math.floor(bytes.length * share)));
      expect(result.problems.length, `${share}`).toBeGreaterThan(0);
      const cut = await unpacked(tar.subarray(0, Math.floor(tar.length * share)));
      expect(cut.problems.length, `${share} of the tar`).toBeGreaterThan(0);
    }
  });

  test('never ends in anything but a verdict, whatever its bytes are', async () => {
    const bytes = await readFile(archive);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (changes) => {
          const changed = Buffer.from(bytes);
          for (const [at, mask] of changes) changed[at]! ^= mask;
          const { problems, tarSha256 } = await unpacked(changed);
          // A change that the decoder passes over gives the same content, or it is found.
          expect(problems.length > 0 || tarSha256 === sha256(tar) || changed.equals(bytes)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);

  test('with bytes after its end, or between files, is found out', async () => {
    const after = await unpacked(Buffer.concat([tar, Buffer.alloc(512)]));
    expect(after.problems).toMatchObject([{ code: 'FILE_UNLISTED' }]);
    const [first] = manifestEntries(recordText(testManifest(files)));
    const padding = Buffer.from(tar);
    padding[512 + first!.bytes + 3] = 0x41;
    expect((await unpacked(padding)).problems).toMatchObject([
      { code: 'PADDING_DIFFERS', file: 'manifest.sha256' },
    ]);
  });
});

describe('a hostile archive', () => {
  /** A tar that begins as a package whose manifest says what the attacker wants. */
  async function behindManifest(
    manifest: PackageManifest,
    entries: readonly HostileEntry[],
  ): Promise<Buffer> {
    const first = manifestEntries(recordText(manifest)).map(({ path, content }) => ({
      name: `evidence/${path}`,
      content,
    }));
    return await hostileTar([...first, ...entries]);
  }
  const listed = (path: string, content = 'x'): PackageManifest => testManifest({ [path]: content });

  test.each([
    '../outside.txt',
    'a/../../outside.txt',
    '/tmp/outside.txt',
    'a//b',
    './a',
    'a/.',
    'manifest.json',
    'C:\\outside.txt',
    'a\\b',
    'a\u0000b',
    'caf\u00e9.txt',
    '\u202etxt.exe',
    'x'.repeat(500),
    `${'d/'.repeat(30)}x`,
  ])('with the name %j in its manifest is refused by that name', async (path) => {
    const result = await unpacked(
      await behindManifest(listed(path), [{ name: `evidence/${path}`, content: 'x' }]),
    );
    expect(result.problems).toMatchObject([{ code: 'NAME_REFUSED', file: JSON.stringify(path) }]);
    expect(result.names).toEqual([]);
  });

  test('with two names that are one is refused', async () => {
    for (const pair of [
      { a: 'x', A: 'y' },
      { a: 'x', 'a/b': 'y' },
    ]) {
      const manifest = testManifest(pair);
      expect((await unpacked(await behindManifest(manifest, []))).problems).toMatchObject([
        { code: 'NAME_REFUSED' },
      ]);
    }
  });

  test.each([
    { name: '../outside.txt', content: 'x' },
    { name: 'evidence/a.txt', type: 'symlink', linkname: '/etc/passwd' },
    { name: 'evidence/a.txt', type: 'link', linkname: '../../outside.txt' },
    { name: 'evidence/a.txt', type: 'directory' },
    { name: 'evidence/a.txt', type: 'fifo' },
    { name: 'evidence/a.txt', type: 'character-device' },
  ] satisfies HostileEntry[])(
    'with $type $name in the place of a file writes nothing but that file',
    async (entry) => {
      const result = await unpacked(
        await behindManifest(listed('a.txt'), [entry, { name: 'evidence/b', content: 'y' }]),
      );
      expect(filesOf(result)).toContain('a.txt');
      expect(result.problems[0]!.code).toBe('HEADER_DIFFERS');
      expect(result.names.sort()).toEqual(['a.txt', 'manifest.json', 'manifest.sha256']);
    },
  );

  test('that is another tar, an executable or nothing at all is no package', async () => {
    const other = await hostileTar([{ name: 'etc/passwd', content: 'root' }]);
    for (const bytes of [
      other,
      Buffer.from('\x7fELF'.padEnd(2048, 'x')),
      Buffer.alloc(0),
      Buffer.alloc(4096),
    ])
      expect((await unpacked(bytes)).problems).toHaveLength(1);
  });

  test('that states more than the limits is refused before it is read', async () => {
    const huge = testManifest({});
    const manifest = { ...huge, entries: [{ path: 'a', bytes: 2 ** 40, sha256: sha256('') }] };
    const result = await unpacked(await behindManifest(manifest, []));
    expect(result.problems).toMatchObject([{ code: 'TOO_LARGE', file: 'manifest.json' }]);
    const small = await unpacked(tar, { manifestBytes: 10, totalBytes: 1e6 });
    expect(small.problems).toMatchObject([{ code: 'TOO_LARGE', file: 'manifest.json' }]);
  });
});

describe('a zstd bomb', () => {
  /** A frame of blocks that each repeat one byte 128 KiB long. */
  function bomb(blocks: number): Buffer {
    const block = Buffer.from([0, 0, 0, 0x41]);
    block.writeUIntLE(((128 * 1024) << 3) | (1 << 1), 0, 3);
    const last = Buffer.from([1, 0, 0]);
    return Buffer.concat([
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
      ...Array(blocks).fill(block),
      last,
    ]);
  }

  test('that unfolds a few bytes to gigabytes is stopped', async () => {
    const before = process.memoryUsage().rss;
    const { problems } = await unpacked(bomb(500_000));
    expect(problems).toHaveLength(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(1024 ** 3);
  });

  test('that asks for a window of gigabytes, or a block beyond the format, is refused', async () => {
    const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00, ...Array(32).fill(0)]);
    expect((await unpacked(window)).problems[0]!.detail).toContain('window');
    const single = Buffer.from([
      0x28,
      0xb5,
      0x2f,
      0xfd,
      0xe0,
      0xff,
      0xff,
      0xff,
      0xff,
      0xff,
      0,
      0,
      0,
      ...Array(32).fill(0),
    ]);
    expect((await unpacked(single)).problems[0]!.detail).toContain('window');
    const block = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0xff, 0xff, 0xff, ...Array(32).fill(0)]);
    expect((await unpacked(block)).problems[0]!.detail).toContain('block');
  });
});
