import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { suggestionFor } from '../support/closest-name.js';
import { byCodePoint } from '../support/code-points.js';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent } from '../support/files.js';
import { benchmarkFolder } from '../support/home.js';
import { readContentFile, readTomlFile } from '../support/toml-file.js';
import type { ConditionName } from './condition.js';
import { type DecoyMapping, decoyOf, loadDecoyMapping } from './decoys.js';
import {
  contractFor,
  type FamilyFile,
  familyFile,
  kebabName,
  type SharedContract,
  type TaskFile,
  taskFile,
} from './family-file.js';
import { referenceSqlText } from './reference-sql.js';
import { scoredColumnsOf } from './scored-columns.js';
import { loadFamilySkills, subfolders } from './skill.js';
import type { OutputContract, Skill, Task, TaskMaterial } from './task.js';

export interface LoadTasksOptions {
  /** Folders of a user's own families (each a family, or holding families), added to the shipped ones. */
  readonly extraFolders?: readonly string[];
  /** The shipped content, default `benchmark/` of this installation. */
  readonly contentFolder?: string;
}

interface LoadedFamily {
  readonly folder: string;
  readonly file: string;
  readonly name: string;
  readonly content: FamilyFile;
  readonly skills: readonly Skill[];
  readonly taskNames: readonly string[];
}

function invalid(file: string, field: string, message: string, remedy: string): M4BenchError {
  return new M4BenchError('TASK_INVALID', `${file}: field ${field}: ${message}.`, remedy);
}

async function familyFolders(root: string): Promise<readonly string[]> {
  if (existsSync(join(root, 'family.toml'))) return [root];
  const inner = (await subfolders(root)).map((name) => join(root, name));
  const families = inner.filter((folder) => existsSync(join(folder, 'family.toml')));
  if (families.length > 0) return families;
  throw new M4BenchError(
    'TASKS_NOT_FOUND',
    `${root} holds no task family.`,
    'Point to a folder with family.toml, or to a folder of such folders.',
  );
}

async function loadFamily(folder: string): Promise<LoadedFamily> {
  const file = join(folder, 'family.toml');
  const name = basename(folder);
  if (!kebabName.safeParse(name).success) {
    throw invalid(
      file,
      '(folder name)',
      `"${name}" is not a family name`,
      'Use lower-case letters, digits and hyphens.',
    );
  }
  const content = await readTomlFile(file, familyFile, 'TASK_INVALID', 'family');
  const entries = await readdir(join(folder, 'tasks')).catch(() => []);
  const taskNames = entries
    .filter((entry) => entry.endsWith('.toml'))
    .map((entry) => entry.slice(0, -'.toml'.length))
    .sort();
  return { folder, file, name, content, skills: await loadFamilySkills(folder), taskNames };
}

function checkContract(shared: SharedContract, file: string, database: string): void {
  const required = new Set(shared.required_columns);
  for (const [field, columns] of [
    ['key_columns', shared.key_columns],
    ['value_columns', shared.value_columns],
  ] as const) {
    const missing = columns.find((column) => !required.has(column));
    if (missing === undefined) continue;
    throw invalid(
      file,
      `${database}.${field}`,
      `column ${missing} is not among required_columns`,
      'Add it there, or correct the name.',
    );
  }
}

function contractOf(shared: SharedContract, own: TaskFile, file: string): OutputContract {
  checkContract(shared, file, own.database);
  const columns = {
    keyColumns: shared.key_columns,
    requiredColumns: shared.required_columns,
    valueColumns: shared.value_columns,
  };
  const scoredColumns = scoredColumnsOf(columns);
  const unscored = Object.keys(shared.tolerance).find((column) => !scoredColumns.includes(column));
  if (unscored !== undefined) {
    throw invalid(
      file,
      `${own.database}.tolerance.${unscored}`,
      'the column is not scored',
      `Scored columns are ${scoredColumns.join(', ')}.`,
    );
  }
  return {
    ...columns,
    scoredColumns,
    tolerance: shared.tolerance,
    rowCoverageThreshold: own.row_coverage_threshold,
    accuracyThreshold: own.accuracy_threshold,
  };
}

const placeholders = new Set(['{output_path}', '{db_path}']);

function checkInstruction(text: string, file: string): void {
  if (!text.includes('{output_path}')) {
    throw invalid(
      file,
      '(text)',
      'the placeholder {output_path} is missing',
      'Say where the output is written.',
    );
  }
  const unknown = [...text.matchAll(/\{[A-Za-z_]+\}/g)].find(([name]) => !placeholders.has(name));
  if (unknown !== undefined) {
    throw invalid(file, '(text)', `${unknown[0]} is not a placeholder`, 'Use {output_path} or {db_path}.');
  }
}

