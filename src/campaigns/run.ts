import { join } from 'node:path';
import type { PreparedCell } from '../runs/prepare.js';
import { type RunResult, resultSchema } from '../runs/result.js';
import { executeRun, type RunEnvironment } from '../runs/run.js';
import { readTextIfPresent } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { type CampaignPlan, campaignFolder, type PlannedRun } from './plan.js';

/** The result of a planned run when it is on disk, valid, and of exactly this cell and trial; else undefined. */
export async function readResult(runFolder: string): Promise<RunResult | undefined> {
  const text = await readTextIfPresent(join(runFolder, 'result.json'));
  if (text === undefined) return undefined;
  try {
    return resultSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A run counts as done when its result is valid and its cell is the planned one. */
export function isDone(plan: CampaignPlan, run: PlannedRun, result: RunResult | undefined): boolean {
  return (
    result !== undefined && result.trial === run.trial && hashOf(result.cell) === hashOf(plan.cells[run.cell])
  );
}

export interface RunCampaignOptions {
  readonly home: Home;
  readonly plan: CampaignPlan;
  /** In the order of `plan.cells`. */
  readonly cells: readonly PreparedCell[];
  readonly environment: RunEnvironment;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface CampaignOutcome {
  readonly results: readonly RunResult[];
  readonly ran: number;
  readonly kept: number;
  /** True when it was stopped before the last run. */
  readonly interrupted: boolean;
}

/** Runs what is not done yet, one after the other, in the plan's order. */
export async function runCampaign(options: RunCampaignOptions): Promise<CampaignOutcome> {
  const { plan, cells, home } = options;
  const progress = options.progress ?? silentProgress;
  const folder = campaignFolder(home, plan.name);
  const results: RunResult[] = [];
  let ran = 0;
  for (const [index, run] of plan.runs.entries()) {
    const runFolder = join(folder.runs, run.runId);
    const present = await readResult(runFolder);
    if (present !== undefined && isDone(plan, run, present)) {
      results.push(present);
      continue;
    }
    if (options.signal?.aborted) return { results, ran, kept: results.length - ran, interrupted: true };
    const cell = plan.cells[run.cell]!;
    progress.update(`run ${index + 1}/${plan.runs.length} ${cell.task} ${cell.condition} trial ${run.trial}`);
    const result = await executeRun(options.environment, {
      campaign: plan.name,
      runFolder,
      runId: run.runId,
      trial: run.trial,
      prepared: cells[run.cell]!,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (result === undefined) return { results, ran, kept: results.length - ran, interrupted: true };
    ran += 1;
    results.push(result);
    progress.done(
      `run ${index + 1}/${plan.runs.length} ${cell.task} ${cell.condition} trial ${run.trial}: ${describe(result)}`,
    );
  }
  return { results, ran, kept: results.length - ran, interrupted: false };
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
