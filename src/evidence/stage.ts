import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { recordText as fileText, statusOf } from '../audit/record-files.js';
import { type Attempt, attemptSchema, resultSchema } from '../runs/result.js';
import { M4BenchError } from '../support/errors.js';
import { hashOf, sha256, sha256File } from '../support/hashing.js';
import { attemptFiles, type CampaignSource, type SourceRun, sourceText } from './campaign-source.js';
import type { Guard } from './guard.js';
import { packagedJournal } from './journal-evidence.js';
import type { OriginRecord, PackageEntry, RunLineage } from './package-manifest.js';
import { writePrivateOutput } from './private-output.js';
import { type Json, recordText, reviewedWalk, sanitisingWalk, walkRecord } from './record-sanitiser.js';
import { type ArtifactPolicy, type PackageMode, policyOf, type Ruleset } from './ruleset.js';
import type { PackagedRun } from './run-table.js';
import { journalSignatureName } from './signing.js';
import { addHits, type RuleHits } from './text-sanitiser.js';
import { treatText } from './treat-file.js';

export interface StageRequest {
  readonly source: CampaignSource;
  readonly ruleset: Ruleset;
  readonly guard: Guard;
  readonly mode: PackageMode;
  /** Secret of the pseudonyms; needed in private mode only. */
  readonly salt: Buffer | undefined;
  /** Empty folder that the files of the package are written to. */
  readonly folder: string;
  readonly onRun?: (runId: string) => void;
  readonly signal?: AbortSignal;
}

/** The files of a package on disk, before they are listed and packed. */
export interface Staged {
  readonly entries: PackageEntry[];
  readonly lineage: RunLineage[];
  readonly runs: PackagedRun[];
  readonly hits: Map<string, number>;
  /** Rules that hit, by file of the package. */
  readonly hitsByFile: Map<string, RuleHits>;
}

/** Writes the sanitised files of a campaign. Nothing of the campaign itself is changed. */
export async function stageCampaign(request: StageRequest): Promise<Staged> {
  const { source, guard } = request;
  const staged: Staged = { entries: [], lineage: [], runs: [], hits: new Map(), hitsByFile: new Map() };
  await gather(request);
  await guard.lookUp();
  if (source.plan !== undefined) await stagePlan(request, staged, source.plan);
  await stageJournal(request, staged);
  for (const run of source.runs) {
    request.signal?.throwIfAborted();
    request.onRun?.(run.runId);
    await stageRun(request, staged, run);
  }
  return staged;
}

/** Texts that were judged once and for all: they are names of folders. */
export function runIdsOf({ plan, runs }: CampaignSource): ReadonlySet<string> {
  return new Set([...runs, ...(plan?.runs ?? [])].map(({ runId }) => runId));
}

/** Reads everything once, so that the guard learns what it must look up. */
async function gather({ source, ruleset, mode, guard, signal }: StageRequest): Promise<void> {
  const tools = { sanitiser: guard.collecting, mode, hits: new Map(), exempt: runIdsOf(source) };
  for (const runId of tools.exempt) guard.collecting.sanitise(readablePart(runId), 'prose');
  if (source.plan !== undefined) treatText(JSON.stringify(source.plan), 'record', tools);
  const journal = await fileText(source.folder.journal);
  if (journal !== undefined) treatText(journal, 'records', tools);
  for (const run of source.runs) {
    signal?.throwIfAborted();
    for (const path of ['result.json', ...(await pathsOfAttempts(run))]) {
      const treatment = policyFor(ruleset, path)[mode];
      if (treatment === 'withheld' || treatment === 'output') continue;
      const text = await sourceText(run, path);
      if (text !== undefined) treatText(text, treatment, tools);
    }
  }
}

/** A run id without its hash at the end, whose digits mean nothing. */
export function readablePart(runId: string): string {
  return runId.replace(/_[0-9a-f]{10}$/, '');
}

async function pathsOfAttempts(run: SourceRun): Promise<readonly string[]> {
  const paths = await Promise.all(
    run.attempts.map(async (n) => (await attemptFiles(run, n)).map((path) => `attempts/${n}/${path}`)),
  );
  return paths.flat();
}

