/**
 * `npx tsx bench/data/synthesize.ts [--kind mimic-iv] [--stays 10000]`: generates a quarter of the stays and all of them, each in
 * a process of its own, and prints time, processor time, peak memory, rows, and how processor time grows when stays
 * do fourfold (1 is linear). Then all of it again: exit code 1 when the same seed does not give the same bytes.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { hashOf } from '../../src/support/hashing.js';
import { homeAt, packageRoot } from '../../src/support/home.js';

interface Generated {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly rows: number;
  readonly storedBytes: number;
  /** Hash of the hashes of all files. */
  readonly bytes: string;
}

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: 'mimic-iv' },
    stays: { type: 'string', default: '10000' },
    once: { type: 'boolean', default: false },
  },
});

async function generateHere(kind: string, stays: number): Promise<Generated> {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-bench-'));
  try {
    const started = performance.now();
    const { tables } = await synthesizeDataset(homeAt(folder), { kind, stays, seed: 'bench', threads: 2 });
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    return {
      seconds: (performance.now() - started) / 1000,
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      peakBytes: maxRSS * 1024,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      storedBytes: tables.reduce((sum, table) => sum + table.fileBytes, 0),
      bytes: hashOf(tables.map((table) => [table.table, table.fileSha256])),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function generateApart(kind: string, stays: number): Promise<Generated> {
  const script = join(packageRoot(), 'bench', 'data', 'synthesize.ts');
  const words = ['--import', 'tsx', script, '--once', '--kind', kind, '--stays', String(stays)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: packageRoot() });
  const made = JSON.parse(stdout) as Generated;
  console.log(
    `${stays.toLocaleString('en')} stays: ${made.seconds.toFixed(0)} s, ${made.cpuSeconds.toFixed(0)} s of processor time, peak ${(made.peakBytes / 2 ** 30).toFixed(2)} GiB, ${made.rows.toLocaleString('en')} rows, ${(made.storedBytes / 1e6).toFixed(0)} MB`,
  );
  return made;
}

const stays = Number(values.stays);
if (values.once) {
  console.log(JSON.stringify(await generateHere(values.kind, stays)));
} else {
  const quarter = await generateApart(values.kind, Math.floor(stays / 4));
  const whole = await generateApart(values.kind, stays);
  console.log(
    `growth: ${(whole.cpuSeconds / quarter.cpuSeconds / 4).toFixed(2)} of linear in processor time, ${(whole.rows / quarter.rows / 4).toFixed(2)} in rows`,
  );
  const again = await generateApart(values.kind, stays);
  console.log(`same seed: ${again.bytes === whole.bytes ? 'the same bytes' : 'OTHER BYTES'}`);
  if (again.bytes !== whole.bytes) process.exitCode = 1;
}
