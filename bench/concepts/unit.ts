/**
 * A process of its own that measures the yardstick: one pass over the charted rows, grouped by item.
 * Argument: the Parquet file of chartevents as the amplifier wrote it. Prints seconds and seconds of
 * processor time, medians of 9.
 */
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';

const [file] = process.argv.slice(2) as [string];
await using session = await DuckSession.open({ threads: 2 });
const seconds: number[] = [];
const cpuSeconds: number[] = [];
for (let run = 0; run < 9; run += 1) {
  const started = performance.now();
  const cpu = process.cpuUsage();
  await session.rows(`select itemid, count(*), sum(valuenum) from read_parquet(${literal(file)}) group by 1`);
  seconds.push((performance.now() - started) / 1000);
  const used = process.cpuUsage(cpu);
  cpuSeconds.push((used.user + used.system) / 1e6);
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[4]!;
console.log(JSON.stringify({ seconds: median(seconds), cpuSeconds: median(cpuSeconds) }));
