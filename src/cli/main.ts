#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { fileTrouble, M4BenchError, messageOf } from '../support/errors.js';
import { cleanForTerminal } from '../support/terminal.js';
import { benchmarkVersion } from '../version.js';
import { analyzeCommand } from './commands/analyze.js';
import { campaignCommand } from './commands/campaign.js';
import { completeCommand, completionCommand } from './commands/completion.js';
import { conceptsCommand } from './commands/concepts.js';
import { dataCommand } from './commands/data.js';
import { doctorCommand } from './commands/doctor.js';
import { evaluateCommand } from './commands/evaluate.js';
import { evidenceCommand } from './commands/evidence.js';
import { exportCommand } from './commands/export.js';
import { quickstartCommand } from './commands/quickstart.js';
import { referencesCommand } from './commands/references.js';
import { reportCommand } from './commands/report.js';
import { runCommand } from './commands/run.js';
import { sandboxCommand } from './commands/sandbox.js';
import { schemasCommand } from './commands/schemas.js';
import { scoreCommand } from './commands/score.js';
import { skillsCommand } from './commands/skills.js';
import { tasksCommand } from './commands/tasks.js';
import { transcriptCommand } from './commands/transcript.js';
import { viewCommand } from './commands/view.js';
import { addHelpExamples } from './help-examples.js';
import { collectFolder } from './options.js';

/** Exit codes: 0 done, 1 the check or run failed, 2 wrong use or bad input, 130 interrupted. */
const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 } as const;

/** The whole command line; commands are thin layers over the modules. */
export function buildProgram(): Command {
  const program = new Command('m4bench')
    .description('Benchmark of AI coding agents on clinical data work.')
    .version(benchmarkVersion)
    .option('--home <dir>', 'where datasets and results live (default $M4BENCH_HOME, else ./.m4bench)')
    .option(
      '--tasks <dir>',
      'folder of own task families, besides the shipped ones; may be repeated',
      collectFolder,
    )
    .option('--json', 'one JSON document on standard output')
    .option('--quiet', 'no progress')
    .option('--verbose', 'stack traces of errors')
    .showHelpAfterError('Run with --help for the options.')
    .showSuggestionAfterError()
    .exitOverride();
  for (const command of [
    quickstartCommand(),
    dataCommand(),
    conceptsCommand(),
    referencesCommand(),
    schemasCommand(),
    tasksCommand(),
    skillsCommand(),
    runCommand(),
    evaluateCommand(),
    transcriptCommand(),
    campaignCommand(),
    scoreCommand(),
    analyzeCommand(),
    evidenceCommand(),
    exportCommand(),
    reportCommand(),
    viewCommand(),
    sandboxCommand(),
    doctorCommand(),
    completionCommand(),
  ]) {
    program.addCommand(inheriting(command));
  }
  program.addCommand(inheriting(completeCommand()), { hidden: true });
  addHelpExamples(program);
  return program;
}

/** Sub-commands take the same error handling as the program. */
function inheriting(command: Command): Command {
  command
    .exitOverride()
    .showHelpAfterError('Run with --help for the options.')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true });
  for (const inner of command.commands) inheriting(inner);
  return command;
}

/** `help campaign run` as `campaign run --help`: commander's own `help` knows one level only. */
export function wordsAsked(words: readonly string[]): string[] {
  return words[0] === 'help' && words.length > 2 ? [...words.slice(1), '--help'] : [...words];
}

/** Who reads the output may stop (`| head`): the work goes on, since it may be a campaign, and nothing is said. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

async function main(): Promise<void> {
  outliveReaders();
  const program = buildProgram();
  try {
    await program.parseAsync(wordsAsked(process.argv.slice(2)), { from: 'user' });
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      process.exitCode = thrown.exitCode === 0 ? 0 : exitCodes.wrongUse;
      return;
    }
    report(
      thrown,
      program.opts<{ verbose?: boolean }>().verbose === true || process.argv.includes('--verbose'),
    );
  }
}

/** One sentence and what to do; a stack trace only for our own faults or with `--verbose`. */
function report(thrown: unknown, isVerbose: boolean): void {
  const trouble = fileTrouble(thrown);
  if (thrown instanceof M4BenchError) {
    process.stderr.write(
      `error ${thrown.code}: ${cleanForTerminal(thrown.message)}\n  ${cleanForTerminal(thrown.remedy)}\n`,
    );
    process.exitCode =
      thrown.code === 'INTERRUPTED'
        ? exitCodes.interrupted
        : thrown.party === 'user'
          ? exitCodes.wrongUse
          : exitCodes.failed;
  } else if (trouble !== undefined) {
    process.stderr.write(
      `error FILE_SYSTEM: ${cleanForTerminal(trouble)}\n  Correct the name, or what stands in the way there, and run the command again.\n`,
    );
    process.exitCode = exitCodes.failed;
  } else {
    process.stderr.write(
      `error INTERNAL: ${cleanForTerminal(messageOf(thrown))}\n  This is a fault of m4bench; run again with --verbose and report it.\n`,
    );
    process.exitCode = exitCodes.failed;
  }
  if (isVerbose && thrown instanceof Error) {
    process.stderr.write(`${thrown.stack ?? ''}\n`);
    if (thrown.cause instanceof Error) process.stderr.write(`caused by ${thrown.cause.stack ?? ''}\n`);
  }
}

/** Started as a program, under whatever link; imported, it only offers the commands. */
function isProgram(): boolean {
  const started = process.argv[1];
  if (started === undefined) return false;
  try {
    return realpathSync(started) === realpathSync(fileURLToPath(import.meta.url));
  } catch {
    return false;
  }
}

if (isProgram()) await main();
