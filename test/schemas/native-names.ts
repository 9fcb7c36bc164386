import { readFile } from 'node:fs/promises';
import type { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import type { NativeCatalog } from '../../src/schemas/catalog.js';
import { merges } from '../../src/schemas/merges.js';

/** Every native name: schemas, tables, columns, and the names of the merged tables. */
export function nativeNames(catalog: NativeCatalog): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { schema, table, columns } of catalog.values()) {
    for (const name of [schema, table, ...columns.map((column) => column.name)]) names.add(name);
  }
  for (const merge of merges) {
    names.add(merge.name.split('.')[1]!);
    if (merge.kind === 'union') names.add(merge.discriminator);
  }
  return names;
}

/** Native names that stand in a text as whole identifiers. */
export function namesIn(text: string, names: ReadonlySet<string>): readonly string[] {
  return [...new Set(text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [])].filter((word) =>
    names.has(word.toLowerCase()),
  );
}

/**
 * The bytes of a Parquet file without its data pages, and with the smallest and largest values of text columns blanked:
 * these are values, not names, and an agent may query them anyway. Names of two or three letters occur in any bytes by
 * chance, so callers look for longer ones here; all names are looked for in the parsed footer.
 */
export async function bytesBesidePages(session: DuckSession, path: string): Promise<string> {
  const bytes = await readFile(path);
  const chunks = await session.rows(
    `select least(coalesce(dictionary_page_offset, data_page_offset), data_page_offset)::bigint as start,
       total_compressed_size::bigint as length, stats_min_value as low, stats_max_value as high
     from parquet_metadata(${literal(path)})`,
  );
  for (const { start, length } of chunks) bytes.fill(0, Number(start), Number(start) + Number(length));
  for (const { low, high } of chunks) {
    for (const value of [low, high]) {
      if (typeof value !== 'string' || value.length < 3) continue;
      const wanted = Buffer.from(value, 'utf8');
      for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1))
        bytes.fill(0, at, at + wanted.length);
    }
  }
  return bytes.toString('latin1');
}
