import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { agentNamed } from '../agents/agents.js';
import { knownDatasets } from '../datasets/dataset.js';
import { runIdOf } from '../runs/cell.js';
import { unpublishableReasons } from '../runs/publishable.js';
import {
  type Attempt,
  attemptSchema,
  attemptSummaries,
  type RunResult,
  resultSchema,
} from '../runs/result.js';
import { canonicalJson } from '../support/hashing.js';
import { loadProtocol } from '../tasks/protocol.js';
import { type AttemptAudit, auditAttempt } from './audit-attempt.js';
import { type AuditProblem, recordHash, recordJson } from './record-files.js';

/** What the files of a run say, worked out again without asking the run. */
export interface RunAudit {
  readonly runId: string;
  /** Whether it may be published: nothing contradicts anything, and no gate found a reason. */
  readonly publishable: boolean;
  /** Every reason why not, worked out again; a contradiction is one. */
  readonly reasons: readonly string[];
  readonly problems: readonly AuditProblem[];
}

interface AuditedAttempt extends AttemptAudit {
  readonly attempt: Attempt;
  readonly hash: string | null;
}

/** What is known of an agent by its name; an unknown one is taken for one that needs a model. */
function agentFacts(name: string): { readonly needsModel: boolean; readonly isHandedTheAnswer: boolean } {
  try {
    return agentNamed(name, { environment: {}, userHome: '/' });
  } catch {
    return { needsModel: true, isHandedTheAnswer: false };
  }
}

/**
 * Audits one run folder (`result.json` and `attempts/`) by its files alone: every hash, every count, the class of
 * every attempt, the gates, and the verdict whether it may be published. Changes nothing, and never throws for
 * anything that the files may be.
 */
export async function auditRun(folder: string): Promise<RunAudit> {
  const runId = basename(folder);
  const parsed = resultSchema.safeParse(await recordJson(join(folder, 'result.json')));
  if (!parsed.success) {
    const detail = 'there is no result, or it is not one of this version';
    const problems = [{ code: 'RESULT_INVALID', where: 'result.json', detail }];
    return { runId, publishable: false, reasons: ['the result cannot be read'], problems };
  }
  const result = parsed.data;
  const problems: AuditProblem[] = [];
  const same = (code: string, what: string, recorded: unknown, derived: unknown): void => {
    const [a, b] = [canonicalJson(recorded ?? null), canonicalJson(derived ?? null)];
    const detail = `${what}: recorded ${a.slice(0, 120)}, worked out ${b.slice(0, 120)}`;
    if (a !== b) problems.push({ code, where: 'result.json', detail });
  };
  const facts = agentFacts(result.cell.agent);
  checkIdentity(result, runId, same);
  const attempts = await auditAttempts(folder, result, facts.needsModel, problems);
  const derived = await checkOutcome(result, attempts, same);
  const reasons = unpublishableReasons(derived, facts.isHandedTheAnswer, result.sandbox.kind !== 'process');
  same('VERDICT_DIFFERS', 'reasons', [...result.reasons].sort(), [...reasons].sort());
  same('VERDICT_DIFFERS', 'publishable', result.publishable, reasons.length === 0);
  if (problems.length > 0) reasons.push('the files of the run contradict one another');
  return { runId, publishable: reasons.length === 0, reasons, problems };
}

type Same = (code: string, what: string, recorded: unknown, derived: unknown) => void;

function checkIdentity(result: RunResult, folderName: string, same: Same): void {
  const { cell, hashes, dataset, sandbox } = result;
  const derived = runIdOf(cell, result.trial);
  same('IDENTITY_DIFFERS', 'run id', result.runId, derived);
  same('IDENTITY_DIFFERS', 'name of the folder', folderName, derived);
  for (const name of ['instruction', 'context', 'taskDatabase', 'reference'] as const)
    same('IDENTITY_DIFFERS', `hash of ${name}`, hashes[name], cell.hashes[name]);
  same('IDENTITY_DIFFERS', 'dataset', dataset.name, cell.dataset);
  same('IDENTITY_DIFFERS', 'content of the dataset', dataset.contentHash, cell.datasetHash);
  same('IDENTITY_DIFFERS', 'root file system', sandbox.rootfsDigest, cell.rootfsDigest);
  // Without tunnels nothing tells how a model would have been reached.
  if (result.login !== null) same('IDENTITY_DIFFERS', 'way to the model', 'login', cell.auth ?? 'key');
  const known = knownDatasets[dataset.name];
  if (known !== undefined) same('IDENTITY_DIFFERS', 'class of the dataset', dataset.class, known.class);
}

