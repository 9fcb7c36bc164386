import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildConcepts } from '../../src/concepts/build.js';
import { loadConcepts } from '../../src/concepts/concept.js';
import { type ConceptGraph, conceptGraph } from '../../src/concepts/graph.js';
import type { Dataset } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { type NativeCatalog, nativeCatalog } from '../../src/schemas/catalog.js';
import { loadSchemaDescriptions } from '../../src/schemas/descriptions.js';
import { dictionarySection } from '../../src/schemas/dictionary-section.js';
import { type Equivalence, proveEquivalence } from '../../src/schemas/equivalence.js';
import { buildLake, type SchemaLake } from '../../src/schemas/lake.js';
import {
  presentationOf,
  type TransformedSchema,
  transformedSchemas,
} from '../../src/schemas/presentation.js';
import { type PresentedDatabase, presentedRelations } from '../../src/schemas/presented-database.js';
import { buildTaskDatabase, type TaskDatabase } from '../../src/schemas/task-database.js';
import { type Home, homeAt, packageRoot } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import { loadProtocol, type Protocol } from '../../src/tasks/protocol.js';
import { removedRelations } from '../../src/tasks/removal.js';
import type { Task } from '../../src/tasks/task.js';
import { bytesBesidePages, namesIn, nativeNames } from './native-names.js';

const source = join(
  process.env.M4BENCH_TEST_DATA ?? resolve(packageRoot(), '..', 'shared'),
  'data',
  'mimic-iv-demo',
);
const isPresent = existsSync(source);
if (!isPresent)
  console.warn(`Skipped: no MIMIC-IV demo in ${source}; set M4BENCH_TEST_DATA to a folder with data/.`);

let root: string;
let home: Home;
let dataset: Dataset;
let catalog: NativeCatalog;
let graph: ConceptGraph;
let tasks: readonly Task[];
let protocol: Protocol;
const lakes = new Map<TransformedSchema, SchemaLake>();
const proofs = new Map<TransformedSchema, Equivalence>();

