import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { rewardByTaskAndCondition } from '../../analysis/skill-effect.js';
import { type Table, toText } from '../../analysis/tables.js';
import type { CampaignBudget } from '../../campaigns/budget.js';
import { readIndex } from '../../campaigns/campaign-index.js';
import { type Wish, wish } from '../../campaigns/control.js';
import { coordinateCampaign } from '../../campaigns/coordinate.js';
import type { CampaignEstimate } from '../../campaigns/estimate.js';
import { type CampaignPlan, campaignFolder, freezePlan } from '../../campaigns/plan.js';
import { type CampaignLimits, type CampaignOutcome, readResults, runCampaign } from '../../campaigns/run.js';
import { type CampaignStatus, campaignStatus } from '../../campaigns/status.js';
import { M4BenchError } from '../../support/errors.js';
import {
  type CampaignOptions,
  type Draft,
  draftCampaign,
  estimateOf,
  existingPlan,
  type PlannedCampaign,
  planDraft,
  plannedCampaign,
  withCampaignOptions,
} from '../campaign-setup.js';
import { campaignLog, durationWords, LiveView, tokenWords } from '../campaign-view.js';
import { withCassetteOptions } from '../cassette-options.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';
import { dollars } from '../run-setup.js';
import { addAuditCommand } from './audit.js';
import {
  campaignWorkerCommand,
  type QueueOptions,
  sayTroubleOnce,
  storeOf,
  withQueueOptions,
} from './campaign-worker.js';

interface ScheduleOptions extends QueueOptions {
  readonly parallel: number;
  readonly providerParallel?: number;
  readonly sandboxParallel?: number;
  readonly memoryTotal?: number;
  readonly budgetTokens?: number;
  readonly budgetCost?: number;
  readonly budgetHours?: number;
  readonly budgetRuns?: number;
}

/** Adds the options that say how fast and how far a campaign runs; they are not part of its plan. */
function withScheduleOptions(command: Command): Command {
  return withQueueOptions(command)
    .option(
      '--parallel <n>',
      'runs at once; with --queue over all workers (1: as many as they take)',
      wholeNumber('--parallel'),
      1,
    )
    .option(
      '--provider-parallel <n>',
      'runs at once that use the model provider',
      wholeNumber('--provider-parallel'),
    )
    .option('--sandbox-parallel <n>', 'runs at once in the sandbox', wholeNumber('--sandbox-parallel'))
    .option(
      '--memory-total <MiB>',
      "memory of all sandboxes together (default: four fifths of the machine's)",
      wholeNumber('--memory-total', 64),
    )
    .option('--budget-tokens <n>', 'tokens of the whole campaign', wholeNumber('--budget-tokens'))
    .option('--budget-cost <dollars>', 'US dollars of the whole campaign by the price table', dollars)
    .option('--budget-hours <h>', 'wall time of this session', dollars)
    .option('--budget-runs <n>', 'runs of this session', wholeNumber('--budget-runs'));
}

function limitsOf(options: ScheduleOptions): CampaignLimits {
  return {
    parallel: options.parallel,
    ...(options.providerParallel === undefined ? {} : { perProvider: options.providerParallel }),
    ...(options.sandboxParallel === undefined ? {} : { perSandbox: options.sandboxParallel }),
    ...(options.memoryTotal === undefined ? {} : { memoryBytes: options.memoryTotal * 1024 ** 2 }),
  };
}

function budgetOf(options: ScheduleOptions): CampaignBudget {
  return {
    ...(options.budgetTokens === undefined ? {} : { tokens: options.budgetTokens }),
    ...(options.budgetCost === undefined ? {} : { cost: options.budgetCost }),
    ...(options.budgetHours === undefined ? {} : { seconds: options.budgetHours * 3600 }),
    ...(options.budgetRuns === undefined ? {} : { runs: options.budgetRuns }),
  };
}

/** What a draft consists of, tier by tier. */
function tierTable(draft: Draft): Table {
  const rows = draft.tiers.map(({ label, title, specs }) => {
    const distinct = (of: (spec: (typeof specs)[number]) => string): number => new Set(specs.map(of)).size;
    const cells = distinct(({ task, condition, schema, model }) =>
      JSON.stringify([task, condition, schema, model]),
    );
    const names = (of: (spec: (typeof specs)[number]) => string): string =>
      [...new Set(specs.map(of))].join(' ');
    return {
      tier: label,
      title,
      tasks: distinct(({ task }) => task),
      conditions: names(({ condition }) => condition),
      schemas: names(({ schema }) => schema),
      models: names(({ model }) => model ?? 'default'),
      cells,
      trials: Math.max(1, Math.floor(specs.length / cells)),
      runs: specs.length,
    };
  });
  return {
    columns: ['tier', 'title', 'tasks', 'conditions', 'schemas', 'models', 'cells', 'trials', 'runs'],
    rows,
  };
}

