/**
 * What the benchmark itself adds to a run, and what task databases take on disk.
 *
 *     npx tsx bench/runs/overhead.ts [--stays N] [--trials N] [--sandbox KIND]… [--rootfs-home DIR] [--databases]
 *
 * Overhead: whole runs of the agent `reference`, which only copies a file, on synthetic data; the time of a run less
 * that of its command (sandbox, canaries, lint, evaluation, records). With `--databases`: the bytes of the task databases of
 * all tasks in all schemas beyond the lakes, against copying one database that holds the same tables. Timings mean
 * something on an idle machine only, so that the load is printed.
 */
import { copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agentNamed } from '../../src/agents/agents.js';
import { runGates } from '../../src/audit/gates.js';
import { type Dataset, openDataset, parquetPath } from '../../src/datasets/dataset.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { runIdOf } from '../../src/runs/cell.js';
import { CellPreparation } from '../../src/runs/prepare.js';
import { executeRun } from '../../src/runs/run.js';
import { currentRootfs } from '../../src/sandboxes/rootfs.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { findTask, loadTasks } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';

const { values: options } = parseArgs({
  options: {
    stays: { type: 'string', default: '140' },
    trials: { type: 'string', default: '5' },
    sandbox: { type: 'string', multiple: true, default: ['bubblewrap'] },
    'rootfs-home': { type: 'string' },
    databases: { type: 'boolean', default: false },
  },
});
const LIMITS = { timeoutSeconds: 120, memoryBytes: 4e9, processes: 400, workBytes: 1e9, streamBytes: 1e7 };
const protocol = await loadProtocol('m4bench-1');
const agent = agentNamed('reference', { environment: {}, userHome: '/' });

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name)))
    .filter((status) => status.isFile())
    .reduce((sum, { size }) => sum + size, 0);
}

async function overhead(home: Home, dataset: Dataset, kind: string): Promise<string> {
  const rootfsHome = options['rootfs-home'];
  const rootfs = rootfsHome === undefined ? undefined : await currentRootfs(homeAt(rootfsHome));
  const sandbox = sandboxOf(kind, rootfs);
  const state = await sandbox.probe();
  if (!state.available) return `${kind}: not here (${state.detail})`;
  const added: number[] = [];
  // The first run builds the reference, the image and the task database, which all others share.
  for (let trial = 0; trial <= Number(options.trials); trial += 1) {
    const began = performance.now();
    const prepared = await new CellPreparation(home).prepare({
      task: await findTask('mimic-sirs-24h-raw'),
      condition: 'with-skill',
      protocol,
      dataset,
      agent,
      cliVersion: null,
      rootfsDigest: sandbox.rootfsDigest,
      effort: 'auto',
    });
    const preparation = (performance.now() - began) / 1000;
    const runId = runIdOf(prepared.cell, trial + 1);
    const result = await executeRun(
      { sandbox, limits: LIMITS, providers: [], benchmarkVersion: '0', gates: runGates(home) },
      {
        campaign: 'overhead',
        runId,
        runFolder: join(home.campaigns, kind, 'runs', runId),
        trial: trial + 1,
        prepared,
      },
    );
    if (result?.reward !== 1)
      throw new Error(`A run in ${kind} was not rewarded 1: ${result?.failureReason}`);
    if (trial > 0) added.push(preparation + result.seconds.total - result.seconds.agent);
  }
  const sorted = added.toSorted((a, b) => a - b);
  return `${kind}: median ${sorted[Math.floor(sorted.length / 2)]!.toFixed(2)} s, least ${sorted[0]!.toFixed(2)} s beside the command itself (${sorted.length} runs)`;
}

/** Bytes of all task databases beyond the lakes, whose files the farms link to. */
async function databases(home: Home, datasets: readonly Dataset[]): Promise<string> {
  const preparation = new CellPreparation(home);
  let cells = 0;
  for (const task of await loadTasks()) {
    const dataset = datasets.find(({ kind }) => kind === task.database)!;
    for (const schema of task.database === 'mimic-iv'
      ? (['native', 'obfuscated', 'restructured'] as const)
      : (['native'] as const)) {
      const request = {
        condition: 'no-skill',
        protocol,
        agent,
        cliVersion: null,
        rootfsDigest: null,
        effort: 'auto',
      } as const;
      await preparation.prepare({ ...request, task, dataset, schema });
      cells += 1;
    }
  }
  return `${cells} task databases: ${(bytesBelow(home.taskDatabases) / 1e6).toFixed(1)} MB beyond the lakes`;
}

/** The other way: one database that holds the tables, copied and compacted for a task. */
async function copied(dataset: Dataset, folder: string): Promise<string> {
  const path = join(folder, 'whole.duckdb');
  {
    await using session = await DuckSession.open({ path });
    for (const { schema, table } of dataset.tables) {
      await session.run(`create schema if not exists ${identifier(schema)}`);
      const from = literal(parquetPath(dataset, schema, table));
      await session.run(
        `create table ${identifier(schema)}.${identifier(table)} as from read_parquet(${from})`,
      );
    }
  }
  const began = performance.now();
  copyFileSync(path, join(folder, 'copy.duckdb'));
  await using session = await DuckSession.open();
  await session.run(`attach ${literal(join(folder, 'copy.duckdb'))} as given (read_only)`);
  await session.run(`attach ${literal(join(folder, 'compact.duckdb'))} as compact`);
  await session.run('copy from database given to compact');
  await session.run('detach compact');
  const seconds = (performance.now() - began) / 1000;
  const { size } = lstatSync(join(folder, 'compact.duckdb'));
  return `copied and compacted instead: ${seconds.toFixed(2)} s and ${(size / 1e6).toFixed(1)} MB for one task (base tables alone)`;
}

const folder = await mkdtemp(join(tmpdir(), 'm4bench-overhead-'));
try {
  const home = homeAt(join(folder, 'home'));
  const stays = Number(options.stays);
  for (const kind of ['mimic-iv', 'eicu'] as const)
    await synthesizeDataset(home, { kind, stays, seed: 'overhead' });
  const mimic = await openDataset(home, 'mimic-iv-synthetic');
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, ${stays} synthetic stays`);
  for (const kind of options.sandbox) console.log(await overhead(home, mimic, kind));
  if (options.databases) {
    console.log(await databases(home, [mimic, await openDataset(home, 'eicu-synthetic')]));
    console.log(await copied(mimic, folder));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