describe.skipIf(!isPresent)('the open demo', () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'm4bench-schemas-demo-'));
    home = homeAt(root);
    dataset = await importDataset(home, { name: 'mimic-iv-demo', from: source, verify: false });
    await buildConcepts(dataset);
    catalog = await nativeCatalog(dataset);
    protocol = await loadProtocol('m4bench-1');
    tasks = (await loadTasks()).filter((task) => task.database === 'mimic-iv');
    await using session = await DuckSession.open({ threads: 1 });
    graph = await conceptGraph(session, await loadConcepts());
    for (const schema of transformedSchemas) {
      const lake = await buildLake({
        home,
        dataset,
        catalog,
        presentation: presentationOf({ schema, protocol }),
      });
      lakes.set(schema, lake);
      proofs.set(schema, await proveEquivalence({ home, lake }));
    }
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test('has the merged rows of the specification', () => {
    const rows = Object.fromEntries(
      lakes.get('restructured')!.tables.map(({ plan, manifest }) => [plan.name, manifest.rows]),
    );
    expect(rows).toMatchObject({
      'mimiciv_icu.observations': 776_589,
      'mimiciv_hosp.encounters': 287,
      'mimiciv_icu.flows': 29_766,
      'mimiciv_icu.item_reference': 5_636,
    });
  });

  test.each(transformedSchemas)(
    '%s: 94 tables come back, 63 concepts and 15 references are equal',
    (schema) => {
      const proof = proofs.get(schema)!;
      const unequal = [...proof.tables, ...proof.concepts, ...proof.references].filter(
        ({ isEqual }) => !isEqual,
      );
      expect(unequal.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
      expect(proof.files.filter(({ isSound }) => !isSound)).toEqual([]);
      expect([proof.tables.length, proof.concepts.length, proof.references.length]).toEqual([94, 63, 15]);
      expect(proof.isVerified).toBe(true);
      // Not because everything is empty.
      expect(proof.references.filter(({ nativeRows }) => nativeRows === 0)).toEqual([]);
    },
  );

  test.each(transformedSchemas)('%s: takes about the space of the native lake', (schema) => {
    const bytes = lakes.get(schema)!.tables.reduce((sum, { manifest }) => sum + manifest.fileBytes, 0);
    expect(bytes).toBeGreaterThan(5e6);
    expect(bytes).toBeLessThan(25e6);
  });

  test('the large tables are written with equal content by one thread and by two', async () => {
    const hashes = await Promise.all(
      [1, 2].map(async (threads) => {
        const other = { ...home, schemas: await mkdtemp(join(root, 'threads-')) };
        const lake = await buildLake({
          home: other,
          dataset,
          catalog,
          threads,
          presentation: presentationOf({ schema: 'obfuscated', protocol }),
          relations: ['mimiciv_icu.chartevents', 'mimiciv_hosp.labevents'],
        });
        return lake.tables.map(({ manifest }) => manifest.contentHash);
      }),
    );
    expect(hashes[1]).toEqual(hashes[0]);
    expect(new Set(hashes[0]).size).toBe(2);
  });

  const built = new Map<string, { database: PresentedDatabase; taskDatabase: TaskDatabase }>();

  /** Tasks that leave the same relations share a database; all raw tasks do. */
  async function databaseOf(task: Task, schema: TransformedSchema) {
    const removed = new Set(removedRelations(task, protocol, graph));
    const relations = [...catalog.values()].filter(
      ({ schema: own, table }) => !removed.has(`${own}.${table}`),
    );
    const key = `${schema} ${[...removed].join()}`;
    const known = built.get(key);
    if (known !== undefined) return known;
    const database = await presentedRelations({ home, dataset, catalog, relations, schema, protocol });
    const taskDatabase = await buildTaskDatabase(database.relations, {
      farmRoot: join(root, 'farm'),
      folder: join(root, 'databases'),
      emptySchemas: database.schemas,
    });
    built.set(key, { database, taskDatabase });
    return { database, taskDatabase };
  }

  test.each(transformedSchemas)(
    '%s: all 26 tasks build, verified, and what they remove is not in them',
    async (schema) => {
      const descriptions = await loadSchemaDescriptions();
      expect(tasks).toHaveLength(26);
      for (const task of tasks) {
        const { database, taskDatabase } = await databaseOf(task, schema);
        const proof = proofs.get(schema)!.references.find(({ name }) => name === task.reference)!;
        expect(await database.verification({ key: task.reference, contentHash: proof.nativeHash })).toEqual({
          isVerified: true,
          reasons: [],
        });

        for (const name of task.removesPublished) expect(database.removed.native).toContain(name);
        if (task.mode === 'raw') expect(database.removed.native).toHaveLength(63);
        const section = dictionarySection({
          dictionary: database.dictionary,
          descriptions,
          protocol,
          relations: database.relations,
        });
        const file = (await readFile(taskDatabase.path)).toString('latin1');
        for (const code of database.removed.coded) {
          const table = code.split('.')[1]!;
          expect([task.name, section.includes(table), file.includes(table)]).toEqual([
            task.name,
            false,
            false,
          ]);
        }
        for (const name of database.removed.native) {
          expect([task.name, name, section.includes(name), file.includes(name)]).toEqual([
            task.name,
            name,
            false,
            false,
          ]);
          expect([task.name, name, section.includes(`\`${name.split('.')[1]}\``)]).toEqual([
            task.name,
            name,
            false,
          ]);
        }
      }
      // One database for all raw tasks, one per standard task at most.
      expect([...built.keys()].filter((key) => key.startsWith(schema)).length).toBeLessThanOrEqual(12);
    },
  );

  test.each(transformedSchemas)('%s: no native name can be read from a task database', async (schema) => {
    const task = tasks.find(({ name }) => name === 'mimic-sirs-24h-raw')!;
    const standard = tasks.find(({ name }) => name === 'mimic-meld-24h')!;
    const names = nativeNames(catalog);
    const long = new Set([...names].filter((name) => name.length > 3));
    for (const each of [task, standard]) {
      const { taskDatabase } = await databaseOf(each, schema);
      await using session = await DuckSession.open({ path: taskDatabase.path, readOnly: true, threads: 1 });
      const described = await session.rows(
        `select schema_name || ' ' || view_name || ' ' || coalesce(sql, '') || ' ' || coalesce(comment, '') as text from duckdb_views() where not internal
         union all select schema_name || ' ' || table_name || ' ' || column_name || ' ' || coalesce(comment, '') from duckdb_columns() where not internal
         union all select schema_name from duckdb_schemas() where not internal
         union all select table_name || ' ' || table_schema from information_schema.tables`,
      );
      const text = described.map((row) => String(row.text)).join('\n');
      expect(described.length).toBeGreaterThan(200);
      expect(namesIn(text.replaceAll(root, ''), names)).toEqual([]);
      expect(
        namesIn((await readFile(taskDatabase.path)).toString('latin1').replaceAll(root, ''), long),
      ).toEqual([]);
      for (const { path } of taskDatabase.relations) {
        const footer = await session.rows(
          `select name as text from parquet_schema(${literal(path)})
           union all select decode(key) || ' ' || decode(value) from parquet_kv_metadata(${literal(path)})
           union all select created_by from parquet_file_metadata(${literal(path)})`,
        );
        const written = footer.map((row) => String(row.text)).filter((name) => name !== 'duckdb_schema');
        expect(namesIn(written.join('\n'), names)).toEqual([]);
        expect([path, namesIn(await bytesBesidePages(session, path), long)]).toEqual([path, []]);
      }
    }
  });

  test('a native name in a footer would be found', async () => {
    await using session = await DuckSession.open({ threads: 1 });
    const path = join(root, 'leak.parquet');
    await session.run(
      `copy (select 1 as stay_id) to ${literal(path)} (format parquet, kv_metadata {origin: 'chartevents'})`,
    );
    expect(namesIn(await bytesBesidePages(session, path), nativeNames(catalog))).toEqual(
      expect.arrayContaining(['stay_id', 'chartevents']),
    );
  });
});
