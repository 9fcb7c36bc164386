import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CampaignPlan, freezePlan, planCells, readPlan } from '../../src/campaigns/plan.js';
import { runCampaign } from '../../src/campaigns/run.js';
import { campaignStatus } from '../../src/campaigns/status.js';
import { recordTestRun, testCell } from '../../src/campaigns/test-campaign.js';
import type { PreparedCell } from '../../src/runs/prepare.js';
import type { RunEnvironment } from '../../src/runs/run.js';
import { homeAt } from '../../src/support/home.js';

/**
 * What the scheduler costs, with runs that only write their files: overhead per run, memory as results pile up, and the
 * state of a campaign of that size. `npm run bench:campaigns [runs]`, default 10,000. The target: under 20 ms a run,
 * state in under 2 s, flat memory.
 */
const wanted = Number(process.argv[2] ?? 10_000);
const cellCount = 500;

function plan(): CampaignPlan {
  const cells = Array.from({ length: cellCount }, (_, index) => testCell({ task: `task-${index}` }));
  const options = { name: 'bench', benchmarkVersion: '0', seed: '1', sandbox: 'process', timeoutSeconds: 60 };
  return planCells({ ...options, cells, trials: Math.ceil(wanted / cellCount) });
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
};

const root = await mkdtemp(join(tmpdir(), 'm4bench-bench-'));
try {
  const home = homeAt(root);
  const planned = plan();
  const runs = planned.runs.length;
  const byId = new Map(planned.runs.map((run) => [run.runId, run]));
  console.log(`${runs} runs, ${cellCount} cells`);
  console.log(`freeze plan   ${(await seconds(() => freezePlan(home, planned))).toFixed(2)} s`);
  let writing = 0;
  let finished = 0;
  const environment = {
    sandbox: { kind: 'process' },
    limits: { memoryBytes: 1 },
    providers: [],
    benchmarkVersion: '0',
  } as unknown as RunEnvironment;
  const total = await seconds(() =>
    runCampaign({
      home,
      plan: planned,
      prepare: async (cell) => ({ cell: planned.cells[cell] }) as PreparedCell,
      environment,
      execute: async (_environment, request) => {
        const started = performance.now();
        const result = await recordTestRun(request.runFolder, planned, byId.get(request.runId)!);
        writing += performance.now() - started;
        return result;
      },
      onEvent: ({ kind }) => {
        if (kind !== 'finished') return;
        finished += 1;
        if (finished % (runs / 5) !== 0) return;
        globalThis.gc?.();
        const { heapUsed } = process.memoryUsage();
        console.log(`  after ${finished} runs: heap ${(heapUsed / 1024 ** 2).toFixed(0)} MiB`);
      },
    }),
  );
  console.log(`overhead      ${((total * 1000 - writing) / runs).toFixed(2)} ms a run`);
  const state = await seconds(async () => campaignStatus(home, (await readPlan(home, planned.name))!));
  console.log(`status        ${state.toFixed(2)} s`);
  const resume = await seconds(() =>
    runCampaign({
      home,
      plan: planned,
      prepare: () => Promise.reject(new Error('nothing is to be done')),
      environment,
    }),
  );
  console.log(`resume (none) ${resume.toFixed(2)} s`);
} finally {
  await rm(root, { recursive: true, force: true });
}
