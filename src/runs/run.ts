import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Evaluation } from '../evaluation/evaluation.js';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent, writeJsonAtomic } from '../support/files.js';
import { sha256File } from '../support/hashing.js';
import { executeAttempt, type RunEnvironment } from './attempt.js';
import { dataUseOf, dataUseRefused, refuseOpenRecording } from './data-use.js';
import type { PreparedCell } from './prepare.js';
import { unpublishableReasons } from './publishable.js';
import { type Attempt, attemptSchema, attemptSummaries, type RunResult, resultSchema } from './result.js';

export type { RunEnvironment } from './attempt.js';

export interface RunRequest {
  readonly campaign: string;
  readonly runId: string;
  readonly runFolder: string;
  readonly trial: number;
  readonly prepared: PreparedCell;
  readonly signal?: AbortSignal;
  /** Waited for between an infrastructure failure and the next attempt; default no wait. */
  readonly beforeRetry?: (failed: Attempt) => Promise<void>;
}

/**
 * One run: attempts until one is judged or the protocol's number is used up. Only infrastructure failures are tried
 * again, by a rule that cannot see the reward. Attempts of an earlier, killed process are kept and counted; folders
 * without `attempt.json` are debris and removed. A run that ended unjudged is given as many attempts again; its earlier
 * result stays beside the new one as `result.unjudged-<attempts>.json`. Undefined when interrupted from outside.
 */
export async function executeRun(
  environment: RunEnvironment,
  request: RunRequest,
): Promise<RunResult | undefined> {
  checkAuth(environment, request.prepared);
  const dataUse = dataUseOf(environment, request.prepared);
  const { dataset } = request.prepared.request;
  if (!dataUse.allowed) throw dataUseRefused(dataset.name, dataUse.provider);
  refuseOpenRecording(environment.recorder, dataset);
  const attemptsFolder = join(request.runFolder, 'attempts');
  await mkdir(attemptsFolder, { recursive: true });
  await removeHalfWritten(request.runFolder);
  const attempts = [...(await recordedAttempts(attemptsFolder))];
  let evaluation = await evaluationOf(attemptsFolder, attempts.at(-1));
  const resultPath = join(request.runFolder, 'result.json');
  const before = (await unjudgedAt(resultPath)) === undefined ? 0 : attempts.length;
  const maxAttempts = before + request.prepared.request.protocol.maxAttempts;
  while (
    attempts.at(-1) === undefined ||
    (attempts.at(-1)!.class === 'infrastructure' &&
      // A cassette without an answer has none the next time either.
      (attempts.at(-1)!.replay?.mismatch ?? null) === null &&
      attempts.length < maxAttempts)
  ) {
    const failed = attempts.at(-1);
    if (failed !== undefined && attempts.length > before) await request.beforeRetry?.(failed);
    if (request.signal?.aborted) return undefined;
    const n = (attempts.at(-1)?.n ?? 0) + 1;
    const ended = await executeAttempt(environment, {
      n,
      runId: request.runId,
      folder: join(attemptsFolder, String(n)),
      prepared: request.prepared,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    if (ended === undefined) {
      await rm(join(attemptsFolder, String(n)), { recursive: true, force: true });
      return undefined;
    }
    attempts.push(ended.attempt);
    evaluation = ended.evaluation;
  }
  const hashes = await Promise.all(
    attempts.map(({ n }) => sha256File(join(attemptsFolder, String(n), 'attempt.json'))),
  );
  const result = resultOf(environment, request, { attempts, hashes, evaluation, dataUse });
  await recordResult(resultPath, result);
  return result;
}

/** The result on disk when it judged nothing. */
async function unjudgedAt(path: string): Promise<RunResult | undefined> {
  const text = await readTextIfPresent(path);
  const present = text === undefined ? undefined : resultSchema.safeParse(parseOrNull(text));
  return present?.success && present.data.status === 'unjudged' ? present.data : undefined;
}

/** The first result of a run wins; a stale one (of other inputs, or unreadable) was never valid and is replaced. */
async function recordResult(path: string, result: RunResult): Promise<void> {
  const unjudged = await unjudgedAt(path);
  if (unjudged !== undefined) {
    await rename(path, path.replace(/\.json$/, `.unjudged-${unjudged.attempts.length}.json`));
  }
  const present = await readTextIfPresent(path);
  const isValid = present !== undefined && resultSchema.safeParse(parseOrNull(present)).success;
  await writeJsonAtomic(path, result, { exclusive: present === undefined || isValid });
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** What a killed process was writing beside the attempts. */
async function removeHalfWritten(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith('.tmp')) await rm(join(folder, name), { force: true });
  }
}

/** Attempts on disk in order; whatever has no valid `attempt.json` is removed. */
async function recordedAttempts(folder: string): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  for (const name of await readdir(folder)) {
    const text = await readTextIfPresent(join(folder, name, 'attempt.json'));
    const parsed = text === undefined ? undefined : attemptSchema.safeParse(parseOrNull(text));
    if (parsed?.success && String(parsed.data.n) === name) attempts.push(parsed.data);
    else await rm(join(folder, name), { recursive: true, force: true });
  }
  return attempts.sort((a, b) => a.n - b.n);
}

