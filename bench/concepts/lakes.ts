import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Dataset, openDataset } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { homeAt, packageRoot } from '../../src/support/home.js';
import { testDataFolder } from '../../test/oracle/run-oracle.js';

/** The demo copied several times: the source files, and the lake that they were imported to. */
export interface CopiedDemo {
  readonly copies: number;
  /** Folder of the Parquet files as the amplifier wrote them: the yardstick is measured here. */
  readonly source: string;
  readonly dataset: Dataset;
}

/** Writes `copies` of the demo with new ids and jittered times as Parquet files; the folder of `hosp` and `icu`. */
export async function amplifiedDemo(folder: string, copies: number): Promise<string> {
  const source = join(folder, `copies-${copies}`);
  const tools = testDataFolder();
  await promisify(execFile)(
    process.execPath,
    [
      join(tools, 'tools', 'amplify.mjs'),
      String(copies),
      source,
      '--data',
      join(tools, 'data', 'mimic-iv-demo'),
    ],
    { env: { ...process.env, NODE_PATH: join(packageRoot(), 'node_modules') } },
  );
  return source;
}

/** Writes `copies` of the demo and imports them; what is there already is kept. */
export async function copiedDemo(folder: string, copies: number): Promise<CopiedDemo> {
  const source = join(folder, `copies-${copies}`);
  const home = homeAt(join(folder, 'home'));
  const name = `copies-${copies}`;
  const isImported = existsSync(join(home.datasets, name, 'dataset.json'));
  if (!isImported || !existsSync(source)) await amplifiedDemo(folder, copies);
  const dataset = isImported
    ? await openDataset(home, name)
    : await importDataset(home, { name, kind: 'mimic-iv', from: source, verify: false });
  return { copies, source, dataset };
}
