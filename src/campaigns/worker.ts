import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { isRateLimited } from '../runs/failure.js';
import type { PreparedCell } from '../runs/prepare.js';
import type { Attempt, RunResult } from '../runs/result.js';
import { executeRun, type RunEnvironment } from '../runs/run.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { budgetReached } from './budget.js';
import { spentOn } from './campaign-index.js';
import type { CampaignPlan, PlannedRun } from './plan.js';
import { connectTo, QueueState, queueNameOf, type RunJob } from './queue-state.js';
import type { RunStore } from './run-store.js';

/** What a job gives back: no data, the result is in the store. */
export interface JobReturn {
  readonly run: number;
}

export interface WorkQueueOptions {
  readonly url: string;
  readonly plan: CampaignPlan;
  readonly store: RunStore;
  /** Throws `INPUTS_CHANGED` when this machine would not make the planned run; the worker then refuses to go on. */
  readonly prepare: (cell: number) => Promise<PreparedCell>;
  readonly environment: RunEnvironment;
  readonly execute?: typeof executeRun;
  /** Runs at once in this process, default 1. */
  readonly parallel?: number;
  readonly retryMilliseconds?: number;
  /** How long a worker may be silent before its runs are given to others, default 30 s. */
  readonly lockMilliseconds?: number;
  readonly onRun?: (run: PlannedRun, result: RunResult, wasFirst: boolean) => void;
  readonly onTrouble?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Makes runs of a campaign as they come from its queue, until the signal. A run that is interrupted goes back to the
 * queue; one whose worker dies is given to another when the lock on its job runs out.
 *
 * Throws what makes this machine unfit for the campaign (`INPUTS_CHANGED`, `ENGINE_DIFFERS`); its runs go back first.
 */
export async function workQueue(options: WorkQueueOptions): Promise<{ readonly made: number }> {
  const { plan, url } = options;
  const trouble = options.onTrouble ?? (() => {});
  const redis = connectTo(url, trouble);
  const blocking = connectTo(url, trouble);
  const lock = options.lockMilliseconds ?? 30_000;
  const queue = new Queue<RunJob, JobReturn>(queueNameOf(plan), { connection: redis });
  queue.on('error', (error) => trouble(messageOf(error)));
  const session = new WorkerSession(options, queue, new QueueState(redis, plan));
  const worker = new Worker<RunJob, JobReturn>(queueNameOf(plan), (job, token) => session.make(job, token), {
    connection: blocking,
    concurrency: options.parallel ?? 1,
    lockDuration: lock,
    stalledInterval: lock,
    // A run is taken over as often as it takes: machines fail more often than runs do harm.
    maxStalledCount: 1_000_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('error', (error) => trouble(messageOf(error)));
  try {
    await session.ended;
    await worker.close();
  } finally {
    await queue.close().catch(() => {});
    redis.disconnect();
    blocking.disconnect();
  }
  if (session.refusal !== undefined) throw session.refusal;
  return { made: session.made };
}

class WorkerSession {
  readonly ended: Promise<void>;
  refusal: M4BenchError | undefined;
  made = 0;
  private readonly name = `${process.pid}-${randomBytes(4).toString('hex')}`;
  private readonly stop = new AbortController();
  private readonly cells = new Map<number, Promise<PreparedCell>>();

  constructor(
    private readonly options: WorkQueueOptions,
    private readonly queue: Queue<RunJob, JobReturn>,
    private readonly state: QueueState,
  ) {
    this.ended = new Promise((resolve) => this.stop.signal.addEventListener('abort', () => resolve()));
    if (options.signal?.aborted) this.stop.abort();
    options.signal?.addEventListener('abort', () => this.stop.abort());
  }

  /** Makes the run of a job. What it throws fails the job; the coordinator puts that on record. */
  async make(job: Job<RunJob, JobReturn>, token: string | undefined): Promise<JobReturn> {
    const { plan, store } = this.options;
    const run = plan.runs[job.data.run];
    if (job.data.planHash !== plan.planHash || run === undefined)
      throw new Error('JOB_INVALID: not of this plan');
    if (this.stop.signal.aborted) return await this.giveBack(job, token, 0);
    if ((await store.finished([run.runId])).get(run.runId) === 'judged') return { run: job.data.run };
    if (await this.isBudgetReached()) return await this.giveBack(job, token, 5000);
    let prepared: PreparedCell;
    try {
      prepared = await this.prepared(run.cell);
    } catch (thrown) {
      if (!(thrown instanceof M4BenchError) || thrown.party !== 'environment') throw failure(thrown);
      this.refusal = thrown;
      this.stop.abort();
      return await this.giveBack(job, token, 0);
    }
    const result = await this.execute(run, prepared).catch((thrown: unknown) => {
      throw failure(thrown);
    });
    if (result === undefined) return await this.giveBack(job, token, 0);
    return { run: job.data.run };
  }

  private async execute(run: PlannedRun, prepared: PreparedCell): Promise<RunResult | undefined> {
    const { plan, store, environment } = this.options;
    const staged = await store.begin(run.runId, this.name);
    const result = await (this.options.execute ?? executeRun)(environment, {
      campaign: plan.name,
      runFolder: staged.folder,
      runId: run.runId,
      trial: run.trial,
      prepared,
      beforeRetry: (failed) => this.beforeRetry(failed, environment.providers.length > 0),
      signal: this.stop.signal,
    });
    if (result === undefined) return undefined;
    const spent = await spentOn(staged.folder, result);
    const wasFirst = await staged.publish();
    if (wasFirst) {
      this.made += 1;
      await this.state.count(run.runId, spent);
      if (isRateLimited(result.failureReason)) await this.slowDown();
      else if (result.status === 'judged')
        await this.queue.setGlobalConcurrency(await this.state.succeeded());
    }
    this.options.onRun?.(run, result, wasFirst);
    return result;
  }

  private prepared(cell: number): Promise<PreparedCell> {
    const known = this.cells.get(cell) ?? this.options.prepare(cell);
    this.cells.set(cell, known);
    known.catch(() => this.cells.delete(cell));
    return known;
  }

  private async isBudgetReached(): Promise<boolean> {
    const { budget, spent } = await this.state.budget();
    // This job is active already and is the one to come.
    const underWay = Math.max(0, (await this.queue.getActiveCount()) - 1);
    return budgetReached(budget, { ...spent, underWay }) !== undefined;
  }

  private async giveBack(job: Job, token: string | undefined, milliseconds: number): Promise<never> {
    await job.moveToDelayed(Date.now() + milliseconds, token);
    throw new DelayedError();
  }

  private async beforeRetry(failed: Attempt, asksModel: boolean): Promise<void> {
    const base = this.options.retryMilliseconds ?? (asksModel ? 15_000 : 0);
    const wait = isRateLimited(failed.failureReason) ? await this.slowDown() : base * 2 ** (failed.n - 1);
    await sleep(wait, undefined, { signal: this.stop.signal }).catch(() => {});
  }

  /** Lowers the share of all workers and holds the queue for all of them; the wait in ms. */
  private async slowDown(): Promise<number> {
    const { share, hold } = await this.state.rateLimited(this.options.retryMilliseconds ?? 15_000);
    await this.queue.setGlobalConcurrency(share);
    if (hold > 0) await this.queue.rateLimit(hold);
    return hold;
  }
}

/** Code and message in the one text that a failed job keeps. */
function failure(thrown: unknown): Error {
  const code = thrown instanceof M4BenchError ? thrown.code : 'INTERNAL';
  return new Error(`${code}: ${messageOf(thrown)}`);
}
