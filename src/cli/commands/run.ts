import { join } from 'node:path';
import { Command } from 'commander';
import { readResult } from '../../campaigns/campaign-index.js';
import { campaignFolder } from '../../campaigns/plan.js';
import { describe } from '../../campaigns/run.js';
import { runIdOf } from '../../runs/cell.js';
import { CellPreparation } from '../../runs/prepare.js';
import type { RunResult } from '../../runs/result.js';
import { executeRun } from '../../runs/run.js';
import { M4BenchError } from '../../support/errors.js';
import { cleanForTerminal } from '../../support/terminal.js';
import { findTask } from '../../tasks/load-tasks.js';
import { withCassetteOptions } from '../cassette-options.js';
import { contextOf } from '../context.js';
import { wholeNumber } from '../options.js';
import { type RunOptions, setUpRuns, withRunOptions } from '../run-setup.js';

/** Campaign that single runs belong to. */
const adhoc = 'adhoc';

/** `m4bench run TASK`: one run, scored. */
export function runCommand(): Command {
  return withCassetteOptions(
    withRunOptions(new Command('run'))
      .description('one run of a task: agent in a sandbox, output scored')
      .argument('<task>', 'for example mimic-meld-24h')
      .option('--condition <name>', 'what context the agent gets', 'no-skill')
      .option('--trial <n>', 'number of the trial', wholeNumber('--trial'), 1)
      .option('--again', 'take the next free trial number'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  m4bench run mimic-sirs-24h-raw --agent codex --model gpt-5.5 --condition with-skill\n  m4bench run mimic-meld-24h --agent sql --sql my-query.sql',
    )
    .action(
      async (
        taskName: string,
        options: RunOptions & { condition: string; trial: number; again?: boolean },
        command: Command,
      ) => {
        const context = contextOf(command);
        const task = await findTask(taskName, context.content);
        await using setup = await setUpRuns(context.home, options);
        const prepared = await new CellPreparation(context.home, context.progress).prepare(
          await setup.cellFor(task, options.condition),
        );
        const folder = campaignFolder(context.home, adhoc);
        let { trial } = options;
        while ((await readResult(join(folder.runs, runIdOf(prepared.cell, trial)))) !== undefined) {
          if (!options.again) {
            throw new M4BenchError(
              'RUN_EXISTS',
              `Trial ${trial} of this run exists: ${join(folder.runs, runIdOf(prepared.cell, trial))}.`,
              'Give another --trial, or --again for the next free one.',
            );
          }
          trial += 1;
        }
        const runId = runIdOf(prepared.cell, trial);
        context.progress.update(
          `${task.name} ${options.condition} trial ${trial} in ${setup.environment.sandbox.kind}`,
        );
        const result = await executeRun(setup.environment, {
          campaign: adhoc,
          runId,
          runFolder: join(folder.runs, runId),
          trial,
          prepared,
          signal: context.signal,
        });
        if (result === undefined)
          throw new M4BenchError(
            'INTERRUPTED',
            'The run was interrupted; nothing was recorded.',
            'Start it again when you like.',
          );
        context.json(result);
        context.say(
          `${task.name} ${options.condition} on ${result.dataset.name}${result.dataset.verified ? '' : ' (UNVERIFIED data)'}: ${describe(result)}`,
        );
        for (const line of failedChecks(result)) context.say(line);
        context.say(result.publishable ? 'publishable' : `not publishable: ${result.reasons.join('; ')}`);
        context.say(`files: ${join(folder.runs, runId)}`);
        if (result.status === 'unjudged') process.exitCode = 1;
      },
    );
}

/** Where a reward was lost, a line per failed check and at most six. */
function failedChecks({ evaluation }: RunResult): readonly string[] {
  const lines = (evaluation?.checks ?? [])
    .filter(({ passed }) => !passed)
    .map(({ name, detail }) => `  ${name}: ${cleanForTerminal(detail)}`);
  return lines.length <= 6
    ? lines
    : [...lines.slice(0, 5), `  and ${lines.length - 5} more, in evaluation.json`];
}
