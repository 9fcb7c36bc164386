/**
 * `npx tsx bench/data/layout.ts [--copies 16]`: what the order of rows and the size of row groups are worth. Chart events
 * are the demo's, copied as other patients; stored as read and in several layouts, each asked what concepts ask for. Prints
 * size on disk, what sorting and writing cost as multiples of writing the rows as read, and each query's time as a share of
 * its time on the rows as read, best of three.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importRowGroupSize, storedAs } from '../../src/datasets/import-table.js';
import { writeParquet } from '../../src/duck/parquet.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { testDataFolder } from '../../test/oracle/run-oracle.js';
import { amplifiedDemo } from '../concepts/lakes.js';

const { values } = parseArgs({ options: { copies: { type: 'string', default: '16' } } });

const layouts: readonly { readonly order: readonly string[]; readonly rowGroupSize: number }[] = [
  { order: [], rowGroupSize: importRowGroupSize },
  { order: ['itemid', 'stay_id', 'charttime'], rowGroupSize: 30_720 },
  { order: ['itemid', 'stay_id', 'charttime'], rowGroupSize: importRowGroupSize },
  { order: ['itemid', 'stay_id', 'charttime'], rowGroupSize: 491_520 },
  { order: ['itemid', 'charttime', 'stay_id'], rowGroupSize: importRowGroupSize },
  { order: ['stay_id', 'itemid', 'charttime'], rowGroupSize: importRowGroupSize },
];

const vitals =
  '220045, 220179, 220050, 225309, 220180, 220051, 225310, 220052, 220181, 225312, 220210, 224690, 223761, 223762, 220277';
const ventilator =
  '224688, 224689, 224690, 224687, 224685, 224684, 224686, 224696, 220339, 224700, 223835, 223849, 229314, 223848, 224691';
const queries: Readonly<Record<string, string>> = {
  'one common item': 'count(*), avg(valuenum) from t where itemid = 220045',
  'one rare item': 'count(*), avg(valuenum) from t where itemid = 226730',
  'vital signs': `count(*) from (select stay_id, charttime, avg(valuenum) from t where itemid in (${vitals}) group by all)`,
  'ventilator, texts': `count(*), max(value), max(charttime) from t where itemid in (${ventilator})`,
  'one stay': 'count(*), max(value) from t where stay_id = (select min(stay_id) from t)',
  'every row': 'count(*), max(value), max(charttime), avg(valuenum) from t',
};

async function secondsOf(work: () => Promise<unknown>, tries = 1): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries; n += 1) {
    const started = performance.now();
    await work();
    best = Math.min(best, (performance.now() - started) / 1000);
  }
  return best;
}

async function measure(folder: string): Promise<void> {
  await using session = await DuckSession.open({ threads: 2, spillFolder: folder, keepsMemory: true });
  const copied = join(await amplifiedDemo(folder, Number(values.copies)), 'icu', 'chartevents.parquet');
  const source = join(folder, 'source.parquet');
  // A release keeps the rows of a patient together.
  const { rows } = await writeParquet(session, `from read_parquet(${literal(copied)})`, source, {
    orderBy: ['subject_id', 'charttime'],
    compression: 'lz4_raw',
  });
  console.log(`${rows.toLocaleString('en')} rows of ${values.copies} times 100 patients`);
  let asRead: { readonly write: number; readonly ask: readonly number[] } | undefined;
  for (const { order, rowGroupSize } of layouts) {
    const path = join(folder, 'stored.parquet');
    const sorted = order.length === 0 ? '' : ` order by ${order.join(', ')}, file_row_number`;
    const query = `select * exclude (file_row_number) from read_parquet(${literal(source)}, file_row_number = true)${sorted}`;
    const write = await secondsOf(() => writeParquet(session, query, path, { ...storedAs, rowGroupSize }));
    await session.run(`create or replace temp view t as select * from read_parquet(${literal(path)})`);
    const ask: number[] = [];
    for (const sql of Object.values(queries))
      ask.push(await secondsOf(() => session.rows(`select ${sql}`), 3));
    asRead ??= { write, ask };
    const shares = Object.keys(queries).map(
      (name, n) => `${name} ${(ask[n]! / asRead!.ask[n]!).toFixed(3)} (${(ask[n]! * 1000).toFixed(0)} ms)`,
    );
    console.log(
      `${order.join(', ') || 'as read'}; row groups of ${rowGroupSize.toLocaleString('en')}: ${((await stat(path)).size / 1e6).toFixed(0)} MB, written at ${(write / asRead.write).toFixed(2)}; ${shares.join('; ')}`,
    );
  }
}

if (existsSync(join(testDataFolder(), 'tools'))) {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-bench-'));
  try {
    await measure(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
} else console.log(`No demo in ${testDataFolder()}; name its folder with M4BENCH_TEST_DATA.`);