async function evaluationOf(folder: string, attempt: Attempt | undefined): Promise<Evaluation | null> {
  if (attempt?.class !== 'judged') return null;
  return JSON.parse(await readFile(join(folder, String(attempt.n), 'evaluation.json'), 'utf8')) as Evaluation;
}

/** Gates of the attempt that counts; a leak in any attempt of a run is a leak of the run. */
function integrityOf(attempts: readonly Attempt[], last: Attempt): RunResult['integrity'] {
  const all = (gate: 'canaries' | 'lint' | 'egress'): boolean | null =>
    attempts.some(({ integrity }) => integrity[gate] === false) ? false : last.integrity[gate];
  return {
    canaries: all('canaries'),
    lint: all('lint'),
    egress: all('egress'),
    hostedTools: [...last.hostedToolsRemoved],
    hostedToolCalls: [...new Set(attempts.flatMap(({ integrity }) => integrity.hostedToolCalls))],
  };
}

/** What the attempts of a run came to. */
interface RunFacts {
  readonly attempts: readonly Attempt[];
  /** Of `attempt.json` of each. */
  readonly hashes: readonly string[];
  readonly evaluation: Evaluation | null;
  readonly dataUse: RunResult['dataUse'];
}

function resultOf(
  environment: RunEnvironment,
  request: RunRequest,
  { attempts, hashes, evaluation, dataUse }: RunFacts,
): RunResult {
  const { prepared } = request;
  const last = attempts.at(-1)!;
  const isJudged =
    last.class !== 'infrastructure' || prepared.request.protocol.infrastructureFailure === 'zero';
  const { dataset } = prepared.request;
  const body = {
    schemaVersion: 1 as const,
    benchmarkVersion: environment.benchmarkVersion,
    runId: request.runId,
    campaign: request.campaign,
    cell: prepared.cell,
    observed: last.observed,
    trial: request.trial,
    status: isJudged ? ('judged' as const) : ('unjudged' as const),
    attempt: isJudged ? last.n : null,
    attempts: attemptSummaries(attempts),
    failureClass: last.class === 'judged' ? null : last.class,
    failureReason: last.failureReason,
    reward: isJudged ? (last.reward ?? 0) : null,
    rewardRobust: isJudged ? (evaluation?.rewardRobust ?? 0) : null,
    evaluation,
    tokens: last.tokens === null ? null : { ...last.tokens, source: 'gateway' as const },
    agentTokens: last.agentTokens,
    cost: last.cost,
    seconds: last.seconds,
    skill: last.skill,
    dataset: {
      name: dataset.name,
      class: dataset.class,
      verified: dataset.verified,
      contentHash: dataset.contentHash,
    },
    ...(prepared.verification === undefined
      ? {}
      : {
          presentation: {
            isVerified: prepared.verification.isVerified,
            reasons: [...prepared.verification.reasons],
          },
        }),
    sandbox: {
      kind: environment.sandbox.kind,
      rootfsDigest: environment.sandbox.rootfsDigest,
      limits: last.limits,
    },
    replay: last.replay,
    login: last.login,
    dataUse,
    hashes: {
      instruction: prepared.cell.hashes.instruction,
      context: prepared.cell.hashes.context,
      taskDatabase: prepared.cell.hashes.taskDatabase,
      reference: prepared.cell.hashes.reference,
      output: last.hashes.output,
      trace: last.hashes.trace,
      gateway: last.hashes.gateway,
      attempts: [...hashes],
    },
    integrity: integrityOf(attempts, last),
  };
  const reasons = unpublishableReasons(
    body,
    prepared.request.agent.isHandedTheAnswer,
    environment.sandbox.isIsolated,
  );
  return { ...body, publishable: reasons.length === 0, reasons };
}

/** A run is part of its cell only when it reaches its model as the cell says: the two kinds are never pooled. */
function checkAuth({ login }: RunEnvironment, { cell }: PreparedCell): void {
  if ((login !== undefined) === (cell.auth === 'login')) return;
  throw new M4BenchError(
    'LOGIN_DIFFERS',
    `The run ${login === undefined ? 'has no login, and its cell asks for one' : 'uses a login, and its cell asks for none'}.`,
    'Give --login to all commands of a campaign that was planned with it, and to no others.',
  );
}
