import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { holderInWords, holderOf, holdLock, type LockHolder, type LockOptions } from '../support/lock.js';
import { refuseImported } from './imported.js';

const placeOf = (root: string) => ({ folder: join(root, 'lock') });

/**
 * Holds a campaign for one scheduler at a time: two would make runs twice.
 * Throws `CAMPAIGN_LOCKED`, and `CAMPAIGN_IMPORTED` for one that others made.
 */
export async function lockCampaign(
  root: string,
  name: string,
  options: LockOptions = {},
): Promise<AsyncDisposable> {
  refuseImported(root, name);
  return holdLock(placeOf(root), (holder) => locked(name, holder), options);
}

/** The process that works on a campaign, for `status`; undefined when none does. */
export function lockHolder(root: string): Promise<LockHolder | undefined> {
  return holderOf(placeOf(root));
}

function locked(name: string, holder: LockHolder | undefined): M4BenchError {
  return new M4BenchError(
    'CAMPAIGN_LOCKED',
    `Campaign ${name} is being run by ${holderInWords(holder)}.`,
    `Wait for it, or end it with m4bench campaign stop ${name}; m4bench campaign status ${name} --watch shows how far it is.`,
    { party: 'environment' },
  );
}
