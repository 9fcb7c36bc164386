import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { conditionNames } from '../tasks/condition.js';
import { taskSetSchema } from './task-sets.js';

/** Parts that models play; see `benchmark/campaigns/model-plans.toml`. */
export const modelRoles = [
  'primary',
  'hurt',
  'contamination',
  'noise',
  'operational_spec',
  'schema_skill',
] as const;
export type ModelRole = (typeof modelRoles)[number];

const trialCount = z.number().int().positive();

const tierSchema = z.strictObject({
  /** Named by number; the numbers of a profile need not be consecutive. */
  label: z.number().int().positive(),
  title: z.string().min(1),
  /** Only for these agents, default all. */
  agents: z.array(z.string()).min(1).optional(),
  /** Tasks and task sets, in order. */
  tasks: z.array(z.string()).min(1),
  conditions: z.array(z.enum(conditionNames)).min(1),
  schemas: z
    .array(z.enum(['native', 'obfuscated', 'restructured']))
    .min(1)
    .default(['native']),
  models: z.enum(modelRoles).default('primary'),
  /** Trials whatever the campaign's number is. */
  exact_trials: trialCount.optional(),
  /** Trials are the campaign's number, but no more than this. */
  most_trials: trialCount.optional(),
});
export type Tier = z.infer<typeof tierSchema>;

export const analysisPlanSchema = z.strictObject({
  primary_estimand: z.string().min(1),
  interval: z.string().min(1),
  test: z.string().min(1),
  exclusions: z.array(z.string()),
  sensitivity: z.array(z.string()).default([]),
});
export type AnalysisPlan = z.infer<typeof analysisPlanSchema>;

export const profileSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/, 'must be lower-case letters, digits, dots and hyphens'),
  title: z.string().min(1),
  protocol: z.string().min(1),
  /** Trials per cell when the campaign is not given another number. */
  trials: trialCount,
  /** Task sets of the profile's own, beside the shipped ones. */
  sets: z.record(z.string(), taskSetSchema).default({}),
  tiers: z.array(tierSchema).min(1),
  /** Default the shipped one. */
  analysis: analysisPlanSchema.optional(),
});
/** What a campaign consists of, apart from agent, models and data. */
export type Profile = z.infer<typeof profileSchema>;

const profilesFolder = (): string => join(benchmarkFolder(), 'profiles');

/** Names of the shipped profiles, by code point. */
export async function profileNames(): Promise<readonly string[]> {
  const files = await readdir(profilesFolder());
  return files
    .filter((file) => file.endsWith('.toml'))
    .map((file) => file.slice(0, -'.toml'.length))
    .sort();
}

/**
 * A shipped profile by name, or a user's own by path (a name that ends in `.toml`).
 *
 * Throws `PROFILE_UNKNOWN` with the nearest name, or `PROFILE_INVALID` naming file, field and remedy.
 */
export async function loadProfile(name: string): Promise<Profile> {
  const isFile = name.endsWith('.toml');
  const names = await profileNames();
  if (!isFile && !names.includes(name)) {
    throw new M4BenchError(
      'PROFILE_UNKNOWN',
      `There is no profile "${name}".`,
      `${suggestionFor(name, names)}Profiles are ${names.join(', ')}; or name a TOML file of your own.`,
    );
  }
  const file = isFile ? name : join(profilesFolder(), `${name}.toml`);
  const profile = await readTomlFile(file, profileSchema, 'PROFILE_INVALID', 'profile');
  const labels = profile.tiers.map(({ label }) => label);
  const repeated = labels.find((label, index) => labels.indexOf(label) !== index);
  if (repeated !== undefined) {
    throw new M4BenchError(
      'PROFILE_INVALID',
      `${file}: two tiers have the label ${repeated}.`,
      'Give every tier its own.',
    );
  }
  return profile;
}

/** The shipped analysis plan. */
export function readAnalysisPlan(): Promise<AnalysisPlan> {
  const file = join(benchmarkFolder(), 'campaigns', 'analysis-plan.toml');
  return readTomlFile(file, analysisPlanSchema, 'ANALYSIS_PLAN_INVALID', 'analysis plan');
}

const models = z.array(z.string()).min(1);
const modelPlanSchema = z.strictObject({
  /** Further names of the agent. */
  also: z.array(z.string()).default([]),
  primary: models,
  hurt: models.optional(),
  contamination: models.optional(),
  noise: models.optional(),
  operational_spec: models.optional(),
  schema_skill: models.optional(),
});
const modelPlansSchema = z.strictObject({ agents: z.record(z.string(), modelPlanSchema) });

/** The models of each role for an agent. `null` stands for an agent without a model, or its own default. */
export type RoleModels = Readonly<Record<ModelRole, readonly (string | null)[]>>;

/** Fills the roles that a plan leaves out: see `benchmark/campaigns/model-plans.toml`. */
export function rolesOf(
  plan: { readonly [Role in ModelRole]?: readonly (string | null)[] | undefined } & Pick<
    RoleModels,
    'primary'
  >,
): RoleModels {
  const { primary } = plan;
  return {
    primary,
    hurt: plan.hurt ?? primary,
    operational_spec: plan.operational_spec ?? primary,
    noise: plan.noise ?? primary.slice(0, 1),
    contamination: plan.contamination ?? primary.slice(-1),
    schema_skill: plan.schema_skill ?? plan.contamination ?? primary.slice(-1),
  };
}

/** The published model plan of an agent, or undefined when it has none: models must then be named. */
export async function publishedModels(agent: string): Promise<RoleModels | undefined> {
  const file = join(benchmarkFolder(), 'campaigns', 'model-plans.toml');
  const { agents } = await readTomlFile(file, modelPlansSchema, 'MODEL_PLANS_INVALID', 'list of model plans');
  const found = Object.entries(agents).find(([name, plan]) => name === agent || plan.also.includes(agent));
  if (found === undefined) return undefined;
  return rolesOf(found[1]);
}
