import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRateLimited } from '../runs/failure.js';
import type { PreparedCell } from '../runs/prepare.js';
import type { Attempt, RunResult } from '../runs/result.js';
import { executeRun, type RunEnvironment } from '../runs/run.js';
import { M4BenchError, messageOf, systemCodeOf } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { killPoint } from '../support/kill-point.js';
import { budgetReached, type CampaignBudget } from './budget.js';
import { entryOf, isDone, markLost, type OpenIndex, openIndex, readResult } from './campaign-index.js';
import { readWish, type Wish, wish } from './control.js';
import type { ResultEntry } from './journal.js';
import { type Demand, Limits } from './limits.js';
import { lockCampaign } from './lock.js';
import { type CampaignFolder, type CampaignPlan, campaignFolder, type PlannedRun } from './plan.js';
import { RunQueue } from './run-queue.js';

export interface CampaignLimits {
  /** Runs at once, default 1. */
  readonly parallel?: number;
  /** Runs at once that use the model provider, default as `parallel`. */
  readonly perProvider?: number;
  /** Runs at once in the sandbox, default as `parallel`. */
  readonly perSandbox?: number;
  /** Memory of all sandboxes together, default four fifths of the machine's. */
  readonly memoryBytes?: number;
}

/** What happens in a campaign, as it happens. */
export type CampaignEvent =
  | { readonly kind: 'started'; readonly run: PlannedRun }
  | {
      readonly kind: 'finished';
      readonly run: PlannedRun;
      readonly entry: ResultEntry;
      readonly result: RunResult;
    }
  | { readonly kind: 'error'; readonly run: PlannedRun; readonly code: string; readonly message: string }
  | {
      readonly kind: 'rate-limited';
      readonly service: string;
      readonly share: number;
      readonly waitSeconds: number;
    }
  | { readonly kind: 'wish'; readonly wants: Wish };

export interface RunCampaignOptions {
  readonly home: Home;
  readonly plan: CampaignPlan;
  /** Prepares a cell of the plan by index; called once per cell and session. */
  readonly prepare: (cell: number) => Promise<PreparedCell>;
  readonly environment: RunEnvironment;
  /** Makes one run, default `executeRun`. */
  readonly execute?: typeof executeRun;
  readonly limits?: CampaignLimits;
  readonly budget?: CampaignBudget;
  /** Before the second attempt at a run, default 15 s for agents with a model; doubled with each further one. */
  readonly retryMilliseconds?: number;
  /** Unjudged runs in a row after which the campaign stops: the service or the sandbox is down. Default 10. */
  readonly unjudgedInARow?: number;
  /** How often wishes are looked for, default 500. */
  readonly wishMilliseconds?: number;
  readonly onEvent?: (event: CampaignEvent) => void;
  /** Ends the runs under way, without recording them, and the campaign. */
  readonly signal?: AbortSignal;
}

export interface CampaignOutcome {
  /** Results recorded in this session. */
  readonly ran: number;
  /** Results that were there before. */
  readonly kept: number;
  readonly unjudged: number;
  /** Runs that could not be made, with no result; at most one per cell when the cell itself is at fault. */
  readonly errors: readonly { readonly runId: string; readonly code: string; readonly message: string }[];
  readonly ended:
    | { readonly how: 'complete' }
    | { readonly how: 'interrupted' }
    | { readonly how: 'stopped'; readonly why: string };
}

/**
 * Makes what is not done yet of a frozen plan, in its order, as far as limits allow at once. Holds the campaign's lock.
 * Every result is on disk and in the journal before the next start; whatever kills the process, the next call goes on.
 * Runs that ended unjudged in an earlier session are tried again.
 *
 * Throws `CAMPAIGN_LOCKED`, `JOURNAL_BROKEN`, and `CAMPAIGN_STORAGE` when results cannot be written; an error of one
 * run or cell is recorded and the others go on.
 */
export async function runCampaign(options: RunCampaignOptions): Promise<CampaignOutcome> {
  const { plan, home } = options;
  const folder = campaignFolder(home, plan.name);
  try {
    await using _lock = await lockCampaign(folder.root, plan.name);
    // A wish is for the session that sees it; a new session was asked for after it.
    if ((await readWish(folder)) !== 'run') await wish(folder, 'run');
    await using index = await openIndex(folder, plan);
    return await new Session(options, folder, index).run();
  } catch (thrown) {
    throw storageError(thrown, folder) ?? thrown;
  }
}

const storageCodes: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EIO: 'the disk reports an error',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

function storageError(thrown: unknown, folder: CampaignFolder): M4BenchError | undefined {
  const reason = storageCodes[systemCodeOf(thrown) ?? ''];
  if (reason === undefined || thrown instanceof M4BenchError) return undefined;
  return new M4BenchError(
    'CAMPAIGN_STORAGE',
    `The campaign stopped because ${reason} (${messageOf(thrown)}). Finished runs are kept.`,
    `Make room or mend the folder ${folder.root}, then run the same command again.`,
    { party: 'environment', cause: thrown },
  );
}

