import { homedir } from 'node:os';
import { Command } from 'commander';
import { toText } from '../../analysis/tables.js';
import { type PreflightFinding, preflight } from '../../campaigns/preflight.js';
import { currentRootfs } from '../../sandboxes/rootfs.js';
import { M4BenchError } from '../../support/errors.js';
import {
  type CampaignOptions,
  type PlannedCampaign,
  plannedCampaign,
  withCampaignOptions,
} from '../campaign-setup.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';

/** Looks at what a planned campaign needs. `isDeep`: references, task databases and material of every cell too. */
export async function findingsOf(
  context: CliContext,
  planned: PlannedCampaign,
  more: {
    readonly parallel: number;
    readonly hasCostBudget: boolean;
    readonly isDeep: boolean;
    readonly isHostile?: boolean;
  },
): Promise<readonly PreflightFinding[]> {
  return await preflight({
    home: context.home,
    plan: planned.plan,
    environment: planned.setup.environment,
    rootfs: await currentRootfs(context.home),
    parallel: more.parallel,
    hasCostBudget: more.hasCostBudget,
    content: context.content,
    ...(more.isHostile ? { hostileUserHome: homedir() } : {}),
    ...(more.isDeep ? { prepare: planned.prepare } : {}),
  });
}

/** Stops a campaign at problems; warnings are said. */
export function heedFindings(context: CliContext, findings: readonly PreflightFinding[]): void {
  for (const { code, state, detail } of findings) {
    if (state === 'warning') context.progress.warn(`preflight ${code}: ${detail}`);
  }
  const problems = findings.filter(({ state }) => state === 'problem');
  if (problems.length === 0) return;
  throw new M4BenchError(
    'PREFLIGHT_FAILED',
    problems.map(({ code, detail }) => `${code}: ${detail}`).join('; '),
    `${problems.map(({ remedy }) => remedy).join(' ')} (--no-preflight goes on all the same.)`,
    { party: 'environment' },
  );
}

interface PreflightCommandOptions extends CampaignOptions {
  readonly parallel: number;
  readonly hostile?: boolean;
}

/** `m4bench campaign preflight`: everything that can be checked before the first run. */
export function campaignPreflightCommand(): Command {
  return withCampaignOptions(
    new Command('preflight')
      .description(
        'check everything that the planned runs need: data, databases, references, sandbox, logins, disk',
      )
      .argument('<name>', 'name of the campaign')
      .option('--parallel <n>', 'runs at once', wholeNumber('--parallel'), 1)
      .option('--hostile', 'let the hostile agent try to get out of the sandbox first (a minute or two)'),
  ).action(async (name: string, options: PreflightCommandOptions, command: Command) => {
    const context = contextOf(command);
    const planned = await plannedCampaign(context, name, options, command);
    await using _setup = planned.setup;
    const findings = await findingsOf(context, planned, {
      parallel: options.parallel,
      hasCostBudget: false,
      isDeep: true,
      isHostile: options.hostile === true,
    });
    const rows = findings.map((finding) => ({ ...finding }));
    context.say(toText({ columns: ['code', 'state', 'detail', 'remedy'], rows }));
    context.json({ campaign: name, findings });
    if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
  });
}
