import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type File, getFn, getHooks, type Suite, type Task, type Test } from '@vitest/runner';
import { TestRunner } from 'vitest';
import type { JudgedMutant } from './instrumented.js';

const folder = process.env.M4BENCH_JUDGE_FOLDER!;
const journal = path.join(folder, 'journal.jsonl');
/** Processor time of one test, and of all tests that judge one mutant, in milliseconds. */
const slowest = Number(process.env.M4BENCH_JUDGE_SLOWEST);
const budget = Number(process.env.M4BENCH_JUDGE_BUDGET);
const mutants = JSON.parse(readFileSync(path.join(folder, 'mutants.json'), 'utf8')) as JudgedMutant[];

/** What the instrumented sources ask: which mutant acts, and, while all tests run without one, what each reaches. */
const switches = {
  active: -1,
  hits: 0,
  limit: 0,
  /** Hits by mutant of the test that runs, or of what runs between tests. */
  counts: undefined as Uint32Array | undefined,
  hit(): true {
    switches.hits += 1;
    if (switches.hits > switches.limit) throw new Error('The mutant is endless.');
    return true;
  },
  count(...ids: readonly number[]): void {
    for (const id of ids) switches.counts![id]! += 1;
  },
};
(globalThis as Record<string, unknown>).m4Switches = switches;
const between = new Uint32Array(mutants.length);
switches.counts = between;
/** What a test reaches, and the processor time that it takes. */
const reach = new Map<string, { readonly counts: Uint32Array; milliseconds: number }>();
/** The same from before an endless mutant ended this process. */
const known = path.join(folder, 'reach.bin');

export type Verdict = 'Killed' | 'Survived' | 'Timeout' | 'NoCoverage' | 'Static' | 'Ignored';

/**
 * Runs every test once to learn which mutants it reaches, then plays each mutant against those tests, without loading
 * a module again. That is what makes a mutant cost milliseconds; a mutant that only acts while modules load cannot be
 * judged in this way, and is left out as with Stryker's `ignoreStatic`.
 */
export default class JudgeRunner extends TestRunner {
  onCollected(files: File[]): void {
    if (!existsSync(known)) return;
    for (const test of files.flatMap(testsOf)) test.mode = 'skip';
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    if (test.mode === 'skip') return;
    switches.counts = new Uint32Array(mutants.length);
    reach.set(test.id, { counts: switches.counts, milliseconds: -processorMilliseconds() });
  }

  override onAfterRunTask(test: Task): void {
    switches.counts = between;
    const own = reach.get(test.id);
    if (own !== undefined) own.milliseconds += processorMilliseconds();
    super.onAfterRunTask(test);
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    if ('filepath' in suite) await judge(suite as File, this);
    await super.onAfterRunSuite(suite);
  }
}

function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function keepReach(): void {
  const tests = [...reach].map(([id, { milliseconds }]) => ({ id, milliseconds }));
  writeFileSync(path.join(folder, 'reach.json'), JSON.stringify(tests));
  const all = [between, ...[...reach.values()].map(({ counts }) => counts)];
  writeFileSync(known, Buffer.concat(all.map((counts) => Buffer.from(counts.buffer))));
}

function readReach(): void {
  const bytes = readFileSync(known);
  const part = (index: number): Uint32Array =>
    new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * mutants.length * index, mutants.length);
  between.set(part(0));
  const tests = JSON.parse(readFileSync(path.join(folder, 'reach.json'), 'utf8')) as {
    readonly id: string;
    readonly milliseconds: number;
  }[];
  for (const [index, { id, milliseconds }] of tests.entries())
    reach.set(id, { counts: part(index + 1), milliseconds });
}

