/**
 * `npx tsx bench/concepts/reproducible.ts [--copies 20] [--folder DIR]`: builds all 63 concepts of the copied demo with
 * 1, 2 and 4 threads, twice each, and with a memory limit that forces spilling, and compares content hashes and
 * file bytes. Exit code 1 when any differs. The short form on the demo itself is a test.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildConcepts } from '../../src/concepts/build.js';
import { copiedDemo } from './lakes.js';

const mebibyte = 1024 ** 2;
const ways: readonly { readonly threads: number; readonly lanes?: number; readonly memoryBytes?: number }[] =
  [
    { threads: 1 },
    { threads: 2 },
    { threads: 4 },
    { threads: 1 },
    { threads: 2 },
    { threads: 4 },
    { threads: 4, lanes: 1 },
    { threads: 2, lanes: 1, memoryBytes: 160 * mebibyte },
    { threads: 2, lanes: 2, memoryBytes: 256 * mebibyte },
  ];

const { values } = parseArgs({
  options: { copies: { type: 'string', default: '20' }, folder: { type: 'string' } },
});
const folder = values.folder ?? (await mkdtemp(join(tmpdir(), 'm4bench-bench-')));
try {
  const { dataset } = await copiedDemo(folder, Number(values.copies));
  let first: ReadonlyMap<string, readonly [content: string, file: string]> | undefined;
  for (const way of ways) {
    const started = performance.now();
    const built = await buildConcepts(dataset, { ...way, force: true });
    const hashes = new Map(
      built.map(({ table, manifest }) => [table, [manifest.contentHash, manifest.fileSha256] as const]),
    );
    first ??= hashes;
    const different = [...hashes].filter(([table, [content, file]]) => {
      const [firstContent, firstFile] = first!.get(table)!;
      return content !== firstContent || file !== firstFile;
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const names = different.map(([table]) => table).join(', ') || 'none';
    console.log(`${JSON.stringify(way)}: ${seconds} s, ${hashes.size} tables, different: ${names}`);
    if (different.length > 0) process.exitCode = 1;
  }
} finally {
  if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
}
