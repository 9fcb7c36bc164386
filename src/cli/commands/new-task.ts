import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { chooseDataset, listDatasets } from '../../datasets/dataset.js';
import { M4BenchError } from '../../support/errors.js';
import { readContentFile } from '../../support/toml-file.js';
import { type FamilyTask, writeFamilyTask } from '../../tasks/family-task.js';
import type { DescribedDatabase } from '../../tasks/lint/contract-rules.js';
import { describedReference, type NewTask, writeNewTask } from '../../tasks/new-task.js';
import { checkReferenceKeys } from '../../tasks/reference-keys.js';
import type { Task, TaskMode } from '../../tasks/task.js';
import { type CliContext, contextOf } from '../context.js';
import { lintOptions } from '../lint-options.js';
import { askForTask, taskQuestions } from '../new-task-questions.js';
import { collect, flagOf, typedOptions } from '../options.js';

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

/** `m4bench tasks new`: a task of the user's own, as a folder that is used like a shipped one. */
export function newTaskCommand(): Command {
  return new Command('new')
    .description(
      'write a task of your own: contract, instruction, reference; a terminal asks for what is missing',
    )
    .argument('<name>', 'lower-case letters, digits and hyphens, for example icu-shock-index')
    .option('--into <dir>', 'folder of your families, later given as --tasks', './tasks')
    .option(
      '--family <name>',
      'folder of the family, default the name of the task; one that exists gets a further task',
    )
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
      '\nExamples:\n  m4bench tasks new icu-stay-hours --title "Length of ICU stay" --reference hours.sql --keys stay_id \\\n      --grain "one row per ICU stay" --describe "Compute the length of every ICU stay in hours." --tolerance hours=0.1\n  m4bench tasks new icu-stay-hours-raw --family icu-stay-hours --mode raw',
    )
    .action(async (name: string, options: NewTaskCommandOptions, command: Command) => {
      const context = contextOf(command);
      const folder = resolve(options.into);
      const { ownDatabases = [] } = await lintOptions(context, []);
      const check = await keyCheck(context, options.database);
      const isOfFamily =
        options.family !== undefined && existsSync(join(folder, options.family, 'family.toml'));
      const { task, files } = isOfFamily
        ? await writeFamilyTask(familyTaskFrom(name, options, command), { folder, check })
        : await writeNewTask(await newTaskFrom(name, await completed(name, options, context, ownDatabases)), {
            folder,
            ownDatabases,
            check,
          });
      const into = relative(process.cwd(), folder) || '.';
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
      context.json({ task: task.name, family: task.family, folder, files, contract: task.contract });
    });
}

/** Looks at the keys of the reference over the dataset that is there; without one only the contract is checked. */
async function keyCheck(context: CliContext, kind: string): Promise<(task: Task) => Promise<void>> {
  const present = (await listDatasets(context.home)).some((dataset) => dataset.kind === kind);
  if (!present) {
    return async () =>
      context.progress.warn(
        `no dataset of kind ${kind} here, so whether the keys are unique was not checked`,
      );
  }
  const dataset = await chooseDataset(context.home, kind);
  const { update, warn } = context.progress;
  return async (task) => {
    const { rows } = await checkReferenceKeys(context.home, dataset, task, { update, done: update, warn });
    if (rows === 0) warn(`the reference returns no row on ${dataset.name}`);
    else context.progress.done(`${rows} rows on ${dataset.name}, each with a key of its own`);
  };
}

/** A further task of a family: what its contract says already cannot be said again. */
function familyTaskFrom(name: string, options: NewTaskCommandOptions, command: Command): FamilyTask {
  const fixed = [
    'reference',
    'keys',
    'grain',
    'columns',
    'values',
    'tolerance',
    'skill',
    'draftSkill',
    'spec',
  ] as const;
  const given = fixed.find((flag) => options[flag] !== undefined);
  if (given !== undefined) {
    throw new M4BenchError(
      'NEW_TASK_INVALID',
      `The family ${options.family} exists, and its contract, reference and skills are those of all its tasks.`,
      `Leave ${flagOf(given)} away, or name another --family.`,
    );
  }
  const { difficulty } = typedOptions<NewTaskCommandOptions>(command);
  return {
    name,
    family: options.family!,
    database: options.database,
    mode: options.mode,
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.describe === undefined ? {} : { description: options.describe }),
    ...(options.removes === undefined ? {} : { removes: options.removes }),
    ...(difficulty === undefined ? {} : { difficulty }),
  };
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

type Needed = 'title' | 'reference' | 'keys' | 'grain' | 'describe';
type Completed = NewTaskCommandOptions & {
  readonly [Key in Needed]: NonNullable<NewTaskCommandOptions[Key]>;
};

/** Asks for what is missing on a terminal; elsewhere names the flags. */
async function completed(
  name: string,
  options: NewTaskCommandOptions,
  context: CliContext,
  ownDatabases: readonly DescribedDatabase[],
): Promise<Completed> {
  const missing = taskQuestions.filter(
    (question) => question.isNeeded && options[question.name] === undefined,
  );
  if (missing.length === 0) return options as Completed;
  if (!process.stdin.isTTY || context.wantsJson) {
    throw new M4BenchError(
      'NEW_TASK_INVALID',
      `A new task needs ${missing.map((question) => `--${question.name}`).join(', ')}.`,
      'Give them, or start the command on a terminal, which asks.',
    );
  }
  const { database } = options;
  const answers = await askForTask(options, {
    input: process.stdin,
    output: process.stderr,
    columnsOf: async (query) => (await describedReference({ name, database, query }, ownDatabases)).columns,
    parseTolerance: (text) => collectTolerance(text, undefined),
  });
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
