import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'smol-toml';
import { buildProgram } from '../../src/cli/main.js';
import { packageRoot } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import type { Task } from '../../src/tasks/task.js';
import { type ErrorSite, errorSites } from './error-codes.js';
import { slugOf } from './slug.mjs';

const root = packageRoot();

/** Pages that follow from the content and the code: `npm run docs` writes them to `docs/generated/`, for the site only. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['families.md', familiesPage(await loadTasks())],
    ['errors.md', errorsPage(errorSites(join(root, 'src')), errorNotes())],
    ['commands.md', commandsPage(buildProgram())],
    ['architecture.md', readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')],
    [
      'operational-spec-check.md',
      readFileSync(join(root, 'test/tasks/operational-spec-sql/README.md'), 'utf8'),
    ],
    ['changelog.md', readFileSync(join(root, 'CHANGELOG.md'), 'utf8')],
  ]);
}

/** What is worth knowing of an error beyond its own words, by code. */
export function errorNotes(): Readonly<Record<string, string>> {
  return parse(readFileSync(join(root, 'docs', 'site', 'error-notes.toml'), 'utf8')) as Record<
    string,
    string
  >;
}

interface Provenance {
  readonly references: readonly string[];
  readonly text_status: string;
  readonly caveats: readonly { readonly by: string; readonly text: string }[];
}
interface Conventions {
  readonly conventions: readonly {
    readonly topic: string;
    readonly rule: string;
    readonly differs_from?: string;
  }[];
}

function familiesPage(tasks: readonly Task[]): string {
  const families = [...new Set(tasks.map((task) => task.family))];
  return [
    '# Task families',
    `${tasks.length} tasks in ${families.length} families. Every family has one definition, one contract per database, and a list of what clinicians find debatable in it. None of this page is given to an agent: an agent gets the instruction and, by condition, a skill or a specification ([tasks](../tasks.md)).`,
    families.map((name) => `- [${titleOf(tasks, name)}](#${slugOf(titleOf(tasks, name))})`).join('\n'),
    ...families.map((name) =>
      familySection(
        name,
        tasks.filter((task) => task.family === name),
      ),
    ),
  ].join('\n\n');
}

const titleOf = (tasks: readonly Task[], family: string): string =>
  tasks.find((task) => task.family === family)!.familyTitle;

function familySection(name: string, tasks: readonly Task[]): string {
  const folder = dirname(dirname(tasks[0]!.instructionFile));
  const read = <Shape>(file: string): Shape => parse(readFileSync(join(folder, file), 'utf8')) as Shape;
  const provenance = read<Provenance>('provenance.toml');
  const { conventions } = read<Conventions>('conventions.toml');
  const contract = tasks[0]!.contract;
  const tolerance = Object.entries(contract.tolerance).map(([column, value]) => `\`${column}\` ± ${value}`);
  return [
    `## ${titleOf(tasks, name)}`,
    `${capital(tasks[0]!.kind)}; ${tasks[0]!.grain}. ${capital(provenance.text_status)}.`,
    table(
      ['Task', 'Database', 'Mode', 'Difficulty', 'Title'],
      tasks.map((task) => [`\`${task.name}\``, task.database, task.mode, task.difficulty, task.title]),
    ),
    `Keys ${columns(contract.keyColumns)}; scored ${columns(contract.scoredColumns)}; tolerance ${tolerance.join(', ') || 'none'}.`,
    '### Definition',
    definitionOf(tasks),
    '### How the reference settles what is open',
    bullets(
      conventions.map(
        ({ topic, rule, differs_from: differs }) =>
          `**${topic}**: ${rule}${differs === undefined ? '' : ` *${differs}*`}`,
      ),
    ),
    '### Caveats',
    bullets(provenance.caveats.map(({ by, text }) => `${text} (${by})`)),
    '### Sources',
    bullets(provenance.references),
  ].join('\n\n');
}

