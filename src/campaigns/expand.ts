import type { Cell } from '../runs/cell.js';
import { M4BenchError } from '../support/errors.js';
import type { ConditionName } from '../tasks/condition.js';
import type { Profile, RoleModels, Tier } from './profile.js';
import { type TaskFacts, type TaskSets, tasksOf } from './task-sets.js';

/** One run as a profile lists it, before anything is built for it. */
export interface RunSpec {
  /** Label of its tier. */
  readonly tier: number;
  readonly task: string;
  readonly condition: ConditionName;
  readonly schema: Cell['schema'];
  readonly model: string | null;
  readonly trial: number;
}

export interface ExpandOptions {
  readonly profile: Profile;
  /** All tasks, in the order of families and tasks. */
  readonly tasks: readonly TaskFacts[];
  readonly sets: TaskSets;
  readonly agent: string;
  readonly models: RoleModels;
  /** Trials per cell, default the profile's. */
  readonly trials?: number;
  /** Only these, default all. */
  readonly onlyTiers?: readonly number[];
  readonly onlyTasks?: readonly string[];
  readonly onlyConditions?: readonly string[];
  readonly onlySchemas?: readonly string[];
}

export interface ExpandedTier {
  readonly label: number;
  readonly title: string;
  /** As listed, repetitions of earlier tiers included. */
  readonly specs: readonly RunSpec[];
}

/**
 * Every run of a profile, tier by tier; inside a tier from outer to inner by task, condition, schema, model and trial.
 * Tiers of other agents and empty tiers are left out.
 *
 * Throws `TIER_UNKNOWN`, `TASK_SET_UNKNOWN`, or `PLAN_EMPTY` when nothing is left.
 */
export function expandProfile(options: ExpandOptions): readonly ExpandedTier[] {
  const { profile, agent, onlyTiers } = options;
  const tiers = profile.tiers.filter((tier) => tier.agents?.includes(agent) ?? true);
  const labels = tiers.map(({ label }) => label);
  const unknown = onlyTiers?.find((label) => !labels.includes(label));
  if (unknown !== undefined) {
    throw new M4BenchError(
      'TIER_UNKNOWN',
      `Profile ${profile.name} has no tier ${unknown} for agent ${agent}.`,
      `Its tiers are ${labels.join(', ')}.`,
    );
  }
  const expanded = tiers
    .filter(({ label }) => onlyTiers?.includes(label) ?? true)
    .map((tier) => ({ label: tier.label, title: tier.title, specs: specsOf(tier, options) }))
    .filter(({ specs }) => specs.length > 0);
  if (expanded.length > 0) return expanded;
  throw new M4BenchError(
    'PLAN_EMPTY',
    `No run of profile ${profile.name} is left after the restrictions on tasks, conditions and schemas.`,
    'Leave one of them out.',
  );
}

function specsOf(tier: Tier, options: ExpandOptions): readonly RunSpec[] {
  const { profile, tasks, models, onlyTasks, onlyConditions, onlySchemas } = options;
  const sets = { ...options.sets, ...profile.sets };
  const trials =
    tier.exact_trials ??
    Math.min(options.trials ?? profile.trials, tier.most_trials ?? Number.POSITIVE_INFINITY);
  const kept = <T extends string>(all: readonly T[], only: readonly string[] | undefined): readonly T[] =>
    all.filter((one) => only?.includes(one) ?? true);
  const specs: RunSpec[] = [];
  for (const task of kept(tasksOf(tier.tasks, tasks, sets), onlyTasks)) {
    for (const condition of kept(tier.conditions, onlyConditions)) {
      for (const schema of kept(tier.schemas, onlySchemas)) {
        for (const model of models[tier.models]) {
          for (let trial = 1; trial <= trials; trial += 1) {
            specs.push({ tier: tier.label, task, condition, schema, model, trial });
          }
        }
      }
    }
  }
  return specs;
}

/** What tells two runs apart, whatever tier lists them. */
export function specKey({ task, condition, schema, model, trial }: RunSpec): string {
  return JSON.stringify([task, condition, schema, model, trial]);
}

/** What tells two cells apart. */
export function cellKey({ task, condition, schema, model }: Omit<RunSpec, 'tier' | 'trial'>): string {
  return JSON.stringify([task, condition, schema, model]);
}

/** The runs of all tiers, each once, under the first tier that lists it. */
export function distinctSpecs(tiers: readonly ExpandedTier[]): readonly RunSpec[] {
  const first = new Map<string, RunSpec>();
  for (const spec of tiers.flatMap(({ specs }) => specs)) {
    if (!first.has(specKey(spec))) first.set(specKey(spec), spec);
  }
  return [...first.values()];
}
