import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { auditRun } from '../audit/audit-run.js';
import { entriesBelow, recordText, statusOf } from '../audit/record-files.js';
import { isDone, readResult } from '../campaigns/campaign-index.js';
import {
  type CampaignFolder,
  type CampaignPlan,
  campaignFolder,
  campaignNotFound,
  readPlan,
} from '../campaigns/plan.js';
import type { RunResult } from '../runs/result.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { policyOf, type Ruleset } from './ruleset.js';

/** A finished run as it lies on disk. */
export interface SourceRun {
  readonly runId: string;
  readonly folder: string;
  readonly result: RunResult;
  /** Numbers of its attempts, in order. */
  readonly attempts: readonly number[];
}

/** A campaign that is to be published. */
export interface CampaignSource {
  readonly name: string;
  readonly folder: CampaignFolder;
  readonly plan: CampaignPlan | undefined;
  /** Runs with a valid result, by run id. */
  readonly runs: readonly SourceRun[];
  /** Planned runs without one. */
  readonly missing: readonly string[];
  /** Results that the plan does not ask for. */
  readonly unplanned: readonly string[];
}

/**
 * Reads a campaign and checks that its files do not contradict one another: what is published must be what happened.
 * Throws `CAMPAIGN_NOT_FOUND`, `EVIDENCE_EMPTY`, `EVIDENCE_CONTRADICTED` or `EVIDENCE_FILE_UNKNOWN`.
 */
export async function readCampaignSource(
  home: Home,
  name: string,
  ruleset: Ruleset,
  signal?: AbortSignal,
): Promise<CampaignSource> {
  const folder = campaignFolder(home, name);
  const entries = await readdir(folder.runs, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    throw campaignNotFound(home, name);
  }
  const plan = await readPlan(home, name);
  const planned = new Map(plan?.runs.map((run) => [run.runId, run]));
  const runs: SourceRun[] = [];
  const unplanned: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    signal?.throwIfAborted();
    if (!entry.isDirectory()) continue;
    const run = await readRun(join(folder.runs, entry.name), ruleset);
    if (run === undefined) continue;
    const asked = planned.get(run.runId);
    if (plan !== undefined && (asked === undefined || !isDone(plan, asked, run.result)))
      unplanned.push(run.runId);
    runs.push(run);
  }
  if (runs.length === 0) {
    throw new M4BenchError(
      'EVIDENCE_EMPTY',
      `Campaign ${name} has no finished run.`,
      'Run it first with m4bench campaign run.',
    );
  }
  const done = new Set(runs.map(({ runId }) => runId));
  const missing = [...planned.keys()].filter((runId) => !done.has(runId)).sort();
  return { name: plan?.name ?? name, folder, plan, runs, missing, unplanned };
}

/** A run with a valid result; undefined for one that is not finished. */
async function readRun(folder: string, ruleset: Ruleset): Promise<SourceRun | undefined> {
  const result = await readResult(folder);
  if (result === undefined) return undefined;
  const runId = basename(folder);
  const { problems } = await auditRun(folder);
  const [first] = problems.filter(({ code }) => code !== 'FILE_UNKNOWN');
  if (first !== undefined) {
    throw new M4BenchError(
      'EVIDENCE_CONTRADICTED',
      `The files of run ${runId} contradict one another: ${first.code} in ${first.where} (${first.detail}).`,
      'See m4bench campaign audit; a run that was changed cannot be published.',
    );
  }
  const attempts = result.attempts.map(({ n }) => n);
  for (const n of attempts) await refuseUnknownFiles(join(folder, 'attempts', String(n)), runId, ruleset);
  return { runId, folder, result, attempts };
}

/** What a file of an attempt is must be known, or nobody can say whether it may be published. */
async function refuseUnknownFiles(folder: string, runId: string, ruleset: Ruleset): Promise<void> {
  for (const path of await entriesBelow(folder)) {
    if (path.endsWith('.tmp')) continue;
    const isKnown =
      policyOf(ruleset, path) !== undefined && (await statusOf(join(folder, path))) !== undefined;
    if (isKnown || path === 'attempt.json') continue;
    throw new M4BenchError(
      'EVIDENCE_FILE_UNKNOWN',
      `Run ${runId} holds ${JSON.stringify(path)}, for which there is no rule whether it may be published.`,
      'Remove the file, or add a rule for it to benchmark/evidence/artifacts.toml.',
    );
  }
}

/** Text of a file of a run, or undefined. */
export function sourceText(run: SourceRun, path: string): Promise<string | undefined> {
  return recordText(join(run.folder, path));
}

/** Files of an attempt that are there, in order. */
export async function attemptFiles(run: SourceRun, n: number): Promise<readonly string[]> {
  const all = await entriesBelow(join(run.folder, 'attempts', String(n)));
  return all.filter((path) => !path.endsWith('.tmp'));
}
