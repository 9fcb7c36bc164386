import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { instrumented, type JudgedMutant, mutatedFiles } from './instrumented.js';

/*
 * Mutation score of one folder of `src/`, in minutes: Stryker's mutants, judged in one process.
 *
 *   npm run test:mutants -- analysis --survivors
 *   npm run test:mutants -- evaluation --files score,verdict --tests verdict,published-values
 *   npm run test:mutants -- evaluation --sample 500 --seed 1
 *
 * Prints killed / valid by file, for a sample with its 95 % interval, and with --survivors each mutant that lives. Tests
 * judge a mutant from the quickest on, up to --slowest (250) and together --budget (1000) milliseconds of processor time,
 * and only those of --tests, so that the score is a lower bound. Mutants that act only while modules load are counted as `static` and are not valid,
 * as with Stryker's `ignoreStatic`; what a test file computes outside of its tests looks the same, so it should compute
 * nothing there. Verdicts are in .cache/judge-FOLDER/.
 */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    tests: { type: 'string', default: '' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    survivors: { type: 'boolean', default: false },
    slowest: { type: 'string', default: '250' },
    budget: { type: 'string', default: '1000' },
  },
});
const root = path.resolve(import.meta.dirname, '../..');
const folder = positionals[0] ?? 'analysis';
const place = path.join(root, '.cache', `judge-${folder}`);
const journal = path.join(place, 'journal.jsonl');
const playing = path.join(place, 'playing');
/** A mutant that plays one test for so much processor time, or so long, is endless. */
const patienceProcessorSeconds = 5;
const patienceSeconds = 120;

rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
const { mutants } = await instrumented(root, mutatedFiles(root, folder));
const wanted = options.files?.split(',');
let chosen = mutants.filter(
  (mutant) => wanted === undefined || wanted.includes(path.basename(mutant.file, '.ts')),
);
if (options.sample !== undefined) chosen = sampled(chosen, Number(options.sample), Number(options.seed));
writeFileSync(path.join(place, 'mutants.json'), JSON.stringify(mutants));
writeFileSync(path.join(place, 'chosen.json'), JSON.stringify(chosen.map((mutant) => mutant.id)));

for (;;) {
  const before = verdicts().size;
  const { code, output } = await judging();
  if (verdicts().size >= chosen.length) break;
  if (existsSync(playing)) {
    // Stalled or died with this mutant.
    const [id] = readFileSync(playing, 'utf8').split(' ') as [string];
    if (!verdicts().has(id)) appendFileSync(journal, `${JSON.stringify({ id, verdict: 'Timeout' })}\n`);
  }
  if (verdicts().size === before) {
    process.stderr.write(`${output}\nThe tests ended with code ${code} before a verdict.\n`);
    process.exit(1);
  }
}
print();

/** Plays what has no verdict yet; ends when all have one or when one stalls. */
function judging(): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
    const child = spawn(process.execPath, [vitest, 'run', '--config', 'test/mutation/judge.config.ts'], {
      cwd: root,
      env: {
        ...process.env,
        M4BENCH_MUTANTS_OF: folder,
        M4BENCH_JUDGE_FOLDER: place,
        M4BENCH_JUDGE_SLOWEST: options.slowest,
        M4BENCH_JUDGE_TESTS: options.tests,
        M4BENCH_JUDGE_BUDGET: options.budget,
      },
      detached: true,
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    let seen = { at: 0, since: 0, processor: 0 };
    const watch = setInterval(() => {
      if (!existsSync(playing)) return;
      const at = statSync(playing).mtimeMs;
      const processor = processorSeconds(readFileSync(playing, 'utf8').split(' ')[1] ?? '');
      if (at !== seen.at) seen = { at, since: Date.now(), processor };
      const isStalled =
        processor - seen.processor > patienceProcessorSeconds ||
        Date.now() - seen.since > 1000 * patienceSeconds;
      if (isStalled) process.kill(-child.pid!, 'SIGKILL');
    }, 500);
    child.on('close', (code) => {
      clearInterval(watch);
      resolve({ code, output });
    });
  });
}

/** Processor time of a process so far; 0 where the system does not tell. */
function processorSeconds(pid: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

function verdicts(): ReadonlyMap<string, string> {
  if (!existsSync(journal)) return new Map();
  const lines = readFileSync(journal, 'utf8').trim().split('\n');
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .map((told) => [told.id, told.verdict]),
  );
}

/** The first `count` of a seeded shuffle (xorshift; Fisher and Yates). */
function sampled(all: readonly JudgedMutant[], count: number, seed: number): JudgedMutant[] {
  const shuffled = [...all];
  let state = (seed * 2654435761) >>> 0 || 1;
  const below = (bound: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled.slice(0, count);
}

function print(): void {
  const told = verdicts();
  const byFile = new Map<string, JudgedMutant[]>();
  for (const mutant of chosen) byFile.set(mutant.file, [...(byFile.get(mutant.file) ?? []), mutant]);
  const count = (of: readonly JudgedMutant[], ...kinds: string[]): number =>
    of.filter((mutant) => kinds.includes(told.get(mutant.id) ?? '')).length;
  const row = (name: string, of: readonly JudgedMutant[]): string => {
    const killed = count(of, 'Killed', 'Timeout');
    const valid = killed + count(of, 'Survived', 'NoCoverage');
    const score = valid === 0 ? '-' : ((100 * killed) / valid).toFixed(1);
    return [
      name.padEnd(42),
      score,
      killed,
      valid,
      count(of, 'Survived'),
      count(of, 'NoCoverage'),
      count(of, 'Static'),
    ]
      .map((cell, index) => (index === 0 ? cell : String(cell).padStart(9)))
      .join('');
  };
  console.log(`${'file'.padEnd(42)}    score   killed    valid survived  no test   static`);
  for (const [file, of] of byFile) console.log(row(file, of));
  console.log(row('all', chosen));
  if (options.sample !== undefined) console.log(intervalOf(chosen, told));
  const survivors = chosen.filter((mutant) => ['Survived', 'NoCoverage'].includes(told.get(mutant.id) ?? ''));
  writeFileSync(path.join(place, 'survivors.json'), JSON.stringify(survivors, null, 1));
  if (!options.survivors) return;
  for (const mutant of survivors) {
    console.log(
      `${mutant.file}:${mutant.line}:${mutant.column} ${told.get(mutant.id)} ${mutant.mutator}\n  - ${short(mutant.original)}\n  + ${short(mutant.replacement)}`,
    );
  }
}

/** Wilson's 95 % interval of the share that is killed. */
function intervalOf(of: readonly JudgedMutant[], told: ReadonlyMap<string, string>): string {
  const verdictsOf = of.map((mutant) => told.get(mutant.id) ?? '');
  const killed = verdictsOf.filter((verdict) => verdict === 'Killed' || verdict === 'Timeout').length;
  const valid =
    killed + verdictsOf.filter((verdict) => verdict === 'Survived' || verdict === 'NoCoverage').length;
  const [share, z] = [killed / valid, 1.96];
  const centre = (share + z ** 2 / (2 * valid)) / (1 + z ** 2 / valid);
  const half =
    (z * Math.sqrt((share * (1 - share)) / valid + z ** 2 / (4 * valid ** 2))) / (1 + z ** 2 / valid);
  const percent = (value: number): string => (100 * value).toFixed(1);
  return `95 % interval of the sample: ${percent(centre - half)} to ${percent(centre + half)}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}