function estimateWords(estimate: CampaignEstimate, parallel: number): string {
  const cost =
    estimate.cost === null ? 'cost unknown (a model has no price)' : `$${estimate.cost.toFixed(2)}`;
  return [
    `expected: ${durationWords(estimate.agentSeconds / parallel)} with ${parallel} at once, ${tokenWords(Math.round(estimate.inputTokens))} input and ${tokenWords(Math.round(estimate.outputTokens))} output tokens, ${cost}`,
    ...estimate.basis.map((line) => `  ${line}`),
  ].join('\n');
}

async function sayDraft(context: CliContext, draft: Draft, parallel: number): Promise<CampaignEstimate> {
  const listed = draft.tiers.reduce((sum, { specs }) => sum + specs.length, 0);
  const estimate = await estimateOf(context.home, draft, draft.specs);
  context.say(toText(tierTable(draft)));
  context.say(
    `${listed} runs listed, ${draft.specs.length} distinct, ${draft.protocol.order}, protocol ${draft.protocol.name}`,
  );
  context.say(estimateWords(estimate, parallel));
  return estimate;
}

async function planAction(
  name: string,
  options: CampaignOptions & { dryRun?: boolean; parallel: number },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const draft = await draftCampaign(context, name, options);
  const estimate = await sayDraft(context, draft, options.parallel);
  if (options.dryRun) {
    context.json({ campaign: name, tiers: tierTable(draft).rows, runs: draft.specs, estimate });
    return;
  }
  const { plan, setup } = await planDraft(context, draft);
  await setup[Symbol.asyncDispose]();
  await freezePlan(context.home, plan);
  context.say(
    `${name}: ${plan.cells.length} cells, ${plan.runs.length} runs, plan ${plan.planHash.slice(0, 16)}, frozen at ${campaignFolder(context.home, name).plan}`,
  );
  context.json({ ...plan, estimate });
}

/** Runs a planned campaign with a view that fits where it is shown. */
async function schedule(
  context: CliContext,
  { plan, setup, prepare }: PlannedCampaign,
  options: ScheduleOptions,
): Promise<CampaignOutcome> {
  const index = await readIndex(campaignFolder(context.home, plan.name), plan);
  const done = [...index.values()].filter(({ status }) => status === 'judged').length;
  using live = context.isLive ? new LiveView(plan, process.stderr, done) : undefined;
  const onEvent = live?.onEvent ?? campaignLog(context.progress, plan, done);
  if (options.queue !== undefined) {
    return await coordinateCampaign({
      url: options.queue,
      home: context.home,
      plan,
      store: await storeOf(context, plan.name, options),
      ...(options.parallel > 1 ? { parallel: options.parallel } : {}),
      budget: budgetOf(options),
      onEvent,
      onTrouble: sayTroubleOnce(context),
      signal: context.signal,
    });
  }
  return await runCampaign({
    home: context.home,
    plan,
    prepare,
    environment: setup.environment,
    limits: limitsOf(options),
    budget: budgetOf(options),
    onEvent,
    signal: context.signal,
  });
}

/** Says how a session ended; throws where the exit code must tell. */
async function sayOutcome(context: CliContext, plan: CampaignPlan, outcome: CampaignOutcome): Promise<void> {
  const done = outcome.ran + outcome.kept;
  if (outcome.ended.how === 'interrupted') {
    throw new M4BenchError(
      'INTERRUPTED',
      `Stopped after ${done} of ${plan.runs.length} runs; finished runs are kept.`,
      'Run the same command again to go on.',
    );
  }
  const results = await readResults(context.home, plan);
  const unjudged = results.filter((result) => result.status === 'unjudged').length;
  if (results.length > 0) context.say(toText(rewardByTaskAndCondition(results)));
  context.say(
    `${outcome.ran} runs made, ${outcome.kept} kept, ${unjudged} unjudged, ${outcome.errors.length} not made; next: m4bench analyze ${plan.name}`,
  );
  for (const { runId, code, message } of outcome.errors) {
    context.progress.warn(`${runId}: ${code}: ${message}`);
  }
  if (outcome.ended.how === 'stopped') {
    context.progress.warn(
      `stopped with ${plan.runs.length - results.length} runs to go: ${outcome.ended.why}`,
    );
  }
  context.json({
    campaign: plan.name,
    planHash: plan.planHash,
    ran: outcome.ran,
    kept: outcome.kept,
    unjudged,
    errors: outcome.errors,
    ended: outcome.ended,
    results,
  });
  if (unjudged > 0 || outcome.errors.length > 0 || outcome.ended.how !== 'complete') process.exitCode = 1;
}

