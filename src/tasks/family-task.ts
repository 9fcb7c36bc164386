import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { M4BenchError } from '../support/errors.js';
import { writeFileAtomic } from '../support/files.js';
import { loadTasks } from './load-tasks.js';
import { type NewTaskOptions, rawNotice, refuseName, triedTask, type WrittenTask } from './new-task.js';
import type { Task, TaskMode } from './task.js';

/** What a further task of a family says for itself; contract and reference are those of the family. */
export interface FamilyTask {
  readonly name: string;
  /** A folder with `family.toml` below the folder of all families. */
  readonly family: string;
  readonly database: string;
  readonly mode: TaskMode;
  /** Default: the title of the family's first task on this database, with what is different. */
  readonly title?: string;
  /** Default: the instruction of that task. */
  readonly description?: string;
  readonly difficulty?: Task['difficulty'];
  /** Default: what that task removes. */
  readonly removes?: readonly string[];
}

/**
 * Writes a further task of a family of the user: a second pair of files beside those of the first, whose contract,
 * skills and reference it shares.
 *
 * Throws `NEW_TASK_INVALID`, `TASK_EXISTS` or `TASK_INVALID`.
 */
export async function writeFamilyTask(wanted: FamilyTask, options: NewTaskOptions): Promise<WrittenTask> {
  refuseName('task', wanted.name);
  const folder = join(options.folder, wanted.family);
  const target = join(folder, 'tasks', wanted.name);
  if (existsSync(`${target}.toml`)) {
    throw new M4BenchError(
      'TASK_EXISTS',
      `There is a task already at ${target}.toml.`,
      'Choose another name.',
    );
  }
  const tasks = await loadTasks({ extraFolders: [options.folder] });
  const model = tasks.find(
    ({ family, database }) => family === wanted.family && database === wanted.database,
  );
  if (model === undefined) {
    throw new M4BenchError(
      'NEW_TASK_INVALID',
      `The family ${wanted.family} has no task on ${wanted.database} whose contract a further one could share.`,
      'Name another --database or another --family.',
    );
  }
  const title = wanted.title ?? titleLike(model, wanted);
  const source = join(folder, 'tasks', `${model.name}.toml`);
  const files = new Map([
    [
      `tasks/${wanted.name}.toml`,
      stringify({
        ...parse(await readFile(source, 'utf8')),
        title,
        mode: wanted.mode,
        ...(wanted.difficulty === undefined ? {} : { difficulty: wanted.difficulty }),
        ...(wanted.removes === undefined ? {} : { removes: [...wanted.removes] }),
      }),
    ],
    [
      `tasks/${wanted.name}.md`,
      instructionLike(await readFile(join(dirname(source), `${model.name}.md`), 'utf8'), wanted, title),
    ],
  ]);
  const task = await triedTask(wanted, files, options);
  for (const [path, text] of [...files].reverse()) await writeFileAtomic(join(folder, path), text);
  return { task, files: [...files.keys()].map((path) => join(folder, path)) };
}

const titleLike = (model: Task, wanted: FamilyTask): string =>
  wanted.mode === 'raw' && model.mode !== 'raw'
    ? `${model.title} (source tables only)`
    : `${model.title}, ${wanted.name}`;

/** The instruction of the first task under another title, with the words that its mode needs. */
function instructionLike(text: string, wanted: FamilyTask, title: string): string {
  const paragraphs = text
    .trim()
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== rawNotice);
  const rest = paragraphs[0]?.startsWith('# ') ? paragraphs.slice(1) : paragraphs;
  const contract = rest.findIndex((paragraph) => paragraph.includes('{output_path}'));
  const [asked, form] = contract < 0 ? [rest, []] : [rest.slice(0, contract), rest.slice(contract)];
  const needsNotice = wanted.mode === 'raw' && wanted.database === 'mimic-iv';
  return [
    `# ${title}`,
    ...(wanted.description === undefined ? asked : [wanted.description.trim()]),
    ...(needsNotice ? [rawNotice] : []),
    ...form,
  ]
    .join('\n\n')
    .concat('\n');
}
