import { M4BenchError } from '../support/errors.js';
import type { NativeCatalog } from './catalog.js';
import type { SchemaDescriptions } from './descriptions.js';
import type { SchemaDictionary } from './dictionary.js';
import { type Merge, mergeOf, mergesOf } from './merges.js';
import { schemaWordColumns } from './schema-words.js';

/** A presented relation, named as the agent sees it. */
export interface CodedRelation {
  readonly schema: string;
  readonly table: string;
}

export interface DictionarySectionRequest {
  readonly dictionary: SchemaDictionary;
  readonly descriptions: SchemaDescriptions;
  readonly protocol: { readonly schemaDictionary: 'published' | 'complete' };
  /** What the task database holds: nothing else is described by a complete dictionary. */
  readonly relations: readonly CodedRelation[];
}

interface Row {
  readonly meaning: string;
  readonly name: string;
}

/**
 * The Markdown section that tells an agent what the codes stand for: from a description to a code, never from a
 * native name, so that nothing can be swapped mechanically. Pure.
 *
 * `published` lists the 14 tables and 47 columns of the published dictionary, whatever the task holds. `complete`
 * describes every table and column of the task database and nothing that is not in it, in the order of the codes.
 */
export function dictionarySection(request: DictionarySectionRequest): string {
  return request.protocol.schemaDictionary === 'published'
    ? publishedSection(request)
    : completeSection(request);
}

/**
 * The same descriptions for the native schema, so that the native condition can be told as much as the transformed
 * ones and the three differ in names and shapes only. Pure.
 */
export function nativeSection(
  catalog: NativeCatalog,
  descriptions: SchemaDescriptions,
  relations: readonly CodedRelation[],
): string {
  const entries = [...catalog.values()];
  const same = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, name]));
  const dictionary: SchemaDictionary = {
    schemaVersion: 1,
    id: 'native',
    schema: 'obfuscated',
    names: 'sorted',
    seed: 'sorted',
    merges: 'lossless',
    perturb: [],
    schemas: same(entries.map(({ schema }) => schema)),
    tables: same([...catalog.keys()]),
    columns: same(entries.flatMap(({ columns }) => columns.map(({ name }) => name))),
    mergedTables: {},
    mergedColumns: {},
    columnOrder: Object.fromEntries(
      entries.map(({ schema, table: name, columns }) => [
        `${schema}.${name}`,
        columns.map((column) => column.name),
      ]),
    ),
  };
  const section = completeSection({
    dictionary,
    descriptions,
    relations,
    protocol: { schemaDictionary: 'complete' },
  });
  return section.replace(
    opening,
    `## Schema dictionary\n\nThe tables below say what each name of this database stands for.`,
  );
}

function publishedSection({ dictionary, descriptions }: DictionarySectionRequest): string {
  const schemas = Object.entries(dictionary.schemas).map(([native, name]) => ({
    meaning: described(descriptions.schemas, native),
    name,
  }));
  const tables = descriptions.published.tables.map((native) => ({
    meaning: described(descriptions.tables, native),
    name: coded(dictionary.tables, native),
  }));
  const columns = descriptions.published.columns.map((native) => ({
    meaning: described(descriptions.columns, native),
    name: coded(dictionary.columns, native),
  }));
  const parts = [opening, '### Schemas', table('Schema', schemas), '### Key tables', table('Table', tables)];
  if (dictionary.schema === 'restructured') {
    parts.push(
      '### Merged tables',
      table(
        'Table',
        mergesOf(dictionary).map((merge) => mergedRow(merge, dictionary, descriptions)),
      ),
      'Some of the tables above do not exist on their own: their rows are in the merged tables. `DESCRIBE` and `SHOW ALL TABLES` list what there is.',
    );
  }
  parts.push('### Key columns', table('Column', columns));
  if (dictionary.schema === 'restructured') {
    parts.push(
      '### Columns that tell the parts of a merged table apart',
      table('Column', discriminators(dictionary, descriptions)),
    );
  }
  return `${parts.join('\n\n')}\n`;
}

function completeSection({ dictionary, descriptions, relations }: DictionarySectionRequest): string {
  const nativeTables = inverse(dictionary.tables);
  const nativeColumns = inverse(dictionary.columns);
  const merged = inverse(dictionary.mergedTables);
  const present = [...new Set(relations.map(({ schema, table: name }) => `${schema}.${name}`))].sort();
  const schemas = byName(
    Object.entries(dictionary.schemas).map(([native, name]) => ({
      meaning: described(descriptions.schemas, native),
      name,
    })),
  );
  const tables = present
    .filter((name) => !merged.has(name))
    .map((name) => ({ meaning: described(descriptions.tables, known(nativeTables, name)), name }));
  const mergedRows = mergesOf(dictionary)
    .filter((merge) => present.includes(coded(dictionary.mergedTables, merge.name)))
    .map((merge) => mergedRow(merge, dictionary, descriptions));
  const codes = [...new Set(present.flatMap((name) => dictionary.columnOrder[name] ?? []))];
  const columns = byName(
    codes
      .filter((code) => nativeColumns.has(code))
      .map((code) => ({ meaning: described(descriptions.columns, known(nativeColumns, code)), name: code })),
  );
  const parts = [opening, '### Schemas', table('Schema', schemas), '### Tables', table('Table', tables)];
  if (mergedRows.length > 0) {
    parts.push('### Merged tables', table('Table', byName(mergedRows)), emptyParts(dictionary));
  }
  parts.push(
    '### Columns',
    'A name means the same in every table that has it; `DESCRIBE` lists the columns of a table.',
    table('Column', columns),
  );
  if (mergedRows.length > 0) {
    const shown = discriminators(dictionary, descriptions).filter(({ name }) => codes.includes(name));
    parts.push('### Columns that tell the parts of a merged table apart', table('Column', byName(shown)));
  }
  const narrower = narrowerRows(dictionary, descriptions, present);
  if (narrower.length > 0) parts.push('### Narrower meanings', table('Column', narrower));
  return `${parts.join('\n\n')}\n`;
}

