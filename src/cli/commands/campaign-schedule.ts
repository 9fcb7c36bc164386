import type { Command } from 'commander';
import { type Table, toText } from '../../analysis/tables.js';
import type { CampaignBudget } from '../../campaigns/budget.js';
import { readIndex } from '../../campaigns/campaign-index.js';
import { coordinateCampaign } from '../../campaigns/coordinate.js';
import type { CampaignEstimate } from '../../campaigns/estimate.js';
import { campaignFolder } from '../../campaigns/plan.js';
import { type CampaignLimits, type CampaignOutcome, runCampaign } from '../../campaigns/run.js';
import { type Draft, estimateOf, type PlannedCampaign } from '../campaign-setup.js';
import { campaignLog, durationWords, LiveView, tokenWords } from '../campaign-view.js';
import type { CliContext } from '../context.js';
import { wholeNumber } from '../options.js';
import { dollars } from '../run-setup.js';
import { type QueueOptions, sayTroubleOnce, storeOf, withQueueOptions } from './campaign-worker.js';

/** How fast and how far a campaign runs; not part of its plan. */
export interface ScheduleOptions extends QueueOptions {
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
export function withScheduleOptions(command: Command): Command {
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

export function budgetOf(options: ScheduleOptions): CampaignBudget {
  return {
    ...(options.budgetTokens === undefined ? {} : { tokens: options.budgetTokens }),
    ...(options.budgetCost === undefined ? {} : { cost: options.budgetCost }),
    ...(options.budgetHours === undefined ? {} : { seconds: options.budgetHours * 3600 }),
    ...(options.budgetRuns === undefined ? {} : { runs: options.budgetRuns }),
  };
}

/** What a draft consists of, tier by tier. */
export function tierTable(draft: Draft): Table {
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

/** Says what a draft consists of and what it is expected to take. */
export async function sayDraft(
  context: CliContext,
  draft: Draft,
  parallel: number,
): Promise<CampaignEstimate> {
  const listed = draft.tiers.reduce((sum, { specs }) => sum + specs.length, 0);
  const estimate = await estimateOf(context.home, draft, draft.specs);
  context.say(toText(tierTable(draft)));
  context.say(
    `${listed} runs listed, ${draft.specs.length} distinct, ${draft.protocol.order}, protocol ${draft.protocol.name}`,
  );
  context.say(estimateWords(estimate, parallel));
  return estimate;
}

/** Runs a planned campaign with a view that fits where it is shown. */
export async function schedule(
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
