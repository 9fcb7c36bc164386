import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, QueueEvents } from 'bullmq';
import { messageOf } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { budgetReached, type CampaignBudget } from './budget.js';
import { entryOf, type OpenIndex, openIndex, readResult } from './campaign-index.js';
import { readWish, type Wish, wish } from './control.js';
import { lockCampaign } from './lock.js';
import { type CampaignFolder, type CampaignPlan, campaignFolder, type PlannedRun } from './plan.js';
import { connectTo, QueueState, queueNameOf, type RunJob } from './queue-state.js';
import type { CampaignEvent, CampaignOutcome } from './run.js';
import type { RunStore } from './run-store.js';
import type { JobReturn } from './worker.js';

export interface CoordinateOptions {
  readonly url: string;
  readonly home: Home;
  readonly plan: CampaignPlan;
  readonly store: RunStore;
  /** Runs at once over all workers, default as many as the workers take. */
  readonly parallel?: number;
  readonly budget?: CampaignBudget;
  /** How often the store is looked through and the queue compared with it, default 2 s. */
  readonly pollMilliseconds?: number;
  readonly onEvent?: (event: CampaignEvent) => void;
  readonly onTrouble?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** Share of workers when nobody limited it. */
const manyAtOnce = 10_000;

/**
 * Runs a campaign by its queue: puts what is not done into Redis, indexes results as workers publish them, and ends when
 * all are there. Holds the lock of the campaign; makes no run itself. Redis is disposable: whatever it loses is put back
 * from plan and results.
 */
export async function coordinateCampaign(options: CoordinateOptions): Promise<CampaignOutcome> {
  const { plan, home, url } = options;
  const folder = campaignFolder(home, plan.name);
  await using _lock = await lockCampaign(folder.root, plan.name);
  if ((await readWish(folder)) !== 'run') await wish(folder, 'run');
  await using index = await openIndex(folder, plan);
  const trouble = options.onTrouble ?? (() => {});
  const redis = connectTo(url, trouble);
  const listening = connectTo(url, trouble);
  const queue = new Queue<RunJob, JobReturn>(queueNameOf(plan), { connection: redis });
  const events = new QueueEvents(queueNameOf(plan), { connection: listening });
  queue.on('error', (error) => trouble(messageOf(error)));
  events.on('error', (error) => trouble(messageOf(error)));
  try {
    const coordination = new Coordination(options, folder, index, queue, new QueueState(redis, plan));
    events.on('failed', ({ jobId, failedReason }) => coordination.failed(jobId, failedReason));
    events.on('completed', () => coordination.look());
    return await coordination.run();
  } finally {
    await events.close().catch(() => {});
    await queue.close().catch(() => {});
    redis.disconnect();
    listening.disconnect();
  }
}

class Coordination {
  private readonly pending = new Map<string, PlannedRun>();
  private readonly errors: { runId: string; code: string; message: string }[] = [];
  private readonly reported = new Map<string, { code: string; message: string }>();
  private readonly started = performance.now();
  private readonly kept: number;
  private ran = 0;
  private unjudged = 0;
  private spent = { tokens: 0, cost: 0, finished: 0 };
  private wants: Wish = 'run';
  private isPaused = false;
  private stopReason: string | undefined;
  private wake: () => void = () => {};

  constructor(
    private readonly options: CoordinateOptions,
    private readonly folder: CampaignFolder,
    private readonly index: OpenIndex,
    private readonly queue: Queue<RunJob, JobReturn>,
    private readonly state: QueueState,
  ) {
    for (const run of options.plan.runs) {
      if (index.results.get(run.runId)?.status !== 'judged') this.pending.set(run.runId, run);
    }
    this.kept = options.plan.runs.length - this.pending.size;
    for (const { spent } of index.results.values()) this.add(spent);
  }

  /** Looks at the store now instead of at the next turn. */
  look(): void {
    this.wake();
  }

  /** A job failed: a failure of the scheduler or of the cell, not of the agent. */
  failed(jobId: string, reason: string): void {
    const run = this.options.plan.runs[Number(jobId.slice('run-'.length))];
    const [, code, message] = /^([A-Z0-9_]+): (.*)$/s.exec(reason) ?? [reason, 'INTERNAL', reason];
    if (run !== undefined) this.reported.set(run.runId, { code: code!, message: message! });
    this.wake();
  }

  async run(): Promise<CampaignOutcome> {
    const { signal } = this.options;
    await this.options.store.writePlan(JSON.stringify(this.options.plan));
    await this.seed();
    for (;;) {
      // Counted before the look at the store: a job ends after its result is published, so that what is pending after the
      // look and was not lost had its job here. The other way round, a run that judged nothing and ended in between
      // looked lost and was made again.
      const held = await this.heldJobs();
      await this.collect();
      await this.heed();
      const isOver = this.pending.size === 0 || signal?.aborted === true || (await this.hasStopped());
      if (isOver) break;
      await this.refill(held);
      await this.nextTurn();
    }
    return {
      ran: this.ran,
      kept: this.kept,
      unjudged: this.unjudged,
      errors: this.errors,
      ended: this.ending(),
    };
  }

