import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { resultSchema } from '../runs/result.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { readTextIfPresent } from '../support/files.js';
import { byCodePoint, present, total } from './moments.js';
import { type RunRow, rowOfResult } from './run-row.js';
import type { CampaignRecord, RunSet } from './run-set.js';
import type { TaskFacts } from './task-facts.js';

/** Files that every attempt leaves, as packages list them. */
export const expectedArtifacts = [
  'result.json',
  'output.csv',
  'instruction.md',
  'trace.jsonl',
  'egress.jsonl',
] as const;

export interface ReadCampaignOptions {
  /** Facts of the tasks, default none: families, modes and databases are then unknown to the tables. */
  readonly tasks?: readonly TaskFacts[];
}

/**
 * Reads every valid `result.json` below `campaigns/<name>/runs`, in the order of run ids, with the plan's number of
 * runs where there is a plan. A run without a valid result is missing, not an error: campaigns are read while they
 * run.
 *
 * Throws `CAMPAIGN_EMPTY` when the folder holds no result at all.
 */
export async function readCampaignRows(folder: string, options: ReadCampaignOptions = {}): Promise<RunSet> {
  const names = await foldersIn(join(folder, 'runs'));
  const rows: RunRow[] = [];
  for (const name of names) {
    const row = await readRow(join(folder, 'runs', name));
    if (row !== undefined) rows.push(row);
  }
  if (rows.length === 0) {
    throw new M4BenchError(
      'CAMPAIGN_EMPTY',
      `${folder} holds no finished run.`,
      'Run the campaign first, or name another one.',
    );
  }
  const byCampaign = [...new Set(rows.map((row) => row.campaign))];
  const planned = await plannedRunIds(join(folder, 'campaign.json'));
  return {
    rows,
    superseded: [],
    records: byCampaign.map((campaign) =>
      recordOf(
        campaign,
        rows.filter((row) => row.campaign === campaign),
        planned,
      ),
    ),
    tasks: options.tasks ?? [],
    printedProbeMeans: {},
  };
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort(byCodePoint);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

async function readRow(runFolder: string): Promise<RunRow | undefined> {
  const text = await readTextIfPresent(join(runFolder, 'result.json'));
  if (text === undefined) return undefined;
  const result = parsedResult(text);
  if (result === undefined) return undefined;
  const attempt = result.attempt ?? result.attempts.length;
  const artifacts: Record<string, number> = {};
  for (const artifact of expectedArtifacts) {
    const inAttempt = join(runFolder, 'attempts', String(attempt), artifact);
    const bytes = await bytesOf(artifact === 'result.json' ? join(runFolder, artifact) : inAttempt);
    if (bytes !== undefined) artifacts[artifact] = bytes;
  }
  const row = rowOfResult(result, artifacts);
  if (row.firstAttempt === undefined) return row;
  return { ...row, firstAttempt: { reward: await firstRewardOf(runFolder) } };
}

function parsedResult(text: string) {
  try {
    return resultSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Size of a regular file; a link or a folder is none. */
async function bytesOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

const firstAttemptFile = z.object({ reward: z.number().nullable() });

async function firstRewardOf(runFolder: string): Promise<number | null> {
  const text = await readTextIfPresent(join(runFolder, 'attempts', '1', 'attempt.json'));
  if (text === undefined) return null;
  try {
    return firstAttemptFile.parse(JSON.parse(text)).reward;
  } catch {
    return null;
  }
}

const planFile = z.object({ runs: z.array(z.object({ runId: z.string() })) });

/** Run ids of the frozen plan; undefined when there is none, or none that can be read. */
async function plannedRunIds(path: string): Promise<readonly string[] | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return planFile.parse(JSON.parse(text)).runs.map((run) => run.runId);
  } catch {
    return undefined;
  }
}

function recordOf(
  campaign: string,
  rows: readonly RunRow[],
  planned: readonly string[] | undefined,
): CampaignRecord {
  const finished = new Set(rows.map((row) => row.runId));
  const asked = new Set(planned);
  const bytes = rows.flatMap((row) => Object.values(row.artifactBytes ?? {}));
  return {
    campaign,
    plannedRuns: planned?.length ?? null,
    missingRuns: [...asked].filter((runId) => !finished.has(runId)).sort(byCodePoint),
    unexpectedRuns:
      planned === undefined ? [] : [...finished].filter((runId) => !asked.has(runId)).sort(byCodePoint),
    canonicalRuns: rows.length,
    provenanceOnly: 0,
    artifactCounts: Object.fromEntries(
      expectedArtifacts.map((artifact) => [
        artifact,
        rows.filter((row) => Object.hasOwn(row.artifactBytes ?? {}, artifact)).length,
      ]),
    ),
    artifactBytes: total(bytes),
    folderBytes: null,
    agentSeconds: total(present(rows.map((row) => row.seconds))),
    inputTokens: total(rows.map((row) => row.tokens?.input)),
    cachedInputTokens: total(rows.map((row) => row.tokens?.cachedInput)),
    outputTokens: total(rows.map((row) => row.tokens?.output)),
    hardware: null,
  };
}
