import { basename, join } from 'node:path';
import { auditRun } from '../audit/audit-run.js';
import { recordJson, recordText } from '../audit/record-files.js';
import { planHashOf, planSchema } from '../campaigns/plan.js';
import { type Attempt, attemptSchema, type RunResult, resultSchema } from '../runs/result.js';
import { hashOf } from '../support/hashing.js';
import { type JournalEvidence, readPackagedJournal } from './journal-evidence.js';
import {
  lineageSchema,
  type OriginRecord,
  type PackageManifest,
  type RunLineage,
} from './package-manifest.js';
import { type PackagedRun, packageTables } from './run-table.js';
import { scoreContradictions } from './score-check.js';
import { journalSignatureName, type Signature, signatureSchema } from './signing.js';
import type { PackageProblem } from './unpack.js';

/** What the records of an unpacked package say, worked out again. */
export interface RecordCheck {
  readonly problems: readonly PackageProblem[];
  readonly runs: readonly PackagedRun[];
  readonly lineage: readonly RunLineage[];
  readonly journal: JournalEvidence | undefined;
  readonly signature: Signature | undefined;
  /** Scores that were worked out again from their counts. */
  readonly rescored: number;
}

/** Checks the records of an unpacked package against one another, the plan and the journal. */
export async function checkRecords(folder: string, manifest: PackageManifest): Promise<RecordCheck> {
  const problems: PackageProblem[] = [];
  const add = (code: string, file: string, detail: string): void => {
    problems.push({ code, file, detail });
  };
  const lineage = await readLineage(folder, add);
  const runs: PackagedRun[] = [];
  let rescored = 0;
  checkCoverage(manifest, lineage, add);
  for (const line of lineage) {
    const run = await readRun(folder, line, add);
    if (run === undefined) continue;
    runs.push(run);
    rescored += checkRun(run, line, add);
    await checkAudit(folder, line, add);
  }
  await checkPlan(folder, manifest, lineage, runs, add);
  const journal = await checkJournal(folder, manifest, lineage, add);
  const signature = await readSignature(folder, add);
  await checkTables(folder, runs, add);
  return { problems, runs, lineage, journal, signature, rescored };
}

type Add = (code: string, file: string, detail: string) => void;

const runFile = (line: RunLineage, file: string): string => `runs/${line.runId}/${file}`;

async function readLineage(folder: string, add: Add): Promise<readonly RunLineage[]> {
  const text = (await recordText(join(folder, 'lineage.jsonl'))) ?? '';
  const lines: RunLineage[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const parsed = lineageSchema.safeParse(parsedJson(line));
    if (parsed.success && /^[^/\\]+$/.test(parsed.data.runId)) lines.push(parsed.data);
    else add('LINEAGE_INVALID', 'lineage.jsonl', `line ${index + 1} is no record of a run`);
  }
  if (new Set(lines.map(({ runId }) => runId)).size < lines.length)
    add('LINEAGE_INVALID', 'lineage.jsonl', 'a run stands twice');
  return lines;
}

/** Every file of the package must have a line of origin, and every line its file, in the same bytes where unchanged. */
function checkCoverage(manifest: PackageManifest, lineage: readonly RunLineage[], add: Add): void {
  const entries = new Map(manifest.entries.map((entry) => [entry.path, entry]));
  const accounted = new Set<string>();
  const account = (path: string, origin: OriginRecord): void => {
    const entry = entries.get(path);
    accounted.add(path);
    const isThere = origin.state === 'packaged' || origin.state === 'redacted';
    if (isThere !== (entry !== undefined))
      add(
        'FILE_MISSING',
        path,
        isThere ? 'it is not in the package' : `it is there, and was ${origin.state}`,
      );
    if (origin.state === 'packaged' && entry !== undefined && entry.sha256 !== origin.sha256)
      add('HASH_DIFFERS', path, 'it is said to be unchanged, and is not the original');
    if (origin.state !== 'packaged' && origin.reason === null)
      add('LINEAGE_INVALID', 'lineage.jsonl', `${path}: no reason why it is ${origin.state}`);
  };
  for (const line of lineage) {
    account(runFile(line, 'result.json'), line.result);
    for (const { n, files } of line.attempts)
      for (const origin of files)
        if (!origin.file.endsWith('/')) account(runFile(line, `attempts/${n}/${origin.file}`), origin);
  }
  for (const path of entries.keys())
    if (path.startsWith('runs/') && !accounted.has(path))
      add('FILE_UNLISTED', path, 'no run accounts for it');
}

