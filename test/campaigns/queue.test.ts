import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coordinateCampaign } from '../../src/campaigns/coordinate.js';
import { readJournal } from '../../src/campaigns/journal.js';
import { type CampaignPlan, campaignFolder, freezePlan } from '../../src/campaigns/plan.js';
import { runCampaign } from '../../src/campaigns/run.js';
import { folderStore } from '../../src/campaigns/run-store.js';
import { recordTestRun, type TestOutcome, testPlan } from '../../src/campaigns/test-campaign.js';
import { type WorkQueueOptions, workQueue } from '../../src/campaigns/worker.js';
import type { PreparedCell } from '../../src/runs/prepare.js';
import type { RunEnvironment } from '../../src/runs/run.js';
import { M4BenchError } from '../../src/support/errors.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { seededRandom } from '../../src/support/random.js';
import { cleanLeftovers } from '../../src/support/runtime-folders.js';
import { runScript, stateOf } from './crashes.js';
import { redisProgram, TestRedis } from './redis-server.js';
import { prepareSmall, smallEnvironment, smallPlan, writeReference } from './small-campaign.js';

/**
 * Campaigns by a queue on a real Redis server. `npm run test:chaos` makes 200 runs with four workers; here a few runs
 * with two.
 */
const program = redisProgram();
if (program === undefined) {
  console.warn('The queue tests are skipped: redis-server is not installed (apt-get install redis-server).');
}
const isLong = process.env.M4BENCH_CHAOS_KILLS !== undefined;