function policyFor(ruleset: Ruleset, path: string): ArtifactPolicy {
  const policy = policyOf(ruleset, path.replace(/^attempts\/\d+\//, ''));
  return (
    policy ?? { file: path, public: 'withheld', private: 'withheld', reason: 'No rule names this file.' }
  );
}

/**
 * The plan stands by its hash, so it is published as it is or not at all; but its setup, which may name folders of this
 * machine, can be left out: it enters the plan's hash by its own.
 */
async function stagePlan(
  { guard, source, folder }: StageRequest,
  staged: Staged,
  plan: NonNullable<CampaignSource['plan']>,
): Promise<void> {
  const exempt = runIdsOf(source);
  const rulesIn = (value: unknown): ReadonlyMap<string, number> => {
    const hits = new Map<string, number>();
    walkRecord(value as Json, reviewedWalk(sanitisingWalk(guard.sanitiser, hits, exempt)));
    return hits;
  };
  const { setup, ...rest } = plan;
  const hits = new Map(rulesIn(rest));
  for (const runId of exempt) addHits(hits, guard.sanitiser.sanitise(readablePart(runId), 'prose').hits);
  const [rule] = hits.keys();
  if (rule !== undefined) {
    throw new M4BenchError(
      'EVIDENCE_PLAN_UNFIT',
      `The plan of the campaign holds what rule "${rule}" does not let out, and it cannot be changed: its hash stands for it.`,
      'Look for names of people, machines or folders in the names of the campaign, its models and its datasets.',
    );
  }
  const inSetup = setup === undefined ? new Map<string, number>() : rulesIn(setup);
  noteHits(staged, 'campaign.json', inSetup);
  const published = inSetup.size === 0 ? plan : { ...rest, setupHash: hashOf(setup) };
  await addFile(folder, staged, 'campaign.json', recordText(published as unknown as Json));
}

async function stageJournal({ guard, source, folder }: StageRequest, staged: Staged): Promise<void> {
  const text = await fileText(source.folder.journal);
  if (text === undefined) return;
  const hits = new Map<string, number>();
  const walk = sanitisingWalk(guard.sanitiser, hits, runIdsOf(source));
  const journal = packagedJournal(text, (line) => walkRecord(line, walk));
  await addFile(folder, staged, 'journal.jsonl', journal);
  noteHits(staged, 'journal.jsonl', hits);
  const signature = await fileText(join(source.folder.root, journalSignatureName));
  if (signature !== undefined) await addFile(folder, staged, journalSignatureName, signature);
}

async function stageRun(request: StageRequest, staged: Staged, run: SourceRun): Promise<void> {
  const { cell } = run.result;
  const result = await stageFile(request, staged, run, 'result.json');
  const attempts: RunLineage['attempts'] = [];
  const records: Attempt[] = [];
  for (const n of run.attempts) {
    const present = await attemptFiles(run, n);
    const files: OriginRecord[] = [];
    let record: Attempt | undefined;
    for (const path of present) {
      const { origin, text } = await stageFile(request, staged, run, `attempts/${n}/${path}`);
      files.push({ ...origin, file: path });
      if (path === 'attempt.json') record = attemptSchema.parse(JSON.parse(text ?? 'null'));
    }
    files.push(...absentFiles(request.ruleset, present, record));
    attempts.push({ n, files: files.sort((a, b) => (a.file < b.file ? -1 : 1)) });
    if (record !== undefined) records.push(record);
  }
  staged.lineage.push({
    runId: run.runId,
    cell: hashOf(cell),
    inputs: {
      plan: request.source.plan?.planHash ?? null,
      dataset: cell.datasetHash,
      instruction: cell.hashes.instruction,
      context: cell.hashes.context,
      reference: cell.hashes.reference,
      taskDatabase: cell.hashes.taskDatabase,
      query: cell.hashes.query,
      rootfs: cell.rootfsDigest,
    },
    result: { ...result.origin, file: 'result.json' },
    attempts,
  });
  staged.runs.push({
    result: resultSchema.parse(JSON.parse(result.text ?? 'null')),
    attempts: records,
  });
}

interface StagedFile {
  readonly origin: OriginRecord;
  /** As it stands in the package, where it is a text in it. */
  readonly text?: string;
}

/** Puts one file of a run into the package as its policy says, and records what became of it. */
async function stageFile(
  request: StageRequest,
  staged: Staged,
  run: SourceRun,
  path: string,
): Promise<StagedFile> {
  const policy = policyFor(request.ruleset, path);
  const treatment = policy[request.mode];
  const original = join(run.folder, path);
  const bytes = (await statusOf(original))?.size ?? 0;
  const digest = await sha256File(original);
  const origin = (state: OriginRecord['state'], reason: string | null): OriginRecord => ({
    file: path,
    state,
    reason,
    bytes,
    sha256: digest,
  });
  const target = `runs/${run.runId}/${path}`;
  if (treatment === 'withheld') return { origin: origin('withheld', policy.reason ?? 'Withheld by rule.') };
  if (treatment === 'output') {
    const isWritten = await stageOutput(request, staged, run, original, target);
    return {
      origin: isWritten
        ? origin('redacted', 'Pseudonyms for identifiers, hours for times.')
        : origin('withheld', 'It is no table with the columns of the task.'),
    };
  }
  const hits = new Map<string, number>();
  const text = await sourceText(run, path);
  const { guard, mode, source } = request;
  const treated =
    text === undefined
      ? undefined
      : treatText(text, treatment, { sanitiser: guard.sanitiser, mode, hits, exempt: runIdsOf(source) });
  if (treated === undefined)
    return { origin: origin('withheld', 'It is damaged, or too large to be looked through.') };
  noteHits(staged, target, hits);
  await addFile(request.folder, staged, target, treated);
  const state = sha256(treated) === digest ? 'packaged' : 'redacted';
  const reason = state === 'packaged' ? null : reasonOf(treatment, hits);
  return { origin: origin(state, reason), text: treated };
}

function reasonOf(treatment: string, hits: RuleHits): string {
  const rules = [...hits.keys()];
  const what = treatment === 'transcript' ? ['what tools gave back is left out'] : [];
  return (
    [...what, ...(rules.length === 0 ? [] : [`rules: ${rules.join(', ')}`])].join('; ') || 'written anew'
  );
}

async function stageOutput(
  { salt, ruleset, folder }: StageRequest,
  staged: Staged,
  run: SourceRun,
  outputPath: string,
  target: string,
): Promise<boolean> {
  if (salt === undefined) return false;
  const path = join(folder, target);
  await mkdir(dirname(path), { recursive: true });
  const request = { task: run.result.cell.task, outputPath, target: path, salt };
  if (!(await writePrivateOutput(request, ruleset))) return false;
  const bytes = (await statusOf(path))?.size ?? 0;
  staged.entries.push({ path: target, bytes, sha256: await sha256File(path) });
  return true;
}

/** Files that runs usually leave and this attempt did not, with why. */
function absentFiles(
  ruleset: Ruleset,
  present: readonly string[],
  attempt: Attempt | undefined,
): readonly OriginRecord[] {
  return ruleset.artifacts
    .filter(({ file }) => file !== 'result.json' && file !== 'egress.jsonl')
    .filter(({ file }) =>
      file.endsWith('/') ? !present.some((path) => path.startsWith(file)) : !present.includes(file),
    )
    .map(({ file }) => ({
      file,
      state: 'absent' as const,
      reason: absenceOf(file, attempt),
      bytes: null,
      sha256: null,
    }));
}

function absenceOf(file: string, attempt: Attempt | undefined): string {
  if (attempt?.outcome === null) return `The attempt ended before its agent: ${attempt.failureReason}.`;
  switch (file) {
    case 'context/':
      return 'The condition gives nothing beside the instruction.';
    case 'gateway.jsonl':
      return 'The agent asks no model.';
    case 'canary.json':
    case 'lint.json':
      return 'The gate was not run.';
    case 'output.csv':
    case 'evaluation.json':
    case 'evaluation.private.json':
      return `The agent left no output${attempt?.failureReason ? `: ${attempt.failureReason}` : ''}.`;
    default:
      return 'The run did not make it.';
  }
}

function noteHits(staged: Staged, path: string, hits: RuleHits): void {
  if (hits.size === 0) return;
  addHits(staged.hits, hits);
  staged.hitsByFile.set(path, hits);
}

/** Writes a file of the package and lists it. */
export async function addFile(
  folder: string,
  staged: Pick<Staged, 'entries'>,
  path: string,
  content: string,
): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content, { flag: 'wx' });
  staged.entries.push({ path, bytes: Buffer.byteLength(content), sha256: sha256(content) });
}
