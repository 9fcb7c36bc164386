import type { DuckSession } from './session.js';
import { identifier, literal, relation } from './sql.js';

/** A relation and the Parquet file that holds it. */
export interface ParquetRelation {
  readonly schema: string;
  readonly table: string;
  readonly path: string;
}

/** Creates one view per Parquet file, schemas included. DuckDB checks that each file exists. */
export async function createParquetViews(
  session: DuckSession,
  relations: readonly ParquetRelation[],
): Promise<void> {
  for (const schema of new Set(relations.map((entry) => entry.schema))) {
    await session.run(`create schema if not exists ${identifier(schema)}`);
  }
  for (const { schema, table, path } of relations) {
    await session.run(
      `create or replace view ${relation(schema, table)} as select * from read_parquet(${literal(path)})`,
    );
  }
}
