/**
 * `npm run bench:concepts [-- --copies 5,10,20] [--runs 3] [--lanes 2] [--folder DIR]`: time and memory of building all 63 concepts.
 *
 * The unit is one pass over the charted rows of the largest number of copies, as the amplifier wrote them, with
 * 2 threads in a process of its own (median of 9). The ratio by processor time says what the machine does undisturbed
 * when other work slows it down. The folder keeps the copies and their lakes for the next time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toText } from '../../src/analysis/tables.js';
import { homeAt } from '../../src/support/home.js';
import { type CopiedDemo, copiedDemo } from './lakes.js';
import { type BuildMeasurement, runApart } from './measurement.js';

const mebibyte = 1024 ** 2;

/** The fastest of several builds: other work on the machine only ever slows one down. */
async function fastestBuild(
  folder: string,
  demo: CopiedDemo,
  runs: number,
  lanes: number,
): Promise<BuildMeasurement> {
  let fastest: BuildMeasurement | undefined;
  for (let run = 0; run < runs; run += 1) {
    const home = homeAt(join(folder, 'home')).root;
    const measured = (await runApart(
      'build.ts',
      home,
      demo.dataset.name,
      '2',
      String(lanes),
    )) as BuildMeasurement;
    if (fastest === undefined || measured.seconds < fastest.seconds) fastest = measured;
  }
  return fastest!;
}

interface Unit {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function shortestUnit(demo: CopiedDemo, runs: number): Promise<Unit> {
  const file = join(demo.source, 'icu', 'chartevents.parquet');
  let shortest: Unit | undefined;
  for (let run = 0; run < runs; run += 1) {
    const unit = (await runApart('unit.ts', file)) as Unit;
    if (shortest === undefined || unit.seconds < shortest.seconds) shortest = unit;
  }
  return shortest!;
}

/** Processor time and memory per table with one lane, over growing numbers of copies. */
function growthTable(measured: ReadonlyMap<number, BuildMeasurement>): string {
  const sizes = [...measured.keys()];
  const entryOf = (size: number, table: string) =>
    measured.get(size)!.tables.find((candidate) => candidate.table === table)!;
  const rows = measured.get(sizes.at(-1)!)!.tables.map(({ table, rows: count }) => {
    const row: Record<string, string | number> = { table, rows: count };
    for (const size of sizes) {
      const { cpuSeconds, peakBytes } = entryOf(size, table);
      row[`${size}: s`] = (cpuSeconds ?? 0).toFixed(3);
      row[`${size}: MiB`] = Math.round((peakBytes ?? 0) / mebibyte);
    }
    const [before, last] = sizes.slice(-2).map((size) => entryOf(size, table).cpuSeconds ?? 0);
    row.growth = before === undefined || last === undefined ? '' : (last / before).toFixed(2);
    return row;
  });
  const slowest = `${sizes.at(-1)}: s`;
  return toText({
    columns: Object.keys(rows[0]!),
    rows: rows.sort((a, b) => Number(b[slowest]) - Number(a[slowest])),
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      copies: { type: 'string', default: '5,10,20' },
      runs: { type: 'string', default: '3' },
      lanes: { type: 'string', default: '2' },
      folder: { type: 'string' },
    },
  });
  const sizes = values.copies.split(',').map(Number);
  const runs = Number(values.runs);
  const folder = values.folder ?? (await mkdtemp(join(tmpdir(), 'm4bench-bench-')));
  try {
    const demos: CopiedDemo[] = [];
    for (const copies of sizes) demos.push(await copiedDemo(folder, copies));
    const largest = demos.at(-1)!;
    const unit = await shortestUnit(largest, runs);
    const build = await fastestBuild(folder, largest, runs, Number(values.lanes));
    console.log(`unit: ${unit.seconds.toFixed(4)} s (${unit.cpuSeconds.toFixed(4)} s of processor time)`);
    console.log(
      `all ${build.tables.length} concepts of ${largest.copies} copies: ${build.seconds.toFixed(2)} s (${build.cpuSeconds.toFixed(2)} s of processor time), ` +
        `${(build.seconds / unit.seconds).toFixed(1)} units (${(build.cpuSeconds / unit.cpuSeconds).toFixed(1)} by processor time), peak ${Math.round(build.peakBytes / mebibyte)} MiB`,
    );
    const slowest = [...build.tables].sort((a, b) => b.seconds - a.seconds).slice(0, 5);
    console.log(
      `slowest: ${slowest.map(({ table, seconds }) => `${table} ${seconds.toFixed(2)} s`).join(', ')}`,
    );
    const growth = new Map<number, BuildMeasurement>();
    for (const demo of demos) growth.set(demo.copies, await fastestBuild(folder, demo, runs, 1));
    for (const [copies, { seconds, cpuSeconds, peakBytes }] of growth) {
      console.log(
        `${copies} copies, one at a time: ${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s of processor time), peak ${Math.round(peakBytes / mebibyte)} MiB`,
      );
    }
    console.log(growthTable(growth));
  } finally {
    if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

await main();
