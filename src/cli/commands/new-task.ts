import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { M4BenchError } from '../../support/errors.js';
import { readContentFile } from '../../support/toml-file.js';
import { type NewTask, writeNewTask } from '../../tasks/new-task.js';
import type { Task, TaskMode } from '../../tasks/task.js';
import { contextOf } from '../context.js';
import { lintOptions } from '../lint-options.js';
import { collect } from '../options.js';

interface NewTaskCommandOptions {
  readonly into: string;
  readonly family?: string;
  readonly title?: string;
  readonly kind: string;
  readonly database: string;
  readonly mode: TaskMode;
  readonly difficulty: Task['difficulty'];
  readonly reference?: string;
  readonly keys?: readonly string[];
  readonly grain?: string;
  readonly describe?: string;
  readonly columns?: readonly string[];
  readonly values?: readonly string[];
  readonly tolerance?: Readonly<Record<string, number>>;
  readonly removes?: readonly string[];
  readonly citation: string;
  readonly skill?: string;
  readonly draftSkill?: boolean;
  readonly spec?: string;
}

/** What has to be known, and how a terminal asks for it. */
const questions = {
  title: 'Title of the task (for example "KDIGO stage of admissions"): ',
  reference: 'SQL file with the reference, one SELECT: ',
  keys: 'Columns that identify a row of the output, comma separated: ',
  grain: 'What one row stands for (for example "one row per ICU stay"): ',
  describe: 'What the agent is asked for, in clinical words: ',
} as const;
type Question = keyof typeof questions;

/** `m4bench tasks new`: a task of the user's own, as a folder that is used like a shipped one. */
export function newTaskCommand(): Command {
  return new Command('new')
    .description(
      'write a task of your own: contract, instruction, reference; a terminal asks for what is missing',
    )
    .argument('<name>', 'lower-case letters, digits and hyphens, for example icu-shock-index')
    .option('--into <dir>', 'folder of your families, later given as --tasks', './tasks')
    .option('--family <name>', 'folder of the family, default the name of the task')
    .option('--title <text>', 'title of the task')
    .option('--kind <text>', 'kind of clinical concept', 'clinical definition')
    .option('--database <kind>', 'mimic-iv, eicu, or the kind of your own schema file', 'mimic-iv')
    .addOption(
      new Option(
        '--mode <mode>',
        'raw: source tables only; standard: derived tables that are not removed stay',
      )
        .choices(['standard', 'raw'])
        .default('standard'),
    )
    .addOption(
      new Option('--difficulty <level>', 'your own estimate')
        .choices(['medium', 'hard', 'expert'])
        .default('medium'),
    )
    .option('--reference <file>', 'SQL file with the reference: one SELECT, relations with their schema')
    .option('--keys <columns>', 'columns that identify a row', collect)
    .option('--grain <text>', 'what one row of the output stands for')
    .option('--describe <text>', 'what the agent is asked for, in clinical words')
    .option(
      '--columns <columns>',
      'columns of the output in their order, default those of the reference',
      collect,
    )
    .option('--values <columns>', 'headline columns, default all that are no keys', collect)
    .option('--tolerance <column=n>', 'absolute tolerance of a column (seconds for times)', collectTolerance)
    .option('--removes <relations>', 'relations that the database of the task leaves out', collect)
    .option('--citation <text>', 'where the definition comes from', 'definition of the task author')
    .addOption(new Option('--skill <file>', 'a SKILL.md to go with the task').conflicts('draftSkill'))
    .option('--draft-skill', 'write a skill with all sections, to be filled in')
    .option('--spec <file>', 'operational specification: the complete rules in words')
    .addHelpText(
      'after',
      '\nExample:\n  m4bench tasks new icu-stay-hours --title "Length of ICU stay" --reference hours.sql --keys stay_id \\\n      --grain "one row per ICU stay" --describe "Compute the length of every ICU stay in hours." --tolerance hours=0.1',
    )
    .action(async (name: string, options: NewTaskCommandOptions, command: Command) => {
      const context = contextOf(command);
      const wanted = await newTaskFrom(name, await completed(options, context.wantsJson));
      const { ownDatabases } = await lintOptions(context, []);
      const { task, files } = await writeNewTask(wanted, {
        folder: resolve(options.into),
        ...(ownDatabases === undefined ? {} : { ownDatabases }),
      });
      const into = relative(process.cwd(), resolve(options.into)) || '.';
      context.say(
        `Wrote ${files.length} files:\n${files.map((file) => `  ${relative(process.cwd(), file)}`).join('\n')}`,
      );
      context.say(
        [
          'Read the instruction once more, then:',
          `  m4bench tasks lint --tasks ${into}`,
          `  m4bench run ${name} --tasks ${into} --agent reference     # the right answer has to score 1`,
          `  m4bench run ${name} --tasks ${into} --agent sql --sql QUERY.sql`,
        ].join('\n'),
      );
      context.json({
        task: task.name,
        family: task.family,
        folder: resolve(options.into),
        files,
        contract: task.contract,
      });
    });
}

/** Collects `column=tolerance`. */
function collectTolerance(
  text: string,
  previous: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> {
  const collected: Record<string, number> = { ...previous };
  for (const part of collect(text, undefined)) {
    const match = /^([a-z_][a-z0-9_]*)=(\d+(?:\.\d+)?)$/.exec(part);
    if (match === null) throw new InvalidArgumentError('Write column=number, for example hours=0.1.');
    collected[match[1]!] = Number(match[2]);
  }
  return collected;
}

type Completed = NewTaskCommandOptions & {
  readonly [Key in Question]: NonNullable<NewTaskCommandOptions[Key]>;
};

/** Asks for what is missing on a terminal; elsewhere names the flags. */
async function completed(options: NewTaskCommandOptions, wantsJson: boolean): Promise<Completed> {
  const missing = (Object.keys(questions) as Question[]).filter((name) => options[name] === undefined);
  const answers: Partial<Record<Question, string | readonly string[]>> = {};
  if (missing.length > 0) {
    if (!process.stdin.isTTY || wantsJson) {
      throw new M4BenchError(
        'NEW_TASK_INVALID',
        `A new task needs ${missing.map((name) => `--${name}`).join(', ')}.`,
        'Give them, or start the command on a terminal, which asks.',
      );
    }
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      for (const name of missing) {
        const answer = (await terminal.question(questions[name])).trim();
        answers[name] = name === 'keys' ? collect(answer, undefined) : answer;
      }
    } finally {
      terminal.close();
    }
  }
  return { ...options, ...answers } as Completed;
}

async function newTaskFrom(name: string, options: Completed): Promise<NewTask> {
  const skill = options.draftSkill ? 'draft' : options.skill && (await textOf(options.skill, '--skill'));
  const spec = options.spec && (await textOf(options.spec, '--spec'));
  return {
    name,
    family: options.family ?? name,
    title: options.title,
    kind: options.kind,
    database: options.database,
    mode: options.mode,
    difficulty: options.difficulty,
    grain: options.grain,
    description: options.describe,
    query: await textOf(options.reference, '--reference'),
    citation: options.citation,
    keyColumns: options.keys,
    ...(options.columns === undefined ? {} : { requiredColumns: options.columns }),
    ...(options.values === undefined ? {} : { valueColumns: options.values }),
    tolerance: options.tolerance ?? {},
    removes: options.removes ?? [],
    ...(skill ? { skill } : {}),
    ...(spec ? { operationalSpec: spec } : {}),
  };
}

const textOf = (file: string, flag: string): Promise<string> =>
  readContentFile(file, 'FILE_UNREADABLE', `the file of ${flag},`);
