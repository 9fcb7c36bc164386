import { byCodePoint, distinct, groupBy } from './moments.js';
import {
  assetTerms,
  conditionGlossary,
  type EvidencePackage,
  publishedReview,
  reviewers,
  type ValidityCaveat,
} from './published-documents.js';
import type { RunRow } from './run-row.js';
import type { PrintColumn, Table } from './tables.js';
import { databaseLabel, keyGrain, type TaskFacts } from './task-facts.js';

const print = (...columns: readonly (readonly [string, string])[]): readonly PrintColumn[] =>
  columns.map(([header, from]) => ({ header, from: [from] }));

/** Table 1: what each condition adds. */
export function conditionTable(): Table {
  return {
    title: 'Conditions',
    columns: ['condition', 'receives', 'purpose'],
    rows: conditionGlossary,
    print: print(['Condition', 'condition'], ['The agent receives', 'receives'], ['Purpose', 'purpose']),
  };
}

/** Table 2: tasks by family. */
export function taskInventory(tasks: readonly TaskFacts[]): Table | undefined {
  if (tasks.length === 0) return undefined;
  const counts = (members: readonly TaskFacts[]) => ({
    tasks: members.length,
    standard: members.filter((task) => task.mode === 'standard').length,
    raw: members.filter((task) => task.mode === 'raw').length,
    databases: distinct(members.map((task) => databaseLabel(task.database))).join('/'),
  });
  const families = [...groupBy(tasks, (task) => task.family).entries()].sort(([a], [b]) => byCodePoint(a, b));
  return {
    title: 'Tasks by family',
    columns: ['family', 'tasks', 'standard', 'raw', 'databases'],
    rows: [
      ...families.map(([, members]) => ({ family: members[0]!.familyLabel, ...counts(members) })),
      { family: 'Total', ...counts(tasks) },
    ],
    print: print(
      ['Family', 'family'],
      ['Tasks', 'tasks'],
      ['Standard', 'standard'],
      ['Raw', 'raw'],
      ['Databases', 'databases'],
    ),
  };
}

/** Table 6: key grain, columns and reference rows of each task. Reference rows are those that the runs report. */
export function taskDetails(tasks: readonly TaskFacts[], rows: readonly RunRow[]): Table | undefined {
  if (tasks.length === 0) return undefined;
  const referenceRows = new Map<string, number>();
  for (const row of rows) {
    if (row.truthRows !== null)
      referenceRows.set(row.task, Math.max(row.truthRows, referenceRows.get(row.task) ?? 0));
  }
  return {
    title: 'Tasks',
    columns: ['task', 'mode', 'database', 'keyGrain', 'valueColumns', 'scoredColumns', 'referenceRows'],
    rows: [...tasks]
      .sort((a, b) => byCodePoint(a.name, b.name))
      .map((task) => ({
        task: task.name,
        mode: task.mode,
        database: databaseLabel(task.database),
        keyGrain: keyGrain(task.keyColumns),
        valueColumns: task.valueColumns.length,
        scoredColumns: task.scoredColumns.length,
        referenceRows: referenceRows.get(task.name) ?? null,
      })),
    notes: ['The reward averages the scored columns, on some tasks more than the value columns.'],
    print: [
      ...print(
        ['Task', 'task'],
        ['Mode', 'mode'],
        ['Database', 'database'],
        ['Key grain', 'keyGrain'],
        ['Value columns', 'valueColumns'],
        ['Scored columns', 'scoredColumns'],
      ),
      { header: 'Reference rows', from: ['referenceRows'], as: 'thousands' },
    ],
  };
}

/** Table 7: who reviewed each task, and against what. */
export function reviewProvenance(tasks: readonly TaskFacts[]): Table | undefined {
  const rows = [...tasks]
    .sort((a, b) => byCodePoint(a.name, b.name))
    .flatMap((task) => publishedReview(task.name, task.family) ?? [])
    .map(({ task, reviewers: [first, second], basis }) => ({ task, first, second, basis }));
  if (rows.length === 0) return undefined;
  return {
    title: 'Review provenance of the published tasks',
    columns: ['task', 'first', 'second', 'basis'],
    rows,
    print: print(
      ['Task', 'task'],
      ['First review', 'first'],
      ['Second review', 'second'],
      ['Source basis', 'basis'],
    ),
  };
}

/** Table 8. */
export function reviewerTable(): Table {
  return {
    title: 'Reviewers',
    columns: ['id', 'credentials'],
    rows: reviewers,
    print: print(['Id', 'id'], ['Credentials', 'credentials']),
  };
}

/** Table 9: conventions that were kept on purpose, and what they cost. */
export function validityCaveats(caveats: readonly ValidityCaveat[]): Table | undefined {
  if (caveats.length === 0) return undefined;
  return {
    title: 'Conventions kept, and their caveats',
    columns: ['family', 'convention', 'caveat'],
    rows: caveats.map(({ family, convention, caveat }) => ({ family, convention, caveat })),
    print: print(['Family', 'family'], ['Convention kept', 'convention'], ['Caveat', 'caveat']),
  };
}

/** Table 12. */
export function licenceTable(): Table {
  return {
    title: 'Assets and terms',
    columns: ['asset', 'role', 'terms'],
    rows: assetTerms,
    print: print(['Asset', 'asset'], ['Role', 'role'], ['Terms', 'terms']),
  };
}

/** Table 14. */
export function evidencePackages(packages: readonly EvidencePackage[]): Table | undefined {
  if (packages.length === 0) return undefined;
  return {
    title: 'Evidence packages',
    columns: ['archive', 'contents', 'runs', 'bytes', 'sha256'],
    rows: packages.map(({ archive, contents, runs, bytes, sha256 }) => ({
      archive,
      contents,
      runs,
      bytes,
      sha256,
    })),
  };
}
