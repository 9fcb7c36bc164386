import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/datasets/dataset.js';
import { writeParquet } from '../../src/duck/parquet.js';
import { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { type NativeCatalog, nativeCatalog } from '../../src/schemas/catalog.js';
import { codedColumn, codedDiscriminator } from '../../src/schemas/dictionary.js';
import { proveEquivalence } from '../../src/schemas/equivalence.js';
import { buildLake, type SchemaLake } from '../../src/schemas/lake.js';
import {
  presentationOf,
  type TransformedSchema,
  transformedSchemas,
} from '../../src/schemas/presentation.js';
import { presentedRelations } from '../../src/schemas/presented-database.js';
import { verificationOf } from '../../src/schemas/verification.js';
import { sha256 } from '../../src/support/hashing.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { handMadeDataset, withRows } from './hand-made-dataset.js';

const m4bench = { schemaNames: 'seeded', merges: 'lossless' } as const;
const published = { schemaNames: 'sorted', merges: 'published' } as const;

let root: string;
let home: Home;
let dataset: Dataset;
let catalog: NativeCatalog;
let faultyLakes = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-schemas-'));
  home = homeAt(root);
  dataset = await handMadeDataset(home);
  catalog = await nativeCatalog(dataset);
});
afterAll(() => rm(root, { recursive: true, force: true }));

function lakeOf(
  schema: TransformedSchema,
  options: {
    protocol?: typeof m4bench | typeof published;
    perturb?: string[];
    seed?: string;
    home?: Home;
    dataset?: Dataset;
    threads?: number;
    relations?: string[];
  } = {},
): Promise<SchemaLake> {
  const { protocol = m4bench, perturb, seed = '1', ...rest } = options;
  return buildLake({
    home,
    dataset,
    catalog,
    presentation: presentationOf({ schema, seed, protocol, ...(perturb === undefined ? {} : { perturb }) }),
    ...rest,
  });
}

const shared = new Map<string, Promise<SchemaLake>>();

/** A whole lake that several tests read and none changes. */
function sharedLake(schema: TransformedSchema): Promise<SchemaLake> {
  const known = shared.get(schema) ?? lakeOf(schema);
  shared.set(schema, known);
  return known;
}

/** Tables of the merges, and what two concepts and a reference read. */
const few = [
  'mimiciv_hosp.patients',
  'mimiciv_hosp.admissions',
  'mimiciv_icu.icustays',
  'mimiciv_icu.chartevents',
  'mimiciv_hosp.labevents',
  'mimiciv_icu.inputevents',
  'mimiciv_icu.outputevents',
  'mimiciv_icu.d_items',
  'mimiciv_hosp.d_labitems',
  'mimiciv_derived.gcs',
  'mimiciv_derived.first_day_gcs',
];

function fileOf(lake: SchemaLake, name: string): string {
  const table = lake.tables.find(({ plan }) => plan.name === name);
  if (table === undefined) throw new RangeError(`No ${name}.`);
  return table.path;
}

/** Replaces a file of a lake by the result of a query over it, as a builder with a fault would have written it. */
async function corrupt(lake: SchemaLake, name: string, query: (file: string) => string): Promise<void> {
  const path = fileOf(lake, name);
  await using session = await DuckSession.open({ threads: 1 });
  await session.run(`create table faulty as ${query(`read_parquet(${literal(path)})`)}`);
  await writeParquet(session, 'select * from faulty', path, { keepOrder: true });
}

async function counted(path: string): Promise<number> {
  await using session = await DuckSession.open({ threads: 1 });
  return Number((await session.row(`select count(*) as n from read_parquet(${literal(path)})`)).n);
}

