import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildConcepts } from '../../src/concepts/build.js';
import { type Dataset, parquetPath } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { DuckSession } from '../../src/duck/session.js';
import { buildReferences } from '../../src/references/build.js';
import { type Home, packageRoot } from '../../src/support/home.js';
import { type Progress, silentProgress } from '../../src/support/progress.js';
import { type Comparison, compareWithOracle, loadExceptions, loadOracle } from './compare.js';

/** Folder with `data/` and `oracle/`: `M4BENCH_TEST_DATA`, or a folder `shared` beside the repository. */
export function testDataFolder(): string {
  return resolve(process.env.M4BENCH_TEST_DATA ?? join(packageRoot(), '..', 'shared'));
}

/** True when the demos and their expected results are there. */
export function hasOracle(folder: string = testDataFolder()): boolean {
  return ['mimic-iv-demo', 'eicu-demo'].every((name) =>
    ['data', 'oracle'].every((part) => existsSync(join(folder, part, name))),
  );
}

/** What a demo was imported to and how its tables compare. */
export interface OracleResult {
  readonly dataset: Dataset;
  readonly comparisons: readonly Comparison[];
}

/** Imports a demo, builds everything on it and compares every table with the expected one. */
export async function runOracle(
  home: Home,
  name: 'mimic-iv-demo' | 'eicu-demo',
  options: { readonly folder?: string; readonly progress?: Progress } = {},
): Promise<OracleResult> {
  const folder = options.folder ?? testDataFolder();
  const progress = options.progress ?? silentProgress;
  // Some files of the open demos that tests use are partly imputed and so have other checksums.
  const dataset = await importDataset(home, {
    name,
    from: join(folder, 'data', name),
    verify: false,
    progress,
  });
  const paths = new Map<string, string>();
  if (dataset.kind === 'mimic-iv') {
    for (const { table } of await buildConcepts(dataset, { progress })) {
      paths.set(`derived/${table}`, parquetPath(dataset, 'mimiciv_derived', table));
    }
  }
  for (const reference of await buildReferences(home, dataset, { progress })) {
    paths.set(`references/${reference.key}`, reference.parquetPath);
  }

  const oracleFolder = join(folder, 'oracle', name);
  const oracle = await loadOracle(oracleFolder);
  const exceptions = await loadExceptions();
  await using session = await DuckSession.open({ threads: 2 });
  const comparisons: Comparison[] = [];
  const files = new Set([
    ...Object.keys(oracle.files).map((file) => file.replace('.csv.gz', '')),
    ...paths.keys(),
  ]);
  for (const file of [...files].sort()) {
    const path = paths.get(file);
    const isKnown = oracle.files[`${file}.csv.gz`] !== undefined;
    if (path === undefined || !isKnown) {
      const difference = isKnown ? 'not built here' : 'not in the oracle';
      comparisons.push({ file, rows: 0, excepted: 0, needless: 0, difference });
      continue;
    }
    comparisons.push(
      await compareWithOracle(session, { oracleFolder, oracle, file, parquetPath: path, exceptions }),
    );
  }
  return { dataset, comparisons };
}
