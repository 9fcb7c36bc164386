import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { chooseDataset } from '../../datasets/dataset.js';
import { exportHarbor } from '../../export/export-harbor.js';
import { exportInspect } from '../../export/export-inspect.js';
import { conditionNames } from '../../tasks/condition.js';
import { findTask, loadTasks } from '../../tasks/load-tasks.js';
import { loadProtocol } from '../../tasks/protocol.js';
import { existingPlan } from '../campaign-setup.js';
import { contextOf } from '../context.js';
import { collect } from '../options.js';

/** `m4bench export …`: tasks and results in the formats of others. */
export function exportCommand(): Command {
  return new Command('export')
    .description('tasks for Harbor, results for Inspect')
    .addCommand(harborCommand())
    .addCommand(inspectCommand());
}

interface HarborCommandOptions {
  readonly out: string;
  readonly task?: readonly string[];
  readonly dataset?: string;
  readonly condition: string;
  readonly protocol?: string;
  readonly withData?: boolean;
}

function harborCommand(): Command {
  return new Command('harbor')
    .description('tasks as a Harbor dataset (task format 1.1): database, instruction, verifier, solution')
    .requiredOption('--out <dir>', 'folder to make; it must not be there yet')
    .option('--task <names>', 'tasks, comma separated or repeated (default: all of the dataset)', collect)
    .option('--dataset <name>', 'dataset of the tasks (default: the fullest one of each kind)')
    .addOption(
      new Option('--condition <name>', 'what agents get').choices(conditionNames).default('no-skill'),
    )
    .option('--protocol <name>', 'named protocol')
    .option('--with-data', 'with credentialed data too; such a folder must not leave this machine')
    .addHelpText(
      'after',
      '\nExample:\n  m4bench export harbor --task mimic-meld-24h-raw --dataset mimic-iv-demo --out ./harbor',
    )
    .action(async (options: HarborCommandOptions, command: Command) => {
      const context = contextOf(command);
      const tasks =
        options.task === undefined
          ? (await loadTasks(context.content)).filter(({ conditions }) =>
              conditions.some((condition) => condition === options.condition),
            )
          : await Promise.all(options.task.map((name) => findTask(name, context.content)));
      const dataset =
        options.dataset === undefined
          ? undefined
          : await chooseDataset(context.home, tasks[0]?.database ?? 'mimic-iv', options.dataset).catch(
              () => undefined,
            );
      const fitting =
        options.task === undefined && dataset !== undefined
          ? tasks.filter(({ database }) => database === dataset.kind)
          : tasks;
      const exported = await exportHarbor({
        home: context.home,
        tasks: fitting,
        datasetFor: (task) => chooseDataset(context.home, task.database, options.dataset),
        condition: options.condition,
        protocol: await loadProtocol(options.protocol),
        folder: resolve(options.out),
        withData: options.withData === true,
        progress: context.progress,
      });
      const without = exported.tasks.filter(({ hasData }) => !hasData).length;
      context.say(`${exported.tasks.length} tasks in ${exported.folder}`);
      if (without > 0)
        context.say(
          `${without} of them read credentialed data and come without data, reference and solution.`,
        );
      if (options.withData)
        context.say('The folder holds credentialed data: it must not leave this machine.');
      context.json(exported);
    });
}

function inspectCommand(): Command {
  return new Command('inspect')
    .description('results as Inspect evaluation logs (JSON, version 2), one per cell')
    .argument('<campaign>', 'name of the campaign, also an imported one')
    .requiredOption('--out <dir>', 'folder for the logs')
    .option(
      '--transcripts',
      'with messages and what tools gave back: rows of patients, unless the campaign is a public package',
    )
    .addHelpText(
      'after',
      '\nExample:\n  m4bench export inspect tonight --out ./logs && inspect view --log-dir ./logs',
    )
    .action(async (campaign: string, options: { out: string; transcripts?: boolean }, command: Command) => {
      const context = contextOf(command);
      const plan = await existingPlan(context.home, campaign);
      const exported = await exportInspect(context.home, { ...plan, name: campaign }, resolve(options.out), {
        transcripts: options.transcripts === true,
      });
      context.say(`${exported.runs} runs in ${exported.files.length} logs, in ${exported.folder}`);
      context.json(exported);
    });
}