describe('the restructured lake', () => {
  test('has the rows that the merges give by hand count', async () => {
    const lake = await sharedLake('restructured');
    const rows = Object.fromEntries(lake.tables.map(({ plan, manifest }) => [plan.name, manifest.rows]));
    expect(rows['mimiciv_icu.observations']).toBe(7);
    expect(rows['mimiciv_hosp.encounters']).toBe(4);
    expect(rows['mimiciv_icu.flows']).toBe(3);
    expect(rows['mimiciv_icu.item_reference']).toBe(6);
    // 94 tables, nine of them merged into four.
    expect(lake.tables).toHaveLength(89);
    expect(await counted(fileOf(lake, 'mimiciv_hosp.encounters'))).toBe(4);
  });

  test('has the 20, 27, 30 and 11 columns of the specification', async () => {
    const lake = await sharedLake('restructured');
    const width = (name: string): number =>
      lake.tables.find(({ plan }) => plan.name === name)!.plan.columns.length;
    expect(
      [
        'mimiciv_icu.observations',
        'mimiciv_hosp.encounters',
        'mimiciv_icu.flows',
        'mimiciv_icu.item_reference',
      ].map(width),
    ).toEqual([20, 27, 30, 11]);
  });

  test('as published, loses the patient without an admission, and the proof counts that loss', async () => {
    const lake = await lakeOf('restructured', { protocol: published, relations: few });
    expect(lake.tables.find(({ plan }) => plan.name === 'mimiciv_hosp.encounters')?.manifest.rows).toBe(3);
    const proof = await proveEquivalence({ home, lake, references: ['gcs-24h'], concepts: ['gcs'] });
    const patients = proof.tables.find(({ name }) => name === 'mimiciv_hosp.patients');
    expect(patients).toMatchObject({ isEqual: true, missing: 1, extra: 0, expectedLoss: 1, rebuiltRows: 2 });
    expect(proof.isVerified).toBe(true);
  });

  test('writes table names that stand in the data as codes, or leaves them as published', async () => {
    const written = async (lake: SchemaLake): Promise<readonly unknown[]> => {
      await using session = await DuckSession.open({ threads: 1 });
      const column = identifier(codedColumn(lake.dictionary, 'linksto'));
      const file = literal(fileOf(lake, 'mimiciv_icu.item_reference'));
      const rows = await session.rows(
        `select distinct ${column} as word from read_parquet(${file}) where ${column} is not null order by 1`,
      );
      return rows.map(({ word }) => word);
    };
    const lake = await sharedLake('restructured');
    const code = (name: string): string => lake.dictionary.mergedTables[name]!.split('.')[1]!;
    expect(await written(lake)).toEqual(
      [
        `${code('mimiciv_icu.observations')}:chart`,
        `${code('mimiciv_icu.flows')}:in`,
        `${code('mimiciv_icu.flows')}:out`,
      ].sort(),
    );
    expect(await written(await lakeOf('restructured', { protocol: published, relations: few }))).toEqual([
      'chartevents',
      'inputevents',
      'outputevents',
    ]);
  });

  test('as published, has columns in the published order', async () => {
    const { dictionary } = await lakeOf('restructured', { protocol: published, relations: few });
    const order = dictionary.columnOrder[dictionary.mergedTables['mimiciv_icu.item_reference']!]!;
    const native = [
      'itemid',
      'label',
      'category',
      'abbreviation',
      'linksto',
      'unitname',
      'param_type',
      'lownormalvalue',
      'highnormalvalue',
      'fluid',
    ];
    expect(order).toEqual([
      codedDiscriminator(dictionary, 'item_type'),
      ...native.map((name) => codedColumn(dictionary, name)),
    ]);
  });
});

