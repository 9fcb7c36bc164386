import { Command } from 'commander';
import { rewardByTaskAndCondition } from '../../analysis/skill-effect.js';
import { toText } from '../../analysis/tables.js';
import {
  type CampaignPlan,
  campaignFolder,
  freezePlan,
  planCampaign,
  readPlan,
} from '../../campaigns/plan.js';
import { readResults, runCampaign } from '../../campaigns/run.js';
import { CellPreparation, type PreparedCell } from '../../runs/prepare.js';
import { M4BenchError } from '../../support/errors.js';
import type { Home } from '../../support/home.js';
import { findTask } from '../../tasks/load-tasks.js';
import { benchmarkVersion } from '../../version.js';
import { withCassetteOptions } from '../cassette-options.js';
import { type CliContext, contextOf } from '../context.js';
import { collect, wholeNumber } from '../options.js';
import { type RunOptions, type RunSetup, setUpRuns, withRunOptions } from '../run-setup.js';
import { addAuditCommand } from './audit.js';

interface CampaignOptions extends RunOptions {
  readonly task: readonly string[];
  readonly condition: readonly string[];
  readonly trials: number;
  readonly seed: string;
}

function withCampaignOptions(command: Command): Command {
  return withRunOptions(command)
    .requiredOption('--task <names>', 'tasks, comma separated or repeated', collect)
    .option('--condition <names>', 'conditions (default: no-skill,with-skill)', collect)
    .option('--trials <n>', 'trials of each cell', wholeNumber('--trials'), 1)
    .option('--seed <text>', 'seed of the order of runs', '1');
}

interface Planned {
  readonly plan: CampaignPlan;
  readonly cells: readonly PreparedCell[];
  readonly setup: RunSetup;
}

async function planFrom(context: CliContext, name: string, options: CampaignOptions): Promise<Planned> {
  const setup = await setUpRuns(context.home, options);
  const preparation = new CellPreparation(context.home, context.progress);
  const cells: PreparedCell[] = [];
  for (const taskName of options.task) {
    const task = await findTask(taskName, context.content);
    for (const condition of options.condition ?? ['no-skill', 'with-skill']) {
      cells.push(await preparation.prepare(await setup.cellFor(task, condition)));
    }
  }
  const plan = planCampaign({
    name,
    benchmarkVersion,
    cells,
    trials: options.trials,
    seed: options.seed,
    sandbox: setup.environment.sandbox.kind,
    timeoutSeconds: setup.environment.limits.timeoutSeconds,
  });
  return { plan, cells, setup };
}

/** The plan of an existing campaign, or an error that says how to make one. */
export async function existingPlan(home: Home, name: string): Promise<CampaignPlan> {
  const plan = await readPlan(home, name);
  if (plan !== undefined) return plan;
  throw new M4BenchError(
    'CAMPAIGN_NOT_FOUND',
    `There is no campaign ${name} under ${home.campaigns}.`,
    'Start one with m4bench campaign run.',
  );
}

/** `m4bench campaign …`: many runs from one frozen plan. */
export function campaignCommand(): Command {
  const campaign = new Command('campaign').description('many runs from one frozen plan');

  withCampaignOptions(
    campaign
      .command('plan')
      .description('prepare and freeze a plan without running it')
      .argument('<name>', 'name of the campaign'),
  ).action(async (name: string, options: CampaignOptions, command: Command) => {
    const context = contextOf(command);
    const { plan } = await planFrom(context, name, options);
    await freezePlan(context.home, plan);
    context.say(
      `${name}: ${plan.cells.length} cells, ${plan.runs.length} runs, plan ${plan.planHash.slice(0, 16)}, at ${campaignFolder(context.home, name).plan}`,
    );
    context.json(plan);
  });

  withCassetteOptions(
    withCampaignOptions(
      campaign
        .command('run')
        .description('run what is not done yet; the first call freezes the plan, later calls resume it')
        .argument('<name>', 'name of the campaign'),
    ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  m4bench campaign run tonight --agent codex --model gpt-5.5 --task mimic-meld-24h,mimic-sirs-24h-raw --trials 2',
    )
    .action(async (name: string, options: CampaignOptions, command: Command) => {
      const context = contextOf(command);
      const { plan, cells, setup: opened } = await planFrom(context, name, options);
      await using setup = opened;
      await freezePlan(context.home, plan);
      const outcome = await runCampaign({
        home: context.home,
        plan,
        cells,
        environment: setup.environment,
        progress: context.progress,
        signal: context.signal,
      });
      if (outcome.interrupted) {
        throw new M4BenchError(
          'INTERRUPTED',
          `Stopped after ${outcome.results.length} of ${plan.runs.length} runs; finished runs are kept.`,
          'Run the same command again to go on.',
        );
      }
      const unjudged = outcome.results.filter((result) => result.status === 'unjudged').length;
      context.say(toText(rewardByTaskAndCondition(outcome.results)));
      context.say(
        `${outcome.ran} runs made, ${outcome.kept} kept, ${unjudged} unjudged; next: m4bench analyze ${name}`,
      );
      context.json({
        campaign: name,
        planHash: plan.planHash,
        ran: outcome.ran,
        kept: outcome.kept,
        unjudged,
        results: outcome.results,
      });
      if (unjudged > 0) process.exitCode = 1;
    });

  campaign
    .command('status')
    .description('how far a campaign is')
    .argument('<name>', 'name of the campaign')
    .action(async (name: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const plan = await existingPlan(context.home, name);
      const results = await readResults(context.home, plan);
      const unjudged = results.filter((result) => result.status === 'unjudged').length;
      context.say(`${name}: ${results.length} of ${plan.runs.length} runs done, ${unjudged} unjudged`);
      if (results.length > 0) context.say(toText(rewardByTaskAndCondition(results)));
      context.json({ campaign: name, planned: plan.runs.length, done: results.length, unjudged });
    });
  addAuditCommand(campaign);
  return campaign;
}
