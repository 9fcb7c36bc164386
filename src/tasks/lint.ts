import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadConcepts } from '../concepts/concept.js';
import { conceptGraph } from '../concepts/graph.js';
import { isShippedKind, loadSourceSchema } from '../datasets/source-schema.js';
import { DuckSession } from '../duck/session.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import {
  contractFindings,
  createEmptyDatabase,
  createEmptyTables,
  type DescribedDatabase,
} from './lint/contract-rules.js';
import { decoyFindings } from './lint/decoy-rules.js';
import { assetsFile, loadFamilyRecords, reviewersFile } from './lint/family-records.js';
import type { Finding } from './lint/finding.js';
import { instructionFindings } from './lint/instruction-rules.js';
import { intendedInputFindings } from './lint/intended-input-rules.js';
import { operationalSpecFindings } from './lint/operational-spec-rules.js';
import { rawSqlFindings } from './lint/raw-sql-rules.js';
import {
  type FamilyContent,
  factFindings,
  missingRecordFindings,
  provenanceFindings,
  tierFindings,
} from './lint/record-rules.js';
import { removedRelationFindings, skillTextFindings, variantFindings } from './lint/skill-rules.js';
import { tableNamesOf } from './lint/source-names.js';
import { type LoadTasksOptions, loadTasks, skillsOf } from './load-tasks.js';
import type { Task } from './task.js';

export type { Finding } from './lint/finding.js';

export interface LintOptions extends LoadTasksOptions {
  /** Tables of the databases that are not part of the benchmark, for the tasks on them. */
  readonly ownDatabases?: readonly DescribedDatabase[];
}

/**
 * Checks the whole content: instructions, skills, operational specifications, controls, contracts and records.
 *
 * Returns every finding with file, line and rule, ordered by file. Content that cannot even be loaded gives one
 * finding with the rule `content-invalid`.
 */
export async function lintContent(options: LintOptions = {}): Promise<readonly Finding[]> {
  try {
    const findings = await lintLoaded(options);
    return [...findings].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  } catch (thrown) {
    if (!(thrown instanceof M4BenchError) || thrown.party !== 'user') throw thrown;
    return [invalidContent(thrown)];
  }
}

/** The finding for content that cannot be loaded; its messages begin with file and, where known, line. */
function invalidContent(error: M4BenchError): Finding {
  const place = /^(\/[^:]+?)(?::(\d+))?(?::\d+)?: /.exec(error.message);
  return {
    file: place?.[1] ?? '',
    line: Number(place?.[2] ?? 1),
    rule: 'content-invalid',
    message: `${place === null ? error.message : error.message.slice(place[0].length)} ${error.remedy}`,
  };
}

async function lintLoaded(options: LintOptions): Promise<readonly Finding[]> {
  const contentFolder = options.contentFolder ?? benchmarkFolder();
  const tasks = await loadTasks(options);
  const families = await familiesOf(tasks);
  const schemas = [await loadSourceSchema('mimic-iv'), await loadSourceSchema('eicu')];
  const conceptFolder = join(contentFolder, 'concepts', 'mimic-iv');
  const loaded = await loadConcepts(conceptFolder);
  const concepts = loaded.map((concept) => concept.table);
  const ownDatabases = options.ownDatabases ?? [];
  const tableNames = tableNamesOf(schemas, [...concepts, ...tablesOf(ownDatabases)]);
  const library = skillsOf(tasks);
  await using session = await DuckSession.open();
  await createEmptyDatabase(session, schemas, conceptFolder);
  const findings: Finding[] = [];
  for (const task of tasks) {
    findings.push(
      ...(await instructionFindings(session, task, tableNames)),
      ...(await operationalSpecFindings(session, task, tableNames)),
      ...removedRelationFindings(task, concepts),
    );
  }
  const shippedFolder = join(contentFolder, 'families');
  for (const skill of library) {
    const isShipped = skill.folder.startsWith(`${shippedFolder}/`);
    findings.push(...(await skillTextFindings(session, skill, isShipped)));
  }
  findings.push(...variantFindings(library));
  findings.push(...decoyFindings(families, (mapping) => join(contentFolder, 'decoys', `${mapping}.toml`)));
  const shippedTasks = tasks.filter((task) => isShippedKind(task.database));
  findings.push(...(await contractFindings(session, shippedTasks)));
  findings.push(...(await ownDatabaseFindings(tasks, ownDatabases)));
  const graph = await conceptGraph(session, loaded);
  findings.push(...(await rawSqlFindings(session, shippedTasks, graph)));
  const intended = join(contentFolder, 'families', 'intended-inputs.toml');
  findings.push(...(await intendedInputFindings(intended, tasks, graph)));
  findings.push(...(await recordFindings(families, shippedFolder)));
  for (const family of families) findings.push(...(await strayFindings(family)));
  return uniqueFindings(findings);
}

