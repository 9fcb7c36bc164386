import type { ParquetColumn } from '../duck/parquet.js';
import { identifier, literal } from '../duck/sql.js';
import { entryOf, type NativeCatalog, type NativeRelation } from './catalog.js';
import { codedColumn, codedDiscriminator, codedTable, type SchemaDictionary } from './dictionary.js';
import {
  type JoinMerge,
  type Merge,
  mergedColumns,
  mergeOf,
  mergesOf,
  originalsOf,
  type UnionMerge,
} from './merges.js';
import { decodeAll, encodeAll, type ValueCodec } from './value-codec.js';

/** One table of a transformed lake: what it is made from and how. */
export interface PresentedTable {
  /** Native name, or the name of the merge (`mimiciv_icu.observations`). */
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  /** Coded columns in stored order. */
  readonly columns: readonly ParquetColumn[];
  /** Native relations it is made from, by `schema.table`. */
  readonly reads: readonly string[];
  /** The query over native relations; `source` gives the SQL of a native relation as a FROM item. */
  query(source: (relation: string) => string): string;
  /** Whether rows stay in the order in which they are read; else they are sorted by `orderBy`, then all columns. */
  readonly keepsOrder: boolean;
  readonly orderBy: readonly string[];
}

/** The presented table that holds the rows of a native relation. */
export function presentedTableOf(
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
  codecs: readonly ValueCodec[],
  relation: string,
): PresentedTable {
  const merge = mergeOf(dictionary, relation);
  if (merge !== undefined) return mergedTable(catalog, dictionary, codecs, merge);
  const entry = entryOf(catalog, relation);
  const coded = codedTable(dictionary, relation);
  const columns = inStoredOrder(
    dictionary,
    coded,
    entry.columns.map(({ name, type }) => ({ native: name, code: codedColumn(dictionary, name), type })),
  );
  return {
    name: relation,
    ...coded,
    columns: columns.map(({ code, type }) => ({ name: code, type })),
    reads: [relation],
    keepsOrder: keepsOrder(codecs, [entry]),
    orderBy: entry.sortedBy.map((name) => codedColumn(dictionary, name)),
    query: (source) =>
      `select ${columns.map(({ native, code }) => `${identifier(native)} as ${identifier(code)}`).join(', ')} from (${encoded(codecs, entry, source)})`,
  };
}

/** All presented tables of a set of native relations, each once. */
export function presentedTables(
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
  codecs: readonly ValueCodec[],
  relations: readonly string[],
): readonly PresentedTable[] {
  const tables = new Map<string, PresentedTable>();
  for (const relation of [...relations].sort()) {
    const table = presentedTableOf(catalog, dictionary, codecs, relation);
    tables.set(table.name, table);
  }
  return [...tables.values()];
}

interface PlannedColumn {
  readonly native: string;
  readonly code: string;
  readonly type: string;
}

function inStoredOrder<Column extends PlannedColumn>(
  dictionary: SchemaDictionary,
  coded: { readonly schema: string; readonly table: string },
  columns: readonly Column[],
): readonly Column[] {
  const order = dictionary.columnOrder[`${coded.schema}.${coded.table}`] ?? [];
  return order.map((code) => {
    const column = columns.find((candidate) => candidate.code === code);
    if (column === undefined) throw new RangeError(`Column ${code} of ${coded.table} is not planned.`);
    return column;
  });
}

function encoded(
  codecs: readonly ValueCodec[],
  entry: NativeRelation,
  source: (relation: string) => string,
): string {
  const names = entry.columns.map(({ name }) => identifier(name)).join(', ');
  return encodeAll(codecs, entry, `select ${names} from ${source(`${entry.schema}.${entry.table}`)}`);
}

function keepsOrder(codecs: readonly ValueCodec[], entries: readonly NativeRelation[]): boolean {
  return codecs.every((codec) => codec.keepsOrder || !entries.some((entry) => codec.appliesTo(entry)));
}

function mergedTable(
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
  codecs: readonly ValueCodec[],
  merge: Merge,
): PresentedTable {
  const coded = codedTable(dictionary, merge.name);
  const columns = inStoredOrder(
    dictionary,
    coded,
    mergedColumns(merge, catalog).map(({ name, type, isDiscriminator }) => ({
      native: name,
      code: isDiscriminator ? codedDiscriminator(dictionary, name) : codedColumn(dictionary, name),
      type,
      isDiscriminator,
    })),
  );
  const entries = originalsOf(merge).map((name) => entryOf(catalog, name));
  const keys =
    merge.kind === 'join' ? ['subject_id', 'hadm_id', 'stay_id'] : ['itemid', 'stay_id', 'subject_id'];
  return {
    name: merge.name,
    ...coded,
    columns: columns.map(({ code, type }) => ({ name: code, type })),
    reads: originalsOf(merge),
    keepsOrder: merge.kind === 'union' && keepsOrder(codecs, entries),
    orderBy: keys
      .filter((name) => columns.some(({ native }) => native === name))
      .map((name) => codedColumn(dictionary, name)),
    query: (source) => {
      const of = (name: string): string => encoded(codecs, entryOf(catalog, name), source);
      return merge.kind === 'union'
        ? unionQuery(merge, catalog, columns, of)
        : joinQuery(merge, dictionary, catalog, columns, of);
    },
  };
}