function ownSkills(
  own: TaskFile,
  file: string,
  family: LoadedFamily,
  all: readonly Skill[],
): readonly Skill[] {
  return own.skills.map((wanted) => {
    const fits = (skill: Skill): boolean => `${skill.name}/${skill.variant}` === wanted;
    const found = family.skills.find(fits) ?? all.find(fits);
    if (found !== undefined) return found;
    const known = all.map((skill) => `${skill.name}/${skill.variant}`);
    throw invalid(
      file,
      'skills',
      `there is no skill text ${wanted}`,
      `${suggestionFor(wanted, known)}Add skills/${wanted}/SKILL.md, or correct the name.`,
    );
  });
}

type UnfinishedTask = Omit<Task, 'material' | 'conditions'> & {
  readonly operationalSpec: string | undefined;
  readonly referenceSql: string | undefined;
};

async function loadTask(
  name: string,
  family: LoadedFamily,
  contentFolder: string,
  allSkills: readonly Skill[],
): Promise<UnfinishedTask> {
  const file = join(family.folder, 'tasks', `${name}.toml`);
  if (!kebabName.safeParse(name).success) {
    throw invalid(
      file,
      '(file name)',
      `"${name}" is not a task name`,
      'Use lower-case letters, digits and hyphens.',
    );
  }
  const own = await readTomlFile(file, taskFile, 'TASK_INVALID', 'task');
  const shared = contractFor(family.content, own.database);
  if (shared === undefined) {
    throw invalid(
      file,
      'database',
      `${family.file} has no table [${own.database}]`,
      'Add the contract for that database to the family.',
    );
  }
  const instructionFile = join(family.folder, 'tasks', `${name}.md`);
  const instruction = await readContentFile(instructionFile, 'TASK_INVALID', 'instruction');
  checkInstruction(instruction, instructionFile);
  const familyReference = join(family.folder, 'references', `${shared.reference}.sql`);
  const referenceFile = existsSync(familyReference)
    ? familyReference
    : join(contentFolder, 'references', own.database, `${shared.reference}.sql`);
  const skills = ownSkills(own, file, family, allSkills);
  const spec = await readTextIfPresent(join(family.folder, 'operational-spec', `${name}.md`));
  return {
    name,
    family: family.name,
    familyTitle: family.content.title,
    kind: family.content.kind,
    mode: own.mode,
    database: own.database,
    title: own.title,
    difficulty: own.difficulty,
    tags: own.tags,
    grain: shared.grain,
    contract: contractOf(shared, own, family.file),
    removesPublished: own.removes,
    reference: shared.reference,
    referenceFile,
    instruction,
    instructionFile,
    skills,
    skillFolders: skills.map((skill) => ({ name: skill.name, folder: skill.folder })),
    operationalSpec: spec?.trim() === '' ? undefined : spec,
    referenceSql: await referenceSqlText(
      referenceFile,
      join(contentFolder, 'concepts', own.database),
      shared.reference_concepts,
    ),
  };
}

/** Skill texts in the order in which tasks first use them, then the unused ones, without repetition. */
function libraryOf(tasks: readonly UnfinishedTask[], families: readonly LoadedFamily[]): readonly Skill[] {
  const ordered = new Map<string, Skill>();
  const add = (skill: Skill): void => {
    if (!ordered.has(skill.folder)) ordered.set(skill.folder, skill);
  };
  for (const task of tasks) task.skills.forEach(add);
  for (const family of families) family.skills.forEach(add);
  return [...ordered.values()];
}

function firstOfEachName(library: readonly Skill[]): readonly Skill[] {
  const pool = new Map<string, Skill>();
  for (const skill of library) if (!pool.has(skill.name)) pool.set(skill.name, skill);
  return [...pool.values()];
}

function conditionsOf(task: Pick<Task, 'skills'>, material: TaskMaterial): readonly ConditionName[] {
  const hasMaterial: Readonly<Record<ConditionName, boolean>> = {
    'no-skill': true,
    'with-skill': task.skills.length > 0,
    'with-skill-all': material.pool.length > 0,
    'with-skill-decoy': material.decoys.published !== undefined || material.decoys.far !== undefined,
    'with-skill-rawsql': material.referenceSql !== undefined,
    'operational-spec': material.operationalSpec !== undefined,
  };
  return (Object.keys(hasMaterial) as ConditionName[]).filter((name) => hasMaterial[name]);
}

function finish(
  task: UnfinishedTask,
  library: readonly Skill[],
  decoys: { readonly published: DecoyMapping; readonly far: DecoyMapping },
): Task {
  const { operationalSpec, referenceSql, ...stated } = task;
  const material: TaskMaterial = {
    library,
    pool: firstOfEachName(library),
    decoys: {
      published: decoyOf(decoys.published, task.name, library),
      far: decoyOf(decoys.far, task.name, library),
    },
    referenceSql,
    operationalSpec,
  };
  return { ...stated, material, conditions: conditionsOf(stated, material) };
}