const opening = `## Schema dictionary

The names of this database are codes. The tables below say what each code stands for.`;

function emptyParts(dictionary: SchemaDictionary): string {
  const patients = dictionary.merges === 'lossless' ? ', and a patient without an admission one row' : '';
  return `An admission without an ICU stay has one row${patients}; the columns of the absent part are empty. Columns that belong to one part of a merged table only are empty in the other.`;
}

/** What a column means in one table, where that is narrower than in general. */
function narrowerRows(
  dictionary: SchemaDictionary,
  descriptions: SchemaDescriptions,
  present: readonly string[],
): readonly Row[] {
  const rows: Row[] = [];
  for (const [native, columns] of Object.entries(descriptions.tableColumns)) {
    const merge = mergeOf(dictionary, native);
    const place = merge === undefined ? dictionary.tables[native] : dictionary.mergedTables[merge.name];
    if (place === undefined || !present.includes(place)) continue;
    const part =
      merge?.kind === 'union' ? merge.parts.find(({ original }) => original === native) : undefined;
    const where = part === undefined ? '' : `, in rows marked '${part.value}'`;
    for (const [column, meaning] of Object.entries(columns)) {
      rows.push({ meaning: `${meaning}${where}`, name: `${place}.${coded(dictionary.columns, column)}` });
    }
  }
  if (dictionary.names === 'seeded') {
    for (const { relation, column } of schemaWordColumns) {
      const merge = mergeOf(dictionary, relation);
      const place = merge === undefined ? dictionary.tables[relation] : dictionary.mergedTables[merge.name];
      if (place === undefined || !present.includes(place)) continue;
      const colon =
        dictionary.schema === 'restructured'
          ? '; where tables were merged, a colon and the mark of the rows follow'
          : '';
      rows.push({
        meaning: `code of the table in which records of the item stand${colon}`,
        name: `${place}.${coded(dictionary.columns, column)}`,
      });
    }
  }
  return byName(rows);
}

function mergedRow(merge: Merge, dictionary: SchemaDictionary, descriptions: SchemaDescriptions): Row {
  const meaning = described(descriptions.mergedTables, merge.name);
  const name = coded(dictionary.mergedTables, merge.name);
  if (merge.kind === 'join') return { meaning, name };
  const column = coded(dictionary.mergedColumns, merge.discriminator);
  const values = merge.parts.map(
    ({ original, value }) => `'${value}' for ${described(descriptions.tables, original)}`,
  );
  return { meaning: `${meaning}; \`${column}\` is ${values.join(', ')}`, name };
}

function discriminators(dictionary: SchemaDictionary, descriptions: SchemaDescriptions): readonly Row[] {
  return Object.entries(dictionary.mergedColumns).map(([native, name]) => ({
    meaning: described(descriptions.mergedColumns, native),
    name,
  }));
}

function table(title: string, rows: readonly Row[]): string {
  const lines = rows.map(({ meaning, name }) => `| ${meaning} | \`${name}\` |`);
  return [`| What it holds | ${title} |`, '| --- | --- |', ...lines].join('\n');
}

/** By code: the order says nothing about the native names. */
function byName(rows: readonly Row[]): readonly Row[] {
  return [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function inverse(names: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names).map(([native, code]) => [code, native]));
}

function known(names: ReadonlyMap<string, string>, code: string): string {
  const native = names.get(code);
  if (native === undefined) throw new RangeError(`${code} is not a code of this dictionary.`);
  return native;
}

function coded(names: Readonly<Record<string, string>>, native: string): string {
  const code = names[native];
  if (code === undefined) throw new RangeError(`${native} has no code in this dictionary.`);
  return code;
}

function described(phrases: Readonly<Record<string, string>>, native: string): string {
  const phrase = phrases[native];
  if (phrase !== undefined) return phrase;
  throw new M4BenchError(
    'SCHEMA_DESCRIPTION_MISSING',
    `benchmark/schema-descriptions.toml says nothing about ${native}.`,
    'Add a short description of it, without native names.',
    { party: 'internal' },
  );
}
