import { join } from 'node:path';
import { type Dataset, parquetPath } from '../datasets/dataset.js';
import { currentManifest, materialize, type TableManifest } from '../duck/materialize.js';
import type { DuckSession } from '../duck/session.js';
import { literal, relation } from '../duck/sql.js';
import type { ParquetRelation } from '../duck/views.js';
import { sha256 } from '../support/hashing.js';
import { entryOf, type NativeCatalog } from './catalog.js';

/** Schema, in working sessions only, of the tables that say how values are changed. Never in a task database. */
export const mapSchema = 'm4bench_maps';

/** A table that says how values are changed, kept in the folder of the lake beside the dictionary. */
export interface ValueMap extends ParquetRelation {
  readonly manifest: TableManifest;
}

export interface ValueMapRequest {
  readonly session: DuckSession;
  readonly dataset: Dataset;
  readonly catalog: NativeCatalog;
  /** Folder of the lake. */
  readonly folder: string;
  readonly name: string;
  /** Base tables that the query reads. */
  readonly reads: readonly string[];
  /** The query; `source` gives the FROM item of a base table. */
  query(source: (name: string) => string): string;
  readonly sortedBy: readonly string[];
}

/** SQL name of a map. */
export function mapTable(name: string): string {
  return relation(mapSchema, name);
}

/** Writes a map, or finds it when the data it is made from have not changed. */
export async function valueMap(request: ValueMapRequest): Promise<ValueMap> {
  const { session, dataset, catalog, folder, name, reads } = request;
  const hashes = new Map(
    dataset.tables.map((entry) => [`${entry.schema}.${entry.table}`, entry.contentHash]),
  );
  const parquet = join(folder, 'maps', `${name}.parquet`);
  const wanted = {
    name,
    query: request.query((table) => {
      const entry = entryOf(catalog, table);
      return `read_parquet(${literal(parquetPath(dataset, entry.schema, entry.table))})`;
    }),
    sqlSha256: sha256(request.query((table) => table)),
    inputs: Object.fromEntries(reads.map((table) => [table, hashes.get(table) ?? 'absent'])),
    sortedBy: request.sortedBy,
    parquetPath: parquet,
    manifestPath: join(folder, 'maps', `${name}.json`),
  };
  const manifest = (await currentManifest(wanted)) ?? (await materialize(session, wanted));
  return { schema: mapSchema, table: name, path: parquet, manifest };
}
