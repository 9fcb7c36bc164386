import { join } from 'node:path';
import { z } from 'zod';
import { type Cell, cellSchema, runIdOf } from '../runs/cell.js';
import type { PreparedCell } from '../runs/prepare.js';
import { M4BenchError } from '../support/errors.js';
import { readJson, readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { encodeSegment } from '../support/ids.js';
import { seededRandom } from '../support/random.js';

const plannedRunSchema = z.object({
  runId: z.string(),
  trial: z.number().int().positive(),
  cell: z.number().int().nonnegative(),
});
export type PlannedRun = z.infer<typeof plannedRunSchema>;

/** `campaign.json`: the frozen plan. Changing it makes another campaign. */
export const planSchema = z.object({
  schemaVersion: z.literal(1),
  benchmarkVersion: z.string(),
  name: z.string(),
  seed: z.string(),
  sandbox: z.string(),
  timeoutSeconds: z.number(),
  cells: z.array(cellSchema),
  /** In the order in which they are started: cells and trials interleaved at random from the seed. */
  runs: z.array(plannedRunSchema),
  /** Hash of everything above. */
  planHash: z.string(),
});
export type CampaignPlan = z.infer<typeof planSchema>;

/** Folders of one campaign. */
export interface CampaignFolder {
  readonly root: string;
  readonly plan: string;
  /** See `journal.ts`. */
  readonly journal: string;
  readonly runs: string;
  readonly analysis: string;
}

/** Where a campaign lies; the name becomes one safe path segment. */
export function campaignFolder(home: Home, name: string): CampaignFolder {
  const root = join(home.campaigns, encodeSegment(name));
  return {
    root,
    plan: join(root, 'campaign.json'),
    journal: join(root, 'journal.jsonl'),
    runs: join(root, 'runs'),
    analysis: join(root, 'analysis'),
  };
}

export interface PlanOptions {
  readonly name: string;
  readonly benchmarkVersion: string;
  readonly cells: readonly PreparedCell[];
  readonly trials: number;
  readonly seed: string;
  readonly sandbox: string;
  readonly timeoutSeconds: number;
}

/** Lists every run of a campaign, conditions and trials interleaved at random so that drift falls on no one arm. */
export function planCampaign(options: PlanOptions): CampaignPlan {
  return planRuns({ ...options, cells: options.cells.map((prepared) => prepared.cell) });
}

/** The same from cells alone: a plan is a function of what is asked, not of what was built for it. */
export function planRuns(
  options: Omit<PlanOptions, 'cells'> & { readonly cells: readonly Cell[] },
): CampaignPlan {
  if (!Number.isInteger(options.trials) || options.trials < 1) {
    throw new M4BenchError(
      'TRIALS_INVALID',
      `${options.trials} is not a number of trials.`,
      'Give a whole number of at least 1.',
    );
  }
  const cells = [...options.cells];
  const runs: PlannedRun[] = cells.flatMap((cell, index) =>
    Array.from({ length: options.trials }, (_, trial) => ({
      runId: runIdOf(cell, trial + 1),
      trial: trial + 1,
      cell: index,
    })),
  );
  const random = seededRandom(options.seed);
  for (let last = runs.length - 1; last > 0; last -= 1) {
    const other = random.integer(last + 1);
    [runs[last], runs[other]] = [runs[other]!, runs[last]!];
  }
  const body = {
    schemaVersion: 1 as const,
    benchmarkVersion: options.benchmarkVersion,
    name: options.name,
    seed: options.seed,
    sandbox: options.sandbox,
    timeoutSeconds: options.timeoutSeconds,
    cells,
    runs,
  };
  return { ...body, planHash: hashOf(body) };
}

/** Reads a frozen plan and checks its hash; undefined when the campaign has none yet. */
export async function readPlan(home: Home, name: string): Promise<CampaignPlan | undefined> {
  const path = campaignFolder(home, name).plan;
  if ((await readTextIfPresent(path)) === undefined) return undefined;
  const parsed = planSchema.safeParse(await readJson(path));
  if (!parsed.success) {
    throw new M4BenchError(
      'PLAN_INVALID',
      `${path} is not a campaign plan.`,
      'Restore the file, or start a campaign under another name.',
    );
  }
  const { planHash, ...body } = parsed.data;
  if (hashOf(body) !== planHash) {
    throw new M4BenchError(
      'PLAN_CHANGED',
      `${path} was changed after it was frozen.`,
      'Restore the file, or start a campaign under another name: a changed plan is another campaign.',
    );
  }
  return parsed.data;
}

/** Freezes a plan, or accepts the one on disk when it is the same; another one is refused. */
export async function freezePlan(home: Home, plan: CampaignPlan): Promise<void> {
  const present = await readPlan(home, plan.name);
  if (present === undefined) {
    await writeJsonAtomic(campaignFolder(home, plan.name).plan, plan, { exclusive: true });
    return;
  }
  if (present.planHash !== plan.planHash) {
    throw new M4BenchError(
      'PLAN_DIFFERS',
      `Campaign ${plan.name} exists with another plan (${present.runs.length} runs, ${differenceOf(present, plan)}).`,
      'Choose another campaign name, or run it with the options it was planned with.',
    );
  }
}

/** The first thing in which two plans differ, in words. */
function differenceOf(a: CampaignPlan, b: CampaignPlan): string {
  if (a.benchmarkVersion !== b.benchmarkVersion)
    return `benchmark version ${a.benchmarkVersion} against ${b.benchmarkVersion}`;
  if (a.sandbox !== b.sandbox) return `sandbox ${a.sandbox} against ${b.sandbox}`;
  if (a.timeoutSeconds !== b.timeoutSeconds)
    return `time limit ${a.timeoutSeconds} s against ${b.timeoutSeconds} s`;
  const names = (plan: CampaignPlan): Set<string> =>
    new Set(plan.cells.map((cell) => `${cell.task} ${cell.condition}`));
  const [inA, inB] = [names(a), names(b)];
  const missing = [...inA].find((name) => !inB.has(name)) ?? [...inB].find((name) => !inA.has(name));
  if (missing !== undefined) return `${missing} is in one of them only`;
  if (a.runs.length !== b.runs.length) return `${a.runs.length} runs against ${b.runs.length}`;
  const changed = a.cells.find((cell) => !b.cells.some((other) => hashOf(other) === hashOf(cell)));
  return changed === undefined
    ? 'another seed'
    : `the inputs of ${changed.task} ${changed.condition} changed`;
}
