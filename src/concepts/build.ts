import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import {
  currentManifest,
  type Materialization,
  materialize,
  type TableManifest,
} from '../duck/materialize.js';
import { removeAbandonedParquet } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { createParquetViews, type ParquetRelation } from '../duck/views.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { derivedSchema, loadConcepts } from './concept.js';
import { type ConceptNode, conceptGraph, withDependencies } from './graph.js';

export interface BuildConceptsOptions {
  /** Concepts wanted; everything they read is built too. Default: all. */
  readonly tables?: readonly string[];
  readonly progress?: Progress;
  /** Memory limit of DuckDB in bytes, default 2 GiB. */
  readonly memoryBytes?: number;
  /** Threads in all, default as many as the machine has. */
  readonly threads?: number;
  /** Concepts that are built side by side, default as many as there are threads, 4 at most. */
  readonly lanes?: number;
  /** Builds again what is current. */
  readonly force?: boolean;
  /** Folder of concept SQL files, default the shipped one. */
  readonly folder?: string;
}

export interface BuiltConcept {
  readonly table: string;
  readonly manifest: TableManifest;
  /** False when the table on disk was current and was kept. */
  readonly wasBuilt: boolean;
  readonly seconds: number;
}

/** Where a concept's manifest lies: beside its Parquet file. */
export function conceptManifestPath(dataset: Dataset, table: string): string {
  return join(dataset.folder, derivedSchema, `${table}.json`);
}

/**
 * Builds derived tables of a MIMIC-IV dataset, several at a time where the graph allows. A table is built again
 * only when its SQL, the content of a relation it reads, or the engine changed. A failure stops the run and
 * names the concept; finished tables stay, so the next call goes on where this one stopped.
 */
export async function buildConcepts(
  dataset: Dataset,
  options: BuildConceptsOptions = {},
): Promise<readonly BuiltConcept[]> {
  if (dataset.kind !== 'mimic-iv') {
    throw new M4BenchError(
      'CONCEPTS_NOT_APPLICABLE',
      `Dataset ${dataset.name} is of kind ${dataset.kind}, which has no derived tables.`,
      'Build concepts on a dataset of kind mimic-iv; the eICU tasks read source tables only.',
    );
  }
  const progress = options.progress ?? silentProgress;
  const threads = options.threads ?? availableParallelism();
  const lanes = Math.max(1, options.lanes ?? Math.min(threads, 4));
  await using session = await DuckSession.open({
    ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
    // Every lane works on its own query with a thread of its own; DuckDB's workers, which all lanes share, are what
    // is left. One query per thread costs a sixth less than several threads per query, which wait for one another.
    threads: Math.max(1, threads - lanes + 1),
  });
  await removeAbandonedParquet(join(dataset.folder, derivedSchema));
  const concepts = await loadConcepts(options.folder);
  const graph = await conceptGraph(session, concepts);
  const nodes = withDependencies(graph, options.tables ?? [...graph.keys()]);
  await createParquetViews(session, baseRelations(dataset, nodes));
  await session.run(`create schema if not exists ${derivedSchema}`);
  // Awaited here: the session must stay open until the last table is written.
  return await new ConceptBuild(session, dataset, nodes, options, lanes, progress).run();
}

/** Parquet files of the base tables that the nodes read; an absent one is an error naming the concept. */
function baseRelations(dataset: Dataset, nodes: readonly ConceptNode[]): readonly ParquetRelation[] {
  const relations = new Map<string, ParquetRelation>();
  for (const node of nodes) {
    for (const { schema, table } of node.baseRelations) {
      if (!dataset.tables.some((entry) => entry.schema === schema && entry.table === table)) {
        throw new M4BenchError(
          'RELATION_MISSING',
          `Concept ${node.concept.table} reads ${schema}.${table}, which dataset ${dataset.name} does not have.`,
          'Import the dataset again, completely.',
        );
      }
      relations.set(`${schema}.${table}`, { schema, table, path: parquetPath(dataset, schema, table) });
    }
  }
  return [...relations.values()];
}

/**
 * Nodes in the order in which free lanes take them: first what the longest chain of tables waits for, then what
 * reads most bytes, so that no long one is left over at the end.
 */
