import { join } from 'node:path';
import type { Command } from 'commander';
import ora from 'ora';
import { type Home, homeAt } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { cleanForTerminal } from '../support/terminal.js';
import type { LoadTasksOptions } from '../tasks/load-tasks.js';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly home?: string;
  readonly tasks?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** What a command works with; nothing in it is read from anywhere else. */
export interface CliContext {
  readonly home: Home;
  /** Where tasks are looked for besides the shipped ones. */
  readonly content: LoadTasksOptions;
  readonly wantsJson: boolean;
  readonly progress: Progress;
  /** True when standard error is a terminal that may be drawn on. */
  readonly isLive: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Human-readable text on standard output; nothing with `--json`. */
  say(text: string): void;
  /** The one JSON document on standard output; nothing without `--json`. */
  json(value: unknown): void;
}

/** Default home: `$M4BENCH_HOME`, else `.m4bench` in the current folder. */
export function homeFrom(options: GlobalOptions, environment: NodeJS.ProcessEnv = process.env): Home {
  return homeAt(options.home ?? environment.M4BENCH_HOME ?? join(process.cwd(), '.m4bench'));
}

/** A terminal that lines can be drawn on again; one of no width (a pipe that calls itself a terminal) is none. */
const isDrawable = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && stream.columns > 0;

/** Progress for people: a spinner on a terminal, plain lines elsewhere, always on standard error. */
function progressFor(options: GlobalOptions): Progress {
  if (options.quiet)
    return {
      ...silentProgress,
      warn: (text) => process.stderr.write(`warning: ${cleanForTerminal(text)}\n`),
    };
  if (!isDrawable(process.stderr)) {
    return {
      update: () => {},
      done: (text) => process.stderr.write(`${cleanForTerminal(text)}\n`),
      warn: (text) => process.stderr.write(`warning: ${cleanForTerminal(text)}\n`),
    };
  }
  // `NO_COLOR`, whatever it says (no-color.org).
  const color = process.env.NO_COLOR ? false : 'cyan';
  const spinner = ora({ stream: process.stderr, discardStdin: false, color });
  process.once('exit', () => spinner.stop());
  return {
    update: (text) => {
      spinner.start(cleanForTerminal(text));
    },
    done: (text) => {
      spinner.succeed(cleanForTerminal(text));
    },
    warn: (text) => {
      spinner.warn(cleanForTerminal(text));
    },
  };
}

/** Builds the context of a command from its own and the global options. */
export function contextOf(command: Command): CliContext {
  const options = command.optsWithGlobals<GlobalOptions>();
  const wantsJson = options.json === true;
  const abort = new AbortController();
  process.once('SIGINT', () => {
    process.stderr.write('\nStopping after cleaning up; press Ctrl-C again to leave at once.\n');
    abort.abort();
    process.once('SIGINT', () => process.exit(130));
  });
  return {
    home: homeFrom(options),
    content: { extraFolders: options.tasks ?? [] },
    wantsJson,
    progress: progressFor(options),
    isLive: isDrawable(process.stderr) && options.quiet !== true,
    signal: abort.signal,
    say: (text) => {
      if (!wantsJson) process.stdout.write(`${text}\n`);
    },
    json: (value) => {
      if (wantsJson) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
  };
}