async function auditAttempts(
  folder: string,
  result: RunResult,
  needsModel: boolean,
  problems: AuditProblem[],
): Promise<readonly AuditedAttempt[]> {
  const names = await readdir(join(folder, 'attempts')).catch(() => []);
  const numbers = names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
  for (const name of names.filter((one) => !/^[1-9]\d*$/.test(one)))
    problems.push({ code: 'FILE_UNKNOWN', where: `attempts/${name}`, detail: 'no run writes such a file' });
  const audited: AuditedAttempt[] = [];
  for (const n of numbers.sort((a, b) => a - b)) {
    const where = `attempts/${n}`;
    const path = join(folder, where);
    const parsed = attemptSchema.safeParse(await recordJson(join(path, 'attempt.json')));
    if (!parsed.success || parsed.data.n !== n) {
      const detail = 'the attempt has no valid record';
      problems.push({ code: 'ATTEMPT_INVALID', where: `${where}/attempt.json`, detail });
      continue;
    }
    const audit = await auditAttempt(path, where, parsed.data, result.cell, needsModel);
    problems.push(...audit.problems);
    audited.push({ ...audit, attempt: parsed.data, hash: await recordHash(join(path, 'attempt.json')) });
  }
  return audited;
}

/** Compares the result with its attempts, and returns it with the gates as worked out again. */
async function checkOutcome(
  result: RunResult,
  audited: readonly AuditedAttempt[],
  same: Same,
): Promise<RunResult> {
  const attempts = audited.map(({ attempt }) => attempt);
  same('ATTEMPTS_DIFFER', 'attempts', result.attempts, attemptSummaries(attempts));
  const attemptHashes = audited.map(({ hash }) => hash);
  same('HASH_DIFFERS', 'records of attempts', result.hashes.attempts, attemptHashes);
  const last = audited.at(-1);
  const all = (gate: 'canaries' | 'lint' | 'egress'): boolean | null =>
    audited.some(({ integrity }) => integrity[gate] === false) ? false : (last?.integrity[gate] ?? null);
  const integrity = {
    canaries: all('canaries'),
    lint: all('lint'),
    egress: all('egress'),
    hostedTools: [...(last?.attempt.hostedToolsRemoved ?? [])],
    hostedToolCalls: [...new Set(audited.flatMap((one) => one.integrity.hostedToolCalls))],
  };
  same('GATES_DIFFER', 'integrity', result.integrity, integrity);
  if (last !== undefined) await checkLast(result, last, same);
  return { ...result, integrity };
}

/** The fields that a result repeats from the attempt that counts. */
async function checkLast(
  result: RunResult,
  { attempt, evaluation }: AuditedAttempt,
  same: Same,
): Promise<void> {
  const protocol = await loadProtocol(result.cell.protocol).catch(() => undefined);
  const isJudged = attempt.class !== 'infrastructure' || protocol?.infrastructureFailure === 'zero';
  same('STATUS_DIFFERS', 'status', result.status, isJudged ? 'judged' : 'unjudged');
  same('STATUS_DIFFERS', 'attempt', result.attempt, isJudged ? attempt.n : null);
  same(
    'STATUS_DIFFERS',
    'failure class',
    result.failureClass,
    attempt.class === 'judged' ? null : attempt.class,
  );
  same('STATUS_DIFFERS', 'failure reason', result.failureReason, attempt.failureReason);
  same('REWARD_DIFFERS', 'reward', result.reward, isJudged ? (attempt.reward ?? 0) : null);
  same(
    'REWARD_DIFFERS',
    'robust reward',
    result.rewardRobust,
    isJudged ? (evaluation?.rewardRobust ?? 0) : null,
  );
  same('EVALUATION_DIFFERS', 'evaluation', result.evaluation, evaluation);
  const tokens = attempt.tokens === null ? null : { ...attempt.tokens, source: 'gateway' };
  same('COUNTS_DIFFER', 'tokens', result.tokens, tokens);
  same('COUNTS_DIFFER', 'tokens of the agent', result.agentTokens, attempt.agentTokens);
  same('COUNTS_DIFFER', 'cost', result.cost, attempt.cost);
  same('COUNTS_DIFFER', 'seconds', result.seconds, attempt.seconds);
  same('COUNTS_DIFFER', 'skill', result.skill, attempt.skill);
  same('COUNTS_DIFFER', 'observed', result.observed, attempt.observed);
  same('COUNTS_DIFFER', 'login', result.login, attempt.login);
  same('COUNTS_DIFFER', 'replay', result.replay, attempt.replay);
  same('COUNTS_DIFFER', 'limits', result.sandbox.limits, attempt.limits);
  for (const name of ['output', 'trace', 'gateway'] as const)
    same('HASH_DIFFERS', `hash of ${name}`, result.hashes[name], attempt.hashes[name]);
}
