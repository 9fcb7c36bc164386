import { join } from 'node:path';
import { z } from 'zod';
import { derivedSchema, loadConcepts } from '../concepts/concept.js';
import { parquetPath } from '../datasets/dataset.js';
import { engineVersion } from '../duck/engine.js';
import { contentHash, describeQuery, type ParquetColumn } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { createParquetViews } from '../duck/views.js';
import { buildReferences } from '../references/build.js';
import { loadReferenceQueries } from '../references/reference.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { writeJsonAtomic } from '../support/files.js';
import { sha256File } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { entryOf } from './catalog.js';
import { dictionaryHash } from './dictionary.js';
import type { LakeTable, SchemaLake } from './lake.js';
import { lossOf, mergedRows } from './merge-rows.js';
import { originalInNativeNames } from './presented-tables.js';
import { SqlTranslator } from './sql-translator.js';
import { decodeAll } from './value-codec.js';

const proof = z.object({
  /** `schema.table`, name of the concept, or key of the reference. */
  name: z.string(),
  isEqual: z.boolean(),
  nativeRows: z.number().int().nonnegative(),
  /** Rows that come back from the transformed lake; null when the query failed. */
  rebuiltRows: z.number().int().nonnegative().nullable(),
  nativeHash: z.string(),
  rebuiltHash: z.string().nullable(),
  /** Rows of the native table that do not come back, and rows that come back without being there. */
  missing: z.number().int().nonnegative(),
  extra: z.number().int().nonnegative(),
  /** Rows that the published `encounters` loses by design: patients without an admission. */
  expectedLoss: z.number().int().nonnegative(),
  reason: z.string().nullable(),
});
/** What was compared for one table or query. */
export type Proof = z.infer<typeof proof>;

const fileProof = z.object({
  name: z.string(),
  presentedAs: z.string(),
  rows: z.number().int().nonnegative(),
  contentHash: z.string(),
  fileSha256: z.string(),
  isSound: z.boolean(),
  reason: z.string().nullable(),
});

/** `equivalence.json`. */
export const equivalenceSchema = z.object({
  schemaVersion: z.literal(1),
  id: z.string(),
  dataset: z.string(),
  datasetHash: z.string(),
  dictionaryHash: z.string(),
  engineVersion: z.string(),
  /** Everything below holds. */
  isVerified: z.boolean(),
  /** Every presented file: its bytes, columns and rows are those of its record. */
  files: z.array(fileProof),
  /** Every native table, rebuilt from the presented files and compared as a multiset of rows. */
  tables: z.array(proof),
  /** Every concept, computed from the presented files by its carried query. */
  concepts: z.array(proof),
  /** Every reference, the same way. */
  references: z.array(proof),
});
export type Equivalence = z.infer<typeof equivalenceSchema>;

export interface ProveOptions {
  readonly home: Home;
  readonly lake: SchemaLake;
  readonly progress?: Progress;
  readonly memoryBytes?: number;
  readonly threads?: number;
  /** References to prove, default all of the dataset's kind. */
  readonly references?: readonly string[];
  /** Concepts to recompute, default all that the lake presents. */
  readonly concepts?: readonly string[];
}

/** Path of the proof of a lake. */
export function equivalencePath(folder: string): string {
  return join(folder, 'equivalence.json');
}

/**
 * Proves that a transformed lake holds what the native one holds, from the bytes on disk, and writes
 * `equivalence.json`. Nothing is taken from the lake's own records but what is compared with them.
 */
export async function proveEquivalence(options: ProveOptions): Promise<Equivalence> {
  const { lake } = options;
  const { dataset, dictionary } = lake;
  const progress = options.progress ?? silentProgress;
  await using session = await DuckSession.open({
    ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
    ...(options.threads === undefined ? {} : { threads: options.threads }),
  });
  await createParquetViews(session, lake.maps);
  const files = [];
  for (const table of lake.tables) {
    progress.update(`${dictionary.id}: file of ${table.plan.name}`);
    files.push(await proveFile(session, lake, table));
  }
  const tables = await proveTables(session, lake, progress);
  const queries = await proveQueries(session, options, progress);
  const proofs = [...tables, ...queries.concepts, ...queries.references];
  const equivalence: Equivalence = {
    schemaVersion: 1,
    id: dictionary.id,
    dataset: dataset.name,
    datasetHash: dataset.contentHash,
    dictionaryHash: dictionaryHash(dictionary),
    engineVersion,
    isVerified: files.every((file) => file.isSound) && proofs.every((entry) => entry.isEqual),
    files,
    tables,
    ...queries,
  };
  await writeJsonAtomic(equivalencePath(lake.folder), equivalence);
  return equivalence;
}

