/**
 * `npx tsx bench/data/import.ts [--gigabytes 1] [--rounds 3] [--from DIR] [--checksums] [--gzip]`: imports a release
 * whose chart events are the demo's, repeated to the size given, as read and sorted by item, and compares with DuckDB's
 * own `COPY (SELECT * FROM read_csv(…)) TO parquet` over the same bytes, which sorts nothing. Each way runs in a process of
 * its own, the ways take turns, and of all rounds the least counts: a busy neighbour only ever adds. Prints the time, the
 * processor time and the peak of memory, and the ratios (1 is as fast as DuckDB, below 1 slower). `--from` names the folder
 * of the open demo. `--checksums` puts a SHA256SUMS.txt beside the files and `--gzip` compresses them, as PhysioNet ships
 * them; without, the values are checked instead of the bytes.
 */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, promisify } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { importDataset } from '../../src/datasets/import.js';
import { layouts } from '../../src/datasets/import-tables.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { sha256File } from '../../src/support/hashing.js';
import { homeAt, packageRoot } from '../../src/support/home.js';
import { testDataFolder } from '../../test/oracle/run-oracle.js';

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

const memoryBytes = 2 * 1024 ** 3;
const { values } = parseArgs({
  options: {
    gigabytes: { type: 'string', default: '1' },
    from: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    checksums: { type: 'boolean', default: false },
    gzip: { type: 'boolean', default: false },
    work: { type: 'string' },
    way: { type: 'string' },
  },
});
const demo = values.from ?? join(testDataFolder(), 'data', 'mimic-iv-demo');

/** The demo beside a chartevents.csv of the size asked for. */
async function largeRelease(folder: string, bytes: number): Promise<void> {
  for (const part of ['hosp', 'icu']) {
    await mkdir(join(folder, part), { recursive: true });
    for (const file of await readdir(join(demo, part))) {
      if (file !== 'chartevents.csv.gz') await copyFile(join(demo, part, file), join(folder, part, file));
    }
  }
  const once = join(folder, 'once.csv');
  await pipeline(
    createReadStream(join(demo, 'icu', 'chartevents.csv.gz')),
    createGunzip(),
    createWriteStream(once),
  );
  const target = join(folder, 'icu', 'chartevents.csv');
  await copyFile(once, target);
  const header = await headerLength(once);
  const size = (await stat(once)).size;
  for (let written = size; written < bytes; written += size - header) {
    await pipeline(createReadStream(once, { start: header }), createWriteStream(target, { flags: 'a' }));
  }
  await rm(once);
  if (values.gzip) {
    await pipeline(createReadStream(target), createGzip({ level: 6 }), createWriteStream(`${target}.gz`));
    await rm(target);
  }
  if (values.checksums) await writeChecksums(folder);
}

async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const part of ['hosp', 'icu'])
    for (const file of await readdir(join(folder, part)))
      lines.push(`${await sha256File(join(folder, part, file))}  ${part}/${file}\n`);
  await writeFile(join(folder, 'SHA256SUMS.txt'), lines.join(''));
}

async function headerLength(file: string): Promise<number> {
  for await (const chunk of createReadStream(file, { end: 4096 })) return (chunk as Buffer).indexOf(10) + 1;
  throw new RangeError(`${file} is empty.`);
}

/** `plain` is DuckDB's own COPY, the others are layouts of an import. */
const ways = ['plain', ...layouts] as const;
type Way = (typeof ways)[number];

async function ours(release: string, work: string, layout: Exclude<Way, 'plain'>): Promise<void> {
  await importDataset(homeAt(work), {
    name: 'bench',
    kind: 'mimic-iv',
    from: release,
    verify: false,
    threads: 2,
    memoryBytes,
    layout,
  });
}

/** What a person would write: every file as DuckDB reads it by itself. */
async function plain(release: string, work: string): Promise<void> {
  await using session = await DuckSession.open({ memoryBytes, threads: 2, spillFolder: work });
  for (const part of ['hosp', 'icu']) {
    for (const file of await readdir(join(release, part))) {
      const target = join(work, `${part}.${file}.parquet`);
      await session.run(
        `copy (select * from read_csv(${literal(join(release, part, file))}, nullstr = ['', 'NULL', 'NA', 'N/A', '___'])) to ${literal(target)} (format parquet, compression zstd)`,
      );
    }
  }
}

async function apart(way: Way, release: string): Promise<Cost> {
  const work = await mkdtemp(join(dirname(release), `${way}-`));
  const script = join(packageRoot(), 'bench', 'data', 'import.ts');
  const words = ['--import', 'tsx', script, '--way', way, '--from', release, '--work', work];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: packageRoot() });
  await rm(work, { recursive: true, force: true });
  const cost = JSON.parse(stdout) as Cost;
  console.log(
    `${way}: ${cost.seconds.toFixed(1)} s, ${cost.cpuSeconds.toFixed(1)} s of processor time, ${peakOf(cost)}`,
  );
  return cost;
}

const peakOf = ({ peakBytes }: Cost): string => `peak ${(peakBytes / 2 ** 30).toFixed(2)} GiB`;

/** The least time and the least processor time of all rounds, and the most memory. */
function leastOf(costs: readonly Cost[]): Cost {
  return {
    seconds: Math.min(...costs.map(({ seconds }) => seconds)),
    cpuSeconds: Math.min(...costs.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...costs.map(({ peakBytes }) => peakBytes)),
  };
}

async function compare(release: string): Promise<void> {
  const costs: Record<Way, Cost[]> = { plain: [], 'as-read': [], 'by-item': [] };
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const way of ways) costs[way].push(await apart(way, release));
  const yardstick = leastOf(costs.plain);
  for (const layout of layouts) {
    const cost = leastOf(costs[layout]);
    console.log(
      `throughput ${layout}, DuckDB's own = 1: ${(yardstick.seconds / cost.seconds).toFixed(2)} by the clock, ${(yardstick.cpuSeconds / cost.cpuSeconds).toFixed(2)} by processor time, ${peakOf(cost)}`,
    );
  }
}

if (values.way !== undefined) {
  const way = values.way as Way;
  const started = performance.now();
  await (way === 'plain' ? plain(values.from!, values.work!) : ours(values.from!, values.work!, way));
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cost: Cost = {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakBytes: maxRSS * 1024,
  };
  console.log(JSON.stringify(cost));
} else if (!existsSync(join(demo, 'icu'))) {
  console.log(`No demo at ${demo}; name it with --from.`);
} else {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-bench-'));
  try {
    const release = join(folder, 'release');
    await largeRelease(release, Number(values.gigabytes) * 1e9);
    await compare(release);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
