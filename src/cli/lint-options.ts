import type { LintOptions } from '../tasks/lint.js';
import { ownDatabases } from '../tasks/own-databases.js';
import type { CliContext } from './context.js';

/** What lint looks at besides the shipped content: own families, and own databases that are present. */
export async function lintOptions(context: CliContext, folders: readonly string[]): Promise<LintOptions> {
  return {
    extraFolders: [...(context.content.extraFolders ?? []), ...folders],
    ownDatabases: await ownDatabases(context.home),
  };
}