describe.each(transformedSchemas)('the proof of the %s lake', (schema) => {
  test('holds on a sound lake for every table, concept and reference', async () => {
    const lake = await sharedLake(schema);
    const proof = await proveEquivalence({ home, lake });
    expect([
      ...proof.files.filter((file) => !file.isSound),
      ...[...proof.tables, ...proof.concepts, ...proof.references].filter((entry) => !entry.isEqual),
    ]).toEqual([]);
    expect(proof.isVerified).toBe(true);
    expect([proof.tables.length, proof.concepts.length, proof.references.length]).toEqual([94, 63, 15]);
    expect(await verificationOf(lake, referenceOf(proof, 'sofa-24h'))).toEqual({
      isVerified: true,
      reasons: [],
    });
  });

  const charted = schema === 'obfuscated' ? 'mimiciv_icu.chartevents' : 'mimiciv_icu.observations';
  const faults: readonly [string, (lake: SchemaLake) => Promise<void>, object][] = [
    [
      'one row dropped',
      (lake) =>
        corrupt(
          lake,
          charted,
          (file) =>
            `select * from ${file} where ${identifier(codedColumn(lake.dictionary, 'valuenum'))} is distinct from 104`,
        ),
      { missing: 1, extra: 0 },
    ],
    [
      'one row written twice',
      (lake) =>
        corrupt(
          lake,
          charted,
          (file) =>
            `select * from ${file} union all (select * from ${file} where ${identifier(codedColumn(lake.dictionary, 'valuenum'))} = 104)`,
        ),
      { missing: 0, extra: 1 },
    ],
    [
      'two columns swapped',
      (lake) => {
        const [first, second] = ['charttime', 'storetime'].map((name) =>
          identifier(codedColumn(lake.dictionary, name)),
        );
        return corrupt(
          lake,
          charted,
          (file) => `select * replace (${second} as ${first}, ${first} as ${second}) from ${file}`,
        );
      },
      { missing: 4, extra: 4 },
    ],
    [
      'one value changed in the last digit',
      (lake) => {
        const column = identifier(codedColumn(lake.dictionary, 'valuenum'));
        return corrupt(
          lake,
          charted,
          (file) =>
            `select * replace (case when ${column} = 104 then 104.00000000000001 else ${column} end as ${column}) from ${file}`,
        );
      },
      { missing: 1, extra: 1 },
    ],
  ];
  test.each(faults)('catches %s', async (_fault, plant, difference) => {
    const lake = await lakeOf(schema, { seed: `fault${++faultyLakes}`, relations: few });
    await plant(lake);
    const proof = await proveEquivalence({
      home,
      lake,
      references: ['gcs-24h'],
      concepts: ['gcs'],
    });
    expect(proof.isVerified).toBe(false);
    expect(proof.tables.find(({ name }) => name === 'mimiciv_icu.chartevents')).toMatchObject({
      isEqual: false,
      ...difference,
    });
    expect(proof.files.find(({ name }) => name === charted)?.isSound).toBe(false);
    expect((await verificationOf(lake)).isVerified).toBe(false);
  });

  test('catches a reference that changed: the cohort lost a stay', async () => {
    const lake = await lakeOf(schema, { seed: `fault${++faultyLakes}`, relations: few });
    const stays = schema === 'obfuscated' ? 'mimiciv_icu.icustays' : 'mimiciv_hosp.encounters';
    await corrupt(
      lake,
      stays,
      (file) =>
        `select * from ${file} where ${identifier(codedColumn(lake.dictionary, 'stay_id'))} is distinct from 102`,
    );
    const proof = await proveEquivalence({
      home,
      lake,
      references: ['gcs-24h'],
      concepts: ['first_day_gcs'],
    });
    expect(proof.concepts[0]).toMatchObject({ isEqual: false, missing: 1 });
    expect(proof.references[0]).toMatchObject({ isEqual: false, missing: 1, extra: 0 });
  });
});

function referenceOf(
  proof: { readonly references: readonly { readonly name: string; readonly nativeHash: string }[] },
  key: string,
): { readonly key: string; readonly contentHash: string } {
  return { key, contentHash: proof.references.find(({ name }) => name === key)!.nativeHash };
}

