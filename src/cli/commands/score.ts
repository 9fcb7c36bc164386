import { Command } from 'commander';
import { type Table, toText } from '../../analysis/tables.js';
import { freezePlan } from '../../campaigns/plan.js';
import {
  ownRows,
  publishedRows,
  readPublishedRewards,
  type ScoreRow,
} from '../../campaigns/published-rewards.js';
import { campaignStatus } from '../../campaigns/status.js';
import { datasetsFor } from '../../datasets/dataset.js';
import { M4BenchError } from '../../support/errors.js';
import { shortHash } from '../../support/ids.js';
import { type CampaignOptions, draftCampaign, planDraft } from '../campaign-setup.js';
import { type CliContext, contextOf } from '../context.js';
import { collect, wholeNumber } from '../options.js';
import { agentHelp, withAgentOptions } from '../run-setup.js';
import { type ScheduleOptions, sayDraft, schedule, withScheduleOptions } from './campaign-schedule.js';

const profile = 'lite';

interface ScoreOptions extends Omit<CampaignOptions, 'seed'>, ScheduleOptions {
  readonly dryRun?: boolean;
}

/** `m4bench score`: a score tonight, beside the published rows. */
export function scoreCommand(): Command {
  return withScheduleOptions(
    withAgentOptions(
      new Command('score')
        .description(
          'a score tonight: six tasks with and without skills on the data present, beside the published rows',
        )
        .requiredOption('--agent <name>', agentHelp)
        .option(
          '--model <names>',
          "models (default: the published ones of this agent, else the agent's own)",
          collect,
        )
        .option('--trials <n>', 'trials of each cell', wholeNumber('--trials'), 1)
        .option('--dry-run', 'what it would take, and nothing else'),
    ),
  )
    .addHelpText('after', '\nExample:\n  m4bench score --agent codex --model gpt-5.5 --parallel 4')
    .action(scoreAction);
}

async function scoreAction(options: ScoreOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  await requireData(context);
  const draft = await draftCampaign(context, `score-${options.agent}`, {
    ...options,
    profile,
    seed: 'score',
  });
  const estimate = await sayDraft(context, draft, options.parallel);
  if (options.dryRun) {
    context.json({ estimate });
    return;
  }
  const first = await planDraft(context, draft);
  await using _setup = first.setup;
  // Named after what it asks: the same question resumes, another one is another campaign.
  const planned = first.renamed(`score-${draft.agent.name}-${shortHash(first.plan.planHash, 8)}`);
  const { plan } = planned;
  await freezePlan(context.home, plan);
  const outcome = await schedule(context, planned, options);
  if (outcome.ended.how === 'interrupted') {
    throw new M4BenchError(
      'INTERRUPTED',
      'Stopped; finished runs are kept.',
      'Run the same command again to go on.',
    );
  }
  const tasks = [...new Set(plan.cells.map(({ task }) => task))];
  const status = await campaignStatus(context.home, plan);
  const published = await readPublishedRewards();
  const own = ownRows(draft.agent.name, tasks, status.cells);
  const datasets = [...new Set(plan.cells.map(({ dataset }) => dataset))];
  const table = scoreTable(own, publishedRows(published, tasks), datasets.join('+'));
  context.say(toText(table));
  for (const note of notesOn(datasets, plan.cells[0]!.protocol)) context.say(note);
  context.say(`next: m4bench analyze ${plan.name}`);
  context.json({ campaign: plan.name, rows: table.rows, source: published.source, outcome });
  if (status.done < status.planned || status.unjudged > 0) process.exitCode = 1;
}

async function requireData(context: CliContext): Promise<void> {
  if ((await datasetsFor(context.home, 'mimic-iv')).length > 0) return;
  throw new M4BenchError(
    'DATASET_NOT_FOUND',
    `There is no mimic-iv dataset under ${context.home.datasets}.`,
    'Make one with m4bench data synthesize mimic-iv, or m4bench data download mimic-iv-demo.',
  );
}

function scoreTable(own: readonly ScoreRow[], published: readonly ScoreRow[], data: string): Table {
  const rowsOf = (rows: readonly ScoreRow[], source: string, on: string) =>
    rows.map((row) => ({ source, ...row, data: on }));
  return {
    columns: ['source', 'agent', 'model', 'tasks', 'noSkill', 'withSkill', 'delta', 'data'],
    rows: [...rowsOf(own, 'this machine', data), ...rowsOf(published, 'published 2026', 'MIMIC-IV, full')],
  };
}

/** What must be said before the numbers are compared. */
function notesOn(datasets: readonly string[], protocol: string): readonly string[] {
  return [
    ...(datasets.every((name) => name === 'mimic-iv')
      ? []
      : ['Published rows are of the full MIMIC-IV: on other data the comparison is for orientation only.']),
    `Published rows: protocol published-2026, five trials, effort medium; this machine: protocol ${protocol}.`,
  ];
}
