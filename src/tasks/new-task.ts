import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'smol-toml';
import { loadSourceSchema } from '../datasets/source-schema.js';
import { describeQuery } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { parseSqlHeader } from '../duck/sql-file.js';
import { parseSelect, relationsRead } from '../duck/syntax-tree.js';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { writeFileAtomic } from '../support/files.js';
import { benchmarkFolder } from '../support/home.js';
import { kebabName } from './family-file.js';
import {
  createEmptyDatabase,
  createEmptyTables,
  type DescribedDatabase,
  takesTolerance,
} from './lint/contract-rules.js';
import { type LoadTasksOptions, loadTasks } from './load-tasks.js';
import { parseSkill } from './skill.js';
import { draftSkill } from './skill-draft.js';
import type { Task, TaskMode } from './task.js';

/** What a new task of a user is made of. */
export interface NewTask {
  /** Lower-case letters, digits and hyphens; also the name of its reference. */
  readonly name: string;
  /** Folder of the family below the folder of all families. */
  readonly family: string;
  readonly title: string;
  /** Kind of clinical concept in words, for tables. */
  readonly kind: string;
  readonly database: string;
  readonly mode: TaskMode;
  readonly difficulty: Task['difficulty'];
  /** What one row of the output stands for. */
  readonly grain: string;
  /** What is asked for, in clinical words; paragraphs of the instruction. */
  readonly description: string;
  /** The reference: one SELECT over the database, any comment block included. */
  readonly query: string;
  readonly citation: string;
  readonly keyColumns: readonly string[];
  /** All columns of the output in their order; default: those of the reference. */
  readonly requiredColumns?: readonly string[];
  /** Headline columns; default: all that are no keys. */
  readonly valueColumns?: readonly string[];
  /** Absolute tolerance by column, in the unit of the column (seconds for times). */
  readonly tolerance: Readonly<Record<string, number>>;
  /** Qualified relations that the database of the task leaves out. */
  readonly removes: readonly string[];
  /** Text of a SKILL.md, or `draft` for a skeleton to be written. */
  readonly skill?: string;
  readonly operationalSpec?: string;
}

export interface NewTaskOptions {
  /** Folder that holds the user's families; made when it does not exist. */
  readonly folder: string;
  /** Tables of databases that are not part of the benchmark. */
  readonly ownDatabases?: readonly DescribedDatabase[];
  /** Looks at the loaded task before its files stand; what it throws keeps them from being written. */
  readonly check?: (task: Task) => Promise<void>;
}

