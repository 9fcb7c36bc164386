import { join } from 'node:path';
import { z } from 'zod';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { type NativeCatalog, type NativeRelation, qualifiedName } from './catalog.js';
import type { ValueCodec } from './value-codec.js';
import { mapTable, type ValueMap, type ValueMapRequest, valueMap } from './value-map.js';

const mapName = 'labels';

/** Columns whose wording is changed: what items are called, and the classes they are put in. */
const wordedColumns: Readonly<Record<string, readonly string[]>> = {
  'mimiciv_icu.d_items': ['label', 'abbreviation', 'category'],
  'mimiciv_hosp.d_labitems': ['label', 'category'],
};

/** Items that are drugs or parts of drugs: their names are medical knowledge and stay. */
const drugItems = {
  table: 'mimiciv_icu.d_items',
  condition: "coalesce(linksto in ('inputevents', 'ingredientevents'), false)",
};

const wordsFile = z.strictObject({
  /** Lower-case word to the word that stands for it. */
  words: z.record(z.string().regex(/^[a-z0-9]+$/), z.string().regex(/^[A-Za-z][A-Za-z0-9 -]*$/)),
});

/** Reads `benchmark/schemas/label-words.toml`. */
export async function loadLabelWords(
  file: string = join(benchmarkFolder(), 'schemas', 'label-words.toml'),
): Promise<ReadonlyMap<string, string>> {
  const { words } = await readTomlFile(file, wordsFile, 'LABEL_WORDS_INVALID', 'list of label words');
  return new Map(Object.entries(words));
}

function columnsOf(relation: NativeRelation): readonly string[] {
  return wordedColumns[qualifiedName(relation)] ?? [];
}

/**
 * How every label, abbreviation and category is worded: word by word through the list, names of drugs as they are. Two
 * texts that would become one keep their own wording, so that the map is one to one.
 */
export async function labelMap(
  request: Pick<ValueMapRequest, 'session' | 'dataset' | 'catalog' | 'folder'>,
  words: ReadonlyMap<string, string>,
): Promise<ValueMap> {
  const tables = Object.keys(wordedColumns).filter((name) =>
    request.dataset.tables.some((entry) => `${entry.schema}.${entry.table}` === name),
  );
  const pairs = [...words].map(([from, to]) => `(${literal(from)}, ${literal(to)})`).join(', ');
  const map = await valueMap({
    ...request,
    name: mapName,
    reads: tables,
    sortedBy: ['native'],
    query: (source) => {
      const texts = tables.flatMap((table) =>
        wordedColumns[table]!.map((column) => {
          const isDrug = table === drugItems.table && column !== 'category' ? drugItems.condition : 'false';
          return `select ${identifier(column)} as native, ${isDrug} as is_drug from ${source(table)} where ${identifier(column)} is not null`;
        }),
      );
      return `with words (word, other) as (values ${pairs}),
        texts as (select native, bool_or(is_drug) as is_drug from (${texts.join(' union all ')}) group by native),
        pieces as (
          select native, is_drug, unnest(regexp_extract_all(native, '[A-Za-z0-9]+|[^A-Za-z0-9]+')) as piece,
            generate_subscripts(regexp_extract_all(native, '[A-Za-z0-9]+|[^A-Za-z0-9]+'), 1) as place
          from texts),
        reworded as (
          select native, string_agg(
            case when words.other is null then piece
              when piece[1] = upper(piece[1]) then upper(words.other[1]) || words.other[2:] else words.other end,
            '' order by place) as other
          from pieces left join words on words.word = lower(pieces.piece) and not is_drug
          group by native),
        counted as (select native, other, count(*) over (partition by other) as sharers from reworded)
        select native,
          case when sharers > 1 or (other <> native and other in (select native from texts)) then native else other end as presented
        from counted`;
    },
  });
  await refuseAmbiguity(request.session, map);
  return map;
}

async function refuseAmbiguity(session: DuckSession, map: ValueMap): Promise<void> {
  const rows = await session.rows(
    `select string_agg(native, ' and ' order by native) as texts from read_parquet(${literal(map.path)})
     group by presented having count(*) > 1 limit 1`,
  );
  const [first] = rows;
  if (first === undefined) return;
  throw new M4BenchError(
    'LABELS_NOT_ONE_TO_ONE',
    `The list of label words gives one wording to ${String(first.texts)}.`,
    'Change a word in benchmark/schemas/label-words.toml.',
    { party: 'internal' },
  );
}

/** Changes the wording in the catalogues of items. */
export function labelCodec(map: ValueMap): ValueCodec {
  const replace = (relation: NativeRelation, query: string, from: string, to: string): string =>
    columnsOf(relation).reduce((inner, column) => {
      const name = identifier(column);
      return `select changed.* replace (coalesce(label_map.${to}, changed.${name}) as ${name})
        from (${inner}) changed left join ${mapTable(mapName)} label_map on label_map.${from} = changed.${name}`;
    }, query);
  return {
    name: 'labels',
    keepsOrder: false,
    isWording: true,
    inputs: { 'map labels': map.manifest.contentHash },
    appliesTo: (relation) => !relation.isDerived && columnsOf(relation).length > 0,
    encode: (relation, query) => replace(relation, query, 'native', 'presented'),
    decode: (relation, query) => replace(relation, query, 'presented', 'native'),
  };
}

/** The map as words, by `schema.table.column`, for queries; one map object serves all columns. */
export async function labelWordings(
  session: DuckSession,
  catalog: NativeCatalog,
  map: ValueMap,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const rows = await session.rows(`select native, presented from read_parquet(${literal(map.path)})`);
  const words = new Map(rows.map((row) => [String(row.native), String(row.presented)]));
  const wordings = new Map<string, ReadonlyMap<string, string>>();
  for (const [table, columns] of Object.entries(wordedColumns)) {
    if (!catalog.has(table)) continue;
    for (const column of columns) wordings.set(`${table}.${column}`, words);
  }
  return wordings;
}