let root: string;
let home: Home;
let redis: TestRedis;
beforeAll(async () => {
  if (program === undefined) return;
  root = await mkdtemp(join(tmpdir(), 'm4bench-queue-'));
  home = homeAt(root);
  redis = await TestRedis.start(program);
  await writeReference(home);
});
afterAll(async () => {
  if (program === undefined) return;
  await redis[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
  await cleanLeftovers();
});

const environment = {
  sandbox: { kind: 'process' },
  providers: [],
  benchmarkVersion: '0',
} as unknown as RunEnvironment;
const storeOf = (plan: CampaignPlan) => folderStore(campaignFolder(home, plan.name));

/** A worker in this process whose runs only write what `play` says. */
function work(
  plan: CampaignPlan,
  signal: AbortSignal,
  play: (call: number) => TestOutcome | Promise<TestOutcome> = () => ({}),
  more: Partial<WorkQueueOptions> = {},
): Promise<{ readonly made: number }> {
  let calls = 0;
  return workQueue({
    url: redis.url,
    plan,
    store: storeOf(plan),
    prepare: async (cell) => ({ cell: plan.cells[cell] }) as PreparedCell,
    environment,
    retryMilliseconds: 50,
    lockMilliseconds: 2000,
    execute: async (_environment, request) => {
      calls += 1;
      const made = await play(calls);
      if (request.signal?.aborted) return undefined;
      const planned = plan.runs.find(({ runId }) => runId === request.runId)!;
      return await recordTestRun(request.runFolder, plan, planned, [made]);
    },
    signal,
    ...more,
  });
}

const coordinate = (plan: CampaignPlan, more: Partial<Parameters<typeof coordinateCampaign>[0]> = {}) =>
  coordinateCampaign({ url: redis.url, home, plan, store: storeOf(plan), pollMilliseconds: 50, ...more });

const published = async (plan: CampaignPlan): Promise<readonly string[]> =>
  (await readdir(campaignFolder(home, plan.name).runs)).sort();

describe.skipIf(program === undefined)('a campaign by a queue', () => {
  test('two workers share the runs; each is made and indexed once; a second session makes none', async () => {
    const plan = testPlan(5, 4, 'shared');
    await freezePlan(home, plan);
    const abort = new AbortController();
    const workers = [1, 2].map(() =>
      work(plan, abort.signal, async () => {
        await sleep(5);
        return {};
      }),
    );
    expect(await coordinate(plan)).toMatchObject({ ran: 40, kept: 0, ended: { how: 'complete' } });
    abort.abort();
    const made = (await Promise.all(workers)).map((worker) => worker.made);
    expect(made[0]! + made[1]!).toBe(40);
    expect(Math.min(...made)).toBeGreaterThan(0);
    expect(await published(plan)).toEqual(plan.runs.map(({ runId }) => runId).sort());
    const { lines } = (await readJournal(campaignFolder(home, plan.name).journal))!;
    expect(lines.filter(({ kind }) => kind === 'result')).toHaveLength(40);
    expect(await coordinate(plan)).toMatchObject({ ran: 0, kept: 40 });
  }, 60_000);

  test('a worker whose data differ refuses, gives its run back, and another makes it', async () => {
    const plan = testPlan(2, 2, 'differs');
    await freezePlan(home, plan);
    const abort = new AbortController();
    const outcome = coordinate(plan);
    const unfit = work(plan, abort.signal, undefined, {
      prepare: async () => {
        throw new M4BenchError('INPUTS_CHANGED', 'The lake is another.', 'Import it again.', {
          party: 'environment',
        });
      },
    });
    await expect(unfit).rejects.toMatchObject({ code: 'INPUTS_CHANGED' });
    const fit = work(plan, abort.signal);
    expect(await outcome).toMatchObject({ ran: 8, errors: [] });
    abort.abort();
    expect((await fit).made).toBe(8);
  }, 60_000);

  test('a run that cannot be made is put on record, and a budget stops the workers', async () => {
    const plan = testPlan(3, 4, 'budget');
    await freezePlan(home, plan);
    const abort = new AbortController();
    const worker = work(plan, abort.signal, (call) => {
      if (call === 1) throw new M4BenchError('DATA_USE_REFUSED', 'Rows may not go there.', 'Ask.');
      return { tokens: 100 };
    });
    const outcome = await coordinate(plan, { budget: { tokens: 500 } });
    expect(outcome.errors).toMatchObject([{ code: 'DATA_USE_REFUSED', message: 'Rows may not go there.' }]);
    expect(outcome).toMatchObject({ ran: 5, ended: { how: 'stopped' } });
    abort.abort();
    await worker;
    expect(await published(plan)).toHaveLength(5);
  }, 60_000);

  test('a rate limit slows all workers down, and an unjudged run is left for the next session', async () => {
    const plan = testPlan(3, 4, 'limited');
    await freezePlan(home, plan);
    const reason = 'the model service failed before the end (upstream-status, status 429)';
    const session = async (play: (call: number) => TestOutcome) => {
      const abort = new AbortController();
      const worker = work(plan, abort.signal, play, { parallel: 4 });
      const outcome = await coordinate(plan, { parallel: 4 });
      abort.abort();
      await worker;
      return outcome;
    };
    const first = await session((call) => (call === 2 ? { class: 'infrastructure', reason } : {}));
    expect(first).toMatchObject({ ran: 24, unjudged: 1, ended: { how: 'complete' } });
    expect(await session(() => ({}))).toMatchObject({ ran: 1, kept: 23, unjudged: 0 });
  }, 60_000);

  test('a run that judged nothing while the store was looked through is not made again in the same session', async () => {
    const plan = testPlan(2, 3, 'slow look');
    await freezePlan(home, plan);
    const abort = new AbortController();
    let calls = 0;
    const worker = work(plan, abort.signal, async () => {
      calls += 1;
      await sleep(60);
      return { class: 'infrastructure', reason: 'the model service failed before the end' };
    });
    // Each look takes longer than a run, so that runs end between what it saw and what comes of it.
    const store = storeOf(plan);
    const finished = async (runIds: readonly string[]) => {
      const found = await store.finished(runIds);
      await sleep(150);
      return found;
    };
    const outcome = await coordinate(plan, { store: { ...store, finished } });
    await sleep(300);
    abort.abort();
    await worker;
    expect(outcome).toMatchObject({ ran: plan.runs.length, unjudged: plan.runs.length });
    expect(calls).toBe(plan.runs.length);
  }, 60_000);

  test('workers killed, the coordinator killed, Redis restarted empty: no run lost, none twice, the same tables', async () => {
    const plan = isLong ? smallPlan(5, 20, 'chaos') : smallPlan(2, 2, 'chaos');
    await freezePlan(home, plan);
    const words = [root, plan.name, redis.url];
    const random = seededRandom('queue');
    const workers = isLong ? 4 : 2;
    const rounds = isLong ? 25 : 1;
    for (let round = 0; round < rounds; round += 1) {
      // The coordinator dies first in each round; the workers go on without it until they die too.
      const [from, to] = isLong ? [300, 1500] : [300, 900];
      const instant = (): { killAfter: number } => ({ killAfter: from! + random.integer(to! - from!) });
      const all = Promise.all([
        runScript('coordinator.ts', words, instant()),
        ...Array.from({ length: workers }, () => runScript('worker.ts', words, instant())),
      ]);
      await sleep(random.integer(1500));
      if (round % 2 === 0) await redis.restart();
      await all;
    }
    const abort = new AbortController();
    const last = Array.from({ length: 2 }, () =>
      workQueue({
        url: redis.url,
        plan,
        store: storeOf(plan),
        prepare: (cell) => prepareSmall(home, plan, cell),
        environment: smallEnvironment(),
        lockMilliseconds: 2000,
        signal: abort.signal,
      }),
    );
    const outcome = coordinate(plan);
    await sleep(500);
    await redis.restart();
    expect(await outcome).toMatchObject({ errors: [], ended: { how: 'complete' } });
    abort.abort();
    await Promise.all(last);

    const undisturbed = isLong ? smallPlan(5, 20, 'calm') : smallPlan(2, 2, 'calm');
    await freezePlan(home, undisturbed);
    await runCampaign({
      home,
      plan: undisturbed,
      prepare: (cell) => prepareSmall(home, undisturbed, cell),
      environment: smallEnvironment(),
      limits: { parallel: 2 },
    });
    const state = await stateOf(home, plan);
    const expected = await stateOf(home, undisturbed);
    expect(state.runs).toEqual(plan.runs.map(({ runId }) => runId).sort());
    expect(state.indexed).toEqual(state.runs);
    expect(state.wholeRuns).toBe(plan.runs.length);
    expect(state.tables).toEqual(expected.tables);
  }, 1_800_000);
});
