import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { columnTable, componentText, confusionTable } from '../../analysis/evaluation-tables.js';
import { toText } from '../../analysis/tables.js';
import { chooseDataset } from '../../datasets/dataset.js';
import { evaluateOutput } from '../../evaluation/evaluate.js';
import type { Evaluation } from '../../evaluation/evaluation.js';
import { openReference } from '../../references/build.js';
import { M4BenchError } from '../../support/errors.js';
import { writeFileAtomic, writeJsonAtomic } from '../../support/files.js';
import { findTask } from '../../tasks/load-tasks.js';
import { readAssets, styleWithoutFonts } from '../../viewer/assets.js';
import { evaluationHtml } from '../../viewer/pages/evaluation.js';
import { type CliContext, contextOf } from '../context.js';

/** `m4bench evaluate TASK OUTPUT`: scores a file a person or an agent made. */
export function evaluateCommand(): Command {
  return new Command('evaluate')
    .description('score an output file (CSV, CSV.gz or Parquet) against the reference of a task')
    .argument('<task>', 'for example mimic-meld-24h')
    .argument('<output>', 'the file to score')
    .option('--dataset <name>', 'dataset the output was made on; default: the fullest one present')
    .option('--reference <file>', 'score against this file instead')
    .option('--scores-only', 'skip mismatch kinds and confusion tables')
    .option('--html <file>', 'write the verdict as one page without rows of the data')
    .option(
      '--examples <file>',
      'write five rows per column that do not match, for your eyes only (mode 0600)',
    )
    .addHelpText(
      'after',
      '\nExample:\n  m4bench evaluate mimic-sirs-24h-raw ./output.csv --dataset mimic-iv-demo',
    )
    .action(
      async (
        taskName: string,
        output: string,
        options: {
          dataset?: string;
          reference?: string;
          scoresOnly?: boolean;
          html?: string;
          examples?: string;
        },
        command: Command,
      ) => {
        const context = contextOf(command);
        const task = await findTask(taskName, context.content);
        for (const file of [output, options.reference]) {
          // A run without an output scores 0; a person's mistyped name is no output at all.
          if (file === undefined || existsSync(file)) continue;
          throw new M4BenchError('FILE_UNREADABLE', `There is no file ${file}.`, 'Name a file that exists.');
        }
        const dataset =
          options.reference === undefined
            ? await chooseDataset(context.home, task.database, options.dataset)
            : undefined;
        const referencePath =
          options.reference ?? (await openReference(context.home, dataset!.name, task.reference)).parquetPath;
        const { evaluation, examples } = await evaluateOutput({
          task,
          dataset: dataset?.name ?? null,
          outputPath: join(output),
          referencePath,
          scoresOnly: options.scoresOnly ?? false,
        });
        context.json(evaluation);
        context.say(
          `${task.name} on ${dataset?.name ?? options.reference}${dataset?.verified === false ? ' (UNVERIFIED data)' : ''}`,
        );
        context.say(
          `reward ${evaluation.reward.toFixed(4)}  robust ${evaluation.rewardRobust.toFixed(4)}  key F1 ${evaluation.keyF1.toFixed(4)}  strict pass ${evaluation.strictPass ? 'yes' : 'no'}`,
        );
        if (evaluation.error !== null) context.say(`${evaluation.errorKind}: ${evaluation.error}`);
        context.say(
          toText({
            columns: ['check', 'passed', 'detail'],
            rows: evaluation.checks.map((check) => ({
              check: check.name,
              passed: check.passed ? 'yes' : 'no',
              detail: check.detail,
            })),
          }),
        );
        if (evaluation.errorKind === null && options.scoresOnly !== true) sayDiagnosis(context, evaluation);
        if (options.html !== undefined) {
          // The name only: where it lies on this machine is nobody else's business.
          const subject = `${basename(output)} against ${dataset?.name ?? options.reference}${dataset?.verified === false ? ' (UNVERIFIED data)' : ''}`;
          const style = styleWithoutFonts(await readAssets());
          await writeFileAtomic(resolve(options.html), evaluationHtml({ evaluation, subject, style }));
          context.say(`page: ${options.html}`);
        }
        if (options.examples !== undefined) {
          // Rows of the reference: for this user only (promise P7).
          await writeJsonAtomic(resolve(options.examples), examples, { mode: 0o600 });
          context.say(`examples (rows of the data, not to be shared): ${options.examples}`);
        }
        if (evaluation.errorKind !== null) process.exitCode = 1;
      },
    );
}

/** Why rows do not match: kinds by column, confusion of the columns with mismatches, and what explains the first. */
function sayDiagnosis(context: CliContext, evaluation: Evaluation): void {
  context.say(`\n${toText(columnTable(evaluation))}`);
  for (const [column, { matched, total }] of Object.entries(evaluation.columns)) {
    const isMoreThanMissing = total - matched > (evaluation.mismatchKinds[column]?.rowMissing ?? 0);
    const table = isMoreThanMissing ? confusionTable(evaluation, column) : undefined;
    if (table !== undefined) context.say(`\n${table.title}\n${toText(table)}`);
  }
  const explained = componentText(evaluation);
  if (explained !== undefined) context.say(`\n${explained}`);
}
