import { parquetPath } from '../datasets/dataset.js';
import type { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { entryOf } from './catalog.js';
import type { SchemaLake } from './lake.js';
import { type JoinMerge, mergeOf, mergesOf, originalsOf } from './merges.js';

function nativeFile(lake: SchemaLake, relation: string): string {
  const { schema, table } = entryOf(lake.catalog, relation);
  return `read_parquet(${literal(parquetPath(lake.dataset, schema, table))})`;
}

/**
 * Rows that a merged table must have, counted on the native tables; undefined for a table that is not merged.
 * A union has the sum of its parts. `encounters` has one row per ICU stay, one per admission without a stay and,
 * when it is lossless, one per patient without an admission.
 */
export async function mergedRows(
  session: DuckSession,
  lake: SchemaLake,
  name: string,
): Promise<number | undefined> {
  const merge = mergesOf(lake.dictionary).find((entry) => entry.name === name);
  if (merge === undefined) return undefined;
  if (merge.kind === 'union') {
    const counts = originalsOf(merge).map(
      (original) => `(select count(*) from ${nativeFile(lake, original)})`,
    );
    return Number((await session.row(`select ${counts.join(' + ')} as n`)).n);
  }
  const { n } = await session.row(
    `select (select count(*) from ${nativeFile(lake, merge.stays)} where hadm_id in (select hadm_id from ${nativeFile(lake, merge.admissions)}))
       + (select count(*) from ${nativeFile(lake, merge.admissions)} where hadm_id not in (select hadm_id from ${nativeFile(lake, merge.stays)} where hadm_id is not null)) as n`,
  );
  const lonely =
    lake.dictionary.merges === 'lossless' ? await patientsWithoutAdmission(session, lake, merge) : 0;
  return Number(n) + lonely;
}

/** Rows of a native table that the presentation loses by design: patients without admission, as published. */
export async function lossOf(session: DuckSession, lake: SchemaLake, relation: string): Promise<number> {
  const merge = mergeOf(lake.dictionary, relation);
  const isLossy = merge?.kind === 'join' && lake.dictionary.merges === 'published';
  return isLossy && relation === merge.patients ? patientsWithoutAdmission(session, lake, merge) : 0;
}

async function patientsWithoutAdmission(
  session: DuckSession,
  lake: SchemaLake,
  merge: JoinMerge,
): Promise<number> {
  const { n } = await session.row(
    `select count(*) as n from ${nativeFile(lake, merge.patients)}
     where subject_id not in (select subject_id from ${nativeFile(lake, merge.admissions)} where subject_id is not null)`,
  );
  return Number(n);
}
