import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { buildConcepts } from '../concepts/build.js';
import { derivedSchema } from '../concepts/concept.js';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import { engineVersion } from '../duck/engine.js';
import { currentManifest, type TableManifest } from '../duck/materialize.js';
import { writeParquet } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { createParquetViews } from '../duck/views.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { sha256 } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { type NativeCatalog, nativeCatalog } from './catalog.js';
import { buildDictionary, codedTable, type SchemaDictionary } from './dictionary.js';
import { changesOfValues } from './perturbation.js';
import { type Presentation, presentationFolder, presentedPath } from './presentation.js';
import { type PresentedTable, presentedNames, presentedTables } from './presented-tables.js';
import { schemaWordCodec } from './schema-words.js';
import type { QueryValues } from './sql-translator.js';
import type { ValueCodec } from './value-codec.js';
import type { ValueMap } from './value-map.js';

/** A file of a transformed lake and the record beside it. */
export interface LakeTable {
  readonly plan: PresentedTable;
  readonly path: string;
  readonly manifest: TableManifest;
  readonly wasBuilt: boolean;
}

/** A transformed lake: the map, and the tables asked for. */
export interface SchemaLake {
  readonly dataset: Dataset;
  readonly presentation: Presentation;
  readonly folder: string;
  readonly catalog: NativeCatalog;
  readonly dictionary: SchemaDictionary;
  readonly codecs: readonly ValueCodec[];
  /** Tables that say how values are changed; views of them stand in `m4bench_maps` where codecs run. */
  readonly maps: readonly ValueMap[];
  /** What queries must say differently. */
  readonly values: QueryValues;
  /** Item ids that could be ICD codes as well: a text that holds one is not carried over. */
  readonly ambiguousNumbers: ReadonlySet<number>;
  readonly tables: readonly LakeTable[];
}

export interface BuildLakeOptions {
  readonly home: Home;
  readonly dataset: Dataset;
  readonly presentation: Presentation;
  /** From `nativeCatalog` of this dataset, for callers that build many; read again when absent. */
  readonly catalog?: NativeCatalog;
  /** Native relations wanted, as `schema.table`; default every base table and every concept. */
  readonly relations?: readonly string[];
  readonly progress?: Progress;
  readonly memoryBytes?: number;
  readonly threads?: number;
}

/** Map and codecs of a presentation of a dataset, without the tables of the lake. */
export async function describeLake(
  options: Omit<BuildLakeOptions, 'relations' | 'progress'>,
): Promise<Omit<SchemaLake, 'tables'>> {
  const { home, dataset, presentation } = options;
  const catalog = options.catalog ?? (await nativeCatalog(dataset));
  const dictionary = buildDictionary(catalog, presentation);
  const folder = presentationFolder(home, dataset.name, presentation);
  const changed = await changesOfValues({ dataset, presentation, folder, catalog, ...limitsOf(options) });
  return {
    dataset,
    presentation,
    folder,
    catalog,
    dictionary,
    ...changed,
    codecs: [...changed.codecs, schemaWordCodec(dictionary, catalog)],
  };
}

/**
 * Writes the transformed Parquet files that hold the wanted relations, each whole or not at all, and keeps what is
 * current: a file is written again only when the content it is made from, the map or the engine changed.
 */
export async function buildLake(options: BuildLakeOptions): Promise<SchemaLake> {
  const described = await describeLake(options);
  const { catalog, dictionary, codecs, folder, dataset } = described;
  const progress = options.progress ?? silentProgress;
  const wanted = options.relations ?? [...catalog.keys()];
  const plans = presentedTables(catalog, dictionary, codecs, wanted);
  const sources = await nativeSources(options, [...new Set(plans.flatMap((plan) => plan.reads))]);
  await writeDictionary(folder, dictionary);
  await removeStrangers(folder, catalog, dictionary);
  await using session = await DuckSession.open(limitsOf(options));
  await createParquetViews(session, described.maps);
  const tables: LakeTable[] = [];
  for (const [index, plan] of plans.entries()) {
    progress.update(`${dictionary.id} ${index + 1}/${plans.length} ${plan.name}`);
    tables.push(await buildTable(session, folder, plan, sources, codecs));
  }
  const built = tables.filter((table) => table.wasBuilt);
  if (built.length > 0) {
    const rows = built.reduce((sum, table) => sum + table.manifest.rows, 0);
    progress.done(
      `${dataset.name} ${dictionary.id}: ${built.length} tables written, ${rows.toLocaleString('en')} rows`,
    );
  }
  return { ...described, tables };
}

/** Limits of DuckDB, for `DuckSession.open`. */
export function limitsOf(options: { readonly memoryBytes?: number; readonly threads?: number }): {
  readonly memoryBytes?: number;
  readonly threads?: number;
} {
  return {
    ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
    ...(options.threads === undefined ? {} : { threads: options.threads }),
  };
}

interface NativeSource {
  readonly path: string;
  readonly contentHash: string;
}

