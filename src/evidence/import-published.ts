import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { z } from 'zod';
import { readTranscript, traceFormatOf } from '../agents/trace-formats.js';
import { recordHash, recordJson, statusOf } from '../audit/record-files.js';
import { runIdOf } from '../runs/cell.js';
import type { Attempt, RunResult } from '../runs/result.js';
import { M4BenchError } from '../support/errors.js';
import { writeJsonAtomic } from '../support/files.js';
import { sha256File } from '../support/hashing.js';
import { benchmarkFolder, type Home } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { extractArchive } from './extract-archive.js';
import { type ImportedCampaign, type ImportRecord, settle, writePlanOf } from './import-package.js';
import {
  attemptOfRecord,
  cellOfRecord,
  isLegacy,
  type PublishedRecord,
  publishedRecordSchema,
  resultOfRecords,
  timestampKey,
} from './published-record.js';

interface PublishedRun {
  readonly folder: string;
  readonly record: PublishedRecord;
}

/** Names of the campaigns in the archives of the published benchmark: the folder below `runs/`. */
const LABELS = ['codex_primary', 'codex_followup', 'claude_sentinel', 'oss_exploratory'];
const MAX_DEPTH = 8;

const archivesFile = z.strictObject({ version: z.number(), sha256: z.array(z.string()) });

/**
 * Makes read-only campaigns of run folders in the layout of the published benchmark: a folder, or one of its archives.
 * The archives' campaigns stay apart; directories of one run become attempts at it, the latest of which counts, as the
 * published follow-up did. Throws `PUBLISHED_RUNS_MISSING`, `PUBLISHED_RUN_INVALID`, `ARCHIVE_REFUSED`,
 * `CAMPAIGN_EXISTS`.
 */
