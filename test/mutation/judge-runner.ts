import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type File, getFn, getHooks, type Suite, type Task, type Test } from '@vitest/runner';
import { TestRunner } from 'vitest';
import type { JudgedMutant } from './instrumented.js';

const folder = process.env.M4BENCH_JUDGE_FOLDER!;
const journal = path.join(folder, 'journal.jsonl');
const slowestMilliseconds = Number(process.env.M4BENCH_JUDGE_SLOWEST);
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
const reach = new Map<string, Uint32Array>();
switches.counts = between;

export type Verdict = 'Killed' | 'Survived' | 'Timeout' | 'NoCoverage' | 'Static' | 'Ignored';

/**
 * Runs every test once to learn which mutants it reaches, then plays each mutant against those tests, without loading
 * a module again. That is what makes a mutant cost milliseconds; a mutant that only acts while modules load cannot be
 * judged in this way, and is left out as with Stryker's `ignoreStatic`.
 */
export default class JudgeRunner extends TestRunner {
  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    switches.counts = new Uint32Array(mutants.length);
    reach.set(test.id, switches.counts);
  }

  override onAfterRunTask(test: Task): void {
    switches.counts = between;
    super.onAfterRunTask(test);
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    if ('filepath' in suite) await judge(suite as File, this);
    await super.onAfterRunSuite(suite);
  }
}

async function judge(file: File, runner: JudgeRunner): Promise<void> {
  const tests = testsOf(file).filter((test) => test.mode === 'run');
  const failed = tests.filter((test) => test.result?.state !== 'pass');
  if (failed.length > 0)
    throw new Error(`Fails without a mutant: ${failed.map((test) => test.name).join('; ')}`);
  const chosen = new Set(JSON.parse(readFileSync(path.join(folder, 'chosen.json'), 'utf8')) as string[]);
  const told = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [];
  const done = new Set(told.filter((line) => line !== '').map((line) => JSON.parse(line).id as string));
  switches.counts = undefined;
  await openAgain(file);
  const quick = tests
    .filter((test) => (test.result?.duration ?? 0) <= slowestMilliseconds)
    .sort((a, b) => (a.result?.duration ?? 0) - (b.result?.duration ?? 0));
  // What takes next to no time comes first, then what killed a mutant last: neighbours die of the same test.
  const killedAt = new Map<Test, number>();
  const rank = (test: Test): number =>
    (test.result?.duration ?? 0) < 3 ? Number.MAX_SAFE_INTEGER : (killedAt.get(test) ?? -1);
  for (const mutant of mutants) {
    if (!chosen.has(mutant.id) || done.has(mutant.id)) continue;
    const hitsOf = (test: Test): number => reach.get(test.id)![Number(mutant.id)]!;
    const reaching = quick.filter((test) => hitsOf(test) > 0).sort((a, b) => rank(b) - rank(a));
    if (mutant.ignored !== undefined) tell(mutant, 'Ignored');
    else if (reaching.length === 0)
      tell(
        mutant,
        between[Number(mutant.id)]! > 0 && !tests.some((test) => hitsOf(test) > 0) ? 'Static' : 'NoCoverage',
      );
    else {
      writeFileSync(path.join(folder, 'playing'), `${mutant.id} ${process.pid}`);
      const hits = reaching.reduce((sum, test) => sum + hitsOf(test), 0);
      const killer = await play(mutant, reaching, hits, runner);
      if (killer === undefined) continue;
      killedAt.set(killer, Number(mutant.id));
      await heal(file, killer, runner);
    }
  }
}

async function play(
  mutant: JudgedMutant,
  reaching: readonly Test[],
  hits: number,
  runner: JudgeRunner,
): Promise<Test | undefined> {
  for (const test of reaching) {
    switches.hits = 0;
    switches.limit = hits * 20 + 1000;
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

/** Opens again what `afterAll` closed: the sessions and folders that tests share. */
async function openAgain(suite: Suite): Promise<void> {
  const { beforeAll, afterAll } = getHooks(suite);
  if (afterAll.length > 0) for (const hook of beforeAll) await (hook as (suite: Suite) => unknown)(suite);
  for (const task of suite.tasks) if (task.type === 'suite') await openAgain(task);
}

/** A mutant may leave a shared session in disorder: the test that it failed must pass again before the next mutant. */
async function heal(file: File, killer: Test, runner: JudgeRunner): Promise<void> {
  switches.limit = Number.POSITIVE_INFINITY;
  runner.onBeforeTryTask(killer);
  if (await passes(killer)) return;
  await openAgain(file);
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
