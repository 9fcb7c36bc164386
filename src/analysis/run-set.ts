import { hashOf, sha256 } from '../support/hashing.js';
import type { RunRow } from './run-row.js';
import type { TaskFacts } from './task-facts.js';

/** What a campaign left on disk and used up, beyond its run rows. */
export interface CampaignRecord {
  readonly campaign: string;
  /** Runs that the plan asks for; null when no plan is known. */
  readonly plannedRuns: number | null;
  /** Ids of planned runs without a result; empty when no plan is known. */
  readonly missingRuns: readonly string[];
  /** Ids of results that the plan does not ask for. */
  readonly unexpectedRuns: readonly string[];
  readonly canonicalRuns: number;
  /** Run folders kept to show where a result came from, and analysed nowhere. */
  readonly provenanceOnly: number;
  readonly artifactCounts: Readonly<Record<string, number>>;
  readonly artifactBytes: number;
  /** Bytes of the run folders on disk; null when not measured. */
  readonly folderBytes: number | null;
  readonly agentSeconds: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly hardware: string | null;
}

/** Rows of one or more campaigns with what is known around them. */
export interface RunSet {
  readonly rows: readonly RunRow[];
  /** Attempts that a later one replaced; counted, never averaged. */
  readonly superseded: readonly RunRow[];
  readonly records: readonly CampaignRecord[];
  readonly tasks: readonly TaskFacts[];
  /** Task means known only as printed numbers, by campaign and schema: no-skill arm of the schema probe. */
  readonly printedProbeMeans: Readonly<
    Record<string, Readonly<Partial<Record<'obfuscated' | 'restructured', number>>>>
  >;
}

/** A set of nothing but rows. */
export function runSetOf(rows: readonly RunRow[], tasks: readonly TaskFacts[] = []): RunSet {
  return { rows, superseded: [], records: [], tasks, printedProbeMeans: {} };
}

/** Several sets side by side; campaigns keep their names. Facts of the first set win for a task in several. */
export function joinRunSets(sets: readonly RunSet[]): RunSet {
  const tasks = new Map<string, TaskFacts>();
  for (const fact of sets.flatMap((set) => set.tasks)) if (!tasks.has(fact.name)) tasks.set(fact.name, fact);
  return {
    rows: sets.flatMap((set) => set.rows),
    superseded: sets.flatMap((set) => set.superseded),
    records: sets.flatMap((set) => set.records),
    tasks: [...tasks.values()],
    printedProbeMeans: Object.assign({}, ...sets.map((set) => set.printedProbeMeans)),
  };
}

/** A row as one line; its keys in fixed order, as they are few and their values are small. */
function canonicalLine(row: RunRow): string {
  const entries = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries);
}

/** Hash of everything that the numbers of an analysis come from; the order of the rows does not matter. */
export function runSetHash(set: RunSet): string {
  const unordered = (rows: readonly RunRow[]): string => sha256(rows.map(canonicalLine).sort().join('\n'));
  return hashOf({ ...set, rows: unordered(set.rows), superseded: unordered(set.superseded) });
}