  private ending(): CampaignOutcome['ended'] {
    if (this.options.signal?.aborted && this.pending.size > 0) return { how: 'interrupted' };
    return this.stopReason === undefined ? { how: 'complete' } : { how: 'stopped', why: this.stopReason };
  }

  private async nextTurn(): Promise<void> {
    const turn = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    const { signal } = this.options;
    const either = signal === undefined ? turn.signal : AbortSignal.any([signal, turn.signal]);
    const timer = sleep(this.options.pollMilliseconds ?? 2000, undefined, { signal: either }).catch(() => {});
    await Promise.race([woken, timer]);
    turn.abort();
  }

  /** Writes to Redis what it must know of the campaign, for the first time or after it was lost. */
  private async seed(): Promise<void> {
    const parallel = this.options.parallel ?? manyAtOnce;
    await this.state.seed(this.index.results.values(), this.options.budget ?? {}, parallel);
    await this.queue.setGlobalConcurrency(parallel);
    await this.queue.resume();
    this.isPaused = false;
    await this.enqueue([...this.pending.values()]);
  }

  /** Puts back what Redis lost: everything after a restart without its data, single jobs that ended without a result. */
  private async refill(held: number): Promise<void> {
    if (!(await this.state.isThere())) {
      await this.seed();
      return;
    }
    if (held < this.pending.size) await this.enqueue([...this.pending.values()]);
  }

  /** How many jobs the queue holds, in whatever state. */
  private async heldJobs(): Promise<number> {
    const counts = await this.queue.getJobCounts();
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /** Adds jobs; one that the queue holds already stays as it is. */
  private async enqueue(runs: readonly PlannedRun[]): Promise<void> {
    const { plan } = this.options;
    const position = new Map(plan.runs.map(({ runId }, run) => [runId, run]));
    for (let from = 0; from < runs.length; from += 500) {
      await this.queue.addBulk(
        runs.slice(from, from + 500).map(({ runId }) => ({
          name: 'run',
          data: { planHash: plan.planHash, run: position.get(runId)! },
          opts: { jobId: `run-${position.get(runId)!}`, removeOnComplete: true, removeOnFail: true },
        })),
      );
    }
  }

  /** Indexes what workers published since the last look, and what they could not make. */
  private async collect(): Promise<void> {
    const { store } = this.options;
    for (const [runId] of await store.finished([...this.pending.keys()])) {
      await store.fetch(runId);
      await this.record(this.pending.get(runId)!);
    }
    for (const [runId, { code, message }] of this.reported) {
      const run = this.pending.get(runId);
      if (run === undefined) continue;
      this.pending.delete(runId);
      await this.index.journal.append({ kind: 'error', runId, code, message });
      this.errors.push({ runId, code, message });
      this.options.onEvent?.({ kind: 'error', run, code, message });
    }
    this.reported.clear();
  }

  private async record(run: PlannedRun): Promise<void> {
    const { plan } = this.options;
    const entry = await entryOf(this.folder, plan, run);
    const result = await readResult(join(this.folder.runs, run.runId));
    if (entry === undefined || result === undefined) return;
    // A result of an earlier session that judged nothing; this session is about to replace it.
    if (entry.resultSha256 === this.index.results.get(run.runId)?.resultSha256) return;
    await this.index.journal.append(entry);
    this.pending.delete(run.runId);
    this.ran += 1;
    if (entry.status === 'unjudged') this.unjudged += 1;
    this.add(entry.spent);
    await this.state.count(run.runId, entry.spent);
    this.options.onEvent?.({ kind: 'finished', run, entry, result });
  }

  private add(spent: { readonly tokens: number; readonly cost: number }): void {
    this.spent = {
      tokens: this.spent.tokens + spent.tokens,
      cost: this.spent.cost + spent.cost,
      finished: this.spent.finished + 1,
    };
  }

  /** Follows the user's wish and the budget: a paused queue starts nothing. */
  private async heed(): Promise<void> {
    const wants = await readWish(this.folder);
    if (wants !== this.wants) {
      this.wants = wants;
      this.options.onEvent?.({ kind: 'wish', wants });
    }
    if (wants === 'stop') this.stopReason ??= 'it was asked to';
    const reached = budgetReached(this.options.budget ?? {}, {
      ...this.spent,
      secondsOfSession: (performance.now() - this.started) / 1000,
      startedInSession: this.ran,
      underWay: 0,
    });
    if (reached !== undefined) this.stopReason ??= `the budget is reached: ${reached}`;
    const mustPause = wants !== 'run' || this.stopReason !== undefined;
    if (mustPause === this.isPaused) return;
    if (mustPause) await this.queue.pause();
    else await this.queue.resume();
    this.isPaused = mustPause;
  }

  private async hasStopped(): Promise<boolean> {
    return this.stopReason !== undefined && (await this.queue.getActiveCount()) === 0;
  }
}
