import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDone, readResult } from '../campaigns/campaign-index.js';
import { type CampaignPlan, campaignFolder, readPlan } from '../campaigns/plan.js';
import type { RunResult } from '../runs/result.js';
import { messageOf, systemCodeOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { decodeSegment } from '../support/ids.js';

/** A campaign in a list: counted, not read. */
export interface CampaignListing {
  readonly name: string;
  /** Null without a plan, as for single runs. */
  readonly planned: number | null;
  readonly finished: number;
  /** Of the newest result, ISO 8601; null when there is none. */
  readonly changedAt: string | null;
  /** Why its plan cannot be read; null when it can, or there is none. */
  readonly problem: string | null;
}

/** A campaign as its files are now. */
export interface CampaignState {
  readonly name: string;
  readonly folder: string;
  /** Undefined for single runs, which have none. */
  readonly plan: CampaignPlan | undefined;
  /** Valid results of planned runs, in the order of the plan; without a plan all valid results by run id. */
  readonly results: readonly RunResult[];
  /** Run ids that were begun and have no result. */
  readonly running: readonly string[];
  /** Changes when any result does. */
  readonly version: string;
}

interface KeptResult {
  readonly stamp: string;
  readonly result: RunResult | undefined;
}

/** Files that are looked at at once. */
const atOnce = 24;
/** Campaigns whose results are kept in memory. */
const mostKept = 4;

/**
 * Campaigns of one home, read from their files. A result is read again only when its file changed, so following a
 * campaign of thousands of runs costs a look at each file and no more.
 */
export class CampaignStore {
  readonly #kept = new Map<string, Map<string, KeptResult>>();
  readonly #plans = new Map<string, { readonly stamp: string; readonly plan: CampaignPlan | undefined }>();

  constructor(readonly home: Home) {}

  /** Every campaign, the last changed first. */
  async list(): Promise<readonly CampaignListing[]> {
    const folders = await foldersIn(this.home.campaigns);
    const names = folders.flatMap((folder) => decodeSegment(folder) ?? []);
    const listings = await Promise.all(names.map((name) => this.#listing(name)));
    return listings.sort((a, b) => ((a.changedAt ?? '') < (b.changedAt ?? '') ? 1 : -1));
  }

  /** Undefined when there is no such campaign. Throws `PLAN_INVALID` or `PLAN_CHANGED` for a broken plan. */
  async open(name: string): Promise<CampaignState | undefined> {
    const folder = campaignFolder(this.home, name);
    if (name === '' || !(await isFolder(folder.root))) return undefined;
    const plan = await this.#plan(name, folder.plan);
    const present = await foldersIn(folder.runs);
    const known = new Set(present);
    const runIds =
      plan === undefined ? present : plan.runs.map(({ runId }) => runId).filter((runId) => known.has(runId));
    const kept = this.#keptOf(name);
    const read = await inGroups(runIds, (runId) => this.#result(join(folder.runs, runId), runId, kept));
    const resultOf = new Map(runIds.map((runId, index) => [runId, read[index]]));
    const results =
      plan === undefined
        ? runIds.flatMap((runId) => resultOf.get(runId) ?? [])
        : plan.runs.flatMap((run) => {
            const result = resultOf.get(run.runId);
            return result !== undefined && isDone(plan, run, result) ? [result] : [];
          });
    const finished = new Set(results.map(({ runId }) => runId));
    const stamps = runIds.map((runId) => kept.get(runId)?.stamp ?? '').join('\n');
    return {
      name,
      folder: folder.root,
      plan,
      results,
      running: runIds.filter((runId) => !finished.has(runId)),
      version: sha256(`${plan?.planHash ?? ''}\n${stamps}`).slice(0, 16),
    };
  }

  async #plan(name: string, path: string): Promise<CampaignPlan | undefined> {
    const found = await stat(path).catch(() => undefined);
    const stamp = found === undefined ? '' : stampOf(found);
    const before = this.#plans.get(name);
    if (before?.stamp === stamp) return before.plan;
    const plan = await readPlan(this.home, name);
    this.#plans.set(name, { stamp, plan });
    return plan;
  }

  async #listing(name: string): Promise<CampaignListing> {
    const { runs } = campaignFolder(this.home, name);
    const times = await inGroups(await foldersIn(runs), async (runId) => {
      const found = await stat(join(runs, runId, 'result.json')).catch(() => undefined);
      return found?.isFile() ? found.mtimeMs : undefined;
    });
    const finished = times.filter((time) => time !== undefined);
    const { planned, problem } = await this.#planned(name);
    const newest = finished.reduce((latest, time) => Math.max(latest, time), 0);
    return {
      name,
      planned,
      finished: finished.length,
      changedAt: newest === 0 ? null : new Date(newest).toISOString(),
      problem,
    };
  }

  async #planned(
    name: string,
  ): Promise<{ readonly planned: number | null; readonly problem: string | null }> {
    try {
      const plan = await this.#plan(name, campaignFolder(this.home, name).plan);
      return { planned: plan?.runs.length ?? null, problem: null };
    } catch (thrown) {
      return { planned: null, problem: messageOf(thrown) };
    }
  }

  async #result(
    runFolder: string,
    runId: string,
    kept: Map<string, KeptResult>,
  ): Promise<RunResult | undefined> {
    const found = await stat(join(runFolder, 'result.json')).catch(() => undefined);
    if (!found?.isFile()) {
      kept.delete(runId);
      return undefined;
    }
    const stamp = stampOf(found);
    const before = kept.get(runId);
    if (before?.stamp === stamp) return before.result;
    const result = await readResult(runFolder);
    // The folder names a run; a result that says another name is not of this run.
    const own = result?.runId === runId ? result : undefined;
    kept.set(runId, { stamp, result: own });
    return own;
  }

  #keptOf(name: string): Map<string, KeptResult> {
    const kept = this.#kept.get(name) ?? new Map<string, KeptResult>();
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
    }
    return kept;
  }
}

/** Changes when a file does; results and plans are replaced whole. */
function stampOf(file: Stats): string {
  return `${file.ino} ${file.size} ${file.mtimeMs}`;
}

/** Names of real folders, sorted; links are none. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Applies `work` to all, a bounded number at once, and keeps the order. */
async function inGroups<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    values.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  }
  return values;
}
