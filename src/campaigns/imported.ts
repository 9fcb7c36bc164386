import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';

/** Marks a campaign that others made: it is read, and never written to. */
export const importedMarker = 'imported.json';

/** Throws `CAMPAIGN_IMPORTED` for a campaign that was imported. */
export function refuseImported(root: string, name: string): void {
  if (!existsSync(join(root, importedMarker))) return;
  throw new M4BenchError(
    'CAMPAIGN_IMPORTED',
    `Campaign ${name} was imported: it shows what others made, and no run can be added to it.`,
    'Start a campaign under another name.',
  );
}