function byUrgency(nodes: readonly ConceptNode[], dataset: Dataset): readonly ConceptNode[] {
  const bytes = new Map(dataset.tables.map((entry) => [`${entry.schema}.${entry.table}`, entry.fileBytes]));
  const chains = new Map<string, number>();
  // Against the build order every reader comes before what it reads.
  for (const { concept, derivedTables } of [...nodes].reverse()) {
    const above = (chains.get(concept.table) ?? 0) + 1;
    for (const table of derivedTables) chains.set(table, Math.max(chains.get(table) ?? 0, above));
  }
  const read = (node: ConceptNode): number =>
    node.baseRelations.reduce((sum, { schema, table }) => sum + (bytes.get(`${schema}.${table}`) ?? 0), 0);
  return [...nodes].sort(
    (a, b) => (chains.get(b.concept.table) ?? 0) - (chains.get(a.concept.table) ?? 0) || read(b) - read(a),
  );
}

/** One build: a ready queue over the graph, drained by a few lanes. */
class ConceptBuild {
  private readonly finished = new Map<string, BuiltConcept>();
  private readonly waiting: ConceptNode[];
  private readonly baseHashes: ReadonlyMap<string, string>;
  private failure: unknown;

  constructor(
    private readonly session: DuckSession,
    private readonly dataset: Dataset,
    private readonly nodes: readonly ConceptNode[],
    private readonly options: BuildConceptsOptions,
    private readonly lanes: number,
    private readonly progress: Progress,
  ) {
    this.waiting = [...byUrgency(nodes, dataset)];
    this.baseHashes = new Map(
      dataset.tables.map((entry) => [`${entry.schema}.${entry.table}`, entry.contentHash]),
    );
  }

  async run(): Promise<readonly BuiltConcept[]> {
    const running = new Set<Promise<void>>();
    while (this.failure === undefined && (this.waiting.length > 0 || running.size > 0)) {
      const ready = running.size < this.lanes ? this.takeReady() : undefined;
      if (ready !== undefined) {
        const task: Promise<void> = this.buildOne(ready)
          .catch((thrown: unknown) => {
            this.failure ??= thrown;
          })
          .finally(() => running.delete(task));
        running.add(task);
        continue;
      }
      await Promise.race(running);
    }
    await Promise.all(running);
    if (this.failure !== undefined) throw this.failure;
    return this.nodes.map((node) => this.finished.get(node.concept.table)!);
  }

  private takeReady(): ConceptNode | undefined {
    const index = this.waiting.findIndex((node) =>
      node.derivedTables.every((table) => this.finished.has(table)),
    );
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }

  private async buildOne(node: ConceptNode): Promise<void> {
    const { table } = node.concept;
    const started = performance.now();
    const wanted = this.materializationOf(node);
    const kept = this.options.force ? undefined : await currentManifest(wanted);
    let manifest = kept;
    if (manifest === undefined) {
      this.progress.update(`${this.finished.size + 1}/${this.nodes.length} ${table}`);
      await using lane = await this.session.fork();
      try {
        manifest = await materialize(lane, wanted);
      } catch (thrown) {
        throw new M4BenchError(
          'CONCEPT_FAILED',
          `Concept ${table} could not be built: ${messageOf(thrown)}.`,
          `Tables built so far are kept; correct ${node.concept.sql.path} or the dataset and run the command again.`,
          { party: 'internal', cause: thrown },
        );
      }
    }
    await createParquetViews(this.session, [{ schema: derivedSchema, table, path: wanted.parquetPath }]);
    const seconds = (performance.now() - started) / 1000;
    this.finished.set(table, { table, manifest, wasBuilt: kept === undefined, seconds });
    if (kept === undefined) {
      this.progress.done(
        `${String(this.finished.size).padStart(2)}/${this.nodes.length} ${table}: ${manifest.rows.toLocaleString('en')} rows in ${seconds.toFixed(2)} s`,
      );
    }
  }

  private materializationOf(node: ConceptNode): Materialization {
    const { table, sql } = node.concept;
    const inputs: Record<string, string> = {};
    for (const base of node.baseRelations) {
      const name = `${base.schema}.${base.table}`;
      inputs[name] = this.baseHashes.get(name)!;
    }
    for (const derived of node.derivedTables) {
      inputs[`${derivedSchema}.${derived}`] = this.finished.get(derived)!.manifest.contentHash;
    }
    return {
      name: table,
      query: sql.query,
      sqlSha256: sql.sha256,
      inputs,
      sortedBy: sql.header.keys,
      parquetPath: parquetPath(this.dataset, derivedSchema, table),
      manifestPath: conceptManifestPath(this.dataset, table),
    };
  }
}