async function runAction(
  name: string,
  options: CampaignOptions & ScheduleOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const planned = await plannedCampaign(context, name, options);
  await using _setup = planned.setup;
  await freezePlan(context.home, planned.plan);
  // The same wish as `campaign stop`, for service managers.
  process.once('SIGTERM', () => {
    wish(campaignFolder(context.home, name), 'stop').catch(() => {});
  });
  const outcome = await schedule(context, planned, options);
  await sayOutcome(context, planned.plan, outcome);
}

function statusText(status: CampaignStatus): string {
  const left = status.planned - status.done;
  const facts = [
    `${status.done} of ${status.planned} runs done`,
    `${status.unjudged} unjudged`,
    `${status.agentFailures} ended by the agent's own failure`,
    `${status.errors.length} not made`,
    `${tokenWords(status.tokens)} tokens`,
    `$${status.cost.toFixed(2)}`,
    ...(status.secondsPerRun === null || left === 0
      ? []
      : [`${durationWords(status.secondsPerRun * left)} of agent time left`]),
  ];
  const state =
    status.holder === null ? 'not running' : `run by process ${status.holder.pid} on ${status.holder.host}`;
  return [
    `${status.campaign}: ${facts.join(', ')}; ${state}${status.wants === 'run' ? '' : `, asked to ${status.wants}`}`,
    ...status.errors.map(({ runId, code, message }) => `  ${runId}: ${code}: ${message}`),
  ].join('\n');
}

function cellTable(status: CampaignStatus): Table {
  return {
    columns: ['task', 'condition', 'schema', 'model', 'planned', 'judged', 'unjudged', 'reward'],
    rows: status.cells.map((cell) => ({ ...cell, model: cell.model ?? 'default' })),
  };
}

async function statusAction(name: string, options: { watch?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const plan = await existingPlan(context.home, name);
  for (;;) {
    const status = await campaignStatus(context.home, plan);
    if (!options.watch) {
      context.say(statusText(status));
      if (status.done > 0) context.say(toText(cellTable(status)));
      context.json(status);
      return;
    }
    context.say(statusText(status));
    if (context.wantsJson) process.stdout.write(`${JSON.stringify(status)}\n`);
    if (status.done === status.planned || context.signal.aborted) return;
    await sleep(2000, undefined, { signal: context.signal }).catch(() => {});
  }
}

function wishCommand(verb: 'pause' | 'resume' | 'stop', wants: Wish, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<name>', 'name of the campaign')
    .action(async (name: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      await existingPlan(context.home, name);
      await wish(campaignFolder(context.home, name), wants);
      context.say(`${name}: asked to ${verb}`);
      context.json({ campaign: name, wants });
    });
}

/** `m4bench campaign …`: many runs from one frozen plan. */
export function campaignCommand(): Command {
  const campaign = new Command('campaign').description('many runs from one frozen plan');

  withCampaignOptions(
    campaign
      .command('plan')
      .description('list the runs and what they are expected to take, prepare them, and freeze the plan')
      .argument('<name>', 'name of the campaign'),
  )
    .option('--dry-run', 'list only: nothing is prepared or frozen, no data is needed')
    .option('--parallel <n>', 'runs at once, for the expected time', wholeNumber('--parallel'), 1)
    .addHelpText(
      'after',
      '\nExample:\n  m4bench campaign plan paper --profile rerun-v1.1 --agent codex --dry-run',
    )
    .action(planAction);

  withScheduleOptions(
    withCassetteOptions(
      withCampaignOptions(
        campaign
          .command('run')
          .description(
            'run what is not done yet; the first call freezes the plan, later calls resume it by its name alone',
          )
          .argument('<name>', 'name of the campaign'),
      ),
    ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  m4bench campaign run tonight --profile lite --agent codex --parallel 4\n  m4bench campaign run small --agent codex --model gpt-5.5 --task mimic-meld-24h,mimic-sirs-24h-raw --trials 2\n  m4bench campaign run tonight',
    )
    .action(runAction);

  campaign
    .command('status')
    .description('how far a campaign is')
    .argument('<name>', 'name of the campaign')
    .option('--watch', 'again every two seconds, until it is done')
    .action(statusAction);

  campaign.addCommand(wishCommand('pause', 'pause', 'start no more runs of a running campaign'));
  campaign.addCommand(wishCommand('resume', 'run', 'let a paused campaign go on'));
  campaign.addCommand(
    wishCommand('stop', 'stop', 'end a running campaign when the runs under way have ended'),
  );
  campaign.addCommand(campaignWorkerCommand());
  addAuditCommand(campaign);
  return campaign;
}