/** The section of the skill that defines the concept, one level lower. */
function definitionOf(tasks: readonly Task[]): string {
  const body = tasks.find((task) => task.skills.length > 0)?.skills[0]?.body ?? '';
  const section = body.split(/^## /m).find((part) => part.startsWith('Definition\n')) ?? '';
  return section.slice('Definition\n'.length).trim().replace(/^#/gm, '##');
}

function errorsPage(sites: readonly ErrorSite[], notes: Readonly<Record<string, string>>): string {
  const codes = [...new Set(sites.map(({ code }) => code))].sort();
  return [
    '# Troubleshooting by error code',
    'Every error has a code, one sentence that says what happened and one that says what to do. `--verbose` adds a stack trace. Exit codes: 0 done, 1 the check or run failed, 2 wrong use or bad input, 130 interrupted. `…` stands for what the message fills in.',
    errorIndex(sites),
    ...codes.map((code) =>
      errorSection(
        code,
        sites.filter((site) => site.code === code),
        notes[code],
      ),
    ),
  ].join('\n\n');
}

/** Codes by the part of the system that first uses them. */
function errorIndex(sites: readonly ErrorSite[]): string {
  const home = new Map<string, string>();
  for (const { code, module } of sites) if (!home.has(code)) home.set(code, module);
  const modules = [...new Set(home.values())].sort();
  return table(
    ['Part', 'Codes'],
    modules.map((module) => [
      module,
      [...home.keys()]
        .filter((code) => home.get(code) === module)
        .sort()
        .map((code) => `[${code}](#${code.toLowerCase()})`)
        .join(', '),
    ]),
  );
}

function errorSection(code: string, sites: readonly ErrorSite[], note: string | undefined): string {
  const seen = new Set<string>();
  const lines = sites.flatMap(({ message, remedy }) => {
    const line = [message && plain(message), remedy && `*${plain(remedy)}*`].filter(Boolean).join(' ');
    if (seen.has(line) || line === '') return [];
    seen.add(line);
    return [line];
  });
  return [`## ${code}`, bullets(lines), ...(note === undefined ? [] : [note.trim()])].join('\n\n');
}

/** Text of a message as Markdown: what looks like markup is none. */
const plain = (text: string): string => text.replace(/([*_<>[\]])/g, '\\$1').replace(/\s*\n\s*/g, ' ');

function commandsPage(program: Command): string {
  return [
    '# Commands',
    `Every command takes the options of the program:`,
    optionsTable(program),
    ...program.commands.flatMap((command) => commandSections(command, 'm4bench')),
  ].join('\n\n');
}

function commandSections(command: Command, parent: string): readonly string[] {
  const name = `${parent} ${command.name()}`;
  if (command.commands.length > 0)
    return [
      `## ${name}`,
      command.description(),
      ...command.commands.flatMap((inner) => commandSections(inner, name)),
    ];
  const heading = parent === 'm4bench' ? '##' : '###';
  const options = command.options.length === 0 ? [] : [optionsTable(command)];
  return [
    `${heading} ${name}`,
    `${command.description()}.`,
    `\`${name} ${command.usage()}\``,
    ...argumentsOf(command),
    ...options,
  ];
}

function argumentsOf(command: Command): readonly string[] {
  const described = command.registeredArguments.filter((argument) => argument.description !== '');
  return described.length === 0
    ? []
    : [bullets(described.map((argument) => `\`${argument.name()}\`: ${plain(argument.description)}`))];
}

function optionsTable(command: Command): string {
  return table(
    ['Option', 'Meaning'],
    command.options
      .filter((option) => !option.hidden)
      .map((option) => {
        const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.join(', ')})`;
        const standard =
          option.defaultValue === undefined ? '' : `; default \`${String(option.defaultValue)}\``;
        return [
          `\`${option.flags.replaceAll('|', '\\|')}\``,
          `${plain(option.description)}${choices}${standard}`,
        ];
      }),
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const columns = (names: readonly string[]): string => names.map((column) => `\`${column}\``).join(', ');
const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Writes the pages; what an earlier run left goes. */
export async function writeGeneratedPages(folder: string = join(root, 'docs', 'generated')): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await generatedPages()) writeFileSync(join(folder, name), `${text.trimEnd()}\n`);
}
