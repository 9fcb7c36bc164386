import type { DuckSession } from '../duck/session.js';
import { type RelationName, relationsRead } from '../duck/syntax-tree.js';
import { M4BenchError } from '../support/errors.js';
import { type Concept, derivedSchema } from './concept.js';

/** A concept and what its SQL reads. */
export interface ConceptNode {
  readonly concept: Concept;
  /** Base relations, sorted. */
  readonly baseRelations: readonly RelationName[];
  /** Names of derived tables, sorted. */
  readonly derivedTables: readonly string[];
  /** Longest chain of derived tables beneath; 0 = base tables only. */
  readonly level: number;
}

/** Every concept by table name, in build order (level, then name). */
export type ConceptGraph = ReadonlyMap<string, ConceptNode>;

/** Reads the dependency graph from the SQL itself (architecture, decision 3). */
export async function conceptGraph(
  session: DuckSession,
  concepts: readonly Concept[],
): Promise<ConceptGraph> {
  const read = new Map<string, readonly RelationName[]>();
  for (const concept of concepts) {
    read.set(concept.table, await relationsRead(session, concept.sql.query, concept.sql.path));
  }
  const byTable = new Map(concepts.map((concept) => [concept.table, concept]));
  const derivedOf = (table: string): readonly string[] =>
    (read.get(table) ?? []).filter((name) => name.schema === derivedSchema).map((name) => name.table);

  const levels = new Map<string, number>();
  const levelOf = (table: string, chain: readonly string[]): number => {
    const known = levels.get(table);
    if (known !== undefined) return known;
    if (chain.includes(table)) {
      throw new M4BenchError(
        'CONCEPT_CYCLE',
        `Concepts read one another in a circle: ${[...chain.slice(chain.indexOf(table)), table].join(' -> ')}.`,
        'Break the circle in one of these SQL files.',
      );
    }
    if (!byTable.has(table)) {
      throw new M4BenchError(
        'CONCEPT_UNKNOWN',
        `Concept ${chain.at(-1)} reads ${derivedSchema}.${table}, which no SQL file defines.`,
        'Correct the name, or add the missing concept.',
      );
    }
    const beneath = derivedOf(table).map((inner) => levelOf(inner, [...chain, table]));
    const level = beneath.length === 0 ? 0 : Math.max(...beneath) + 1;
    levels.set(table, level);
    return level;
  };

  const nodes = concepts.map(
    (concept): ConceptNode => ({
      concept,
      level: levelOf(concept.table, []),
      derivedTables: derivedOf(concept.table),
      baseRelations: (read.get(concept.table) ?? []).filter((name) => name.schema !== derivedSchema),
    }),
  );
  nodes.sort((a, b) => a.level - b.level || (a.concept.table < b.concept.table ? -1 : 1));
  return new Map(nodes.map((node) => [node.concept.table, node]));
}

/** The named concepts and everything they read, in build order. */
export function withDependencies(graph: ConceptGraph, tables: readonly string[]): readonly ConceptNode[] {
  const wanted = new Set<string>();
  const visit = (table: string): void => {
    if (wanted.has(table)) return;
    const node = graph.get(table);
    if (node === undefined) {
      throw new M4BenchError(
        'CONCEPT_UNKNOWN',
        `There is no concept ${table}.`,
        'Run `m4bench concepts list` for the names.',
      );
    }
    wanted.add(table);
    node.derivedTables.forEach(visit);
  };
  tables.forEach(visit);
  return [...graph.values()].filter((node) => wanted.has(node.concept.table));
}

/** Every concept that is computed, directly or through others, from one of the named ones (which are left out). */
export function descendants(graph: ConceptGraph, tables: readonly string[]): readonly string[] {
  const reached = new Set(tables);
  // Build order: a node comes after everything it reads, so one pass is enough.
  for (const node of graph.values()) {
    if (node.derivedTables.some((table) => reached.has(table))) reached.add(node.concept.table);
  }
  return [...reached].filter((table) => !tables.includes(table)).sort();
}
