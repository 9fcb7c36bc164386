import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { toText } from '../../analysis/tables.js';
import { auditRun, type RunAudit } from '../../audit/audit-run.js';
import type { AuditProblem } from '../../audit/record-files.js';
import { rescoreRun } from '../../audit/rescore.js';
import { type CampaignPlan, campaignFolder, campaignNotFound, readPlan } from '../../campaigns/plan.js';
import type { Home } from '../../support/home.js';
import { type CliContext, contextOf } from '../context.js';

interface AuditedRun extends RunAudit {
  /** Whether the output was judged again; null where that was not asked for. */
  readonly wasRescored: boolean | null;
}

async function auditOne(context: CliContext, folder: string, wantsRescore: boolean): Promise<AuditedRun> {
  const audit = await auditRun(folder);
  if (!wantsRescore) return { ...audit, wasRescored: null };
  const rescore = await rescoreRun(context.home, folder, context.content);
  if (rescore.problems.length === 0) return { ...audit, wasRescored: rescore.wasCompared };
  return {
    ...audit,
    publishable: false,
    reasons: [...new Set([...audit.reasons, 'the files of the run contradict the data it names'])],
    problems: [...audit.problems, ...rescore.problems],
    wasRescored: rescore.wasCompared,
  };
}

/** What the frozen plan says against the runs that are there. */
function planProblems(plan: CampaignPlan, runIds: readonly string[]): readonly AuditProblem[] {
  const planned = new Set(plan.runs.map(({ runId }) => runId));
  return runIds
    .filter((runId) => !planned.has(runId))
    .map((runId) => ({ code: 'RUN_UNPLANNED', where: runId, detail: 'the frozen plan has no such run' }));
}

async function runFolders(home: Home, name: string): Promise<readonly string[]> {
  const { runs } = campaignFolder(home, name);
  const entries = await readdir(runs, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    throw campaignNotFound(home, name);
  }
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(runs, entry.name))
    .sort();
}

/** Adds `campaign audit`: the verdicts of all runs, worked out again from their files. */
export function addAuditCommand(campaign: Command): void {
  campaign
    .command('audit')
    .description(
      'work out again, from the files alone, which runs may be published, and find what was changed',
    )
    .argument('<name>', 'name of the campaign; single runs are in adhoc')
    .option('--no-rescore', 'do not judge the outputs again where dataset and reference are at hand')
    .action(async (name: string, options: { rescore: boolean }, command: Command) => {
      const context = contextOf(command);
      const plan = await readPlan(context.home, name);
      const audits: AuditedRun[] = [];
      for (const folder of await runFolders(context.home, name)) {
        context.progress.update(`audit ${audits.length + 1}`);
        audits.push(await auditOne(context, folder, options.rescore));
      }
      const unplanned =
        plan === undefined
          ? []
          : planProblems(
              plan,
              audits.map(({ runId }) => runId),
            );
      const isMissing = ({ runId }: { runId: string }): boolean =>
        !audits.some((audit) => audit.runId === runId);
      const missing = plan?.runs.filter(isMissing).map(({ runId }) => runId) ?? [];
      const rows = audits.map(({ runId, publishable, reasons, problems }) => ({
        run: runId,
        publishable: publishable ? 'yes' : 'no',
        why: [...reasons, ...problems.map(({ code, where }) => `${code} ${where}`)].join('; '),
      }));
      context.say(toText({ columns: ['run', 'publishable', 'why'], rows, folds: ['publishable', 'why'] }));
      const broken = audits.filter(({ problems }) => problems.length > 0).length + unplanned.length;
      const publishable = audits.filter((audit) => audit.publishable).length;
      context.say(
        `${audits.length} runs: ${publishable} publishable, ${broken} with contradictions, ${missing.length} planned and not made`,
      );
      context.json({ campaign: name, publishable, broken, missing, unplanned, runs: audits });
      if (broken > 0) process.exitCode = 1;
    });
}
