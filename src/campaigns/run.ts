import { join } from 'node:path';
import type { PreparedCell } from '../runs/prepare.js';
import type { RunResult } from '../runs/result.js';
import { executeRun, type RunEnvironment } from '../runs/run.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { entryOf, isDone, openIndex, readResult } from './campaign-index.js';
import { type CampaignPlan, campaignFolder } from './plan.js';

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
  await using index = await openIndex(folder, plan);
  const results: RunResult[] = [];
  let ran = 0;
  for (const [position, run] of plan.runs.entries()) {
    const runFolder = join(folder.runs, run.runId);
    const present = await readResult(runFolder);
    if (present !== undefined && isDone(plan, run, present)) {
      results.push(present);
      continue;
    }
    if (options.signal?.aborted) return { results, ran, kept: results.length - ran, interrupted: true };
    const cell = plan.cells[run.cell]!;
    progress.update(
      `run ${position + 1}/${plan.runs.length} ${cell.task} ${cell.condition} trial ${run.trial}`,
    );
    const result = await executeRun(options.environment, {
      campaign: plan.name,
      runFolder,
      runId: run.runId,
      trial: run.trial,
      prepared: cells[run.cell]!,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (result === undefined) return { results, ran, kept: results.length - ran, interrupted: true };
    const entry = await entryOf(folder, plan, run);
    if (entry !== undefined) await index.journal.append(entry);
    ran += 1;
    results.push(result);
    progress.done(
      `run ${position + 1}/${plan.runs.length} ${cell.task} ${cell.condition} trial ${run.trial}: ${describe(result)}`,
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
