import { join } from 'node:path';
import { Command } from 'commander';
import { toText } from '../../analysis/tables.js';
import { loadConcepts } from '../../concepts/concept.js';
import { conceptGraph } from '../../concepts/graph.js';
import { contextPackage } from '../../conditions/context-package.js';
import { parseSchema, presentedNames } from '../../conditions/presented-names.js';
import { DuckSession } from '../../duck/session.js';
import { writeFileAtomic } from '../../support/files.js';
import { type ConditionName, conditionNames, parseCondition } from '../../tasks/condition.js';
import { lintContent } from '../../tasks/lint.js';
import { findTask, loadTasks } from '../../tasks/load-tasks.js';
import { defaultProtocolName, loadProtocol } from '../../tasks/protocol.js';
import { type ConceptReads, removedRelations } from '../../tasks/removal.js';
import type { Task } from '../../tasks/task.js';
import { contextOf } from '../context.js';
import { lintOptions } from '../lint-options.js';
import { newTaskCommand } from './new-task.js';
import { shortPath } from './short-path.js';

/** `m4bench tasks …`: what an agent may be asked. */
export function tasksCommand(): Command {
  return new Command('tasks')
    .description('the tasks and what an agent is given')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(lintCommand())
    .addCommand(newTaskCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('every task, with the number of relations that each protocol removes')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const all = await loadTasks(context.content);
      const removals = await removalsOf(all);
      context.say(
        toText({
          columns: [
            'task',
            'family',
            'mode',
            'difficulty',
            'database',
            'removes: listed',
            'published-2026',
            defaultProtocolName,
            'title',
          ],
          rows: all.map((task, index) => ({
            task: task.name,
            family: task.family,
            mode: task.mode,
            difficulty: task.difficulty,
            database: task.database,
            'removes: listed': task.removesPublished.length,
            'published-2026': removals[index]?.publishedDatabase.length ?? 0,
            [defaultProtocolName]: removals[index]?.effective.length ?? 0,
            title: task.title,
          })),
        }),
      );
      context.json({
        tasks: all.map((task, index) => ({
          name: task.name,
          family: task.family,
          mode: task.mode,
          database: task.database,
          title: task.title,
          difficulty: task.difficulty,
          ...task.contract,
          removes: { published: task.removesPublished, effective: removals[index]?.effective ?? [] },
          reference: task.reference,
          conditions: task.conditions,
        })),
      });
    });
}

interface Removals {
  /** What the published database of the task leaves out; for a raw task on MIMIC-IV more than its list. */
  readonly publishedDatabase: readonly string[];
  /** What the default protocol leaves out. */
  readonly effective: readonly string[];
}

async function removalsOf(tasks: readonly Task[]): Promise<readonly Removals[]> {
  await using session = await DuckSession.open();
  const graph: ConceptReads = await conceptGraph(session, await loadConcepts());
  const published = await loadProtocol('published-2026');
  const effective = await loadProtocol(defaultProtocolName);
  return tasks.map((task) => ({
    publishedDatabase: removedRelations(task, published, graph),
    effective: removedRelations(task, effective, graph),
  }));
}

interface ShowOptions {
  readonly condition: string;
  readonly schema: string;
  readonly seed: string;
  readonly protocol: string;
  readonly skillFolder: string;
  readonly write?: string;
}

function showCommand(): Command {
  return new Command('show')
    .description('what an agent sees of a task, byte for byte, and what its database leaves out')
    .argument('<task>', 'for example mimic-sofa-24h')
    .option('--condition <name>', conditionNames.join(', '), 'no-skill')
    .option('--schema <name>', 'native, obfuscated or restructured', 'native')
    .option('--seed <seed>', 'seed of the names of a transformed schema', '1')
    .option('--protocol <name>', 'protocol', defaultProtocolName)
    .option('--skill-folder <dir>', "where the agent's CLI looks for skills", '.codex/skills')
    .option('--write <dir>', 'write the files there, exactly as an agent finds them')
    .addHelpText(
      'after',
      '\nExample:\n  m4bench tasks show mimic-sofa-24h --condition with-skill --write ./seen-by-the-agent',
    )
    .action(async (name: string, options: ShowOptions, command: Command) => {
      const context = contextOf(command);
      const task = await findTask(name, context.content);
      const files = await seenFiles(task, parseCondition(options.condition), options);
      const [removals] = await removalsOf([task]);
      if (options.write !== undefined) {
        for (const file of files.list) await writeFileAtomic(join(options.write, file.path), file.text);
      }
      context.say(factsOf(task, removals ?? { publishedDatabase: [], effective: [] }));
      for (const file of files.list) context.say(`\n----- ${file.path}\n${file.text.replace(/\n$/, '')}`);
      context.json({
        task: name,
        condition: options.condition,
        schema: options.schema,
        protocol: options.protocol,
        removes: {
          published: task.removesPublished,
          publishedDatabase: removals?.publishedDatabase ?? [],
          effective: removals?.effective ?? [],
        },
        instruction: files.list[0]?.text ?? '',
        files: files.list.slice(1),
        hash: files.hash,
      });
    });
}

async function seenFiles(
  task: Task,
  condition: ConditionName,
  options: ShowOptions,
): Promise<{ readonly list: readonly { path: string; text: string }[]; readonly hash: string }> {
  const protocol = await loadProtocol(options.protocol);
  const schema = parseSchema(options.schema);
  const shown = contextPackage({
    task,
    condition,
    protocol,
    skillFolder: options.skillFolder,
    schema,
    ...(schema === 'native'
      ? {}
      : { presented: await presentedNames({ task, protocol, schema, seed: options.seed, condition }) }),
  });
  const skills = shown.workFiles.map(({ path, content }) => ({
    path,
    text: 'text' in content ? content.text : '',
  }));
  return { list: [{ path: 'instruction.md', text: shown.instruction }, ...skills], hash: shown.hash };
}

/** What the reader of `tasks show` sees and an agent does not. */
function factsOf(task: Task, removals: Removals): string {
  const listed = (relations: readonly string[]): string =>
    relations.length === 0 ? 'nothing' : `${relations.join(', ')} (${relations.length})`;
  const isWhole = task.mode === 'raw' && task.database === 'mimic-iv';
  return [
    `${task.name}: ${task.title}`,
    `family ${task.family}, ${task.mode}, ${task.database}, ${task.difficulty}; ${task.grain}`,
    `scored: ${task.contract.scoredColumns.join(', ')}`,
    `conditions: ${task.conditions.join(', ')}`,
    `removed, published list: ${listed(task.removesPublished)}`,
    ...(isWhole
      ? [
          `removed, published-2026: all ${removals.publishedDatabase.length} relations of mimiciv_derived, whatever the list`,
        ]
      : []),
    `removed, ${defaultProtocolName}: ${listed(removals.effective)}`,
  ].join('\n');
}

function lintCommand(): Command {
  return new Command('lint')
    .description('check instructions, skills, operational specs, contracts, decoys and records')
    .argument('[folders...]', "folders of own families, checked besides the project's")
    .action(async (folders: string[], _options: unknown, command: Command) => {
      const context = contextOf(command);
      const findings = await lintContent(await lintOptions(context, folders));
      for (const { file, line, rule, message } of findings) {
        context.say(`${shortPath(file)}:${line} ${rule} ${message}`);
      }
      context.say(
        findings.length === 0
          ? 'No findings.'
          : `${findings.length} finding${findings.length === 1 ? '' : 's'}.`,
      );
      context.json({ findings });
      if (findings.length > 0) process.exitCode = 1;
    });
}
