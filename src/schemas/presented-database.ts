import type { Dataset } from '../datasets/dataset.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { type NativeCatalog, qualifiedName } from './catalog.js';
import { dictionaryHash, type SchemaDictionary } from './dictionary.js';
import { buildLake, type SchemaLake } from './lake.js';
import { mergesOf, originalsOf } from './merges.js';
import { type PresentationOptions, presentationOf } from './presentation.js';
import type { AllowedRelation } from './task-database.js';
import { type SchemaVerification, verificationOf } from './verification.js';

export interface PresentationRequest extends PresentationOptions {
  readonly home: Home;
  readonly dataset: Dataset;
  /** Native relations that the task leaves in its database. */
  readonly relations: readonly Pick<AllowedRelation, 'schema' | 'table'>[];
  /** From `nativeCatalog` of this dataset, for callers that present many tasks; read again when absent. */
  readonly catalog?: NativeCatalog;
  readonly progress?: Progress;
}

/** Relations that a task database must not hold under any name. */
export interface RemovedRelations {
  /** `schema.table` as in the native database. */
  readonly native: readonly string[];
  /** The same relations as `code.code`. */
  readonly coded: readonly string[];
}

/** What a task presents in a transformed schema. */
export interface PresentedDatabase {
  /** For `buildTaskDatabase`. */
  readonly relations: readonly AllowedRelation[];
  /** Codes of all schemas: they exist even when nothing is left in them. */
  readonly schemas: readonly string[];
  readonly dictionary: SchemaDictionary;
  readonly dictionaryHash: string;
  /** Checked: none of them is among `relations`. */
  readonly removed: RemovedRelations;
  readonly lake: SchemaLake;
  /** Whether the stored proof covers exactly this; see `verificationOf`. */
  verification(reference?: {
    readonly key: string;
    readonly contentHash: string;
  }): Promise<SchemaVerification>;
}

/**
 * The relations of a task as a transformed schema presents them, written or found on disk. What the task removes is
 * not among them under its code either, and a table that a merge swallowed is there only inside the merged one.
 */
export async function presentedRelations(request: PresentationRequest): Promise<PresentedDatabase> {
  const presentation = presentationOf(request);
  const wanted = request.relations.map(qualifiedName);
  refuseHalfMerges(presentation, wanted);
  const lake = await buildLake({
    home: request.home,
    dataset: request.dataset,
    presentation,
    relations: wanted,
    progress: request.progress ?? silentProgress,
    ...(request.catalog === undefined ? {} : { catalog: request.catalog }),
  });
  const relations = lake.tables.map(
    ({ plan, path, manifest }): AllowedRelation => ({
      schema: plan.schema,
      table: plan.table,
      path,
      contentHash: manifest.contentHash,
    }),
  );
  const removed = removedFrom(lake, wanted, relations);
  return {
    relations,
    schemas: Object.values(lake.dictionary.schemas).sort(),
    dictionary: lake.dictionary,
    dictionaryHash: dictionaryHash(lake.dictionary),
    removed,
    lake,
    verification: (reference) => verificationOf(lake, reference),
  };
}

/** A merged table holds all of its originals: one of them cannot be removed alone. */
function refuseHalfMerges(
  presentation: { readonly schema: 'obfuscated' | 'restructured' },
  wanted: readonly string[],
): void {
  for (const merge of mergesOf(presentation)) {
    const originals = originalsOf(merge);
    const missing = originals.filter((name) => !wanted.includes(name));
    if (missing.length === 0 || missing.length === originals.length) continue;
    throw new M4BenchError(
      'SCHEMA_MERGE_REMOVED',
      `The task leaves out ${missing.join(', ')}, which the restructured schema merges into ${merge.name} with tables that stay.`,
      'Run this task in schema native or obfuscated.',
    );
  }
}

function removedFrom(
  lake: SchemaLake,
  wanted: readonly string[],
  relations: readonly AllowedRelation[],
): RemovedRelations {
  const native = [...lake.catalog.keys()].filter((name) => !wanted.includes(name));
  const coded = native.map((name) => lake.dictionary.tables[name]!);
  const presented = new Set(relations.map(qualifiedName));
  const left = [...native, ...coded].find((name) => presented.has(name));
  if (left === undefined) return { native, coded };
  throw new M4BenchError(
    'REMOVAL_BROKEN',
    `${left} is removed by the task but stands in its transformed database.`,
    'This is a fault of m4bench; report it.',
    { party: 'internal' },
  );
}