async function readRun(folder: string, line: RunLineage, add: Add): Promise<PackagedRun | undefined> {
  const path = runFile(line, 'result.json');
  const result = resultSchema.safeParse(await recordJson(join(folder, path)));
  if (!result.success) {
    add('RESULT_INVALID', path, 'it is no result of this version');
    return undefined;
  }
  const attempts: Attempt[] = [];
  for (const { n } of line.attempts) {
    const file = runFile(line, `attempts/${n}/attempt.json`);
    const attempt = attemptSchema.safeParse(await recordJson(join(folder, file)));
    if (attempt.success && attempt.data.n === n) attempts.push(attempt.data);
    else add('ATTEMPT_INVALID', file, 'it is no record of this attempt');
  }
  return { result: result.data, attempts };
}

/** Follows the hashes of the originals from the result to every file, and derives the score. Counts scores derived. */
function checkRun({ result, attempts }: PackagedRun, line: RunLineage, add: Add): number {
  const path = runFile(line, 'result.json');
  if (hashOf(result.cell) !== line.cell)
    add('IDENTITY_DIFFERS', path, 'its cell is not that of its line of origin');
  const { inputs } = line;
  const stated = {
    ...result.cell.hashes,
    dataset: result.cell.datasetHash,
    rootfs: result.cell.rootfsDigest,
  };
  for (const [name, value] of Object.entries(stated))
    if (inputs[name as keyof typeof stated] !== value)
      add('LINEAGE_DIFFERS', path, `${name} is not what its line of origin states`);
  checkChain(result, attempts, line, add);
  const evaluations = result.evaluation === null ? [] : [result.evaluation];
  for (const evaluation of evaluations)
    for (const problem of scoreContradictions(evaluation)) add('SCORE_DIFFERS', path, problem);
  return evaluations.length;
}

function checkChain(result: RunResult, attempts: readonly Attempt[], line: RunLineage, add: Add): void {
  const path = runFile(line, 'result.json');
  const sha256Of = (n: number, file: string): string | null =>
    line.attempts.find((one) => one.n === n)?.files.find((origin) => origin.file === file)?.sha256 ?? null;
  const numbers = result.attempts.map(({ n }) => n);
  if (numbers.join() !== line.attempts.map(({ n }) => n).join())
    add('ATTEMPTS_DIFFER', path, 'attempts that the result tells of are not in the package');
  for (const [index, n] of numbers.entries()) {
    const stated = result.hashes.attempts?.[index];
    if (stated !== undefined && stated !== sha256Of(n, 'attempt.json'))
      add(
        'LINEAGE_DIFFERS',
        runFile(line, `attempts/${n}/attempt.json`),
        'the result states another hash of it',
      );
  }
  for (const { n, hashes, outcome } of attempts) {
    if (outcome === null) continue;
    const files: readonly (readonly [string, string | null])[] = [
      ['output.csv', hashes.output],
      ['trace.jsonl', hashes.trace],
      ['transcript.json', hashes.transcript],
      ['stderr.txt', hashes.stderr],
      ['gateway.jsonl', hashes.gateway],
      ['canary.json', hashes.canary],
      ['lint.json', hashes.lint],
      ['evaluation.json', hashes.evaluation],
      ['instruction.md', hashes.instruction],
    ];
    for (const [file, stated] of files)
      if (stated !== sha256Of(n, file))
        add(
          'LINEAGE_DIFFERS',
          runFile(line, `attempts/${n}/${file}`),
          'the attempt states another hash of it',
        );
  }
}

/** The audit of a run by its files, without what it cannot say where files are withheld or redacted. */
async function checkAudit(folder: string, line: RunLineage, add: Add): Promise<void> {
  const origins = new Map<string, OriginRecord['state']>([['result.json', line.result.state]]);
  for (const { n, files } of line.attempts)
    for (const { file, state } of files) origins.set(`attempts/${n}/${file}`, state);
  const isRedacted = (path: string): boolean =>
    [...origins].some(([file, state]) => state !== 'packaged' && state !== 'absent' && file.startsWith(path));
  const { problems } = await auditRun(join(folder, 'runs', line.runId));
  for (const { code, where, detail } of problems) {
    // Hashes are followed by the line of origin, which has those of the originals.
    if (code === 'HASH_DIFFERS' || code === 'SIZE_DIFFERS' || isRedacted(where)) continue;
    if (code === 'CONTEXT_DIFFERS' && isRedacted(where.replace(/context$/, 'instruction.md'))) continue;
    add(code, runFile(line, where), detail);
  }
}