/** One session of a campaign: from opening the index to the last run it makes. */
class Session {
  private readonly queue: RunQueue;
  private readonly limits: Limits;
  private readonly cells = new Map<number, Promise<PreparedCell>>();
  private readonly badCells = new Set<number>();
  private readonly errors: { runId: string; code: string; message: string }[] = [];
  private readonly started = performance.now();
  private readonly kept: number;
  private readonly service: (run: PlannedRun) => string | undefined;
  private readonly demand: Demand;
  private underWay = 0;
  private startedRuns = 0;
  private ran = 0;
  private unjudged = 0;
  private unjudgedInARow = 0;
  private spent = { tokens: 0, cost: 0, finished: 0 };
  private lostRounds = 0;
  private wants: Wish = 'run';
  private stopReason: string | undefined;
  private fatal: unknown;
  private wake: () => void = () => {};

  constructor(
    private readonly options: RunCampaignOptions,
    private readonly folder: CampaignFolder,
    private readonly index: OpenIndex,
  ) {
    const { plan, environment } = options;
    const pending = plan.runs.filter((run) => index.results.get(run.runId)?.status !== 'judged');
    this.kept = plan.runs.length - pending.length;
    for (const { spent } of index.results.values()) this.count(spent);
    const parallel = options.limits?.parallel ?? 1;
    const provider = environment.provider ?? environment.providers[0]?.name;
    this.service = (run) =>
      provider === undefined ? undefined : `service:${provider}/${plan.cells[run.cell]!.model ?? ''}`;
    this.demand = {
      parallel: 1,
      [`sandbox:${environment.sandbox.kind}`]: 1,
      ...(provider === undefined ? {} : { [`provider:${provider}`]: 1 }),
      memory: environment.limits.memoryBytes,
    };
    this.limits = new Limits({
      capacities: {
        parallel,
        [`sandbox:${environment.sandbox.kind}`]: options.limits?.perSandbox ?? parallel,
        [`provider:${provider}`]: options.limits?.perProvider ?? parallel,
        memory: options.limits?.memoryBytes ?? totalmem() * 0.8,
      },
      ...(options.retryMilliseconds === undefined
        ? {}
        : { firstHoldMilliseconds: options.retryMilliseconds }),
    });
    this.queue = new RunQueue(pending, (run) => this.service(run) ?? '');
  }

  async run(): Promise<CampaignOutcome> {
    const onAbort = (): void => this.wake();
    this.options.signal?.addEventListener('abort', onAbort);
    const timer = setInterval(() => {
      readWish(this.folder).then((wants) => this.heed(wants));
    }, this.options.wishMilliseconds ?? 500);
    try {
      await this.untilDone();
    } finally {
      clearInterval(timer);
      this.options.signal?.removeEventListener('abort', onAbort);
    }
    if (this.fatal !== undefined) throw this.fatal;
    return {
      ran: this.ran,
      kept: this.kept,
      unjudged: this.unjudged,
      errors: this.errors,
      ended: this.ending(),
    };
  }

  private ending(): CampaignOutcome['ended'] {
    if (this.options.signal?.aborted) return { how: 'interrupted' };
    return this.stopReason === undefined ? { how: 'complete' } : { how: 'stopped', why: this.stopReason };
  }