/** What was written. */
export interface WrittenTask {
  readonly task: Task;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/**
 * Writes a task as a family of its own: contract, instruction, reference query and, where given, skill and operational
 * specification. Everything is checked before the first file stands: the query over empty tables, the contract against
 * its columns, and the family by loading it beside all others.
 *
 * Throws `NEW_TASK_INVALID`, `SQL_INVALID`, `TASK_INVALID`, `SKILL_INVALID`, or `FAMILY_EXISTS`.
 */
export async function writeNewTask(wanted: NewTask, options: NewTaskOptions): Promise<WrittenTask> {
  refuseName('task', wanted.name);
  refuseName('family', wanted.family);
  const family = join(options.folder, wanted.family);
  if (existsSync(family)) {
    throw new M4BenchError(
      'FAMILY_EXISTS',
      `There is a family already at ${family}.`,
      'Name another one with --family.',
    );
  }
  const files = await newTaskFiles(wanted, options.ownDatabases ?? []);
  const task = await triedTask(wanted, files, options);
  try {
    // Without family.toml a folder is no family: it comes last.
    for (const [path, text] of [...files].reverse()) await writeFileAtomic(join(family, path), text);
  } catch (thrown) {
    await rm(family, { recursive: true, force: true });
    throw thrown;
  }
  return { task, files: [...files.keys()].map((path) => join(family, path)) };
}

/** Throws `NEW_TASK_INVALID` for what cannot be the name of a folder and a part of run ids. */
export function refuseName(what: string, name: string): void {
  if (kebabName.safeParse(name).success) return;
  throw new M4BenchError(
    'NEW_TASK_INVALID',
    `"${name}" is not a ${what} name.`,
    'Use up to 64 lower-case letters and digits, joined by single hyphens.',
  );
}

/** Loads new files of a family in a copy of the user's folder, beside the shipped ones, and has the task checked. */
export async function triedTask(
  wanted: { readonly name: string; readonly family: string },
  files: ReadonlyMap<string, string>,
  { folder, check }: NewTaskOptions,
): Promise<Task> {
  const trial = await mkdtemp(join(tmpdir(), 'm4bench-new-task-'));
  try {
    if (existsSync(folder)) await cp(folder, trial, { recursive: true });
    for (const [path, text] of files) await writeFileAtomic(join(trial, wanted.family, path), text);
    await mkdir(folder, { recursive: true });
    const content: LoadTasksOptions = { extraFolders: [trial] };
    const task = (await loadTasks(content)).find(({ name }) => name === wanted.name)!;
    await check?.(task);
    return task;
  } catch (thrown) {
    if (!(thrown instanceof M4BenchError)) throw thrown;
    throw new M4BenchError(thrown.code, thrown.message.replaceAll(trial, folder), thrown.remedy);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** The files of the family by path, `family.toml` first. */
async function newTaskFiles(
  wanted: NewTask,
  ownDatabases: readonly DescribedDatabase[],
): Promise<ReadonlyMap<string, string>> {
  const { columns: returned, sources, relations } = await describedReference(wanted, ownDatabases);
  const columns = returned.map(({ name }) => name);
  const required = wanted.requiredColumns ?? columns;
  refuseUnknownRelations(wanted.removes, relations);
  refuseUnknown('--keys', wanted.keyColumns, columns);
  refuseUnknown('--columns', required, columns);
  refuseUnknown('--values', wanted.valueColumns ?? [], required);
  refuseUnknown('--tolerance', Object.keys(wanted.tolerance), required);
  refuseTolerances(wanted, returned);
  const values = wanted.valueColumns ?? required.filter((column) => !wanted.keyColumns.includes(column));
  const skill = skillOf(wanted);
  return new Map([
    [
      'family.toml',
      stringify({
        title: wanted.title,
        kind: wanted.kind,
        [wanted.database]: {
          reference: wanted.name,
          grain: wanted.grain,
          key_columns: [...wanted.keyColumns],
          required_columns: [...required],
          value_columns: [...values],
          tolerance: { ...wanted.tolerance },
        },
      }),
    ],
    [`references/${wanted.name}.sql`, withHeader(wanted, sources)],
    [
      `tasks/${wanted.name}.toml`,
      stringify({
        title: wanted.title,
        database: wanted.database,
        mode: wanted.mode,
        difficulty: wanted.difficulty,
        removes: [...wanted.removes],
        skills: skill === undefined ? [] : [`${skill.name}/common`],
      }),
    ],
    [`tasks/${wanted.name}.md`, instructionOf(wanted, required)],
    ...(skill === undefined ? [] : [[`skills/${skill.name}/common/SKILL.md`, skill.text] as const]),
    ...(wanted.operationalSpec === undefined
      ? []
      : [[`operational-spec/${wanted.name}.md`, wanted.operationalSpec] as const]),
  ]);
}

/**
 * Columns and sources of the reference, found over empty tables, and all relations of the database. Throws
 * `SQL_INVALID`, and `NEW_TASK_INVALID` for a database that is not known here.
 */
export async function describedReference(
  { query, database, name }: Pick<NewTask, 'query' | 'database' | 'name'>,
  ownDatabases: readonly DescribedDatabase[],
): Promise<{
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly sources: readonly string[];
  readonly relations: readonly string[];
}> {
  await using session = await DuckSession.open({ threads: 1 });
  const own = ownDatabases.find((described) => described.kind === database);
  if (own !== undefined) await createEmptyTables(session, own);
  else {
    const concepts = join(benchmarkFolder(), 'concepts', 'mimic-iv');
    const schema = await loadSourceSchema(database).catch(() => undefined);
    if (schema === undefined) {
      throw new M4BenchError(
        'NEW_TASK_INVALID',
        `There is no dataset of kind ${database}, so that the reference cannot be checked.`,
        'Use mimic-iv or eicu, or import your data first (m4bench data import NAME --schema FILE --from DIR).',
      );
    }
    if (database === 'mimic-iv') await createEmptyDatabase(session, [schema], concepts);
    else await createEmptyTables(session, schema);
  }
  const bare = query.trimEnd().replace(/;$/, '');
  await parseSelect(session, bare, `the reference of ${name}`);
  try {
    const columns = await describeQuery(session, bare);
    const sources = await relationsRead(session, bare, name);
    const relations = await session.rows(
      "select table_schema || '.' || table_name as name from information_schema.tables order by 1",
    );
    return {
      relations: relations.map((row) => String(row.name)),
      columns,
      sources: sources.map(({ schema, table }) => `${schema}.${table}`),
    };
  } catch (thrown) {
    throw new M4BenchError(
      'SQL_INVALID',
      `The reference of ${name} does not run on ${database}: ${messageOf(thrown)}`,
      'Correct the query; relations are named with their schema.',
      { cause: thrown },
    );
  }
}

function refuseUnknown(flag: string, named: readonly string[], columns: readonly string[]): void {
  const unknown = named.find((column) => !columns.includes(column));
  if (unknown === undefined) return;
  throw new M4BenchError(
    'NEW_TASK_INVALID',
    `${flag} names ${unknown}, which the reference does not return or --columns leaves out.`,
    `Columns are ${columns.join(', ')}.`,
  );
}

/** A tolerance is a difference of numbers, or of times in seconds; a key is matched exactly. */
function refuseTolerances(
  { tolerance, keyColumns }: NewTask,
  columns: readonly { readonly name: string; readonly type: string }[],
): void {
  for (const name of Object.keys(tolerance)) {
    const type = columns.find((column) => column.name === name)?.type ?? '';
    if (keyColumns.includes(name))
      throw new M4BenchError(
        'NEW_TASK_INVALID',
        `--tolerance names ${name}, which is a key, and keys are matched exactly.`,
        'Leave it out, or round the key in the reference.',
      );
    if (!takesTolerance(type))
      throw new M4BenchError(
        'NEW_TASK_INVALID',
        `--tolerance names ${name}, which is ${type}: only numbers and times can be near each other.`,
        'Leave it out, or cast the column in the reference.',
      );
  }
}

function refuseUnknownRelations(removes: readonly string[], relations: readonly string[]): void {
  const unknown = removes.find((name) => !relations.includes(name));
  if (unknown === undefined) return;
  throw new M4BenchError(
    'NEW_TASK_INVALID',
    `--removes names ${unknown}, which the database does not have.`,
    `${suggestionFor(unknown, relations)}Relations are named with their schema.`,
  );
}

/** The reference with the comment block that every reference opens with, unless it has one. */
function withHeader(wanted: NewTask, sources: readonly string[]): string {
  const { query } = wanted;
  if (parseSqlHeader(query).has('title')) return `${query.trimEnd()}\n`;
  return [
    `-- title: ${wanted.title}`,
    `-- grain: ${wanted.grain}`,
    `-- keys: ${wanted.keyColumns.join(', ')}`,
    `-- sources: ${sources.join(', ') || 'none'}`,
    `-- citation: ${wanted.citation}`,
    '',
    query.trim(),
    '',
  ].join('\n');
}

export const rawNotice =
  'Derived shortcut tables have been removed from the task database. Derive the concept from the source clinical tables.';

function instructionOf(wanted: NewTask, columns: readonly string[]): string {
  const needsNotice = wanted.mode === 'raw' && wanted.database === 'mimic-iv';
  return [
    `# ${wanted.title}`,
    wanted.description.trim(),
    ...(needsNotice ? [rawNotice] : []),
    'Write the result as a CSV file with a header line to `{output_path}`, with exactly these columns in this order:',
    columns.map((column) => `\`${column}\``).join(', '),
    `${wanted.grain.charAt(0).toUpperCase()}${wanted.grain.slice(1).replace(/\.$/, '')}.`,
  ]
    .join('\n\n')
    .concat('\n');
}

function skillOf(wanted: NewTask): { readonly name: string; readonly text: string } | undefined {
  if (wanted.skill === undefined) return undefined;
  const text = wanted.skill === 'draft' ? draftSkill(wanted) : wanted.skill;
  return { name: parseSkill(text, 'the skill').frontMatter.name, text };
}