async function checkPlan(
  folder: string,
  manifest: PackageManifest,
  lineage: readonly RunLineage[],
  runs: readonly PackagedRun[],
  add: Add,
): Promise<void> {
  const packaged = new Set(lineage.map(({ runId }) => runId));
  if (manifest.runs.packaged !== packaged.size)
    add(
      'RUNS_DIFFER',
      'manifest.json',
      `it states ${manifest.runs.packaged} runs, and there are ${packaged.size}`,
    );
  for (const { result } of runs)
    if (result.campaign !== manifest.campaign)
      add('RUNS_DIFFER', `runs/${result.runId}/result.json`, `it is of campaign ${result.campaign}`);
  if (manifest.planHash === null) return;
  const parsed = planSchema.safeParse(await recordJson(join(folder, 'campaign.json')));
  if (!parsed.success) {
    add('PLAN_INVALID', 'campaign.json', 'it is no plan of a campaign');
    return;
  }
  const { planHash, ...body } = parsed.data;
  if (planHashOf(body) !== planHash || planHash !== manifest.planHash)
    add('PLAN_INVALID', 'campaign.json', 'it is not the plan of this package');
  const missing = body.runs.map(({ runId }) => runId).filter((runId) => !packaged.has(runId));
  const told = new Set(manifest.runs.missing);
  for (const runId of missing)
    if (!told.has(runId))
      add('RUN_MISSING', `runs/${runId}`, 'it is planned, and the package does not tell of it');
  for (const runId of told)
    if (!missing.includes(runId))
      add('RUNS_DIFFER', 'manifest.json', `${basename(runId)} is told to be missing`);
  const planned = new Set(body.runs.map(({ runId }) => runId));
  for (const runId of packaged)
    if (!planned.has(runId) && !manifest.runs.unplanned.includes(runId))
      add('RUN_UNPLANNED', `runs/${runId}`, 'the plan has no such run, and the package does not tell of it');
}

async function checkJournal(
  folder: string,
  manifest: PackageManifest,
  lineage: readonly RunLineage[],
  add: Add,
): Promise<JournalEvidence | undefined> {
  const text = await recordText(join(folder, 'journal.jsonl'));
  if (text === undefined) return undefined;
  const journal = readPackagedJournal(text);
  if (journal.brokenAt !== undefined) {
    add('JOURNAL_BROKEN', 'journal.jsonl', `line ${journal.brokenAt} does not follow the one before it`);
    return journal;
  }
  const [opened] = journal.entries;
  if (opened?.kind !== 'opened' || opened.planHash !== manifest.planHash)
    add('JOURNAL_DIFFERS', 'journal.jsonl', 'it is not of the plan of this package');
  const latest = new Map(
    journal.entries.flatMap((entry) => (entry.kind === 'result' ? [[entry.runId, entry] as const] : [])),
  );
  const byId = new Map(lineage.map((line) => [line.runId, line]));
  for (const [runId, { resultSha256 }] of latest) {
    const line = byId.get(runId);
    const wasLost = journal.entries.some((entry) => entry.kind === 'lost' && entry.runId === runId);
    if (line === undefined) {
      const told = manifest.runs.missing.includes(runId) && wasLost;
      if (!told)
        add('RUN_DROPPED', `runs/${runId}`, 'the journal has a result of it, and the package has none');
    } else if (line.result.sha256 !== resultSha256)
      add('JOURNAL_DIFFERS', runFile(line, 'result.json'), 'the journal has another result of it');
  }
  for (const line of lineage)
    if (!latest.has(line.runId) && !manifest.runs.unplanned.includes(line.runId))
      add('JOURNAL_DIFFERS', runFile(line, 'result.json'), 'the journal has no result of it');
  return journal;
}

async function readSignature(folder: string, add: Add): Promise<Signature | undefined> {
  const json = await recordJson(join(folder, journalSignatureName));
  if (json === undefined) return undefined;
  const parsed = signatureSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  add('SIGNATURE_INVALID', journalSignatureName, 'it is no signature');
  return undefined;
}

async function checkTables(folder: string, runs: readonly PackagedRun[], add: Add): Promise<void> {
  for (const [path, content] of Object.entries(packageTables(runs)))
    if ((await recordText(join(folder, path))) !== content)
      add('TABLE_DIFFERS', path, 'it is not what the packaged results come to');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