async function proveFile(
  session: DuckSession,
  lake: SchemaLake,
  { plan, path, manifest }: LakeTable,
): Promise<z.infer<typeof fileProof>> {
  const presentedAs = `${plan.schema}.${plan.table}`;
  const known = { name: plan.name, presentedAs, contentHash: manifest.contentHash };
  try {
    const fileSha256 = await sha256File(path);
    const columns = await describeQuery(session, `select * from read_parquet(${literal(path)})`);
    const { n } = await session.row(`select count(*) as n from read_parquet(${literal(path)})`);
    const expected = await mergedRows(session, lake, plan.name);
    const reasons = [
      ...(fileSha256 === manifest.fileSha256 ? [] : ['its bytes are not those of its record']),
      ...(JSON.stringify(columns) === JSON.stringify(plan.columns)
        ? []
        : ['its columns are not those of the dictionary']),
      ...(expected === undefined || expected === Number(n)
        ? []
        : [`it has ${n} rows where the merge gives ${expected}`]),
    ];
    return {
      ...known,
      rows: Number(n),
      fileSha256,
      isSound: reasons.length === 0,
      reason: reasons.join('; ') || null,
    };
  } catch (thrown) {
    return { ...known, rows: 0, fileSha256: manifest.fileSha256, isSound: false, reason: messageOf(thrown) };
  }
}

interface Comparison {
  readonly name: string;
  readonly columns: readonly ParquetColumn[];
  readonly native: { readonly rows: number; readonly contentHash: string; readonly path: string };
  /** Yields the rebuilt rows, or says why it cannot. */
  readonly rebuilt: () => Promise<string>;
  readonly expectedLoss: number;
}

/** Multisets of rows are compared by an order-free hash; when it differs, both differences are counted. */
async function compare(session: DuckSession, comparison: Comparison): Promise<Proof> {
  const { name, columns, native, expectedLoss } = comparison;
  const known = { name, nativeRows: native.rows, nativeHash: native.contentHash, expectedLoss };
  const failed = (reason: string): Proof => ({
    ...known,
    isEqual: false,
    rebuiltRows: null,
    rebuiltHash: null,
    missing: native.rows,
    extra: 0,
    reason,
  });
  try {
    const query = await comparison.rebuilt();
    const described = await describeQuery(session, query);
    if (JSON.stringify(described) !== JSON.stringify(columns)) return failed('column names or types differ');
    const rebuilt = await contentHash(session, `(${query})`, columns);
    const isSame = rebuilt.contentHash === native.contentHash && rebuilt.rows === native.rows;
    const difference = isSame
      ? { missing: 0, extra: 0 }
      : await differences(session, `select * from read_parquet(${literal(native.path)})`, query);
    const isEqual =
      difference.extra === 0 && difference.missing === expectedLoss && (isSame || expectedLoss > 0);
    return {
      ...known,
      ...difference,
      isEqual,
      rebuiltRows: rebuilt.rows,
      rebuiltHash: rebuilt.contentHash,
      reason: isEqual ? null : reasonOf(difference),
    };
  } catch (thrown) {
    return failed(messageOf(thrown));
  }
}

function reasonOf({ missing, extra }: { readonly missing: number; readonly extra: number }): string {
  return missing + extra === 0
    ? 'equal values are written differently, for example 0 and -0'
    : `${missing} rows are missing, ${extra} are extra`;
}

async function differences(
  session: DuckSession,
  native: string,
  rebuilt: string,
): Promise<{ readonly missing: number; readonly extra: number }> {
  const counts = await session.row(
    `select (select count(*) from ((${native}) except all (${rebuilt}))) as missing,
       (select count(*) from ((${rebuilt}) except all (${native}))) as extra`,
  );
  return { missing: Number(counts.missing), extra: Number(counts.extra) };
}

