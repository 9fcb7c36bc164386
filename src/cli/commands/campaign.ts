import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { rewardByTaskAndCondition } from '../../analysis/skill-effect.js';
import { type Table, toText } from '../../analysis/tables.js';
import { type Wish, wish } from '../../campaigns/control.js';
import { lockHolder } from '../../campaigns/lock.js';
import { type CampaignPlan, campaignFolder, freezePlan, readPlan } from '../../campaigns/plan.js';
import { type CampaignOutcome, readResults } from '../../campaigns/run.js';
import { type CampaignStatus, campaignStatus } from '../../campaigns/status.js';
import { M4BenchError } from '../../support/errors.js';
import { holderInWords } from '../../support/lock.js';
import {
  type CampaignOptions,
  draftCampaign,
  existingPlan,
  planDraft,
  plannedCampaign,
  withCampaignOptions,
} from '../campaign-setup.js';
import { durationWords, tokenWords } from '../campaign-view.js';
import { withCassetteOptions } from '../cassette-options.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';
import { addAuditCommand } from './audit.js';
import { campaignExportCommand } from './campaign-export.js';
import { campaignPreflightCommand, findingsOf, heedFindings } from './campaign-preflight.js';
import {
  type ScheduleOptions,
  sayDraft,
  schedule,
  tierTable,
  withScheduleOptions,
} from './campaign-schedule.js';
import { campaignWorkerCommand } from './campaign-worker.js';

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
  options: CampaignOptions & ScheduleOptions & { readonly preflight: boolean },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const isNew = (await readPlan(context.home, name)) === undefined;
  const planned = await plannedCampaign(context, name, options, command);
  await using _setup = planned.setup;
  if (options.preflight) {
    const hasCostBudget = options.budgetCost !== undefined;
    const more = { parallel: options.parallel, hasCostBudget, isDeep: isNew };
    context.progress.update(isNew ? 'preflight' : 'preflight, the short one');
    heedFindings(context, await findingsOf(context, planned, more));
  }
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
    status.holder !== null
      ? `run by ${holderInWords(status.holder)}`
      : left === 0
        ? 'not running'
        : `not running (m4bench campaign run ${status.campaign} goes on)`;
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
      const folder = campaignFolder(context.home, name);
      await wish(folder, wants);
      const isRunning = (await lockHolder(folder.root)) !== undefined;
      context.say(
        isRunning
          ? `${name}: asked to ${verb}`
          : `${name}: asked to ${verb}, and no process runs it here; m4bench campaign run ${name} goes on with it`,
      );
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
    .option('--no-preflight', 'start without the checks of campaign preflight')
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
  campaign.addCommand(campaignPreflightCommand());
  campaign.addCommand(campaignExportCommand());
  addAuditCommand(campaign);
  return campaign;
}