function unionQuery(
  merge: UnionMerge,
  catalog: NativeCatalog,
  columns: readonly (PlannedColumn & { readonly isDiscriminator: boolean })[],
  of: (name: string) => string,
): string {
  const halves = merge.parts.map(({ original, value }) => {
    const own = new Set(entryOf(catalog, original).columns.map(({ name }) => name));
    const items = columns.map(({ native, code, type, isDiscriminator }) => {
      if (isDiscriminator) return `cast(${literal(value)} as ${type}) as ${identifier(code)}`;
      return own.has(native)
        ? `${identifier(native)} as ${identifier(code)}`
        : `cast(null as ${type}) as ${identifier(code)}`;
    });
    return `select ${items.join(', ')} from (${of(original)})`;
  });
  return halves.join(' union all ');
}

/**
 * One row per ICU stay, or per admission without a stay, or (lossless) per patient without an admission. The
 * published form joins patients to admissions with an inner join and so loses patients without one.
 */
function joinQuery(
  merge: JoinMerge,
  dictionary: SchemaDictionary,
  catalog: NativeCatalog,
  columns: readonly PlannedColumn[],
  of: (name: string) => string,
): string {
  const homeOf = (native: string): string => {
    for (const [alias, table] of [
      ['patient', merge.patients],
      ['admission', merge.admissions],
      ['stay', merge.stays],
    ] as const) {
      if (entryOf(catalog, table).columns.some(({ name }) => name === native)) return alias;
    }
    throw new RangeError(`No table of ${merge.name} has a column ${native}.`);
  };
  const items = columns.map(
    ({ native, code }) => `${homeOf(native)}.${identifier(native)} as ${identifier(code)}`,
  );
  const toAdmissions = dictionary.merges === 'lossless' ? 'left join' : 'join';
  return `select ${items.join(', ')}
    from (${of(merge.patients)}) patient
    ${toAdmissions} (${of(merge.admissions)}) admission on admission.subject_id = patient.subject_id
    left join (${of(merge.stays)}) stay on stay.hadm_id = admission.hadm_id`;
}

/**
 * SQL that yields an original from the presented tables, still in coded names, columns in native order: the table
 * itself, half of a union, or the distinct rows of its columns in `encounters`. `presented` gives the FROM item of a
 * presented table by its name.
 */
export function originalInCodes(
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
  relation: string,
  presented: (name: string) => string,
): string {
  const entry = entryOf(catalog, relation);
  const columns = entry.columns.map(({ name }) => identifier(codedColumn(dictionary, name))).join(', ');
  const merge = mergeOf(dictionary, relation);
  if (merge === undefined) return `select ${columns} from ${presented(relation)}`;
  if (merge.kind === 'union') {
    const { value } = merge.parts.find(({ original }) => original === relation)!;
    const discriminator = identifier(codedDiscriminator(dictionary, merge.discriminator));
    return `select ${columns} from ${presented(merge.name)} where ${discriminator} = ${literal(value)}`;
  }
  const present = (name: string): string => `${identifier(codedColumn(dictionary, name))} is not null`;
  if (relation === merge.stays)
    return `select ${columns} from ${presented(merge.name)} where ${present('stay_id')}`;
  const filter = relation === merge.admissions ? ` where ${present('hadm_id')}` : '';
  return `select distinct ${columns} from ${presented(merge.name)}${filter}`;
}

/** SQL that yields an original with native names, order and values: the inverse of the whole presentation. */
export function originalInNativeNames(
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
  codecs: readonly ValueCodec[],
  relation: string,
  presented: (name: string) => string,
): string {
  const entry = entryOf(catalog, relation);
  const items = entry.columns.map(
    ({ name }) => `${identifier(codedColumn(dictionary, name))} as ${identifier(name)}`,
  );
  const inCodes = originalInCodes(catalog, dictionary, relation, presented);
  return decodeAll(codecs, entry, `select ${items.join(', ')} from (${inCodes})`);
}

/** Names of the presented tables of a whole lake: everything unmerged, and the merges. */
export function presentedNames(catalog: NativeCatalog, dictionary: SchemaDictionary): readonly string[] {
  const swallowed = new Set(mergesOf(dictionary).flatMap(originalsOf));
  return [
    ...[...catalog.keys()].filter((name) => !swallowed.has(name)),
    ...mergesOf(dictionary).map((merge) => merge.name),
  ].sort();
}
