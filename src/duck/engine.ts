/** The engine binding in one place, and the version that manifests record. */
export { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { version } from '@duckdb/node-api';

/** JSON values as the binding returns them. */
export type JsonDuckDBType =
  | null
  | boolean
  | number
  | string
  | JsonDuckDBType[]
  | { [key: string]: JsonDuckDBType };

/** DuckDB library version, for example `v1.5.6`. */
export const engineVersion: string = version();
