import type { ParquetColumn } from '../duck/parquet.js';
import { M4BenchError } from '../support/errors.js';
import { entryOf, type NativeCatalog, qualifiedName } from './catalog.js';
import type { Presentation } from './presentation.js';

/** A column of a merged table, by native name, or its discriminator. */
export interface MergedColumn extends ParquetColumn {
  readonly isDiscriminator: boolean;
}

/** Two tables with a common meaning, one under the other. */
export interface UnionMerge {
  readonly kind: 'union';
  /** `schema.table` of the new table. */
  readonly name: string;
  readonly discriminator: string;
  /** Originals in order, each with the value of the discriminator. */
  readonly parts: readonly { readonly original: string; readonly value: string }[];
}

/** Patients, their admissions and the ICU stays of these, side by side. */
export interface JoinMerge {
  readonly kind: 'join';
  readonly name: string;
  readonly patients: string;
  readonly admissions: string;
  readonly stays: string;
}

export type Merge = UnionMerge | JoinMerge;

/** The four merges of the restructured schema; nine base tables disappear in them. */
export const merges: readonly Merge[] = [
  {
    kind: 'union',
    name: 'mimiciv_icu.observations',
    discriminator: 'source',
    parts: [
      { original: 'mimiciv_icu.chartevents', value: 'chart' },
      { original: 'mimiciv_hosp.labevents', value: 'lab' },
    ],
  },
  {
    kind: 'join',
    name: 'mimiciv_hosp.encounters',
    patients: 'mimiciv_hosp.patients',
    admissions: 'mimiciv_hosp.admissions',
    stays: 'mimiciv_icu.icustays',
  },
  {
    kind: 'union',
    name: 'mimiciv_icu.flows',
    discriminator: 'direction',
    parts: [
      { original: 'mimiciv_icu.inputevents', value: 'in' },
      { original: 'mimiciv_icu.outputevents', value: 'out' },
    ],
  },
  {
    kind: 'union',
    name: 'mimiciv_icu.item_reference',
    discriminator: 'item_type',
    parts: [
      { original: 'mimiciv_icu.d_items', value: 'chart' },
      { original: 'mimiciv_hosp.d_labitems', value: 'lab' },
    ],
  },
];

/** The merges that a presentation applies. */
export function mergesOf(presentation: Pick<Presentation, 'schema'>): readonly Merge[] {
  return presentation.schema === 'restructured' ? merges : [];
}

/** Tables that disappear in a merge, by `schema.table`. */
export function originalsOf(merge: Merge): readonly string[] {
  return merge.kind === 'union'
    ? merge.parts.map((part) => part.original)
    : [merge.patients, merge.admissions, merge.stays];
}

/** The merge that swallows a table, if any. */
export function mergeOf(presentation: Pick<Presentation, 'schema'>, original: string): Merge | undefined {
  return mergesOf(presentation).find((merge) => originalsOf(merge).includes(original));
}

/**
 * Columns of a merged table in the published order. A union: discriminator, what both have (in the order of the
 * second), what only the first has, what only the second has. The join: all of patients, the rest of admissions,
 * the rest of the stays.
 */
export function mergedColumns(merge: Merge, catalog: NativeCatalog): readonly MergedColumn[] {
  const plain = (column: ParquetColumn): MergedColumn => ({ ...column, isDiscriminator: false });
  if (merge.kind === 'join') {
    const patients = entryOf(catalog, merge.patients).columns;
    const admissions = entryOf(catalog, merge.admissions).columns.filter(({ name }) => name !== 'subject_id');
    const stays = entryOf(catalog, merge.stays).columns.filter(
      ({ name }) => name !== 'subject_id' && name !== 'hadm_id',
    );
    const columns = [...patients, ...admissions, ...stays].map(plain);
    refuseRepeats(merge.name, columns);
    return columns;
  }
  const [first, second] = merge.parts.map((part) => entryOf(catalog, part.original));
  if (first === undefined || second === undefined)
    throw new RangeError(`${merge.name} has fewer than two parts.`);
  const has = (columns: readonly ParquetColumn[], name: string): boolean =>
    columns.some((column) => column.name === name);
  for (const column of second.columns) {
    const twin = first.columns.find(({ name }) => name === column.name);
    if (twin !== undefined && twin.type !== column.type) {
      throw new M4BenchError(
        'MERGE_IMPOSSIBLE',
        `${qualifiedName(first)} has ${twin.name} as ${twin.type}, ${qualifiedName(second)} as ${column.type}; they cannot stand in one column.`,
        'Use schema obfuscated, or import the dataset with the types of the release.',
      );
    }
  }
  const columns = [
    ...second.columns.filter(({ name }) => has(first.columns, name)),
    ...first.columns.filter(({ name }) => !has(second.columns, name)),
    ...second.columns.filter(({ name }) => !has(first.columns, name)),
  ].map(plain);
  return [{ name: merge.discriminator, type: 'VARCHAR', isDiscriminator: true }, ...columns];
}

function refuseRepeats(table: string, columns: readonly MergedColumn[]): void {
  const repeated = columns.find(
    ({ name }, index) => columns.findIndex((other) => other.name === name) !== index,
  );
  if (repeated === undefined) return;
  throw new M4BenchError(
    'MERGE_IMPOSSIBLE',
    `Two originals of ${table} have a column ${repeated.name}; one of them would be lost.`,
    'Use schema obfuscated for this dataset.',
  );
}
