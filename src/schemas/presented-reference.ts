import { join } from 'node:path';
import { currentManifest, materialize } from '../duck/materialize.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { createParquetViews } from '../duck/views.js';
import type { Reference } from '../references/build.js';
import { sha256 } from '../support/hashing.js';
import type { SchemaLake } from './lake.js';
import { encodeAll } from './value-codec.js';

/**
 * The reference that outputs on a transformed schema are scored against. Names and shapes change nothing in it: the
 * output contract is that of the native schema. Only dates that were moved move in the reference too.
 */
export async function presentedReference(
  lake: Pick<SchemaLake, 'codecs' | 'maps' | 'folder'>,
  reference: Reference,
): Promise<Reference> {
  const { key, manifest } = reference;
  const relation = { schema: '', table: key, columns: manifest.columns, isDerived: true, sortedBy: [] };
  const codecs = lake.codecs.filter((codec) => codec.appliesTo(relation));
  if (codecs.length === 0) return reference;
  const native = (from: string): string => encodeAll(codecs, relation, `select * from ${from}`);
  const inputs: Record<string, string> = { [key]: manifest.contentHash };
  for (const codec of codecs) Object.assign(inputs, codec.inputs);
  const parquetPath = join(lake.folder, 'references', `${key}.parquet`);
  const wanted = {
    name: key,
    query: native(`read_parquet(${literal(reference.parquetPath)})`),
    sqlSha256: sha256(native(key)),
    inputs,
    sortedBy: manifest.sortedBy,
    parquetPath,
    manifestPath: join(lake.folder, 'references', `${key}.json`),
  };
  const kept = await currentManifest(wanted);
  if (kept !== undefined) return { ...reference, parquetPath, manifest: kept };
  await using session = await DuckSession.open();
  await createParquetViews(session, lake.maps);
  return { ...reference, parquetPath, manifest: await materialize(session, wanted) };
}
