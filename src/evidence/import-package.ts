import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readResult } from '../campaigns/campaign-index.js';
import { importedMarker } from '../campaigns/imported.js';
import { campaignFolder, planOf } from '../campaigns/plan.js';
import type { RunResult } from '../runs/result.js';
import { M4BenchError } from '../support/errors.js';
import { writeJsonAtomic } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import type { Ruleset } from './ruleset.js';
import { type Verification, verifyPackage } from './verify.js';

export interface ImportedCampaign {
  readonly name: string;
  readonly folder: string;
  readonly runs: number;
  /** What a reader must know of it, in sentences. */
  readonly notes: readonly string[];
}

/** `imported.json`: where a campaign comes from. */
export interface ImportRecord {
  readonly schemaVersion: 1;
  readonly kind: 'package' | 'published';
  /** Name of the file or folder. */
  readonly source: string;
  readonly sha256: string | null;
  readonly notes: readonly string[];
}

/**
 * Makes a read-only campaign of a package of this system, after it was found good. Throws `EVIDENCE_NOT_GOOD` that
 * names the first file that is wrong, and `CAMPAIGN_EXISTS`.
 */
export async function importPackage(
  home: Home,
  archive: string,
  ruleset: Ruleset,
  name?: string,
): Promise<ImportedCampaign> {
  await mkdir(home.campaigns, { recursive: true });
  const scratch = await mkdtemp(join(home.campaigns, '.import-'));
  try {
    const unpacked = join(scratch, 'package');
    await mkdir(unpacked);
    const verification = await verifyPackage({ archive, ruleset, home, folder: unpacked });
    refuseBad(archive, verification);
    const { manifest } = verification;
    const target = name ?? manifest!.campaign;
    const draft = join(scratch, 'campaign');
    await mkdir(draft);
    for (const file of ['runs', 'campaign.json', 'journal.jsonl', 'journal.signature.json', 'lineage.jsonl'])
      if (existsSync(join(unpacked, file))) await rename(join(unpacked, file), join(draft, file));
    const runs = (await readdir(join(draft, 'runs'))).length;
    const notes = [`A ${manifest!.mode} package of campaign ${manifest!.campaign}.`, ...verification.notes];
    if (!existsSync(join(draft, 'campaign.json')))
      await writePlanOf(draft, target, await resultsIn(join(draft, 'runs')));
    const record: ImportRecord = {
      schemaVersion: 1,
      kind: 'package',
      source: basename(archive),
      sha256: verification.archiveSha256,
      notes,
    };
    return await settle(home, draft, target, runs, record);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function refuseBad(archive: string, { isGood, problems }: Verification): void {
  if (isGood) return;
  const [first] = problems;
  throw new M4BenchError(
    'EVIDENCE_NOT_GOOD',
    `${archive} is not good: ${first?.code} in ${first?.file} (${first?.detail})${problems.length > 1 ? `, and ${problems.length - 1} more` : ''}.`,
    'See m4bench evidence verify; fetch it again from where it was published.',
  );
}

async function resultsIn(runs: string): Promise<readonly RunResult[]> {
  const results = await Promise.all(
    (await readdir(runs)).sort().map((runId) => readResult(join(runs, runId))),
  );
  return results.filter((result) => result !== undefined);
}

/** A plan of what is there, for runs that came without one. */
export async function writePlanOf(
  folder: string,
  name: string,
  results: readonly RunResult[],
): Promise<void> {
  const cells = new Map(results.map(({ cell }) => [hashOf(cell), cell]));
  const indices = new Map([...cells.keys()].map((hash, index) => [hash, index]));
  const plan = planOf({
    name,
    benchmarkVersion: results[0]?.benchmarkVersion ?? '0',
    cells: [...cells.values()],
    runs: results.map(({ cell, trial }) => ({ cell: indices.get(hashOf(cell))!, trial })),
    seed: 'imported',
    sandbox: results[0]?.sandbox.kind ?? 'unknown',
    timeoutSeconds: 1800,
  });
  await writeJsonAtomic(join(folder, 'campaign.json'), plan);
}

/** Moves a finished draft to its place and makes it read-only. Throws `CAMPAIGN_EXISTS`. */
export async function settle(
  home: Home,
  draft: string,
  name: string,
  runs: number,
  record: ImportRecord,
): Promise<ImportedCampaign> {
  const folder = campaignFolder(home, name).root;
  await writeJsonAtomic(join(draft, importedMarker), record);
  await makeReadOnly(draft);
  await mkdir(dirname(folder), { recursive: true });
  try {
    // Renaming onto a folder that holds anything fails, so what is there is never touched.
    await rename(draft, folder);
  } catch {
    throw new M4BenchError(
      'CAMPAIGN_EXISTS',
      `There is a campaign ${name} under ${home.campaigns} already.`,
      'Give the imported one another name with --name.',
    );
  }
  return { name, folder, runs, notes: record.notes };
}

/** Files lose their write permission; folders keep it, so that analysis can be written beside and all be removed. */
async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o444);
}
