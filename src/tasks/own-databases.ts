import { listDatasets } from '../datasets/dataset.js';
import { isShippedKind } from '../datasets/source-schema.js';
import type { Home } from '../support/home.js';
import type { DescribedDatabase } from './lint/contract-rules.js';

/** The databases of a home folder that are not part of the benchmark, as far as lint has to know them. */
export async function ownDatabases(home: Home): Promise<readonly DescribedDatabase[]> {
  const datasets = await listDatasets(home);
  return datasets
    .filter(({ kind }) => !isShippedKind(kind))
    .map(({ kind, tables }) => ({
      kind,
      tables: tables.map(({ schema, table, columns }) => ({ schema, name: table, columns })),
    }));
}
