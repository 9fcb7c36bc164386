import { join } from 'node:path';
import { z } from 'zod';
import { readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import type { CampaignFolder } from './plan.js';

/**
 * `campaigns/<name>/control.json`: what the user wants of a running campaign. `pause` starts no more runs until `run`;
 * `stop` ends the campaign when the runs under way have ended.
 */
const controlSchema = z.object({ wants: z.enum(['run', 'pause', 'stop']) });
export type Wish = z.infer<typeof controlSchema>['wants'];

const fileOf = (folder: CampaignFolder): string => join(folder.root, 'control.json');

/** Leaves a wish for whoever runs the campaign; a running one sees it within a second. */
export function wish(folder: CampaignFolder, wants: Wish): Promise<void> {
  return writeJsonAtomic(fileOf(folder), { wants });
}

/** The wish in force; `run` when there is none that can be read. */
export async function readWish(folder: CampaignFolder): Promise<Wish> {
  try {
    return controlSchema.parse(JSON.parse((await readTextIfPresent(fileOf(folder))) ?? 'null')).wants;
  } catch {
    return 'run';
  }
}
