import { readdir } from 'node:fs/promises';
import type { Command, Option } from 'commander';
import { offeredAgentNames } from '../agents/agents.js';
import { listDatasets } from '../datasets/dataset.js';
import { sandboxKinds } from '../sandboxes/sandboxes.js';
import { transformedSchemas } from '../schemas/presentation.js';
import type { Home } from '../support/home.js';
import { conditionNames } from '../tasks/condition.js';
import { type LoadTasksOptions, loadTasks } from '../tasks/load-tasks.js';
import { protocolNames } from '../tasks/protocol.js';

/** One thing that may stand where the cursor is. */
export interface Suggestion {
  readonly value: string;
  readonly description: string;
}

export interface Completions {
  readonly suggestions: readonly Suggestion[];
  /** True where a file name may stand too. */
  readonly allowsFiles: boolean;
}

/** What the names of options and arguments can be, looked up when it is asked for. */
type Values = (placeholder: string) => Promise<readonly Suggestion[] | undefined>;

const named = (values: readonly string[]): readonly Suggestion[] =>
  values.map((value) => ({ value, description: '' }));

/** Names under a home and in the content, by the name of the option or argument that takes them. */
export function valuesFrom(home: Home, content: LoadTasksOptions): Values {
  const tasks = async (): Promise<readonly Suggestion[]> =>
    (await loadTasks(content)).map(({ name, title }) => ({ value: name, description: title }));
  const campaigns = async (): Promise<readonly Suggestion[]> =>
    named(await readdir(home.campaigns).catch(() => []));
  const sources: Readonly<Record<string, () => Promise<readonly Suggestion[]>>> = {
    task: tasks,
    campaign: campaigns,
    campaigns,
    dataset: async () =>
      (await listDatasets(home)).map(({ name, notice }) => ({ value: name, description: notice })),
    agent: async () => named(offeredAgentNames),
    condition: async () => named(conditionNames),
    protocol: async () => named(await protocolNames()),
    schema: async () => named(['native', ...transformedSchemas]),
    sandbox: async () => named(sandboxKinds()),
  };
  return async (placeholder) => await sources[placeholder]?.();
}

const takesValue = (option: Option): boolean => option.required || option.optional;

function optionOf(command: Command, word: string): Option | undefined {
  const flag = word.split('=', 1)[0];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find((option) => option.long === flag || option.short === flag);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What may stand in place of the last word, after the words before it. */
export async function completionsOf(
  program: Command,
  words: readonly string[],
  values: Values,
): Promise<Completions> {
  const current = words.at(-1) ?? '';
  let command = program;
  let position = 0;
  let pending: Option | undefined;
  for (const word of words.slice(0, -1)) {
    // bash hands over `--option=value` as three words.
    if (word === '=') continue;
    if (pending !== undefined) pending = undefined;
    else if (word.startsWith('-')) {
      const option = optionOf(command, word);
      if (option !== undefined && takesValue(option) && !word.includes('=')) pending = option;
    } else {
      const inner: Command | undefined =
        position === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
      if (inner === undefined) position += 1;
      else command = inner;
    }
  }
  const all = await candidates({ command, position, pending, current }, values);
  return { ...all, suggestions: all.suggestions.filter(({ value }) => value.startsWith(current)) };
}

interface Place {
  readonly command: Command;
  readonly position: number;
  readonly pending: Option | undefined;
  readonly current: string;
}

async function candidates(place: Place, values: Values): Promise<Completions> {
  const { command, position, pending, current } = place;
  if (pending !== undefined) {
    return await valuesOf(pending.argChoices, pending.attributeName(), values);
  }
  if (current.startsWith('-')) return { suggestions: optionsOf(command), allowsFiles: false };
  if (command.commands.length > 0) {
    const help = command.createHelp();
    const inner = help.visibleCommands(command).filter((candidate) => candidate.name() !== 'help');
    const suggestions = inner.map((candidate) => ({
      value: candidate.name(),
      description: candidate.description(),
    }));
    return { suggestions, allowsFiles: false };
  }
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[position] ?? (last?.variadic ? last : undefined);
  if (argument === undefined) return { suggestions: [], allowsFiles: false };
  return await valuesOf(argument.argChoices, argument.name(), values);
}

async function valuesOf(
  choices: readonly string[] | undefined,
  name: string,
  values: Values,
): Promise<Completions> {
  const suggestions = choices === undefined ? await values(name) : named(choices);
  return { suggestions: suggestions ?? [], allowsFiles: suggestions === undefined };
}

/** Options of a command and of those above it. */
function optionsOf(command: Command): readonly Suggestion[] {
  const found: Suggestion[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const { long, description, hidden } of at.options)
      if (long && !hidden) found.push({ value: long, description });
  }
  return [...found, { value: '--help', description: 'display help for command' }];
}
