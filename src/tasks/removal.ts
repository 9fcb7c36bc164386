import type { Protocol } from './protocol.js';
import type { Task } from './task.js';

/** Schema of the concepts; the only schema from which tasks remove relations. */
const derivedSchema = 'mimiciv_derived';

/**
 * What each concept reads, by table name without schema. A `ConceptGraph` is one.
 */
export type ConceptReads = ReadonlyMap<string, { readonly derivedTables: readonly string[] }>;

/** The named tables and every table that is computed from one of them, directly or through others. */
export function withDescendants(reads: ConceptReads, tables: readonly string[]): ReadonlySet<string> {
  const readers = new Map<string, string[]>();
  for (const [table, { derivedTables }] of reads) {
    for (const source of derivedTables) readers.set(source, [...(readers.get(source) ?? []), table]);
  }
  const reached = new Set(tables);
  const waiting = [...tables];
  for (let table = waiting.pop(); table !== undefined; table = waiting.pop()) {
    for (const reader of readers.get(table) ?? []) {
      if (reached.has(reader)) continue;
      reached.add(reader);
      waiting.push(reader);
    }
  }
  return reached;
}

/**
 * Schema-qualified relations that a task database leaves out, sorted.
 *
 * - `configured` (published): the task's own list; a raw task on MIMIC-IV loses every concept.
 * - `lineage`: the same, and every concept that is computed from a removed one. The published list leaves, for
 *   example, the Sepsis-3 table with all SOFA components inside the database of the SOFA task.
 *
 * Relations of the list that do not exist in the graph stay in the result: leaving out what is absent is harmless.
 */
export function removedRelations(
  task: Pick<Task, 'mode' | 'database' | 'removesPublished'>,
  protocol: Pick<Protocol, 'removal'>,
  conceptGraph: ConceptReads,
): readonly string[] {
  const removed = new Set(task.removesPublished);
  if (task.mode === 'raw' && task.database === 'mimic-iv') {
    for (const table of conceptGraph.keys()) removed.add(`${derivedSchema}.${table}`);
  } else if (protocol.removal === 'lineage') {
    const prefix = `${derivedSchema}.`;
    const named = task.removesPublished
      .filter((relation) => relation.startsWith(prefix))
      .map((relation) => relation.slice(prefix.length));
    for (const table of withDescendants(conceptGraph, named)) removed.add(prefix + table);
  }
  return [...removed].sort();
}
