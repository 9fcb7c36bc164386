import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type NativeCatalog, nativeCatalog } from './catalog.js';
import { buildDictionary, dictionaryHash, type SchemaDictionary } from './dictionary.js';
import { presentationId, presentationOf } from './presentation.js';

const m4bench = { schemaNames: 'seeded', merges: 'lossless' } as const;
const published = { schemaNames: 'sorted', merges: 'published' } as const;

let catalog: NativeCatalog;
beforeAll(async () => {
  catalog = await nativeCatalog({ kind: 'mimic-iv', name: 'mimic-iv', tables: [] });
});

function codes(dictionary: SchemaDictionary): readonly string[] {
  const { schemas, tables, columns, mergedTables, mergedColumns } = dictionary;
  const parts = [...Object.values(tables), ...Object.values(mergedTables)].map((name) => name.split('.')[1]!);
  return [...Object.values(schemas), ...parts, ...Object.values(columns), ...Object.values(mergedColumns)];
}

const drawn = (seed: string, schema: 'obfuscated' | 'restructured' = 'restructured'): SchemaDictionary =>
  buildDictionary(catalog, presentationOf({ schema, seed, protocol: m4bench }));

test('the catalog has the 94 tables and 629 column names of the specification, without any dataset', () => {
  expect(catalog.size).toBe(94);
  expect(new Set([...catalog.values()].flatMap(({ columns }) => columns.map(({ name }) => name))).size).toBe(
    629,
  );
});

describe('sorted names', () => {
  test('are those of the published examples', () => {
    const dictionary = buildDictionary(
      catalog,
      presentationOf({ schema: 'restructured', protocol: published }),
    );
    expect(dictionary.schemas.mimiciv_hosp).toBe('ds_2');
    expect(dictionary.tables['mimiciv_icu.chartevents']).toBe('ds_3.t_002');
    expect(dictionary.columns.subject_id).toBe('c_556');
    expect(dictionary.mergedTables['mimiciv_hosp.encounters']).toBe('ds_2.t_901');
    expect(dictionary.mergedColumns.source).toBe('c_901');
  });

  test('keep the order of columns and ignore the seed', () => {
    const of = (seed: string) =>
      buildDictionary(catalog, presentationOf({ schema: 'obfuscated', seed, protocol: published }));
    expect(of('1')).toEqual(of('2'));
    const { columnOrder, columns } = of('1');
    expect(columnOrder['ds_3.t_005']).toEqual(
      ['subject_id', 'hadm_id', 'stay_id', 'first_careunit', 'last_careunit', 'intime', 'outtime', 'los'].map(
        (name) => columns[name],
      ),
    );
  });
});

describe('seeded names', () => {
  test('are equal for one seed, byte for byte', () => {
    expect(JSON.stringify(drawn('7'))).toBe(JSON.stringify(drawn('7')));
    expect(dictionaryHash(drawn('7'))).not.toBe(dictionaryHash(drawn('8')));
  });

  test('are all different within a seed, and two seeds share none', () => {
    const seed = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    fc.assert(
      fc.property(seed, seed, (first, second) => {
        fc.pre(first !== second && first !== 'sorted' && second !== 'sorted');
        const [one, other] = [codes(drawn(first)), codes(drawn(second))];
        expect(new Set(one).size).toBe(one.length);
        expect(new Set([...one, ...other]).size).toBe(one.length + other.length);
      }),
      { numRuns: 8 },
    );
  });

  test('say nothing about the alphabet: sorted native names do not give sorted codes', () => {
    const { columns } = drawn('1');
    const inOrder = Object.keys(columns)
      .sort()
      .map((name) => columns[name]!);
    const ascending = inOrder.filter((code, index) => index > 0 && code > inOrder[index - 1]!).length;
    // Half of 628 neighbours, give or take five standard deviations of 7.2 (run counts of a random order).
    expect(Math.abs(ascending - 314)).toBeLessThan(37);
  });

  test('hold neither a vowel nor a native name', () => {
    for (const code of codes(drawn('1')))
      expect(code).toMatch(/^[bcdfghjkmnpqrstvwxz][bcdfghjkmnpqrstvwxz2-9]{8}$/);
  });

  test('permute the columns of each table on their own', () => {
    const { columnOrder, columns, tables } = drawn('1', 'obfuscated');
    for (const name of ['mimiciv_hosp.labevents', 'mimiciv_hosp.emar_detail', 'mimiciv_icu.inputevents']) {
      const native = catalog.get(name)!.columns.map((column) => columns[column.name]);
      const order = columnOrder[tables[name]!]!;
      expect([...order].sort()).toEqual([...native].sort());
      expect(order).not.toEqual(native);
    }
  });

  test('do not change when a table is added to the database', () => {
    const extended = new Map(catalog).set('mimiciv_hosp.aaa', {
      schema: 'mimiciv_hosp',
      table: 'aaa',
      columns: [{ name: 'aaa_id', type: 'BIGINT' }],
      isDerived: false,
      sortedBy: [],
    });
    const before = drawn('1');
    const after = buildDictionary(
      extended,
      presentationOf({ schema: 'restructured', seed: '1', protocol: m4bench }),
    );
    expect(after.tables).toMatchObject(before.tables);
    expect(after.columns).toMatchObject(before.columns);
  });

  test('are shared by the obfuscated and the restructured schema of a seed, as published', () => {
    expect(drawn('1', 'restructured').columns).toEqual(drawn('1', 'obfuscated').columns);
    expect(drawn('1', 'obfuscated').mergedTables).toEqual({});
  });
});

describe('what a presentation is called', () => {
  test.each([
    ['obfuscated-1', { schema: 'obfuscated', protocol: m4bench }],
    ['restructured-x9', { schema: 'restructured', protocol: m4bench, seed: 'x9' }],
    ['obfuscated-sorted', { schema: 'obfuscated', protocol: published, seed: 5 }],
    ['restructured-sorted-published', { schema: 'restructured', protocol: published }],
    ['obfuscated-1-items-dates', { schema: 'obfuscated', protocol: m4bench, perturb: ['dates', 'items'] }],
    ['obfuscated-sorted-items-4', { schema: 'obfuscated', protocol: published, perturb: ['items'], seed: 4 }],
  ] as const)('%s', (id, options) => {
    expect(presentationId(presentationOf(options))).toBe(id);
  });

  test.each(['', 'A', '../x', 'a b', 'sorted', 'x'.repeat(33)])('a seed "%s" is refused', (seed) => {
    expect(() => presentationOf({ schema: 'obfuscated', seed, protocol: m4bench })).toThrow(
      expect.objectContaining({ code: 'SCHEMA_SEED_INVALID' }),
    );
  });

  test('an unknown perturbation is refused by name', () => {
    expect(() => presentationOf({ schema: 'obfuscated', protocol: m4bench, perturb: ['units'] })).toThrow(
      expect.objectContaining({ code: 'PERTURBATION_UNKNOWN' }),
    );
  });
});
