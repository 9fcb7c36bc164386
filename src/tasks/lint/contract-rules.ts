import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { derivedSchema, loadConcepts } from '../../concepts/concept.js';
import { conceptGraph } from '../../concepts/graph.js';
import type { DatabaseKind } from '../../datasets/source-schema.js';
import { describeQuery } from '../../duck/parquet.js';
import type { DuckSession } from '../../duck/session.js';
import { identifier, relation } from '../../duck/sql.js';
import { messageOf } from '../../support/errors.js';
import type { Task } from '../task.js';
import type { Finding } from './finding.js';

/** Tables of a kind of database as far as queries are checked over them. */
export interface DescribedDatabase {
  readonly kind: DatabaseKind;
  readonly tables: readonly {
    readonly schema: string;
    readonly name: string;
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  }[];
}

/** Empty tables of a database, so that a query over it can be described without data. */
export async function createEmptyTables(session: DuckSession, database: DescribedDatabase): Promise<void> {
  for (const schema of new Set(database.tables.map((table) => table.schema)))
    await session.run(`create schema if not exists ${identifier(schema)}`);
  for (const table of database.tables) {
    const columns = table.columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ');
    await session.run(`create table ${relation(table.schema, table.name)} (${columns})`);
  }
}

/** Empty source tables and every concept as a view, so that a reference can be described without data. */
export async function createEmptyDatabase(
  session: DuckSession,
  databases: readonly DescribedDatabase[],
  conceptFolder: string,
): Promise<void> {
  for (const database of databases) await createEmptyTables(session, database);
  await session.run(`create schema if not exists ${identifier(derivedSchema)}`);
  for (const { concept } of (await conceptGraph(session, await loadConcepts(conceptFolder))).values()) {
    await session.run(`create view ${relation(derivedSchema, concept.table)} as ${concept.sql.query}`);
  }
}

/** Whether values of a type can be near each other: numbers, and times in seconds. */
export function takesTolerance(type: string): boolean {
  return (
    /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL|DATE|TIMESTAMP)/.test(type) &&
    !type.endsWith('[]')
  );
}

/** Every contract column is a column of the reference; a task without reference query cannot be scored. */
export async function contractFindings(
  session: DuckSession,
  tasks: readonly Task[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const task of tasks) {
    const file = task.referenceFile;
    if (!existsSync(file)) {
      findings.push({
        file,
        line: 1,
        rule: 'reference-file',
        message: `the reference query ${task.reference} of ${task.name} does not exist.`,
      });
      continue;
    }
    const query = (await readFile(file, 'utf8')).trimEnd().replace(/;$/, '');
    const columns = await describeQuery(session, query).catch((thrown: unknown) => messageOf(thrown));
    if (typeof columns === 'string') {
      findings.push({ file, line: 1, rule: 'reference-query', message: columns });
      continue;
    }
    const names = columns.map((column) => column.name);
    for (const column of task.contract.requiredColumns.filter((required) => !names.includes(required))) {
      findings.push({
        file,
        line: 1,
        rule: 'contract-column',
        message: `the contract of ${task.name} asks for ${column}, which the reference does not have.`,
      });
    }
    for (const column of Object.keys(task.contract.tolerance)) {
      const type = columns.find(({ name }) => name === column)?.type ?? '';
      if (!takesTolerance(type)) {
        findings.push({
          file,
          line: 1,
          rule: 'contract-tolerance',
          message: `the tolerance of ${column} has no meaning for ${type}.`,
        });
      }
    }
  }
  return findings;
}
