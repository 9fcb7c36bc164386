import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Attempt, attemptSchema, type RunResult, resultSchema } from '../runs/result.js';
import { systemCodeOf } from '../support/errors.js';
import { readTextIfPresent } from '../support/files.js';
import { hashOf } from '../support/hashing.js';
import {
  type JournalEntry,
  type JournalLine,
  JournalWriter,
  type ResultEntry,
  readJournal,
  resultEntry,
} from './journal.js';
import type { CampaignFolder, CampaignPlan, PlannedRun } from './plan.js';

/** Looked at in one go; keeps open files few. */
const batchSize = 64;

/** The result of a planned run when it is on disk, valid, and of exactly this cell and trial; else undefined. */
export async function readResult(runFolder: string): Promise<RunResult | undefined> {
  return (await readResultFile(runFolder))?.result;
}

/** A valid `result.json` with the bytes it was read from. */
async function readResultFile(
  runFolder: string,
): Promise<{ readonly result: RunResult; readonly bytes: Buffer } | undefined> {
  try {
    const bytes = await readFile(join(runFolder, 'result.json'));
    return { result: resultSchema.parse(JSON.parse(bytes.toString('utf8'))), bytes };
  } catch {
    return undefined;
  }
}

/** A run counts as done when its result is valid and its cell is the planned one. */
export function isDone(plan: CampaignPlan, run: PlannedRun, result: RunResult | undefined): boolean {
  return (
    result !== undefined && result.trial === run.trial && isDeepStrictEqual(result.cell, plan.cells[run.cell])
  );
}

/** The index entry of a planned run from its files; undefined when it has no valid result of this plan. */
export async function entryOf(
  folder: CampaignFolder,
  plan: CampaignPlan,
  run: PlannedRun,
): Promise<ResultEntry | undefined> {
  const runFolder = join(folder.runs, run.runId);
  const read = await readResultFile(runFolder);
  if (read === undefined || !isDone(plan, run, read.result)) return undefined;
  return resultEntry(
    read.result,
    read.bytes,
    hashOf(read.result.cell),
    await spentOn(runFolder, read.result),
  );
}

/** Tokens and money over all attempts: each was paid for, also those that do not count. */
export async function spentOn(runFolder: string, result: RunResult): Promise<ResultEntry['spent']> {
  let tokens = 0;
  let cost = 0;
  for (const { n } of result.attempts) {
    const text = await readTextIfPresent(join(runFolder, 'attempts', String(n), 'attempt.json'));
    const attempt = text === undefined ? undefined : attemptOf(text);
    tokens += (attempt?.tokens?.input ?? 0) + (attempt?.tokens?.output ?? 0);
    cost += attempt?.cost ?? 0;
  }
  return { tokens, cost };
}

function attemptOf(text: string): Attempt | undefined {
  try {
    return attemptSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The entry that counts of each run: its last `result`, unless it was lost since. */
export function latestResults(lines: readonly JournalLine[]): Map<string, ResultEntry> {
  const latest = new Map<string, ResultEntry>();
  for (const line of lines) {
    if (line.kind === 'result') latest.set(line.runId, line);
    else if (line.kind === 'lost') latest.delete(line.runId);
  }
  return latest;
}

/** What the index says, for reading: from the journal, or from the files while there is none. */
export async function readIndex(
  folder: CampaignFolder,
  plan: CampaignPlan,
): Promise<ReadonlyMap<string, ResultEntry>> {
  const reading = await readJournal(folder.journal);
  if (reading !== undefined) return latestResults(reading.lines);
  const found = new Map<string, ResultEntry>();
  for (const run of plan.runs) {
    const entry = await entryOf(folder, plan, run);
    if (entry !== undefined) found.set(run.runId, entry);
  }
  return found;
}

export interface OpenIndex extends AsyncDisposable {
  readonly journal: JournalWriter;
  /** By run id, as of the opening. */
  readonly results: ReadonlyMap<string, ResultEntry>;
}

/**
 * Opens the journal for writing and brings it up to date with the files: results that a killed process could not
 * index are added, those that are gone are marked `lost`, and a missing journal is made again from all of them.
 * File contents are read only where the journal does not know them. The caller holds the lock of the campaign.
 */
export async function openIndex(folder: CampaignFolder, plan: CampaignPlan): Promise<OpenIndex> {
  const before = await readJournal(folder.journal);
  const results = latestResults(before?.lines ?? []);
  const journal = await JournalWriter.open(folder.journal, { campaign: plan.name, planHash: plan.planHash });
  try {
    const news = await differences(folder, plan, results);
    if (before === undefined && news.length > 0) {
      await journal.append({ kind: 'rebuilt', results: news.length });
    }
    for (const entry of news) {
      await journal.append(entry);
      if (entry.kind === 'result') results.set(entry.runId, entry);
      else if (entry.kind === 'lost') results.delete(entry.runId);
    }
  } catch (thrown) {
    await journal[Symbol.asyncDispose]();
    throw thrown;
  }
  return { journal, results, [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose]() };
}

/** Planned runs whose recorded results are gone from the disk; each is marked `lost` in the journal. */
export async function markLost(
  folder: CampaignFolder,
  plan: CampaignPlan,
  journal: JournalWriter,
): Promise<readonly PlannedRun[]> {
  const known = latestResults((await readJournal(folder.journal))?.lines ?? []);
  const news = await differences(folder, plan, known);
  for (const entry of news) await journal.append(entry);
  const lost = new Set(news.flatMap((entry) => (entry.kind === 'lost' ? [entry.runId] : [])));
  return plan.runs.filter(({ runId }) => lost.has(runId));
}

/** What the journal must still be told, in the order of the plan. */
async function differences(
  folder: CampaignFolder,
  plan: CampaignPlan,
  known: ReadonlyMap<string, ResultEntry>,
): Promise<readonly JournalEntry[]> {
  const news: JournalEntry[] = [];
  for (let from = 0; from < plan.runs.length; from += batchSize) {
    const batch = plan.runs.slice(from, from + batchSize);
    const found = await Promise.all(batch.map((run) => difference(folder, plan, run, known.get(run.runId))));
    news.push(...found.filter((entry) => entry !== undefined));
  }
  return news;
}

async function difference(
  folder: CampaignFolder,
  plan: CampaignPlan,
  run: PlannedRun,
  known: ResultEntry | undefined,
): Promise<JournalEntry | undefined> {
  const bytes = await sizeOf(join(folder.runs, run.runId, 'result.json'));
  if (bytes === known?.resultBytes) return undefined;
  const entry = bytes === undefined ? undefined : await entryOf(folder, plan, run);
  if (entry !== undefined) return entry;
  return known === undefined
    ? undefined
    : { kind: 'lost', runId: run.runId, resultSha256: known.resultSha256 };
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
}
