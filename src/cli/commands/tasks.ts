import { Command } from 'commander';
import { toText } from '../../analysis/tables.js';
import { loadConcepts } from '../../concepts/concept.js';
import { conceptGraph } from '../../concepts/graph.js';
import { contextPackage } from '../../conditions/context-package.js';
import { DuckSession } from '../../duck/session.js';
import { parseCondition } from '../../tasks/condition.js';
import { findTask, loadTasks } from '../../tasks/load-tasks.js';
import { loadProtocol } from '../../tasks/protocol.js';
import { removedRelations } from '../../tasks/removal.js';
import { contextOf } from '../context.js';

/** `m4bench tasks …`: what an agent may be asked. */
export function tasksCommand(): Command {
  const tasks = new Command('tasks').description('the tasks and what an agent is given');

  tasks
    .command('list')
    .description('every task')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const all = await loadTasks();
      await using session = await DuckSession.open();
      const graph = await conceptGraph(session, await loadConcepts());
      const effective = await loadProtocol('m4bench-1');
      context.say(
        toText({
          columns: ['task', 'family', 'mode', 'difficulty', 'database', 'title'],
          rows: all.map((task) => ({
            task: task.name,
            family: task.family,
            mode: task.mode,
            difficulty: task.difficulty,
            database: task.database,
            title: task.title,
          })),
        }),
      );
      context.json({
        tasks: all.map((task) => ({
          name: task.name,
          family: task.family,
          mode: task.mode,
          database: task.database,
          title: task.title,
          difficulty: task.difficulty,
          ...task.contract,
          removes: { published: task.removesPublished, effective: removedRelations(task, effective, graph) },
          reference: task.reference,
          conditions: task.conditions,
        })),
      });
    });

  tasks
    .command('show')
    .description('what an agent sees, byte for byte')
    .argument('<task>')
    .option('--condition <name>', 'condition', 'no-skill')
    .option('--protocol <name>', 'protocol', 'm4bench-1')
    .option('--skill-folder <dir>', "where the agent's CLI looks for skills", '.codex/skills')
    .action(
      async (
        name: string,
        options: { condition: string; protocol: string; skillFolder: string },
        command: Command,
      ) => {
        const context = contextOf(command);
        const task = await findTask(name);
        const shown = contextPackage({
          task,
          condition: parseCondition(options.condition),
          protocol: await loadProtocol(options.protocol),
          schema: 'native',
          skillFolder: options.skillFolder,
        });
        context.say(shown.instruction);
        for (const file of shown.workFiles)
          context.say(`\n----- ${file.path}\n${'text' in file.content ? file.content.text : ''}`);
        context.json({
          task: name,
          condition: options.condition,
          instruction: shown.instruction,
          files: shown.workFiles,
          hash: shown.hash,
        });
      },
    );
  return tasks;
}