function tablesOf(databases: readonly DescribedDatabase[]): readonly string[] {
  return databases.flatMap(({ tables }) => tables.map((table) => table.name));
}

/** Contracts of tasks on databases that are not part of the benchmark, each kind over its own empty tables. */
async function ownDatabaseFindings(
  tasks: readonly Task[],
  databases: readonly DescribedDatabase[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const kinds = new Set(tasks.map((task) => task.database).filter((kind) => !isShippedKind(kind)));
  for (const kind of kinds) {
    const own = tasks.filter((task) => task.database === kind);
    const database = databases.find((described) => described.kind === kind);
    if (database === undefined) {
      const message = `no dataset of kind ${kind} is present, so that the contract cannot be checked; import one with \`m4bench data import NAME --schema FILE\`.`;
      findings.push(
        ...own.map(({ instructionFile: file }) => ({ file, line: 1, rule: 'database-absent', message })),
      );
      continue;
    }
    await using session = await DuckSession.open();
    await createEmptyTables(session, database);
    findings.push(...(await contractFindings(session, own)));
  }
  return findings;
}

/** A skill shared by several tasks gives the same finding for each of them. */
function uniqueFindings(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Map(findings.map((finding) => [JSON.stringify(finding), finding]));
  return [...seen.values()];
}

async function familiesOf(tasks: readonly Task[]): Promise<readonly FamilyContent[]> {
  const library = skillsOf(tasks);
  const names = [...new Set(tasks.map((task) => task.family))];
  return Promise.all(
    names.map(async (name) => {
      const own = tasks.filter((task) => task.family === name);
      const folder = dirname(dirname(own[0]?.instructionFile ?? ''));
      return {
        name,
        folder,
        tasks: own,
        skills: library
          .filter((skill) => skill.family === name)
          .sort((a, b) => (a.folder < b.folder ? -1 : 1)),
        records: await loadFamilyRecords(folder),
      };
    }),
  );
}

async function recordFindings(
  families: readonly FamilyContent[],
  shippedFolder: string,
): Promise<readonly Finding[]> {
  const keysOf = async (
    name: string,
    schema: typeof reviewersFile | typeof assetsFile,
  ): Promise<Set<string>> => {
    const file = join(shippedFolder, name);
    if (!existsSync(file)) return new Set();
    return new Set(Object.keys(await readTomlFile(file, schema, 'RECORD_INVALID', 'record')));
  };
  const reviewers = await keysOf('reviewers.toml', reviewersFile);
  const assets = await keysOf('assets.toml', assetsFile);
  const findings: Finding[] = [];
  for (const family of families) {
    // A user's own family may do without the records of the shipped ones.
    if (dirname(family.folder) === shippedFolder) findings.push(...missingRecordFindings(family));
    findings.push(...factFindings(family));
    findings.push(...(await provenanceFindings(family, reviewers, assets)));
    findings.push(...(await tierFindings(family)));
  }
  return findings;
}

/** Files that belong to no task: a specification without task, or notes inside the folder of the tasks. */
async function strayFindings(family: FamilyContent): Promise<readonly Finding[]> {
  const expected = family.tasks.flatMap((task) => [`${task.name}.toml`, `${task.name}.md`]);
  const findings: Finding[] = [];
  for (const folder of ['tasks', 'operational-spec']) {
    const entries = await readdir(join(family.folder, folder)).catch(() => []);
    for (const entry of entries.filter((name) => !expected.includes(name))) {
      findings.push({
        file: join(family.folder, folder, entry),
        line: 1,
        rule: 'stray-file',
        message: 'belongs to no task of the family; move reviewer notes to notes.md, or remove it.',
      });
    }
  }
  return findings;
}