/** Files and content hashes of native relations; concepts among them are built when they are not current. */
async function nativeSources(
  options: BuildLakeOptions,
  relations: readonly string[],
): Promise<ReadonlyMap<string, NativeSource>> {
  const { dataset } = options;
  const sources = new Map<string, NativeSource>();
  for (const { schema, table, contentHash } of dataset.tables) {
    sources.set(`${schema}.${table}`, { path: parquetPath(dataset, schema, table), contentHash });
  }
  const concepts = relations
    .filter((name) => name.startsWith(`${derivedSchema}.`))
    .map((name) => name.slice(derivedSchema.length + 1));
  if (concepts.length > 0) {
    const built = await buildConcepts(dataset, {
      tables: concepts,
      ...(options.progress === undefined ? {} : { progress: options.progress }),
      ...limitsOf(options),
    });
    for (const { table, manifest } of built) {
      sources.set(`${derivedSchema}.${table}`, {
        path: parquetPath(dataset, derivedSchema, table),
        contentHash: manifest.contentHash,
      });
    }
  }
  const missing = relations.find((name) => !sources.has(name));
  if (missing === undefined) return sources;
  throw new M4BenchError(
    'RELATION_MISSING',
    `Dataset ${dataset.name} does not have ${missing}, which its transformed schemas present.`,
    'Import the dataset again, completely.',
  );
}

async function buildTable(
  session: DuckSession,
  folder: string,
  plan: PresentedTable,
  sources: ReadonlyMap<string, NativeSource>,
  codecs: readonly ValueCodec[],
): Promise<LakeTable> {
  const path = presentedPath(folder, plan.schema, plan.table);
  const manifestPath = path.replace(/\.parquet$/, '.json');
  const inputs: Record<string, string> = {};
  for (const codec of codecs) Object.assign(inputs, codec.inputs);
  for (const name of plan.reads) inputs[name] = sources.get(name)!.contentHash;
  // Hashed with relation names in the place of paths, so that a moved home folder changes nothing.
  const sqlSha256 = sha256(`${plan.query((name) => name)} ${plan.keepsOrder ? 'as read' : 'sorted'}`);
  const wanted = {
    name: plan.name,
    query: '',
    sqlSha256,
    inputs,
    sortedBy: plan.keepsOrder ? [] : plan.orderBy,
    parquetPath: path,
    manifestPath,
  };
  const kept = await currentManifest(wanted);
  if (kept !== undefined) return { plan, path, manifest: kept, wasBuilt: false };
  await rm(manifestPath, { force: true });
  const query = plan.query((name) => `read_parquet(${literal(sources.get(name)!.path)})`);
  try {
    const written = await writeParquet(
      session,
      query,
      path,
      plan.keepsOrder ? { keepOrder: true } : { orderBy: plan.orderBy },
    );
    const manifest: TableManifest = {
      schemaVersion: 1,
      name: plan.name,
      sqlSha256,
      inputs,
      engineVersion,
      rows: written.rows,
      columns: [...written.columns],
      sortedBy: [...wanted.sortedBy],
      fileBytes: (await stat(path)).size,
      fileSha256: written.fileSha256,
      contentHash: written.contentHash,
    };
    await writeJsonAtomic(manifestPath, manifest);
    return { plan, path, manifest, wasBuilt: true };
  } catch (thrown) {
    throw new M4BenchError(
      'SCHEMA_BUILD_FAILED',
      `${plan.name} could not be written in its transformed form: ${messageOf(thrown)}.`,
      'Tables written so far are kept; check disk space and the dataset, and run the command again.',
      { party: 'environment', cause: thrown },
    );
  }
}

async function writeDictionary(folder: string, dictionary: SchemaDictionary): Promise<void> {
  const path = join(folder, 'dictionary.json');
  const text = `${JSON.stringify(dictionary, null, 2)}\n`;
  if ((await readTextIfPresent(path)) !== text) await writeJsonAtomic(path, dictionary);
}

/** Folders of a lake that hold no presented tables. */
const besideTables = ['maps', 'references'];

/** Files of an older map, and what a stopped build left, must not linger beside those of this one. */
async function removeStrangers(
  folder: string,
  catalog: NativeCatalog,
  dictionary: SchemaDictionary,
): Promise<void> {
  const known = new Set(
    presentedNames(catalog, dictionary).map((name) => {
      const { schema, table } = codedTable(dictionary, name);
      return join(folder, schema, table);
    }),
  );
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isAside = entry.parentPath === folder || besideTables.includes(relative(folder, entry.parentPath));
    if (!entry.isFile() || isAside) continue;
    if (known.has(path.replace(/\.(parquet|json)$/, ''))) continue;
    // A young temporary file belongs to a build that is running now.
    const isYoung = Date.now() - (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs < 3_600_000;
    if (!(entry.name.endsWith('.tmp') && isYoung)) await rm(path, { force: true });
  }
}
