import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../support/errors.js';
import { readResult } from './campaign-index.js';
import type { CampaignFolder } from './plan.js';

/** A run that a worker is making: out of sight until it is published whole. */
export interface StagedRun {
  /** Where `executeRun` works. Holds the attempts that an earlier worker left. */
  readonly folder: string;
  /** Shows the run to everybody. False when another worker was first, or took it over: this one's work is dropped. */
  publish(): Promise<boolean>;
}

/**
 * Where the workers of a campaign put finished runs. The first result of a run wins, whoever makes it; a run is seen
 * whole or not at all.
 */
export interface RunStore {
  /** Of the runs given, those with a result, and whether it is a judgement. */
  finished(runIds: readonly string[]): Promise<ReadonlyMap<string, 'judged' | 'unjudged'>>;
  /** Takes a run over, with what earlier workers recorded of it. `worker` is unique to the process. */
  begin(runId: string, worker: string): Promise<StagedRun>;
  /** Brings a finished run to `campaigns/<name>/runs`, where everything else looks for it. */
  fetch(runId: string): Promise<void>;
  /** Text of the frozen plan, and the way to put it there for workers on other machines. */
  readPlan(): Promise<string | undefined>;
  writePlan(text: string): Promise<void>;
}

/**
 * The campaign folder itself, on a file system that all machines share. Workers make runs under
 * `staging/<run-id>.<worker>` and publish one by renaming its folder, which fails when the run is there already. A
 * staged run of a dead worker is taken over by renaming it too; should that worker live after all, the marker file that
 * it looks for before it publishes is gone.
 */
export function folderStore(campaign: CampaignFolder): RunStore {
  const staging = join(campaign.root, 'staging');
  return {
    finished: async (runIds) => {
      const found = new Map<string, 'judged' | 'unjudged'>();
      const present = new Set(await namesIn(campaign.runs));
      for (const runId of runIds) {
        const result = present.has(runId) ? await readResult(join(campaign.runs, runId)) : undefined;
        if (result !== undefined) found.set(runId, result.status);
      }
      return found;
    },
    begin: async (runId, worker) => {
      const folder = join(staging, `${runId}.${worker}`);
      await mkdir(staging, { recursive: true });
      await adopt(staging, campaign.runs, runId, folder);
      await mkdir(folder, { recursive: true });
      const marker = join(folder, `worker-${worker}`);
      await writeFile(marker, '');
      return { folder, publish: () => publish(folder, marker, join(campaign.runs, runId)) };
    },
    fetch: async () => {},
    readPlan: async () => undefined,
    writePlan: async () => {},
  };
}

/** Moves what others left of a run to this worker's folder: a published run without a judgement, or a staged one. */
async function adopt(staging: string, runs: string, runId: string, folder: string): Promise<void> {
  const left = (await namesIn(staging)).filter((name) => name.startsWith(`${runId}.`));
  for (const from of [join(runs, runId), ...left.map((name) => join(staging, name))]) {
    if (from === folder || (await readResult(from))?.status === 'judged') continue;
    if (await moved(from, folder)) break;
  }
  for (const name of await namesIn(folder)) {
    if (name.startsWith('worker-')) await rm(join(folder, name), { force: true });
  }
}

async function publish(folder: string, marker: string, target: string): Promise<boolean> {
  try {
    await rm(marker);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    await rm(folder, { recursive: true, force: true });
    return false;
  }
  await mkdir(join(target, '..'), { recursive: true });
  if (await moved(folder, target)) return true;
  await rm(folder, { recursive: true, force: true });
  return false;
}

/** Renames a folder unless it is gone or the target holds something. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (thrown) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemCodeOf(thrown) ?? '')) return false;
    throw thrown;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
