import { beforeAll, describe, expect, test } from 'vitest';
import { type NativeCatalog, nativeCatalog } from './catalog.js';
import { loadSchemaDescriptions, type SchemaDescriptions } from './descriptions.js';
import { buildDictionary, codedTable, type SchemaDictionary } from './dictionary.js';
import { dictionarySection, nativeSection } from './dictionary-section.js';
import { presentationOf, type TransformedSchema, transformedSchemas } from './presentation.js';
import { presentedNames } from './presented-tables.js';

let catalog: NativeCatalog;
let descriptions: SchemaDescriptions;
beforeAll(async () => {
  catalog = await nativeCatalog({ kind: 'mimic-iv', name: 'mimic-iv', tables: [] });
  descriptions = await loadSchemaDescriptions();
});

const complete = { schemaNames: 'seeded', merges: 'lossless', schemaDictionary: 'complete' } as const;
const published = { schemaNames: 'sorted', merges: 'published', schemaDictionary: 'published' } as const;

function sectionOf(
  schema: TransformedSchema,
  protocol: typeof complete | typeof published,
  isKept: (name: string) => boolean = () => true,
): { text: string; rows: readonly string[]; dictionary: SchemaDictionary } {
  const dictionary = buildDictionary(catalog, presentationOf({ schema, protocol }));
  const relations = presentedNames(catalog, dictionary)
    .filter(isKept)
    .map((name) => codedTable(dictionary, name));
  const text = dictionarySection({ dictionary, descriptions, protocol, relations });
  return { text, dictionary, rows: [...text.matchAll(/\| `([^`]+)` \|$/gm)].map((match) => match[1]!) };
}

describe('the descriptions', () => {
  test('say something about every schema, table and column, and no two alike', () => {
    const names = new Set([...catalog.values()].flatMap(({ columns }) => columns.map(({ name }) => name)));
    expect(Object.keys(descriptions.tables).sort()).toEqual([...catalog.keys()]);
    expect(Object.keys(descriptions.columns).sort()).toEqual([...names].sort());
    for (const phrases of [descriptions.schemas, descriptions.tables, descriptions.columns]) {
      expect(new Set(Object.values(phrases)).size).toBe(Object.keys(phrases).length);
    }
  });

  test('hold no native name that is not an ordinary word', () => {
    const names = [...catalog.values()].flatMap(({ schema, table, columns }) => [
      schema,
      table,
      ...columns.map(({ name }) => name),
    ]);
    const telling = new Set(
      names.filter((name) => name.includes('_') || /(events|stays|items|uom|id)$/.test(name)),
    );
    // An ordinary word.
    telling.delete('fluid');
    const phrases = [
      descriptions.schemas,
      descriptions.tables,
      descriptions.columns,
      descriptions.mergedTables,
      descriptions.mergedColumns,
      ...Object.values(descriptions.tableColumns),
    ].flatMap((group) => Object.values(group));
    expect(
      phrases.filter((phrase) => phrase.split(/[^A-Za-z0-9_]+/).some((word) => telling.has(word))),
    ).toEqual([]);
  });

  test('name in their narrower part only columns that the table has', () => {
    for (const [table, columns] of Object.entries(descriptions.tableColumns)) {
      const known = catalog.get(table)?.columns.map(({ name }) => name);
      for (const column of Object.keys(columns)) expect(known).toContain(column);
    }
  });
});

describe('the published dictionary', () => {
  test('has 3 schemas, 14 tables and 47 columns', () => {
    expect(sectionOf('obfuscated', published).rows).toHaveLength(3 + 14 + 47);
  });

  test('has 4 merged tables and 3 discriminators more in the restructured schema, and says that originals are gone', () => {
    const { rows, text } = sectionOf('restructured', published);
    expect(rows).toHaveLength(3 + 14 + 4 + 47 + 3);
    expect(text).toContain("`c_901` is 'chart' for");
    expect(text).toContain("'lab' for");
    expect(text).toContain('do not exist on their own');
  });
});

describe.each(transformedSchemas)('the complete dictionary of the %s schema', (schema) => {
  test('describes every table and column of the database once', () => {
    const { rows, dictionary } = sectionOf(schema, complete);
    const tables = Object.keys(dictionary.columnOrder);
    for (const table of tables) expect(rows.filter((row) => row === table)).toEqual([table]);
    const columns = new Set(Object.values(dictionary.columnOrder).flat());
    for (const column of columns) expect(rows.filter((row) => row === column)).toEqual([column]);
  });

  test('describes nothing that the database does not hold: a raw task', () => {
    const isBase = (name: string): boolean => !name.startsWith('mimiciv_derived.');
    const { text, dictionary } = sectionOf(schema, complete, isBase);
    const derived = Object.entries(dictionary.tables).filter(([name]) => !isBase(name));
    expect(derived).toHaveLength(63);
    for (const [, code] of derived) expect(text).not.toContain(code.split('.')[1]);
    expect(text).not.toContain(dictionary.columns.sofa_24hours);
    const swallowed = Object.keys(dictionary.tables).filter(
      (name) => isBase(name) && dictionary.columnOrder[dictionary.tables[name]!] === undefined,
    );
    expect(swallowed).toHaveLength(schema === 'restructured' ? 9 : 0);
    for (const name of swallowed) expect(text).not.toContain(dictionary.tables[name]!);
  });

  test('goes from descriptions to codes: no native name in back-quotes, rows in the order of the codes', () => {
    const { text, dictionary } = sectionOf(schema, complete);
    const quoted = [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    const native = new Set([
      ...Object.keys(dictionary.columns),
      ...Object.keys(dictionary.schemas),
      ...Object.keys(dictionary.tables).flatMap((name) => [name, name.split('.')[1]!]),
    ]);
    expect(quoted.filter((name) => native.has(name))).toEqual([]);
    for (const title of ['Tables', 'Columns']) {
      const part = text.split(`### ${title}\n`)[1]!.split('\n### ')[0]!;
      const listed = [...part.matchAll(/\| `([^`]+)` \|$/gm)].map((match) => match[1]!);
      expect(listed.length).toBeGreaterThan(80);
      expect(listed).toEqual([...listed].sort());
    }
  });

  test('explains the table names that stand in the data', () => {
    expect(sectionOf(schema, complete).text).toContain(
      'code of the table in which records of the item stand',
    );
  });
});

test('the native schema can be described in the same words', () => {
  const relations = [...catalog.values()].filter(({ isDerived }) => !isDerived);
  const native = nativeSection(catalog, descriptions, relations);
  const { text } = sectionOf('obfuscated', complete, (name) => !name.startsWith('mimiciv_derived.'));
  const meanings = (section: string): string[] =>
    [...section.matchAll(/^\| (.+) \| `[^`]+` \|$/gm)].map((match) => match[1]!).sort();
  const ofWords = 'code of the table in which records of the item stand';
  expect(meanings(native)).toEqual(meanings(text).filter((meaning) => meaning !== ofWords));
  expect(native).toContain('| ICU stay identifier | `stay_id` |');
});
