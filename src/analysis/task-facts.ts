import type { Task } from '../tasks/task.js';

/** What the analysis has to know of a task beside its runs. */
export interface TaskFacts {
  readonly name: string;
  /** Folder name of the family; families are ordered by it. */
  readonly family: string;
  readonly familyLabel: string;
  readonly mode: 'standard' | 'raw';
  readonly database: string;
  readonly keyColumns: readonly string[];
  /** Headline columns; the reward averages these and, on some tasks, further required columns. */
  readonly valueColumns: readonly string[];
  readonly scoredColumns: readonly string[];
}

/** The facts of loaded tasks. */
export function taskFactsOf(tasks: readonly Task[]): readonly TaskFacts[] {
  return tasks.map((task) => ({
    name: task.name,
    family: task.family,
    familyLabel: task.familyTitle,
    mode: task.mode,
    database: task.database,
    keyColumns: task.contract.keyColumns,
    valueColumns: task.contract.valueColumns,
    scoredColumns: task.contract.scoredColumns,
  }));
}

/** Facts by task name. */
export type TaskIndex = ReadonlyMap<string, TaskFacts>;

export function taskIndexOf(facts: Iterable<TaskFacts>): TaskIndex {
  return new Map([...facts].map((fact) => [fact.name, fact]));
}

const databaseLabels: Readonly<Record<string, string>> = { 'mimic-iv': 'MIMIC-IV', eicu: 'eICU' };

/** `MIMIC-IV`, `eICU`, or the name of an own kind of database, as tables print it. */
export function databaseLabel(database: TaskFacts['database']): string {
  return databaseLabels[database] ?? database;
}

/** What one key of a task stands for; the first rule that fits the key columns. */
export function keyGrain(keyColumns: readonly string[]): string {
  const has = (...names: readonly string[]): boolean => names.some((name) => keyColumns.includes(name));
  if (has('ventilation_seq', 'starttime', 'endtime')) return 'interval';
  if (has('window_start', 'window_end', 'charttime')) return 'stay-window';
  if (has('ab_id', 'suspected_infection_time', 'sofa_time')) return 'event';
  if (has('stay_id', 'patientunitstayid')) return 'stay';
  if (has('hadm_id')) return 'admission';
  return keyColumns.join('/');
}