export async function importPublished(
  home: Home,
  source: string,
  name: string,
): Promise<readonly ImportedCampaign[]> {
  await mkdir(home.campaigns, { recursive: true });
  const scratch = await mkdtemp(join(home.campaigns, '.import-'));
  try {
    const isArchive = (await stat(source)).isFile();
    const folder = isArchive ? join(scratch, 'archive') : source;
    const notes: string[] = [];
    if (isArchive) {
      notes.push(await noteOnArchive(source));
      await mkdir(folder);
      await extractArchive(source, folder);
    }
    const groups = groupByLabel(folder, await findRuns(folder));
    const imported: ImportedCampaign[] = [];
    for (const [label, runs] of groups) {
      const target = groups.size === 1 ? name : `${name}-${label.replaceAll('_', '-')}`;
      const draft = join(scratch, `draft-${imported.length}`);
      const written = await writeRuns(draft, target, runs);
      const record: ImportRecord = {
        schemaVersion: 1,
        kind: 'published',
        source: basename(source),
        sha256: isArchive ? await sha256File(source) : null,
        notes: [...notes, ...written.notes],
      };
      imported.push(await settle(home, draft, target, written.results, record));
    }
    return imported;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function noteOnArchive(path: string): Promise<string> {
  const file = join(benchmarkFolder(), 'evidence', 'published-archives.toml');
  const known = await readTomlFile(file, archivesFile, 'RULES_INVALID', 'list of archives');
  const digest = await sha256File(path);
  return known.sha256.includes(digest)
    ? `${basename(path)} is an archive of the published benchmark, by its SHA-256.`
    : `${basename(path)} is none of the two published archives, by its SHA-256 ${digest}.`;
}

/** Every folder that holds a `result.json`, at whatever depth; links are not followed. */
async function findRuns(root: string): Promise<readonly PublishedRun[]> {
  const runs: PublishedRun[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    const path = join(folder, 'result.json');
    if ((await statusOf(path)) !== undefined) {
      runs.push({ folder, record: await readRecord(path) });
      return;
    }
    if (depth === MAX_DEPTH) return;
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.isDirectory()) await look(join(folder, entry.name), depth + 1);
  };
  await look(root, 0);
  if (runs.length > 0) return runs;
  throw new M4BenchError(
    'PUBLISHED_RUNS_MISSING',
    `No folder in ${root} holds a result.json.`,
    'Name an evidence package of m4bench (.tar.zst), or run folders or an archive of the published benchmark.',
  );
}

async function readRecord(path: string): Promise<PublishedRecord> {
  const parsed = publishedRecordSchema.safeParse(await recordJson(path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new M4BenchError(
    'PUBLISHED_RUN_INVALID',
    `${path} is no record of a run of the published benchmark: ${issue?.path.join('.') || 'the whole file'}: ${issue?.message}.`,
    'Restore the file, or leave that folder out.',
  );
}

function groupByLabel(
  root: string,
  runs: readonly PublishedRun[],
): ReadonlyMap<string, readonly PublishedRun[]> {
  const groups = new Map<string, PublishedRun[]>();
  for (const run of runs) {
    const label =
      relative(root, run.folder)
        .split('/')
        .find((part) => LABELS.includes(part)) ?? 'runs';
    groups.set(label, [...(groups.get(label) ?? []), run]);
  }
  return groups;
}

/** Directories of one run in the order of their worth: later ones beat earlier ones, SQL-free skills beat all. */
function inOrder(a: PublishedRun, b: PublishedRun): number {
  const key = ({ record }: PublishedRun): string =>
    `${isLegacy(record) ? 1 : 0} ${timestampKey(record.run_id)} ${record.run_id}`;
  return key(a) < key(b) ? -1 : 1;
}

async function writeRuns(
  draft: string,
  campaign: string,
  runs: readonly PublishedRun[],
): Promise<{ readonly results: number; readonly notes: readonly string[] }> {
  const byRun = new Map<string, PublishedRun[]>();
  for (const run of runs) {
    const runId = runIdOf(cellOfRecord(run.record), run.record.trial);
    byRun.set(runId, [...(byRun.get(runId) ?? []), run]);
  }
  const results: RunResult[] = [];
  let superseded = 0;
  for (const [runId, tries] of byRun) {
    const ordered = [...tries].sort(inOrder);
    superseded += ordered.length - 1;
    const attempts: Attempt[] = [];
    for (const [index, run] of ordered.entries())
      attempts.push(
        await writeAttempt(join(draft, 'runs', runId, 'attempts', String(index + 1)), run, index + 1),
      );
    const records = ordered.map(({ record }) => record);
    const result = resultOfRecords(campaign, runId, records, attempts);
    await writeJsonAtomic(join(draft, 'runs', runId, 'result.json'), result);
    results.push(result);
  }
  await writePlanOf(draft, campaign, results);
  return {
    results: results.length,
    notes: [
      `${results.length} runs of the published benchmark from ${runs.length} folders; ${superseded} superseded ones are kept as earlier attempts.`,
      'Hashes of contexts, references and task databases are not in the published records, and tokens are the agents’ own counts.',
    ],
  };
}

const ARTIFACTS = ['instruction.md', 'output.csv', 'trace.jsonl', 'egress.jsonl'];

async function writeAttempt(
  folder: string,
  { folder: from, record }: PublishedRun,
  n: number,
): Promise<Attempt> {
  await mkdir(folder, { recursive: true });
  for (const artifact of ARTIFACTS)
    if ((await statusOf(join(from, artifact))) !== undefined)
      await copyFile(join(from, artifact), join(folder, artifact));
  await copyFile(join(from, 'result.json'), join(folder, 'published-result.json'));
  const trace = join(folder, 'trace.jsonl');
  if ((await statusOf(trace)) !== undefined)
    await writeJsonAtomic(
      join(folder, 'transcript.json'),
      await readTranscript(await traceFormatOf(trace), trace),
    );
  const attempt = attemptOfRecord(record, n, {
    output: await recordHash(join(folder, 'output.csv')),
    trace: await recordHash(trace),
    instruction: await recordHash(join(folder, 'instruction.md')),
  });
  await writeJsonAtomic(join(folder, 'attempt.json'), attempt);
  return attempt;
}