async function proveTables(session: DuckSession, lake: SchemaLake, progress: Progress): Promise<Proof[]> {
  const { catalog, dictionary, codecs, dataset } = lake;
  const paths = new Map(lake.tables.map(({ plan, path }) => [plan.name, path]));
  const proofs: Proof[] = [];
  for (const relation of lake.tables.flatMap(({ plan }) => plan.reads)) {
    progress.update(`${dictionary.id}: rebuilding ${relation}`);
    const { schema, table, columns } = entryOf(catalog, relation);
    const path = parquetPath(dataset, schema, table);
    const native = await contentHash(session, `read_parquet(${literal(path)})`, columns);
    proofs.push(
      await compare(session, {
        name: relation,
        columns,
        native: { ...native, path },
        expectedLoss: await lossOf(session, lake, relation),
        rebuilt: async () =>
          originalInNativeNames(
            catalog,
            dictionary,
            codecs,
            relation,
            (name) => `read_parquet(${literal(paths.get(name)!)})`,
          ),
      }),
    );
  }
  return proofs;
}

async function proveQueries(
  session: DuckSession,
  options: ProveOptions,
  progress: Progress,
): Promise<{ readonly concepts: Proof[]; readonly references: Proof[] }> {
  const { lake, home } = options;
  const { dataset, dictionary, codecs } = lake;
  await createParquetViews(
    session,
    lake.tables.map(({ plan, path }) => ({ schema: plan.schema, table: plan.table, path })),
  );
  const presented = new Set(lake.tables.map(({ plan }) => plan.name));
  const references = await buildReferences(home, dataset, {
    progress,
    ...(options.references === undefined ? {} : { keys: options.references }),
  });
  const queries = new Map((await loadReferenceQueries(dataset.kind)).map(({ key, sql }) => [key, sql.query]));
  await using translator = await SqlTranslator.open(lake);
  await using rewording = new OpenedOnDemand(() => SqlTranslator.open({ ...lake, rewordsBack: true }));
  const prove = async (
    name: string,
    sql: string,
    native: Comparison['native'],
    columns: readonly ParquetColumn[],
  ) => {
    progress.update(`${dictionary.id}: carrying ${name}`);
    return compare(session, {
      name,
      columns,
      native,
      expectedLoss: 0,
      rebuilt: async () => {
        const relation = { schema: '', table: name, columns, isDerived: true, sortedBy: [] };
        return decodeAll(codecs, relation, await carried(translator, rewording, sql, name));
      },
    });
  };
  const concepts: Proof[] = [];
  for (const { table, sql } of await loadConcepts()) {
    if (options.concepts !== undefined && !options.concepts.includes(table)) continue;
    if (!presented.has(`${derivedSchema}.${table}`)) continue;
    const path = parquetPath(dataset, derivedSchema, table);
    const { columns } = entryOf(lake.catalog, `${derivedSchema}.${table}`);
    const native = await contentHash(session, `read_parquet(${literal(path)})`, columns);
    concepts.push(await prove(table, sql.query, { ...native, path }, columns));
  }
  const proofs: Proof[] = [];
  for (const { key, manifest, parquetPath: path } of references) {
    // From the bytes, like everything else: the manifest is only compared with this when a run asks.
    const native = await contentHash(session, `read_parquet(${literal(path)})`, manifest.columns);
    proofs.push(await prove(key, queries.get(key)!, { ...native, path }, manifest.columns));
  }
  return { concepts, references: proofs };
}

/** A resource that is opened when it is first needed, if at all. */
class OpenedOnDemand<Resource extends AsyncDisposable> implements AsyncDisposable {
  private opened: Promise<Resource> | undefined;

  constructor(private readonly open: () => Promise<Resource>) {}

  get(): Promise<Resource> {
    this.opened ??= this.open();
    return this.opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.opened)?.[Symbol.asyncDispose]();
  }
}

/** The carried query; one that computes with re-worded texts has them worded back first. */
async function carried(
  translator: SqlTranslator,
  rewording: OpenedOnDemand<SqlTranslator>,
  sql: string,
  name: string,
): Promise<string> {
  try {
    return (await translator.translate(sql, name)).sql;
  } catch (thrown) {
    if (!(thrown instanceof M4BenchError) || thrown.code !== 'SQL_NOT_TRANSLATABLE') throw thrown;
    return (await (await rewording.get()).translate(sql, name)).sql;
  }
}