  private async untilDone(): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.startWhatFits();
      if (this.underWay === 0 && this.isStopping()) return;
      if (this.underWay === 0 && this.queue.size === 0 && !(await this.findLost())) return;
      await changed;
    }
  }

  /** A campaign is complete when its results are on the disk, not when they once were. */
  private async findLost(): Promise<boolean> {
    if (this.ran === 0 || this.lostRounds >= 3) return false;
    this.lostRounds += 1;
    const lost = await markLost(this.folder, this.options.plan, this.index.journal);
    for (const run of lost) this.queue.add(run);
    if (lost.length > 0) this.wake();
    return lost.length > 0;
  }

  private isStopping(): boolean {
    return this.options.signal?.aborted === true || this.stopReason !== undefined || this.fatal !== undefined;
  }

  private heed(wants: Wish): void {
    if (wants !== this.wants) {
      this.wants = wants;
      this.options.onEvent?.({ kind: 'wish', wants });
    }
    if (wants === 'stop') this.stopReason ??= 'it was asked to';
    this.wake();
  }

  private startWhatFits(): void {
    while (!this.isStopping() && this.wants === 'run') {
      const now = performance.now();
      const run = this.queue.take((service) => this.limits.fits(this.demand, service || undefined, now));
      if (run === undefined) return;
      if (this.badCells.has(run.cell)) continue;
      const reached = this.budgetReached();
      if (reached !== undefined) {
        this.stopReason = `the budget is reached: ${reached}`;
        return;
      }
      this.start(run);
    }
  }

  private budgetReached(): string | undefined {
    return budgetReached(this.options.budget ?? {}, {
      ...this.spent,
      secondsOfSession: (performance.now() - this.started) / 1000,
      startedInSession: this.startedRuns,
      underWay: this.underWay,
    });
  }

  private start(run: PlannedRun): void {
    const service = this.service(run);
    this.limits.take(this.demand, service);
    this.underWay += 1;
    this.startedRuns += 1;
    this.options.onEvent?.({ kind: 'started', run });
    this.make(run, service)
      .catch((thrown: unknown) => {
        this.fatal ??= thrown;
      })
      .finally(() => {
        this.limits.give(this.demand, service);
        this.underWay -= 1;
        if (!this.queue.hasCell(run.cell)) this.cells.delete(run.cell);
        this.wake();
      });
  }

  /** Makes one run and indexes it. Rejects only when nothing can be recorded any more. */
  private async make(run: PlannedRun, service: string | undefined): Promise<void> {
    const { plan, environment, signal } = this.options;
    const execute = this.options.execute ?? executeRun;
    let result: RunResult | undefined;
    try {
      result = await execute(environment, {
        campaign: plan.name,
        runFolder: join(this.folder.runs, run.runId),
        runId: run.runId,
        trial: run.trial,
        prepared: await this.prepared(run.cell),
        beforeRetry: (failed) => this.beforeRetry(failed, service),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (thrown) {
      if (storageError(thrown, this.folder) !== undefined) throw thrown;
      // Another process recorded the run first: its result counts.
      const isTaken = thrown instanceof M4BenchError && thrown.code === 'ALREADY_EXISTS';
      result = isTaken ? await readResult(join(this.folder.runs, run.runId)) : undefined;
      if (result === undefined) return await this.recordError(run, thrown);
    }
    if (result === undefined) return;
    await this.record(run, result, service);
  }

  private prepared(cell: number): Promise<PreparedCell> {
    const known = this.cells.get(cell);
    if (known !== undefined) return known;
    const prepared = this.options.prepare(cell);
    this.cells.set(cell, prepared);
    prepared.catch(() => this.cells.delete(cell));
    return prepared;
  }

  private async record(run: PlannedRun, result: RunResult, service: string | undefined): Promise<void> {
    const entry = await entryOf(this.folder, this.options.plan, run);
    if (entry === undefined) {
      // Somebody deleted the folder meanwhile: the run is made again.
      this.queue.add(run);
      return;
    }
    await killPoint('before journal');
    await this.index.journal.append(entry);
    this.ran += 1;
    this.count(entry.spent);
    if (service !== undefined && result.status === 'judged') this.limits.succeeded(service);
    if (result.status === 'unjudged') {
      this.unjudged += 1;
      this.unjudgedInARow += 1;
      if (isRateLimited(result.failureReason)) this.slowDown(service);
      if (this.unjudgedInARow >= (this.options.unjudgedInARow ?? 10)) {
        this.stopReason ??= `${this.unjudgedInARow} runs in a row ended without a judgement, the last because: ${result.failureReason}`;
      }
    } else {
      this.unjudgedInARow = 0;
    }
    this.options.onEvent?.({ kind: 'finished', run, entry, result });
  }

  private count(spent: ResultEntry['spent']): void {
    this.spent = {
      tokens: this.spent.tokens + spent.tokens,
      cost: this.spent.cost + spent.cost,
      finished: this.spent.finished + 1,
    };
  }

  /** Puts a failure of the scheduler itself on record. A refused cell is not asked again in this session. */
  private async recordError(run: PlannedRun, thrown: unknown): Promise<void> {
    const code = thrown instanceof M4BenchError ? thrown.code : 'INTERNAL';
    const message = messageOf(thrown);
    if (thrown instanceof M4BenchError) this.badCells.add(run.cell);
    await this.index.journal.append({ kind: 'error', runId: run.runId, code, message });
    this.errors.push({ runId: run.runId, code, message });
    this.options.onEvent?.({ kind: 'error', run, code, message });
  }

  private async beforeRetry(failed: Attempt, service: string | undefined): Promise<void> {
    const base = this.options.retryMilliseconds ?? (service === undefined ? 0 : 15_000);
    const wait = isRateLimited(failed.failureReason) ? this.slowDown(service) : base * 2 ** (failed.n - 1);
    await sleep(wait, undefined, { signal: this.options.signal }).catch(() => {});
  }

  /** Lowers the share of a service after a rate limit; how long to wait, in ms. */
  private slowDown(service: string | undefined): number {
    if (service === undefined) return 0;
    const wait = this.limits.rateLimited(service, performance.now());
    const share = this.limits.share(service);
    this.options.onEvent?.({ kind: 'rate-limited', service, share, waitSeconds: wait / 1000 });
    return wait;
  }
}

/** A result in a few words. */
export function describe(result: RunResult): string {
  if (result.status === 'unjudged') return `unjudged (${result.failureReason})`;
  const reason = result.failureReason ?? result.evaluation?.error ?? null;
  return `reward ${result.reward?.toFixed(4)}${reason === null ? '' : ` (${reason})`}, ${result.seconds.total.toFixed(1)} s`;
}

/** Every valid result of a campaign, in the order of the plan. */
export async function readResults(home: Home, plan: CampaignPlan): Promise<readonly RunResult[]> {
  const folder = campaignFolder(home, plan.name);
  const results: RunResult[] = [];
  for (const run of plan.runs) {
    const result = await readResult(join(folder.runs, run.runId));
    if (result !== undefined && isDone(plan, run, result)) results.push(result);
  }
  return results;
}
