import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Agent } from '../agents/agent.js';
import { agentNamed } from '../agents/agents.js';
import { type CampaignEstimate, estimateRuns, readRunEstimates } from '../campaigns/estimate.js';
import {
  cellKey,
  distinctSpecs,
  type ExpandedTier,
  expandProfile,
  type RunSpec,
} from '../campaigns/expand.js';
import { observedUse } from '../campaigns/observed-use.js';
import { orderRuns } from '../campaigns/order.js';
import { type CampaignPlan, campaignNotFound, type PlanSetup, planOf, readPlan } from '../campaigns/plan.js';
import {
  loadProfile,
  type Profile,
  publishedModels,
  type RoleModels,
  readAnalysisPlan,
  rolesOf,
} from '../campaigns/profile.js';
import { readTaskSets } from '../campaigns/task-sets.js';
import { parseSchema } from '../conditions/presented-names.js';
import { engineVersion } from '../duck/engine.js';
import { readPrices } from '../gateway/prices.js';
import { CellPreparation, type PreparedCell } from '../runs/prepare.js';
import { M4BenchError } from '../support/errors.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { parseCondition } from '../tasks/condition.js';
import { findTask, loadTasks } from '../tasks/load-tasks.js';
import { defaultProtocolName, loadProtocol, type Protocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { benchmarkVersion } from '../version.js';
import type { CassetteOptions } from './cassette-options.js';
import type { CliContext } from './context.js';
import { collect, typedOptions, wholeNumber } from './options.js';
import { refuseOtherOptions } from './planned-options.js';
import { agentHelp, type RunOptions, type RunSetup, setUpRuns, withAgentOptions } from './run-setup.js';

/** What a campaign may be asked for; nothing of it is needed to resume one. */
export interface CampaignOptions extends Omit<RunOptions, 'agent' | 'model' | 'protocol' | 'schema'> {
  readonly profile?: string;
  readonly tier?: readonly string[];
  readonly agent?: string;
  readonly model?: readonly string[];
  readonly protocol?: string;
  readonly schema?: readonly string[];
  readonly task?: readonly string[];
  readonly condition?: readonly string[];
  readonly trials?: number;
  readonly seed: string;
}

/** Adds the options that say what a campaign consists of. */
export function withCampaignOptions(command: Command): Command {
  return withAgentOptions(
    command
      .option('--profile <name>', 'named list of runs (lite, rerun-v1.1 …), or a TOML file of your own')
      .option('--tier <labels>', 'tiers of the profile, comma separated (default: all)', collect)
      .option('--agent <name>', agentHelp)
      .option('--model <names>', "models (default: the profile's for this agent)", collect)
      .option('--task <names>', 'tasks: all there are to be without a profile, a selection with one', collect)
      .option('--condition <names>', 'conditions (default without a profile: no-skill,with-skill)', collect)
      .option(
        '--schema <names>',
        'native, obfuscated, restructured (default without a profile: native)',
        collect,
      )
      .option('--trials <n>', "trials of each cell (default: the profile's, else 1)", wholeNumber('--trials'))
      .option(
        '--protocol <name>',
        `named set of benchmark choices (default: the profile's, else ${defaultProtocolName})`,
      )
      .option('--seed <text>', 'seed of the order of runs', '1'),
  );
}

/** What a campaign would consist of, before any data is touched. */
export interface Draft {
  readonly name: string;
  readonly profile: Profile;
  readonly protocol: Protocol;
  readonly agent: Agent;
  readonly tasks: readonly Task[];
  readonly tiers: readonly ExpandedTier[];
  /** Distinct runs in the order in which they are started. */
  readonly specs: readonly RunSpec[];
  readonly seed: string;
  readonly options: CampaignOptions & { readonly agent: string };
}

/** Expands profile and options to a list of runs, in order. */
export async function draftCampaign(
  context: CliContext,
  name: string,
  options: CampaignOptions,
): Promise<Draft> {
  if (options.agent === undefined) {
    throw new M4BenchError(
      'AGENT_MISSING',
      `Campaign ${name} is new, and no agent was named for it.`,
      'Add --agent NAME.',
    );
  }
  const agent = agentNamed(options.agent, { environment: process.env, userHome: homedir() });
  const tasks = await loadTasks(context.content);
  const profile = await profileOf(options);
  const protocol = await loadProtocol(options.protocol ?? profile.protocol);
  const tiers = expandProfile({
    profile,
    tasks,
    sets: await readTaskSets(),
    agent: agent.name,
    models: await modelsOf(agent, options),
    ...(options.trials === undefined ? {} : { trials: options.trials }),
    ...(options.tier === undefined || options.tier.includes('all')
      ? {}
      : { onlyTiers: options.tier.map(Number) }),
    ...(options.profile === undefined ? {} : await restrictions(context, options)),
  });
  if (
    options.perturb !== undefined &&
    tiers.every(({ specs }) => specs.every(({ schema }) => schema === 'native'))
  ) {
    throw new M4BenchError(
      'PERTURB_NATIVE',
      'Values are changed in transformed schemas only, and this campaign has none.',
      'Add --schema obfuscated or --schema restructured, or leave --perturb out.',
    );
  }
  const specs = orderRuns(distinctSpecs(tiers), {
    order: protocol.order,
    seed: options.seed,
    estimates: await readRunEstimates(),
  });
  return {
    name,
    profile,
    protocol,
    agent,
    tasks,
    tiers,
    specs,
    seed: options.seed,
    options: { ...options, agent: options.agent },
  };
}

/** The profile asked for, or one of a single tier made of the options. */
async function profileOf(options: CampaignOptions): Promise<Profile> {
  if (options.profile !== undefined) return await loadProfile(options.profile);
  if (options.task === undefined) {
    throw new M4BenchError(
      'TASKS_MISSING',
      'Neither a profile nor a task was named.',
      'Add --profile lite, or --task NAMES; m4bench tasks list gives the names.',
    );
  }
  return {
    name: 'custom',
    title: 'as asked on the command line',
    protocol: options.protocol ?? defaultProtocolName,
    trials: options.trials ?? 1,
    sets: {},
    tiers: [
      {
        label: 1,
        title: 'as asked on the command line',
        tasks: [...options.task],
        conditions: (options.condition ?? ['no-skill', 'with-skill']).map(parseCondition),
        schemas: (options.schema ?? ['native']).map(parseSchema),
        models: 'primary',
      },
    ],
  };
}

/** Selections from a profile, each name checked: a misspelled one would silently select nothing. */
async function restrictions(context: CliContext, options: CampaignOptions) {
  for (const task of options.task ?? []) await findTask(task, context.content);
  return {
    ...(options.task === undefined ? {} : { onlyTasks: options.task }),
    ...(options.condition === undefined ? {} : { onlyConditions: options.condition.map(parseCondition) }),
    ...(options.schema === undefined ? {} : { onlySchemas: options.schema.map(parseSchema) }),
  };
}

async function modelsOf(agent: Agent, options: CampaignOptions): Promise<RoleModels> {
  if (options.model !== undefined) return rolesOf({ primary: options.model });
  if (!agent.needsModel || options.profile === undefined) return rolesOf({ primary: [null] });
  const published = await publishedModels(agent.name);
  if (published !== undefined) return published;
  throw new M4BenchError(
    'MODELS_MISSING',
    `Profile ${options.profile} names no models for agent ${agent.name}.`,
    'Add --model NAMES.',
  );
}

/** Expected time, tokens and money of runs, from finished runs of the same models on this machine or from priors. */
export async function estimateOf(
  home: Home,
  draft: Pick<Draft, 'agent' | 'options'>,
  runs: readonly { readonly task: string; readonly condition: string; readonly model: string | null }[],
): Promise<CampaignEstimate> {
  return estimateRuns({
    runs,
    needsModel: draft.agent.needsModel,
    provider: draft.options.provider ?? '',
    priors: await readRunEstimates(),
    prices: await readPrices(),
    observed: await observedUse(home, draft.agent.name),
  });
}

/** A plan with what its runs need. */
export interface PlannedCampaign {
  readonly plan: CampaignPlan;
  readonly setup: RunSetup;
  /** Prepares a cell of the plan, by index, once. Throws `INPUTS_CHANGED` when it is not the planned one any more. */
  prepare(cell: number): Promise<PreparedCell>;
  /** The same under another name. */
  renamed(name: string): PlannedCampaign;
}

function plannedOf(
  plan: CampaignPlan,
  setup: RunSetup,
  prepare: PlannedCampaign['prepare'],
): PlannedCampaign {
  const { planHash: _hash, schemaVersion: _version, ...parts } = plan;
  return {
    plan,
    setup,
    prepare,
    renamed: (name) => plannedOf(planOf({ ...parts, name }), setup, prepare),
  };
}

/** Builds everything the cells of a draft need, and makes the plan. Nothing is frozen yet. */
export async function planDraft(context: CliContext, draft: Draft): Promise<PlannedCampaign> {
  const { options, specs, protocol } = draft;
  const setup = await setUpRuns(context.home, runOptionsOf(options, protocol.name));
  const preparation = new CellPreparation(context.home, context.progress);
  const indices = new Map<string, number>();
  const cells: PreparedCell[] = [];
  for (const spec of specs) {
    if (indices.has(cellKey(spec))) continue;
    indices.set(cellKey(spec), cells.length);
    const task = draft.tasks.find(({ name }) => name === spec.task)!;
    context.progress.update(`preparing ${spec.task} ${spec.condition} ${spec.schema}`);
    cells.push(await preparation.prepare(await setup.cellFor(task, spec.condition, spec)));
  }
  const plan = planOf({
    name: draft.name,
    benchmarkVersion,
    engine: engineVersion,
    profile: { name: draft.profile.name, hash: hashOf(draft.profile) },
    tiers: draft.tiers.map(({ label, title, specs: listed }) => ({ label, title, runs: listed.length })),
    seed: draft.seed,
    order: protocol.order,
    sandbox: setup.environment.sandbox.kind,
    timeoutSeconds: setup.environment.limits.timeoutSeconds,
    setup: planSetupOf(context, options),
    analysis: draft.profile.analysis ?? (await readAnalysisPlan()),
    cells: cells.map(({ cell }) => cell),
    runs: specs.map((spec) => ({ cell: indices.get(cellKey(spec))!, trial: spec.trial, tier: spec.tier })),
  });
  return plannedOf(plan, setup, async (index) => cells[index]!);
}

function runOptionsOf(options: CampaignOptions & { readonly agent: string }, protocol: string): RunOptions {
  const { model: _models, schema: _schemas, ...rest } = options;
  return { ...rest, protocol, schema: 'native' };
}

function planSetupOf(context: CliContext, options: Draft['options']): PlanSetup {
  const folders = context.content.extraFolders ?? [];
  return {
    agent: options.agent,
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    schemaSeed: options.schemaSeed,
    ...(options.perturb === undefined ? {} : { perturb: [...options.perturb] }),
    memoryMiB: options.memory,
    ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
    ...(options.maxCost === undefined ? {} : { maxCost: options.maxCost }),
    ...(options.sql === undefined ? {} : { sql: resolve(options.sql) }),
    ...(folders.length === 0 ? {} : { taskFolders: folders.map((folder) => resolve(folder)) }),
  };
}

/**
 * A frozen plan with what its runs need, from the plan alone: cells are built again when their turn comes and compared
 * with the planned ones. Throws `PLAN_TOO_OLD` for plans that do not say how they were set up, and `ENGINE_DIFFERS`
 * when this installation would not make the same runs.
 */
export async function setUpPlan(
  context: CliContext,
  plan: CampaignPlan,
  cassette: CassetteOptions = {},
): Promise<PlannedCampaign> {
  if (plan.setup === undefined) {
    throw new M4BenchError(
      'PLAN_TOO_OLD',
      `Campaign ${plan.name} does not say how its runs are set up.`,
      'Give the options it was planned with.',
    );
  }
  const [engine, version] = [plan.engine ?? engineVersion, plan.benchmarkVersion];
  if (engine !== engineVersion || version !== benchmarkVersion) {
    throw new M4BenchError(
      'ENGINE_DIFFERS',
      `Campaign ${plan.name} was planned with m4bench ${version} and DuckDB ${engine}, and this is m4bench ${benchmarkVersion} with DuckDB ${engineVersion}.`,
      'Install that version to go on with it, or plan another campaign.',
      { party: 'environment' },
    );
  }
  const { taskFolders, memoryMiB, ...planned } = plan.setup;
  const first = plan.cells[0]!;
  const setup = await setUpRuns(context.home, {
    agent: planned.agent,
    effort: first.effort as RunOptions['effort'],
    dataset: [...new Set(plan.cells.map(({ dataset }) => dataset))].join(','),
    protocol: first.protocol,
    schema: 'native',
    schemaSeed: planned.schemaSeed,
    sandbox: plan.sandbox,
    timeout: plan.timeoutSeconds,
    memory: memoryMiB,
    ...(first.auth === 'login' ? { login: true } : {}),
    ...cassetteOptionsOf(cassette),
    ...(planned.perturb === undefined ? {} : { perturb: planned.perturb }),
    ...(planned.provider === undefined ? {} : { provider: planned.provider }),
    ...(planned.maxTokens === undefined ? {} : { maxTokens: planned.maxTokens }),
    ...(planned.maxCost === undefined ? {} : { maxCost: planned.maxCost }),
    ...(planned.sql === undefined ? {} : { sql: planned.sql }),
  });
  const preparation = new CellPreparation(context.home, context.progress);
  const folders = [...(taskFolders ?? []), ...(context.content.extraFolders ?? [])].map((folder) =>
    resolve(folder),
  );
  const tasks = await loadTasks({ extraFolders: [...new Set(folders)] });
  return plannedOf(plan, setup, async (index) => {
    const cell = plan.cells[index]!;
    const task = tasks.find(({ name }) => name === cell.task);
    if (task === undefined) throw taskMissing(plan, cell.task);
    const prepared = await preparation.prepare(await setup.cellFor(task, cell.condition, cell));
    if (hashOf(prepared.cell) === hashOf(cell)) return prepared;
    throw inputsChanged(plan, cell, prepared.cell);
  });
}

/** How a session asks its models is not part of the plan. */
function cassetteOptionsOf({ record, replay, loose }: CassetteOptions): CassetteOptions {
  return {
    ...(record === undefined ? {} : { record }),
    ...(replay === undefined ? {} : { replay }),
    ...(loose === undefined ? {} : { loose }),
  };
}

function taskMissing(plan: CampaignPlan, task: string): M4BenchError {
  return new M4BenchError(
    'INPUTS_CHANGED',
    `Campaign ${plan.name} plans runs of ${task}, and there is no such task here.`,
    'Name the folder that holds it with --tasks.',
    { party: 'environment' },
  );
}

type PlannedCell = CampaignPlan['cells'][number];

function inputsChanged(plan: CampaignPlan, planned: PlannedCell, found: PlannedCell): M4BenchError {
  const { hashes: plannedHashes, ...plannedRest } = planned;
  const { hashes: foundHashes, ...foundRest } = found;
  const [a, b] = [
    { ...plannedRest, ...plannedHashes } as Record<string, unknown>,
    { ...foundRest, ...foundHashes } as Record<string, unknown>,
  ];
  const changed = Object.keys(a).filter((key) => hashOf(a[key] ?? null) !== hashOf(b[key] ?? null));
  return new M4BenchError(
    'INPUTS_CHANGED',
    `${planned.task} ${planned.condition} is not what campaign ${plan.name} planned: ${changed.join(', ')} differ.`,
    'Restore data, content and agent as they were when it was planned, or plan another campaign.',
    { party: 'environment' },
  );
}

/** The campaign that the options describe, or, when none are given, the one of that name on disk. */
export async function plannedCampaign(
  context: CliContext,
  name: string,
  options: CampaignOptions,
  command: Command,
): Promise<PlannedCampaign> {
  const asksForNothing =
    options.agent === undefined && options.profile === undefined && options.task === undefined;
  const present = asksForNothing ? await existingPlan(context.home, name) : undefined;
  if (present !== undefined) {
    refuseOtherOptions(present, typedOptions(command));
    return await setUpPlan(context, present, options);
  }
  return await planDraft(context, await draftCampaign(context, name, options));
}

/** The plan of an existing campaign, or an error that says how to make one. */
export async function existingPlan(home: Home, name: string): Promise<CampaignPlan> {
  const plan = await readPlan(home, name);
  if (plan !== undefined) return plan;
  throw campaignNotFound(home, name);
}
