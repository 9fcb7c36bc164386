import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildConcepts } from '../../src/concepts/build.js';
import type { Dataset } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { homeAt } from '../../src/support/home.js';
import { hasOracle, testDataFolder } from './run-oracle.js';

const isPresent = hasOracle();
if (!isPresent)
  console.warn(`Skipped: no demo in ${testDataFolder()}; set M4BENCH_TEST_DATA to the folder that holds it.`);

/** The long form, on 20 copies of the demo, is `bench/concepts/reproducible.ts`. */
describe.skipIf(!isPresent)('all 63 concepts of the demo', () => {
  let root: string;
  let dataset: Dataset;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'm4bench-reproducible-'));
    const from = join(testDataFolder(), 'data', 'mimic-iv-demo');
    dataset = await importDataset(homeAt(root), { name: 'mimic-iv-demo', from, verify: false });
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const hashes = async (options: Parameters<typeof buildConcepts>[1]) => {
    const built = await buildConcepts(dataset, { force: true, ...options });
    return Object.fromEntries(
      built.map(({ table, manifest }) => [table, `${manifest.contentHash} ${manifest.fileSha256}`]),
    );
  };

  test('have the same rows and bytes with 1, 2 and 4 threads, twice each, and with little memory', async () => {
    const first = await hashes({ threads: 2, lanes: 2 });
    expect(Object.keys(first)).toHaveLength(63);
    for (const threads of [1, 2, 4, 1, 4]) {
      expect(await hashes({ threads, lanes: threads }), `${threads} threads`).toEqual(first);
    }
    expect(await hashes({ threads: 2, lanes: 1, memoryBytes: 96 * 1024 ** 2 })).toEqual(first);
  }, 240_000);
});
