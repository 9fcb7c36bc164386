import { buildConcepts } from '../concepts/build.js';
import { derivedSchema } from '../concepts/concept.js';
import { type Comparison, compareRelations } from '../datasets/comparison.js';
import { loadComparisonMeasures } from '../datasets/comparison-measures.js';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import type { ParquetRelation } from '../duck/views.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { buildReferences } from './build.js';

/** Schema under which the measures of a comparison find the reference tables, `-` in their keys as `_`. */
const referenceSchema = 'reference';

export interface CompareOptions {
  readonly progress?: Progress;
  readonly memoryBytes?: number;
  readonly threads?: number;
  /** Measures and bounds, default `benchmark/comparisons/<kind>.toml`. */
  readonly measuresFile?: string;
}

/**
 * Compares two datasets of one kind in the measures of their kind: rows, items, levels, missingness, scores. Derived
 * tables and references that are not there yet are built. Published figures are held against the first dataset.
 */
export async function compareDatasets(
  home: Home,
  first: Dataset,
  second: Dataset,
  options: CompareOptions = {},
): Promise<Comparison> {
  if (first.kind !== second.kind) {
    throw new M4BenchError(
      'DATASET_KIND_WRONG',
      `${first.name} is a ${first.kind} database and ${second.name} a ${second.kind} database.`,
      'Compare two datasets of the same kind.',
    );
  }
  const measures = await loadComparisonMeasures(first.kind, options.measuresFile);
  const progress = options.progress ?? silentProgress;
  const sides: (readonly ParquetRelation[])[] = [];
  for (const dataset of [first, second])
    sides.push(await relationsOf(home, dataset, { ...options, progress }));
  progress.update(`comparing ${first.name} with ${second.name}`);
  return await compareRelations(measures, sides[0]!, sides[1]!, { ...options, spillFolder: home.datasets });
}

async function relationsOf(
  home: Home,
  dataset: Dataset,
  options: CompareOptions,
): Promise<readonly ParquetRelation[]> {
  const concepts = dataset.kind === 'mimic-iv' ? await buildConcepts(dataset, options) : [];
  const references = await buildReferences(home, dataset, options);
  return [
    ...dataset.tables.map(({ schema, table }) => ({
      schema,
      table,
      path: parquetPath(dataset, schema, table),
    })),
    ...concepts.map(({ table }) => ({
      schema: derivedSchema,
      table,
      path: parquetPath(dataset, derivedSchema, table),
    })),
    ...references.map(({ key, parquetPath: path }) => ({
      schema: referenceSchema,
      table: key.replaceAll('-', '_'),
      path,
    })),
  ];
}