async function judge(file: File, runner: JudgeRunner): Promise<void> {
  switches.counts = undefined;
  if (existsSync(known)) {
    readReach();
    await open(file, () => true);
  } else {
    const failed = testsOf(file).filter((test) => test.result?.state === 'fail');
    if (failed.length > 0)
      throw new Error(`Fails without a mutant: ${failed.map((test) => test.name).join('; ')}`);
    keepReach();
    await open(file, isClosed);
  }
  const tests = testsOf(file).filter((test) => reach.has(test.id));
  const chosen = new Set(JSON.parse(readFileSync(path.join(folder, 'chosen.json'), 'utf8')) as string[]);
  const told = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [];
  const done = new Set(told.filter((line) => line !== '').map((line) => JSON.parse(line).id as string));
  const timeOf = (test: Test): number => reach.get(test.id)!.milliseconds;
  const quick = tests.filter((test) => timeOf(test) <= slowest).sort((a, b) => timeOf(a) - timeOf(b));
  // What takes next to no time comes first, then what killed a mutant last: neighbours die of the same test.
  const killedAt = new Map<Test, number>();
  const rank = (test: Test): number =>
    timeOf(test) < 3 ? Number.MAX_SAFE_INTEGER : (killedAt.get(test) ?? -1);
  for (const mutant of mutants) {
    if (!chosen.has(mutant.id) || done.has(mutant.id)) continue;
    const hitsOf = (test: Test): number => reach.get(test.id)!.counts[Number(mutant.id)]!;
    const reached = quick.filter((test) => hitsOf(test) > 0).sort((a, b) => rank(b) - rank(a));
    const isStatic = between[Number(mutant.id)]! > 0 && !tests.some((test) => hitsOf(test) > 0);
    if (mutant.ignored !== undefined) tell(mutant, 'Ignored');
    else if (reached.length === 0) tell(mutant, isStatic ? 'Static' : 'NoCoverage');
    else {
      const killer = await play(mutant, affordable(reached, timeOf), hitsOf, runner);
      if (killer === undefined) continue;
      killedAt.set(killer, Number(mutant.id));
      await heal(file, killer, runner);
    }
  }
}

/** The first tests that together stay within the budget. */
function affordable(tests: readonly Test[], timeOf: (test: Test) => number): readonly Test[] {
  let left = budget;
  return tests.filter((test) => {
    left -= timeOf(test);
    return left >= 0;
  });
}

async function play(
  mutant: JudgedMutant,
  reaching: readonly Test[],
  hitsOf: (test: Test) => number,
  runner: JudgeRunner,
): Promise<Test | undefined> {
  for (const test of reaching) {
    // Rewritten for each test: who watches ends what stays here for too long.
    writeFileSync(path.join(folder, 'playing'), `${mutant.id} ${process.pid} ${test.id}`);
    switches.hits = 0;
    switches.limit = hitsOf(test) * 20 + 1000;
    switches.active = Number(mutant.id);
    runner.onBeforeTryTask(test);
    const isPassed = await passes(test);
    const isEndless = switches.hits > switches.limit;
    switches.active = -1;
    if (isPassed && !isEndless) continue;
    tell(mutant, isEndless ? 'Timeout' : 'Killed', test);
    return test;
  }
  tell(mutant, 'Survived');
  return undefined;
}

const isClosed = (suite: Suite): boolean => getHooks(suite).afterAll.length > 0;

/** Opens what tests share: the sessions and folders that `afterAll` closed, or that nothing opened yet. */
async function open(suite: Suite, isWanted: (suite: Suite) => boolean): Promise<void> {
  if (isWanted(suite))
    for (const hook of getHooks(suite).beforeAll) await (hook as (suite: Suite) => unknown)(suite);
  for (const task of suite.tasks) if (task.type === 'suite') await open(task, isWanted);
}

/** A mutant may leave a shared session in disorder: the test that it failed must pass again before the next mutant. */
async function heal(file: File, killer: Test, runner: JudgeRunner): Promise<void> {
  switches.limit = Number.POSITIVE_INFINITY;
  runner.onBeforeTryTask(killer);
  if (await passes(killer)) return;
  await open(file, isClosed);
  runner.onBeforeTryTask(killer);
  // The next process starts anew behind this mutant.
  if (!(await passes(killer))) process.exit(3);
}

/** Plays a test with the hooks around it; those of `beforeAll` have run and stay as they are. */
async function passes(test: Test): Promise<boolean> {
  const suites: Suite[] = [];
  for (let suite: Suite | undefined = test.suite ?? test.file; suite !== undefined; suite = suite.suite)
    suites.unshift(suite);
  const cleanups: (() => unknown)[] = [];
  let isPassed = true;
  try {
    for (const suite of suites) {
      for (const hook of getHooks(suite).beforeEach) {
        const cleanup = await (hook as (...given: unknown[]) => unknown)(test.context, suite);
        if (typeof cleanup === 'function') cleanups.unshift(cleanup as () => unknown);
      }
    }
    await getFn(test)();
  } catch {
    isPassed = false;
  }
  try {
    for (const suite of suites.toReversed()) {
      for (const hook of getHooks(suite).afterEach)
        await (hook as (...given: unknown[]) => unknown)(test.context, suite);
    }
    for (const cleanup of cleanups) await cleanup();
  } catch {
    isPassed = false;
  }
  return isPassed;
}

function tell(mutant: JudgedMutant, verdict: Verdict, test?: Test): void {
  appendFileSync(
    journal,
    `${JSON.stringify({ id: mutant.id, verdict, ...(test ? { by: test.name } : {}) })}\n`,
  );
}

function testsOf(suite: Suite): Test[] {
  return suite.tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task as Test]));
}
