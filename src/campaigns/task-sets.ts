import { join } from 'node:path';
import { z } from 'zod';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import type { Task } from '../tasks/task.js';

/** What a task set asks of a task; a task has it all. */
export type TaskFacts = Pick<Task, 'name' | 'mode' | 'difficulty' | 'tags' | 'database'>;

export const taskSetSchema = z.strictObject({
  /** Tasks and sets, in order; default all tasks. */
  tasks: z.array(z.string()).optional(),
  without: z.array(z.string()).default([]),
  /** Only tasks that are also in this set. */
  within: z.string().optional(),
  mode: z.enum(['standard', 'raw']).optional(),
  difficulty: z.enum(['medium', 'hard', 'expert']).optional(),
  tag: z.string().optional(),
  database: z.string().optional(),
  /** By code point instead of the order of the members. */
  sorted: z.boolean().default(false),
});
export type TaskSet = z.infer<typeof taskSetSchema>;

export type TaskSets = Readonly<Record<string, TaskSet>>;

/** The sets that ship with the benchmark. */
export async function readTaskSets(
  file: string = join(benchmarkFolder(), 'campaigns', 'task-sets.toml'),
): Promise<TaskSets> {
  const schema = z.strictObject({ sets: z.record(z.string(), taskSetSchema) });
  return (await readTomlFile(file, schema, 'TASK_SETS_INVALID', 'list of task sets')).sets;
}

/**
 * The task names of a list of tasks and sets, each once, in order. `ALL` is every task in the order given.
 *
 * Throws `TASK_SET_UNKNOWN` for a name that is neither, and `TASK_SET_CIRCULAR` for sets that contain each other.
 */
export function tasksOf(
  members: readonly string[],
  tasks: readonly TaskFacts[],
  sets: TaskSets,
  inside: readonly string[] = [],
): readonly string[] {
  const names = members.flatMap((member) => {
    if (tasks.some(({ name }) => name === member)) return [member];
    if (member === 'ALL') return tasks.map(({ name }) => name);
    const set = Object.hasOwn(sets, member) ? sets[member] : undefined;
    if (set === undefined) throw unknownMember(member, tasks, sets);
    if (inside.includes(member)) {
      throw new M4BenchError(
        'TASK_SET_CIRCULAR',
        `Task set ${member} contains itself (${[...inside, member].join(' > ')}).`,
        'Take one of these members out.',
      );
    }
    return membersOf(set, tasks, sets, [...inside, member]);
  });
  return [...new Set(names)];
}

function membersOf(
  set: TaskSet,
  tasks: readonly TaskFacts[],
  sets: TaskSets,
  inside: readonly string[],
): readonly string[] {
  const listed = tasksOf(set.tasks ?? ['ALL'], tasks, sets, inside);
  const without = new Set(tasksOf(set.without, tasks, sets, inside));
  const within = set.within === undefined ? undefined : new Set(tasksOf([set.within], tasks, sets, inside));
  const kept = listed.filter((name) => {
    const task = tasks.find((one) => one.name === name)!;
    return (
      !without.has(name) &&
      (within?.has(name) ?? true) &&
      (set.mode === undefined || task.mode === set.mode) &&
      (set.difficulty === undefined || task.difficulty === set.difficulty) &&
      (set.tag === undefined || task.tags.includes(set.tag)) &&
      (set.database === undefined || task.database === set.database)
    );
  });
  return set.sorted ? [...kept].sort() : kept;
}

function unknownMember(member: string, tasks: readonly TaskFacts[], sets: TaskSets): M4BenchError {
  const names = [...tasks.map(({ name }) => name), 'ALL', ...Object.keys(sets)];
  return new M4BenchError(
    'TASK_SET_UNKNOWN',
    `There is no task or task set "${member}".`,
    `${suggestionFor(member, names)}Sets are ALL, ${Object.keys(sets).join(', ')}; m4bench tasks list gives the tasks.`,
  );
}
