import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { type NativeCatalog, type NativeRelation, qualifiedName } from './catalog.js';
import type { ValueCodec } from './value-codec.js';
import { mapTable, type ValueMap, type ValueMapRequest, valueMap } from './value-map.js';

/** Columns that hold an item id, wherever they occur in a base table. */
const itemIdColumns = ['itemid', 'spec_itemid', 'test_itemid', 'org_itemid', 'ab_itemid'];

const mapName = 'items';

function columnsOf(relation: NativeRelation): readonly string[] {
  return relation.columns.map(({ name }) => name).filter((name) => itemIdColumns.includes(name));
}

/**
 * Which item id stands for which: all ids in a seeded order, each replaced by the next one round the circle, so that
 * the map is one to one, no id stays and every remembered id points at something else.
 */
export async function itemIdMap(
  request: Pick<ValueMapRequest, 'session' | 'dataset' | 'catalog' | 'folder'>,
  seed: string,
): Promise<ValueMap> {
  const holders = [...request.catalog.values()].filter(
    (entry) => !entry.isDerived && columnsOf(entry).length > 0 && isPresent(request, entry),
  );
  return valueMap({
    ...request,
    name: mapName,
    reads: holders.map(qualifiedName),
    sortedBy: ['native'],
    query: (source) => {
      const ids = holders.flatMap((entry) =>
        columnsOf(entry).map(
          (column) =>
            `select distinct ${identifier(column)} as native from ${source(qualifiedName(entry))} where ${identifier(column)} is not null`,
        ),
      );
      return `with ids as (${ids.join(' union ')}),
        drawn as (select native, row_number() over (order by md5(${literal(`items:${seed}:`)} || native), native) as place from ids)
        select drawn.native, coalesce(after.native, (select native from drawn where place = 1)) as presented
        from drawn left join drawn as after on after.place = drawn.place + 1`;
    },
  });
}

function isPresent(request: Pick<ValueMapRequest, 'dataset'>, entry: NativeRelation): boolean {
  return request.dataset.tables.some(({ schema, table }) => schema === entry.schema && table === entry.table);
}

/** Changes item ids in every table that has one; an id that the map does not know stays. */
export function itemIdCodec(map: ValueMap): ValueCodec {
  const replace = (relation: NativeRelation, query: string, from: string, to: string): string =>
    columnsOf(relation).reduce((inner, column) => {
      const name = identifier(column);
      return `select changed.* replace (coalesce(item_map.${to}, changed.${name}) as ${name})
        from (${inner}) changed left join ${mapTable(mapName)} item_map on item_map.${from} = changed.${name}`;
    }, query);
  return {
    name: 'items',
    keepsOrder: false,
    isWording: false,
    inputs: { 'map items': map.manifest.contentHash },
    appliesTo: (relation) => !relation.isDerived && columnsOf(relation).length > 0,
    encode: (relation, query) => replace(relation, query, 'native', 'presented'),
    decode: (relation, query) => replace(relation, query, 'presented', 'native'),
  };
}

/** The map as numbers, for queries and skills; some thousand entries. */
export async function itemNumbers(session: DuckSession, map: ValueMap): Promise<ReadonlyMap<number, number>> {
  const rows = await session.rows(`select native, presented from read_parquet(${literal(map.path)})`);
  return new Map(rows.map((row) => [Number(row.native), Number(row.presented)]));
}

/** Item ids that are written like an ICD code of this dataset: a text that holds one cannot be carried safely. */
export async function ambiguousNumbers(
  session: DuckSession,
  catalog: NativeCatalog,
  map: ValueMap,
  source: (name: string) => string,
): Promise<ReadonlySet<number>> {
  const lists = ['mimiciv_hosp.d_icd_diagnoses', 'mimiciv_hosp.d_icd_procedures'].filter((name) =>
    catalog.has(name),
  );
  if (lists.length === 0) return new Set();
  const codes = lists.map((name) => `select icd_code from ${source(name)}`).join(' union ');
  const rows = await session.rows(
    `select native from read_parquet(${literal(map.path)}) where cast(native as varchar) in (${codes})`,
  );
  return new Set(rows.map((row) => Number(row.native)));
}
