import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Cell, cellSchema, runIdOf } from '../runs/cell.js';
import type { PreparedCell } from '../runs/prepare.js';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { readJson, readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { encodeSegment } from '../support/ids.js';
import { orderRuns } from './order.js';
import { type AnalysisPlan, analysisPlanSchema } from './profile.js';

const plannedRunSchema = z.object({
  runId: z.string(),
  trial: z.number().int().positive(),
  cell: z.number().int().nonnegative(),
  /** Label of the tier that lists it first; absent in plans without a profile. */
  tier: z.number().int().positive().optional(),
});
export type PlannedRun = z.infer<typeof plannedRunSchema>;

/** What is needed beside the cells to make the runs, so that a plan can be resumed, or worked on, from itself alone. */
const setupSchema = z.object({
  agent: z.string(),
  provider: z.string().optional(),
  schemaSeed: z.string(),
  /** Values changed in transformed schemas. */
  perturb: z.array(z.string()).optional(),
  memoryMiB: z.number(),
  /** Budgets of one attempt. */
  maxTokens: z.number().optional(),
  maxCost: z.number().optional(),
  /** For the agent `sql`: the path of its query, `{task}` and `{condition}` not filled in. */
  sql: z.string().optional(),
  /** Folders of the user's own tasks. */
  taskFolders: z.array(z.string()).optional(),
});
export type PlanSetup = z.infer<typeof setupSchema>;

/** `campaign.json`: the frozen plan. Changing it makes another campaign. */
export const planSchema = z.object({
  schemaVersion: z.literal(1),
  benchmarkVersion: z.string(),
  name: z.string(),
  seed: z.string(),
  order: z.enum(['longest-first', 'interleaved']).optional(),
  /** The profile it was made from, with the hash of its content. */
  profile: z.object({ name: z.string(), hash: z.string() }).optional(),
  /** Runs as the profile lists them; runs that two tiers list are made once. */
  tiers: z.array(z.object({ label: z.number(), title: z.string(), runs: z.number() })).optional(),
  sandbox: z.string(),
  timeoutSeconds: z.number(),
  setup: setupSchema.optional(),
  /** Stands for a setup that names folders of a machine, in published plans. */
  setupHash: z.string().optional(),
  /** What it will be analysed for, frozen before the first run. */
  analysis: analysisPlanSchema.optional(),
  /** DuckDB version that built databases and references. */
  engine: z.string().optional(),
  cells: z.array(cellSchema),
  /** In the order in which they are started. */
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

/** Says which campaigns there are where one is asked for that is not. */
export function campaignNotFound(home: Home, name: string): M4BenchError {
  const names = existsSync(home.campaigns) ? readdirSync(home.campaigns).sort() : [];
  return new M4BenchError(
    'CAMPAIGN_NOT_FOUND',
    `There is no campaign "${name}" under ${home.campaigns}.`,
    `${suggestionFor(name, names)}${names.length === 0 ? 'None has been started yet' : `There are ${names.join(', ')}`}; m4bench campaign run starts one.`,
  );
}

export interface PlanParts {
  readonly name: string;
  readonly benchmarkVersion: string;
  readonly cells: readonly Cell[];
  /** In the order in which they are started; `cell` is an index of `cells`. */
  readonly runs: readonly {
    readonly cell: number;
    readonly trial: number;
    readonly tier?: number | undefined;
  }[];
  readonly seed: string;
  readonly sandbox: string;
  readonly timeoutSeconds: number;
  readonly order?: CampaignPlan['order'] | undefined;
  readonly profile?: CampaignPlan['profile'];
  readonly tiers?: CampaignPlan['tiers'];
  readonly setup?: CampaignPlan['setup'];
  readonly analysis?: AnalysisPlan | undefined;
  readonly engine?: string | undefined;
}

/** A plan from its parts, with the hash that freezes it. */
export function planOf(parts: PlanParts): CampaignPlan {
  const body = {
    schemaVersion: 1 as const,
    ...parts,
    cells: [...parts.cells],
    runs: parts.runs.map((run) => ({ runId: runIdOf(parts.cells[run.cell]!, run.trial), ...run })),
  };
  return { ...body, planHash: planHashOf(body) };
}

/** The hash that freezes a plan. The setup enters by its own hash, so that a plan can be published without it. */
export function planHashOf(body: Omit<CampaignPlan, 'planHash'>): string {
  const { setup, setupHash = setup === undefined ? undefined : hashOf(setup), ...rest } = body;
  return hashOf(setupHash === undefined ? rest : { ...rest, setupHash });
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

/** Plans every trial of the given cells, interleaved at random from the seed (see `order.ts`). */
export function planCampaign(options: PlanOptions): CampaignPlan {
  return planCells({ ...options, cells: options.cells.map((prepared) => prepared.cell) });
}

/** The same from cells alone: a plan is a function of what is asked, not of what was built for it. */
export function planCells(
  options: Omit<PlanOptions, 'cells'> & { readonly cells: readonly Cell[] },
): CampaignPlan {
  const { cells, trials, seed } = options;
  if (!Number.isInteger(trials) || trials < 1) {
    throw new M4BenchError(
      'TRIALS_INVALID',
      `${trials} is not a number of trials.`,
      'Give a whole number of at least 1.',
    );
  }
  const specs = cells.flatMap((cell, index) =>
    Array.from({ length: trials }, (_, trial) => ({ ...cell, cell: index, trial: trial + 1, tier: 1 })),
  );
  const order = 'interleaved';
  return planOf({
    name: options.name,
    benchmarkVersion: options.benchmarkVersion,
    cells,
    runs: orderRuns(specs, { order, seed }).map(({ cell, trial }) => ({ cell, trial })),
    seed,
    order,
    sandbox: options.sandbox,
    timeoutSeconds: options.timeoutSeconds,
  });
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
  if (planHashOf(body) !== planHash) {
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
