/**
 * Times the evaluator on an output of full size: 4.1 million rows, 13 columns, the shape of urine-output-rate.
 *
 *     npx tsx bench/evaluate/bench.ts [--rows N] [--folder DIR] [--yardstick]
 *
 * Every measurement runs in a process of its own, so that its peak memory is its own. With `--yardstick` the pandas
 * implementation beside this file scores the same pair (slow: minutes, several GB) and the ratio is printed; PYTHON
 * names the interpreter, default python3. Without pandas that part says so and is left out.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckSession } from '../../src/duck/session.js';
import { evaluateOutput } from '../../src/evaluation/evaluate.js';

const keys = ['stay_id', 'charttime'];
const columns = [
  'uo_mlkghr_6hr',
  'uo_mlkghr_12hr',
  'uo_mlkghr_24hr',
  'urineoutput_6hr',
  'urineoutput_12hr',
  'urineoutput_24hr',
  'weight',
  'uo',
  'uo_tm_6hr',
  'uo_tm_12hr',
  'uo_tm_24hr',
];
const tolerance = Object.fromEntries(columns.map((name) => [name, 0.01]));

interface Measurement {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly reward: number;
  readonly rewardRobust: number;
  /** Matched rows per column. */
  readonly matched: Readonly<Record<string, number>>;
}

interface YardstickMeasurement {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly result: {
    readonly error?: string;
    readonly columns?: Readonly<Record<string, { readonly matched: number }>>;
  };
}

/** The reference, and an output with 1% of rows missing, 0.1% extra and some wrong, rounded and blank values. */
async function generate(rows: number, reference: string, output: string): Promise<void> {
  await using session = await DuckSession.open({ memoryBytes: 2 * 1024 ** 3 });
  const weight = '50 + hash(i // 45) % 600 / 10.0';
  await session.run(`copy (
    select (30000000 + i // 45 * 2)::integer as stay_id,
      timestamp '2150-01-01' + to_hours((i % 45)::bigint) + to_minutes((i // 45 % 60)::bigint) as charttime,
      round(${weight}, 1)::double as weight, (hash(i) % 400)::double as uo,
      (hash(i * 3) % 2000)::double as urineoutput_6hr, (hash(i * 5) % 4000)::double as urineoutput_12hr,
      (hash(i * 7) % 8000)::double as urineoutput_24hr,
      case when i % 45 < 6 then null else round((hash(i * 3) % 2000) / (${weight}) / 6, 4)::double end as uo_mlkghr_6hr,
      case when i % 45 < 12 then null else round((hash(i * 5) % 4000) / (${weight}) / 12, 4)::double end as uo_mlkghr_12hr,
      case when i % 45 < 24 then null else round((hash(i * 7) % 8000) / (${weight}) / 24, 4)::double end as uo_mlkghr_24hr,
      round(hash(i * 19) % 360 / 60.0, 2)::double as uo_tm_6hr,
      round(hash(i * 23) % 720 / 60.0, 2)::double as uo_tm_12hr,
      round(hash(i * 29) % 1440 / 60.0, 2)::double as uo_tm_24hr
    from range(${rows}) numbers(i) order by stay_id, charttime
  ) to '${reference}' (format parquet, compression zstd)`);
  await session.run(`copy (
    select case when hash(stay_id, charttime) % 1000 = 1 then stay_id + 1 else stay_id end as stay_id, charttime,
      weight * case when hash(charttime, stay_id) % 50 = 1 then 2.2 else 1 end as weight, uo,
      urineoutput_6hr, urineoutput_12hr, urineoutput_24hr + case when hash(stay_id) % 40 = 1 then 1 else 0 end as urineoutput_24hr,
      round(uo_mlkghr_6hr, case when hash(stay_id) % 20 = 1 then 1 else 4 end) as uo_mlkghr_6hr, uo_mlkghr_12hr,
      case when hash(stay_id) % 30 = 1 then null else uo_mlkghr_24hr end as uo_mlkghr_24hr,
      uo_tm_6hr, uo_tm_12hr, uo_tm_24hr
    from read_parquet('${reference}') where hash(stay_id, charttime) % 100 <> 7
  ) to '${output}' (format csv, header)`);
}