describe('building', () => {
  async function hashes(lake: SchemaLake): Promise<Readonly<Record<string, string>>> {
    const files = (await readdir(lake.folder, { recursive: true }))
      .filter((file) => /\.(parquet|json)$/.test(file) && !file.startsWith('equivalence'))
      .sort();
    return Object.fromEntries(
      await Promise.all(
        files.map(async (file) => [file, sha256(await readFile(join(lake.folder, file)))] as const),
      ),
    );
  }

  test.each(transformedSchemas)(
    '%s: one seed gives equal bytes, whatever the number of threads',
    async (schema) => {
      const [first, second] = await Promise.all(
        [1, 2].map(async (threads) => {
          const other = { ...home, schemas: await mkdtemp(join(root, 'bytes-')) };
          return hashes(await lakeOf(schema, { home: other, threads, seed: 'abc', relations: few }));
        }),
      );
      expect(Object.keys(first!).length).toBe(schema === 'obfuscated' ? 1 + 2 * 11 : 1 + 2 * 6);
      expect(second).toEqual(first);
    },
  );

  test('keeps what is current, writes again what changed, and removes what an older map left', async () => {
    const other = homeAt(await mkdtemp(join(root, 'again-')));
    const relations = ['mimiciv_hosp.patients', 'mimiciv_icu.chartevents', 'mimiciv_icu.d_items'];
    const options = { home: other, relations };
    await lakeOf('obfuscated', { ...options, dataset: await handMadeDataset(other) });
    const again = await lakeOf('obfuscated', { ...options, dataset: await handMadeDataset(other) });
    expect(again.tables.map(({ wasBuilt }) => wasBuilt)).toEqual([false, false, false]);

    const stale = join(again.folder, again.tables[0]!.plan.schema, 'older.parquet');
    await writeFile(stale, 'left by an older map');
    const changed = await handMadeDataset(
      other,
      withRows('mimiciv_icu.chartevents', (rows) => rows.slice(1)),
    );
    const rebuilt = await lakeOf('obfuscated', { ...options, dataset: changed });
    expect(rebuilt.tables.filter(({ wasBuilt }) => wasBuilt).map(({ plan }) => plan.name)).toEqual([
      'mimiciv_icu.chartevents',
    ]);
    await expect(readFile(stale)).rejects.toThrow('ENOENT');
    expect((await verificationOf(rebuilt)).reasons).toEqual(['schema obfuscated-1 was never verified']);
  });

  test('a proof of other files does not count', async () => {
    const other = homeAt(await mkdtemp(join(root, 'stale-')));
    const lake = await lakeOf('restructured', {
      home: other,
      dataset: await handMadeDataset(other),
      relations: few,
    });
    await proveEquivalence({ home: other, lake, references: ['gcs-24h'], concepts: [] });
    expect((await verificationOf(lake)).isVerified).toBe(true);
    expect((await verificationOf(lake, { key: 'meld-24h', contentHash: 'x' })).reasons).toEqual([
      'reference meld-24h was not verified in its present form',
    ]);
    const changed = await handMadeDataset(
      other,
      withRows('mimiciv_icu.outputevents', () => []),
    );
    const rebuilt = await lakeOf('restructured', { home: other, dataset: changed, relations: few });
    const { isVerified, reasons } = await verificationOf(rebuilt);
    expect(isVerified).toBe(false);
    expect(reasons).toContain('mimiciv_icu.flows was not verified in its present form');
  });
});

describe('what a task presents', () => {
  const all = (): { schema: string; table: string }[] =>
    dataset.tables.map(({ schema, table }) => ({ schema, table }));

  test('a raw task has no derived table, under any name', async () => {
    const database = await presentedRelations({
      home,
      dataset,
      relations: all(),
      schema: 'restructured',
      protocol: m4bench,
    });
    expect(database.relations).toHaveLength(26);
    expect(database.removed.native).toHaveLength(63);
    expect(database.removed.native).toContain('mimiciv_derived.sofa');
    const derived = database.dictionary.schemas.mimiciv_derived!;
    expect(database.relations.filter(({ schema }) => schema === derived)).toEqual([]);
    expect(database.schemas).toContain(derived);
  });

  test('the merged originals stand in no farm: only the merged table does', async () => {
    const database = await presentedRelations({
      home,
      dataset,
      relations: all(),
      schema: 'restructured',
      protocol: m4bench,
    });
    const names = new Set(database.relations.map(({ schema, table }) => `${schema}.${table}`));
    for (const original of ['mimiciv_icu.chartevents', 'mimiciv_hosp.labevents', 'mimiciv_icu.icustays']) {
      expect(names.has(database.dictionary.tables[original]!)).toBe(false);
    }
    expect(names.has(database.dictionary.mergedTables['mimiciv_icu.observations']!)).toBe(true);
  });

  test('a task that removes one half of a merge is refused in the restructured schema', async () => {
    const relations = all().filter(({ table }) => table !== 'labevents');
    await expect(
      presentedRelations({ home, dataset, relations, schema: 'restructured', protocol: m4bench }),
    ).rejects.toMatchObject({ code: 'SCHEMA_MERGE_REMOVED' });
    const { removed } = await presentedRelations({
      home,
      dataset,
      relations,
      schema: 'obfuscated',
      protocol: m4bench,
    });
    expect(removed.native).toContain('mimiciv_hosp.labevents');
  });

  test('a dataset that is not MIMIC-IV is refused', async () => {
    await expect(
      presentedRelations({
        home,
        dataset: { ...dataset, kind: 'eicu' },
        relations: [],
        schema: 'obfuscated',
        protocol: m4bench,
      }),
    ).rejects.toMatchObject({ code: 'SCHEMA_NOT_APPLICABLE' });
  });
});
