import type { Agent, Effort } from '../agents/agent.js';
import { buildConcepts } from '../concepts/build.js';
import { derivedSchema, loadConcepts } from '../concepts/concept.js';
import { type ConceptGraph, conceptGraph } from '../concepts/graph.js';
import { type ContextPackage, contextPackage } from '../conditions/context-package.js';
import { presentedNames } from '../conditions/presented-names.js';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import { DuckSession } from '../duck/session.js';
import { buildReferences, type Reference } from '../references/build.js';
import { referenceQueryOf } from '../references/reference.js';
import type { SchemaName, TransformedSchema } from '../schemas/presentation.js';
import { presentedRelations } from '../schemas/presented-database.js';
import { presentedReference } from '../schemas/presented-reference.js';
import { type AllowedRelation, buildTaskDatabase, type TaskDatabase } from '../schemas/task-database.js';
import type { SchemaVerification } from '../schemas/verification.js';
import { M4BenchError } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { runtimeBase } from '../support/runtime-folders.js';
import { readContentFile } from '../support/toml-file.js';
import { parseCondition } from '../tasks/condition.js';
import type { Protocol } from '../tasks/protocol.js';
import { removedRelations } from '../tasks/removal.js';
import type { Task } from '../tasks/task.js';
import type { Cell } from './cell.js';

/** What a cell is asked for. */
export interface CellRequest {
  readonly task: Task;
  readonly condition: string;
  readonly protocol: Protocol;
  readonly dataset: Dataset;
  /** How the database is presented, default `native`; a transformed one is drawn from `schemaSeed`. */
  readonly schema?: SchemaName;
  readonly schemaSeed?: string;
  /** Changes of values besides; in a transformed schema only. */
  readonly perturb?: readonly string[];
  readonly agent: Agent;
  /** CLI version as probed, null for built-in agents. */
  readonly cliVersion: string | null;
  /** Where that CLI comes from, default null: there is none, or nobody knows. */
  readonly cliSource?: 'rootfs' | 'host' | null;
  readonly rootfsDigest: string | null;
  /** The agent signs in by itself; so must the environment of its runs (`RunEnvironment.login`). */
  readonly auth?: 'login';
  readonly model?: string;
  readonly effort: Effort;
  /** SQL file that the `sql` agent plays. */
  readonly queryFile?: string;
}

/** Names of a transformed schema, for whoever judges what an agent did there. */
export interface CellCodes {
  /** Native `schema.table` to `code.code`. */
  readonly tables: Readonly<Record<string, string>>;
  /** The reference query in codes, where one exists. */
  readonly referenceSql: string | undefined;
}

/** A cell with everything its runs need, built and hashed. */
export interface PreparedCell {
  readonly cell: Cell;
  readonly request: CellRequest;
  readonly context: ContextPackage;
  /** What outputs are scored against; with moved dates it moved likewise. */
  readonly reference: Reference;
  /** Whether a transformed schema is proven equal; absent in the native one. */
  readonly verification?: SchemaVerification;
  /** What a transformed schema calls things; absent in the native one. */
  readonly codes?: CellCodes;
  readonly relations: readonly AllowedRelation[];
  /** Schemas that exist in the task database even when nothing is left in them. */
  readonly emptySchemas: readonly string[];
  readonly taskDatabase: TaskDatabase;
  readonly queryText: string | undefined;
}

/** Seed of the names of a transformed schema when none is given. */
export const defaultSchemaSeed = '1';

/** Short, neutral, on the host and inside alike; see architecture, decision 2. */
export function farmRoot(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.M4BENCH_FARM_DIR ?? runtimeBase();
}

/** Schemas that stay in a task database even when every relation in them is removed. */
export function schemasOf(dataset: Dataset): readonly string[] {
  return [
    ...new Set(dataset.tables.map((table) => table.schema)),
    ...(dataset.kind === 'mimic-iv' ? [derivedSchema] : []),
  ];
}

/** What the schema decides of a cell. */
type GivenToCell = Pick<
  PreparedCell,
  'context' | 'reference' | 'relations' | 'emptySchemas' | 'verification' | 'codes'
> &
  Pick<Cell, 'presentation'>;

function contextRequestOf({ task, condition, protocol, agent }: CellRequest) {
  return { task, condition: parseCondition(condition), protocol, skillFolder: agent.skillFolder };
}

/** The native schema shows the native values, or it would be another condition. */
function refuseNativePerturbation(schema: SchemaName, perturb: readonly string[]): void {
  if (schema !== 'native' || perturb.length === 0) return;
  throw new M4BenchError(
    'PERTURBATION_NOT_APPLICABLE',
    `Values (${perturb.join(', ')}) cannot be changed in schema native.`,
    'Add --schema obfuscated or --schema restructured, or leave --perturb out.',
  );
}

/** Builds references, concepts and task databases once per dataset and task, however many cells share them. */
export class CellPreparation {
  private readonly references = new Map<string, Promise<Reference>>();
  private readonly concepts = new Map<string, Promise<readonly AllowedRelation[]>>();
  private graph: Promise<ConceptGraph> | undefined;

  constructor(
    private readonly home: Home,
    private readonly progress: Progress = silentProgress,
  ) {}