/**
 * Every task with its contract, instruction and material, ordered by family, then task name (code points).
 *
 * Throws `TASK_INVALID`, `SKILL_INVALID` or `DECOYS_INVALID` naming file, field and remedy; two tasks or families
 * of one name are an error.
 */
export async function loadTasks(options: LoadTasksOptions = {}): Promise<readonly Task[]> {
  const contentFolder = options.contentFolder ?? benchmarkFolder();
  const roots = [
    join(contentFolder, 'families'),
    ...(options.extraFolders ?? []).map((folder) => resolve(folder)),
  ];
  const families: LoadedFamily[] = [];
  for (const root of roots) {
    for (const folder of await familyFolders(root)) families.push(await loadFamily(folder));
  }
  families.sort((a, b) => byCodePoint(a.name, b.name));
  const allSkills = families.flatMap((family) => family.skills);
  const tasks: UnfinishedTask[] = [];
  for (const family of families) {
    for (const name of family.taskNames) tasks.push(await loadTask(name, family, contentFolder, allSkills));
  }
  refuseRepeatedNames(families, tasks);
  refuseTakenReferences(tasks, contentFolder);
  // Own skills never reach a shipped task: its conditions stay the same wherever own families are.
  const shipped = shippedPart(tasks, families, contentFolder);
  const shippedLibrary = libraryOf(shipped.tasks, shipped.families);
  const library = libraryOf([...shipped.tasks, ...tasks], [...shipped.families, ...families]);
  const decoyFolder = join(contentFolder, 'decoys');
  const decoys = {
    published: await loadDecoyMapping('published', decoyFolder),
    far: await loadDecoyMapping('far', decoyFolder),
  };
  return tasks.map((task) => finish(task, shipped.tasks.includes(task) ? shippedLibrary : library, decoys));
}

interface LoadedContent {
  readonly families: readonly LoadedFamily[];
  readonly tasks: readonly UnfinishedTask[];
}

function shippedPart(
  tasks: readonly UnfinishedTask[],
  families: readonly LoadedFamily[],
  contentFolder: string,
): LoadedContent {
  const root = join(contentFolder, 'families');
  const shipped = families.filter((family) => dirname(family.folder) === root);
  const names = new Set(shipped.map((family) => family.name));
  return { families: shipped, tasks: tasks.filter((task) => names.has(task.family)) };
}

/** References of one key lie in one file: an own query may not take the key of another query. */
function refuseTakenReferences(tasks: readonly UnfinishedTask[], contentFolder: string): void {
  const files = new Map<string, string>();
  for (const { database, reference, referenceFile } of tasks) {
    const shipped = join(contentFolder, 'references', database, `${reference}.sql`);
    const known = files.get(`${database} ${reference}`) ?? (existsSync(shipped) ? shipped : referenceFile);
    files.set(`${database} ${reference}`, known);
    if (known === referenceFile) continue;
    throw new M4BenchError(
      'TASK_INVALID',
      `${referenceFile}: the reference ${reference} on ${database} exists already in ${known}.`,
      'Give the reference another name, in its file name and in family.toml.',
    );
  }
}

/** Every skill text that any of the tasks may be given, each once. */
export function skillsOf(tasks: readonly Task[]): readonly Skill[] {
  return [
    ...new Map(
      tasks.flatMap(({ material }) => material.library).map((skill) => [skill.folder, skill]),
    ).values(),
  ];
}

function refuseRepeatedNames(families: readonly LoadedFamily[], tasks: readonly UnfinishedTask[]): void {
  for (const [kind, named] of [
    ['family', families.map(({ name, file }) => ({ name, file }))],
    ['task', tasks.map(({ name, instructionFile }) => ({ name, file: instructionFile }))],
  ] as const) {
    const seen = new Map<string, string>();
    for (const { name, file } of named) {
      const other = seen.get(name);
      if (other !== undefined) {
        throw invalid(
          file,
          'name',
          `the ${kind} ${name} exists already in ${other}`,
          'Rename one of the two.',
        );
      }
      seen.set(name, file);
    }
  }
}

/** One task by name. Throws `TASK_UNKNOWN` with the nearest name when there is none. */
export async function findTask(name: string, options: LoadTasksOptions = {}): Promise<Task> {
  const tasks = await loadTasks(options);
  const found = tasks.find((task) => task.name === name);
  if (found !== undefined) return found;
  const names = tasks.map((task) => task.name);
  throw new M4BenchError(
    'TASK_UNKNOWN',
    `There is no task "${name}".`,
    `${suggestionFor(name, names)}Run \`m4bench tasks list\` for all ${names.length} names; tasks of your own need --tasks DIR.`,
  );
}
