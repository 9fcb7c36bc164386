/**
 * A process of its own that builds all concepts of a lake, written and hashed.
 * Arguments: home folder, dataset name, threads, lanes. Prints one JSON document: seconds in all and per table,
 * the peak of resident memory, and, with one lane, processor time and that peak per table.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { buildConcepts } from '../../src/concepts/build.js';
import { openDataset } from '../../src/datasets/dataset.js';
import { homeAt } from '../../src/support/home.js';
import type { BuildMeasurement } from './measurement.js';

const [home, name, threads, lanes] = process.argv.slice(2) as [string, string, string, string];

/** Peak of resident memory since the start, or since it was last forgotten. */
function peakBytes(): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(found?.[1] ?? 0) * 1024;
}

const dataset = await openDataset(homeAt(home), name);
const peaks = new Map<string, number>();
const cpuSeconds = new Map<string, number>();
let highest = 0;
let current = '';
let cpuBefore = process.cpuUsage();
const started = performance.now();
const cpu = process.cpuUsage();
const built = await buildConcepts(dataset, {
  force: true,
  threads: Number(threads),
  lanes: Number(lanes),
  progress: {
    update: (text) => {
      if (lanes !== '1') return;
      highest = Math.max(highest, peakBytes());
      current = text.split(' ')[1] ?? '';
      cpuBefore = process.cpuUsage();
      writeFileSync('/proc/self/clear_refs', '5'); // forget the peak
    },
    done: () => {
      if (lanes !== '1') return;
      peaks.set(current, peakBytes());
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuSeconds.set(current, (user + system) / 1e6);
    },
    warn: () => {},
  },
});
const used = process.cpuUsage(cpu);
const measurement: BuildMeasurement = {
  seconds: (performance.now() - started) / 1000,
  cpuSeconds: (used.user + used.system) / 1e6,
  peakBytes: Math.max(highest, peakBytes()),
  tables: built.map(({ table, manifest, seconds }) => ({
    table,
    rows: manifest.rows,
    seconds,
    cpuSeconds: cpuSeconds.get(table) ?? null,
    peakBytes: peaks.get(table) ?? null,
  })),
};
console.log(JSON.stringify(measurement));