  async prepare(request: CellRequest): Promise<PreparedCell> {
    const { task, dataset, protocol, agent, schema = 'native' } = request;
    refuseNativePerturbation(schema, request.perturb ?? []);
    // Before anything is built: a mistyped name is told at once.
    const queryText =
      request.queryFile === undefined
        ? undefined
        : await readContentFile(request.queryFile, 'FILE_UNREADABLE', 'the query');
    const given = schema === 'native' ? await this.native(request) : await this.presented(request, schema);
    const { context, reference, relations, emptySchemas, presentation, verification, codes } = given;
    const taskDatabase = await buildTaskDatabase(relations, {
      farmRoot: farmRoot(),
      folder: this.home.taskDatabases,
      emptySchemas,
    });
    const cell: Cell = {
      task: task.name,
      condition: request.condition,
      schema,
      ...(presentation === undefined ? {} : { presentation }),
      protocol: protocol.name,
      dataset: dataset.name,
      datasetHash: dataset.contentHash,
      agent: agent.name,
      cliVersion: request.cliVersion,
      rootfsDigest: request.rootfsDigest,
      ...(request.auth === undefined ? {} : { auth: request.auth }),
      model: request.model ?? null,
      effort: request.effort,
      hashes: {
        instruction: sha256(context.instruction),
        context: context.hash,
        reference: reference.manifest.contentHash,
        taskDatabase: taskDatabase.hash,
        query: queryText === undefined ? null : sha256(queryText),
      },
    };
    return {
      cell,
      request,
      context,
      reference,
      relations,
      emptySchemas,
      taskDatabase,
      queryText,
      ...(verification === undefined ? {} : { verification }),
      ...(codes === undefined ? {} : { codes }),
    };
  }

  private async native(request: CellRequest): Promise<GivenToCell> {
    const { task, dataset, protocol } = request;
    const context = contextPackage({ ...contextRequestOf(request), schema: 'native' });
    return {
      context,
      reference: await this.referenceOf(dataset, task),
      relations: await this.relationsFor(task, protocol, dataset),
      emptySchemas: schemasOf(dataset),
    };
  }

  private async presented(request: CellRequest, schema: TransformedSchema): Promise<GivenToCell> {
    const { task, dataset, protocol, perturb } = request;
    const seed = request.schemaSeed ?? defaultSchemaSeed;
    const presented = await presentedRelations({
      home: this.home,
      dataset,
      relations: await this.relationsFor(task, protocol, dataset),
      schema,
      seed,
      protocol,
      ...(perturb === undefined ? {} : { perturb }),
      progress: this.progress,
    });
    const { lake, relations, schemas: emptySchemas, dictionaryHash } = presented;
    const asked = contextRequestOf(request);
    const names = await presentedNames({ task, protocol, schema, seed, lake, condition: asked.condition });
    const context = contextPackage({ ...asked, schema, presented: names });
    const native = await this.referenceOf(dataset, task);
    const { key, manifest } = native;
    return {
      context,
      reference: await presentedReference(lake, native),
      relations,
      emptySchemas,
      presentation: { seed: lake.presentation.seed, perturb: [...lake.presentation.perturb], dictionaryHash },
      verification: await presented.verification({ key, contentHash: manifest.contentHash }),
      codes: { tables: names.dictionary.tables, referenceSql: names.referenceSql },
    };
  }

  /** Relations that the task leaves in its database, with their files. */
  async relationsFor(task: Task, protocol: Protocol, dataset: Dataset): Promise<readonly AllowedRelation[]> {
    const base = dataset.tables.map(
      ({ schema, table, contentHash }): AllowedRelation => ({
        schema,
        table,
        contentHash,
        path: parquetPath(dataset, schema, table),
      }),
    );
    const graph: ConceptGraph = dataset.kind === 'mimic-iv' ? await this.conceptGraph() : new Map();
    const removed = new Set(removedRelations(task, protocol, graph));
    const left = [...graph.keys()].filter((table) => !removed.has(`${derivedSchema}.${table}`));
    const kept = base.filter(({ schema, table }) => !removed.has(`${schema}.${table}`));
    if (left.length === 0) return kept;
    const derived = await this.conceptsOf(dataset);
    return [...kept, ...derived.filter(({ table }) => left.includes(table))];
  }

  private conceptGraph(): Promise<ConceptGraph> {
    this.graph ??= readGraph();
    return this.graph;
  }

  private referenceOf(dataset: Dataset, task: Task): Promise<Reference> {
    const id = `${dataset.name} ${task.referenceFile}`;
    const known =
      this.references.get(id) ??
      referenceQueryOf(task)
        .then((query) => buildReferences(this.home, dataset, { queries: [query], progress: this.progress }))
        .then(([reference]) => reference!);
    this.references.set(id, known);
    return known;
  }

  private conceptsOf(dataset: Dataset): Promise<readonly AllowedRelation[]> {
    const known =
      this.concepts.get(dataset.name) ??
      buildConcepts(dataset, { progress: this.progress }).then((built) =>
        built.map(({ table, manifest }) => ({
          schema: derivedSchema,
          table,
          contentHash: manifest.contentHash,
          path: parquetPath(dataset, derivedSchema, table),
        })),
      );
    this.concepts.set(dataset.name, known);
    return known;
  }
}

async function readGraph(): Promise<ConceptGraph> {
  await using session = await DuckSession.open();
  return await conceptGraph(session, await loadConcepts());
}
