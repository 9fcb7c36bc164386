import { listDatasets } from '../datasets/dataset.js';
import { isShippedKind } from '../datasets/source-schema.js';
import type { LintOptions } from '../tasks/lint.js';
import type { CliContext } from './context.js';

/** What lint looks at besides the shipped content: own families, and own databases that are present. */
export async function lintOptions(context: CliContext, folders: readonly string[]): Promise<LintOptions> {
  const datasets = await listDatasets(context.home);
  return {
    extraFolders: [...(context.content.extraFolders ?? []), ...folders],
    ownDatabases: datasets
      .filter(({ kind }) => !isShippedKind(kind))
      .map(({ kind, tables }) => ({
        kind,
        tables: tables.map(({ schema, table, columns }) => ({ schema, name: table, columns })),
      })),
  };
}
