import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { readJournal } from '../campaigns/journal.js';
import { campaignFolder, readPlan } from '../campaigns/plan.js';
import { M4BenchError } from '../support/errors.js';
import { writeJsonAtomic } from '../support/files.js';
import type { Home } from '../support/home.js';
import { journalSignatureName, type Signature, signStatement } from './signing.js';

/**
 * Signs the journal of a campaign as it stands: whoever has the public key can then tell that no result in it was
 * changed or left out. Written beside the journal; signing again replaces it. Throws `JOURNAL_MISSING`.
 */
export async function signJournal(
  home: Home,
  campaign: string,
  key: KeyObject,
): Promise<{ readonly path: string; readonly signature: Signature }> {
  const folder = campaignFolder(home, campaign);
  const plan = await readPlan(home, campaign);
  const journal = await readJournal(folder.journal);
  if (plan === undefined || journal === undefined || journal.lines.length === 0) {
    throw new M4BenchError(
      'JOURNAL_MISSING',
      `Campaign ${campaign} under ${home.campaigns} has no journal to sign.`,
      'Run it first with m4bench campaign run; single runs (adhoc) have none.',
    );
  }
  const signature = signStatement(
    {
      purpose: 'm4bench campaign journal',
      campaign: plan.name,
      planHash: plan.planHash,
      sha256: journal.head,
      count: journal.lines.length,
    },
    key,
  );
  const path = join(folder.root, journalSignatureName);
  await writeJsonAtomic(path, signature);
  return { path, signature };
}