async function measure(mode: string, reference: string, output: string): Promise<Measurement> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const { evaluation } = await evaluateOutput({
    task: {
      name: 'mimic-urine-output-rate',
      contract: {
        keyColumns: keys,
        requiredColumns: [...keys, ...columns],
        valueColumns: columns.slice(0, 6),
        scoredColumns: columns,
        tolerance,
        rowCoverageThreshold: 0.95,
        accuracyThreshold: 1,
      },
    },
    dataset: null,
    outputPath: output,
    referencePath: reference,
    scoresOnly: mode === 'scores-only',
  });
  if (evaluation.error !== null) throw new Error(evaluation.error);
  const used = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    reward: evaluation.reward,
    rewardRobust: evaluation.rewardRobust,
    matched: Object.fromEntries(
      Object.entries(evaluation.columns).map(([name, column]) => [name, column.matched]),
    ),
  };
}

/** Runs a command and parses the last line that it prints. */
function lastLine(command: string, args: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(text.trim().split('\n').at(-1) ?? 'null'));
      else reject(new Error(`${command} ended with code ${code}.`));
    });
  });
}

const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(2)} GiB`;

async function yardstick(
  folder: string,
  reference: string,
  output: string,
  ours: Measurement,
): Promise<void> {
  const python = process.env.PYTHON ?? 'python3';
  const script = fileURLToPath(new URL('yardstick.py', import.meta.url));
  const truth = join(folder, 'reference.csv');
  try {
    await lastLine(python, ['-c', 'import pandas; print(1)']);
  } catch {
    console.log('yardstick     pandas is not installed for python3; no ratio.');
    return;
  }
  await using session = await DuckSession.open();
  await session.run(`copy (from read_parquet('${reference}')) to '${truth}' (format csv, header)`);
  const config = join(folder, 'yardstick.json');
  await writeFile(config, JSON.stringify({ truth, output, keys, columns, tolerance }));
  const found = (await lastLine(python, [script, 'compare', config])) as YardstickMeasurement;
  console.log(
    `yardstick     ${found.seconds.toFixed(1)} s, ${found.cpuSeconds.toFixed(1)} s of CPU, peak ${gigabytes(found.peakBytes)}`,
  );
  console.log(
    `ratio         ${(found.seconds / ours.seconds).toFixed(1)} in time, ${(found.cpuSeconds / ours.cpuSeconds).toFixed(1)} in CPU, ${(found.peakBytes / ours.peakBytes).toFixed(1)} in memory (scores only)`,
  );
  const differing = columns.filter((name) => found.result.columns?.[name]?.matched !== ours.matched[name]);
  console.log(
    `agreement     ${differing.length === 0 ? 'every matched count is the same' : `DIFFERENT in ${differing.join(', ')} ${found.result.error ?? ''}`}`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '4126485' },
      folder: { type: 'string', default: join(tmpdir(), 'm4bench-bench-evaluate') },
      yardstick: { type: 'boolean', default: false },
      measure: { type: 'string' },
    },
  });
  const { folder } = values;
  const reference = join(folder, `reference-${values.rows}.parquet`);
  const output = join(folder, `output-${values.rows}.csv`);
  if (values.measure !== undefined) {
    console.log(JSON.stringify(await measure(values.measure, reference, output)));
    return;
  }
  await mkdir(folder, { recursive: true });
  if (!existsSync(output)) await generate(Number(values.rows), reference, output);
  const sizes = await Promise.all([stat(reference), stat(output)]);
  console.log(
    `${values.rows} rows, 13 columns: reference ${gigabytes(sizes[0].size)} of Parquet, output ${gigabytes(sizes[1].size)} of CSV; ${availableParallelism()} cores`,
  );
  const targets = { 'scores-only': 6, full: 12 };
  let scoresOnly: Measurement | undefined;
  for (const [mode, target] of Object.entries(targets)) {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), '--measure', mode];
    const found = (await lastLine(process.execPath, [
      ...args,
      '--rows',
      values.rows,
      '--folder',
      folder,
    ])) as Measurement;
    console.log(
      `${mode.padEnd(13)} ${found.seconds.toFixed(1)} s (target ${target}), ${found.cpuSeconds.toFixed(1)} s of CPU, peak ${gigabytes(found.peakBytes)}, reward ${found.reward}, robust ${found.rewardRobust}`,
    );
    scoresOnly ??= found;
  }
  if (values.yardstick && scoresOnly !== undefined) await yardstick(folder, reference, output, scoresOnly);
}

await main();
