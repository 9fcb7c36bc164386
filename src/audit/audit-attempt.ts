import { basename, join } from 'node:path';
import { readTranscript, traceFormatOf } from '../agents/trace-formats.js';
import { readingOf } from '../agents/transcript.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import { NO_EXCHANGES, summaryWith } from '../gateway/exchange-log.js';
import type { GatewaySummary } from '../gateway/gateway-types.js';
import { NO_TUNNELS, type TunnelSummary, tunnelSummaryWith } from '../gateway/tunnels.js';
import type { Cell } from '../runs/cell.js';
import { verdictOf } from '../runs/failure.js';
import { canaryReportSchema, lintReportSchema } from '../runs/gates.js';
import { observedModels } from '../runs/observed-models.js';
import type { Attempt } from '../runs/result.js';
import type { CommandOutcome } from '../sandboxes/sandbox.js';
import { canonicalJson, hashOf, sha256 } from '../support/hashing.js';
import { egressOf, exchangesOf, tunnelsOf } from './egress.js';
import { transcriptFindings } from './lint.js';
import {
  type AuditProblem,
  entriesBelow,
  recordHash,
  recordJson,
  recordText,
  statusOf,
} from './record-files.js';

/** Everything that may stand in the folder of an attempt, beside `context/`. */
const KNOWN_FILES = new Set([
  'attempt.json',
  'instruction.md',
  'output.csv',
  'trace.jsonl',
  'transcript.json',
  'stderr.txt',
  'gateway.jsonl',
  'egress.jsonl',
  'canary.json',
  'lint.json',
  'evaluation.json',
  'evaluation.private.json',
]);

/** Fewer checks than this mean that some were left out. */
const LEAST_CANARY_CHECKS = 15;
const LEAST_CANARY_CONTROLS = 5;

/** What the files of one attempt say, worked out again. */
export interface AttemptAudit {
  readonly problems: readonly AuditProblem[];
  readonly evaluation: Evaluation | null;
  readonly integrity: Attempt['integrity'];
  /** Undefined where there is no readable log. */
  readonly summary: GatewaySummary | undefined;
}

/** Collects problems of one attempt with the paths of its files. */
class Findings {
  readonly problems: AuditProblem[] = [];

  constructor(
    readonly folder: string,
    private readonly prefix: string,
  ) {}

  add(code: string, file: string, detail: string): void {
    this.problems.push({ code, where: `${this.prefix}/${file}`, detail });
  }

  /** Compares by canonical JSON, so that the order of keys does not matter. */
  same(code: string, file: string, what: string, recorded: unknown, derived: unknown): void {
    const [a, b] = [canonicalJson(recorded), canonicalJson(derived)];
    if (a !== b) this.add(code, file, `${what}: recorded ${a.slice(0, 120)}, worked out ${b.slice(0, 120)}`);
  }
}

/** Judges one attempt by its files alone. `needsModel`: whether its agent talks to a model. */
export async function auditAttempt(
  folder: string,
  prefix: string,
  attempt: Attempt,
  cell: Cell,
  needsModel: boolean,
): Promise<AttemptAudit> {
  const findings = new Findings(folder, prefix);
  await checkHashes(findings, attempt, cell);
  await checkFolder(findings, attempt);
  const evaluation = await checkEvaluation(findings, attempt);
  const summary = await checkGateway(findings, attempt, cell, needsModel);
  const tunnels = await checkLogin(findings, attempt);
  await checkVerdict(findings, attempt, summary, tunnels, needsModel);
  const integrity = await checkGates(findings, attempt, summary, needsModel);
  return { problems: findings.problems, evaluation, integrity, summary };
}

async function checkHashes(findings: Findings, attempt: Attempt, cell: Cell): Promise<void> {
  const { hashes } = attempt;
  const files: readonly (readonly [string, string | null])[] = [
    ['output.csv', hashes.output],
    ['trace.jsonl', hashes.trace],
    ['stderr.txt', hashes.stderr],
    ['gateway.jsonl', hashes.gateway],
    ['canary.json', hashes.canary],
    ['lint.json', hashes.lint],
    ['transcript.json', hashes.transcript],
    ['egress.jsonl', hashes.egress],
    ['evaluation.json', hashes.evaluation],
    ['instruction.md', hashes.instruction],
  ];
  for (const [file, recorded] of files) {
    // An attempt that failed in set-up records no hash of what it had begun to write.
    if (recorded === null && attempt.outcome === null) continue;
    const found = await recordHash(join(findings.folder, file));
    if (found === recorded) continue;
    const how =
      found === null ? 'is missing or no regular file' : recorded === null ? 'was not there' : 'was changed';
    findings.add('HASH_DIFFERS', file, `the file ${how}`);
  }
  findings.same('HASH_DIFFERS', 'attempt.json', 'instruction', hashes.instruction, cell.hashes.instruction);
  await checkContext(findings, attempt, cell);
}

/** The hash of what the agent was given, as `contextPackage` makes it, from the copies kept. */
async function checkContext(findings: Findings, attempt: Attempt, cell: Cell): Promise<void> {
  const instruction = (await recordText(join(findings.folder, 'instruction.md'))) ?? '';
  const given = await entriesBelow(join(findings.folder, 'context'));
  const skills: [string, string][] = [];
  for (const name of attempt.skill.placed) {
    const file = given.find((path) => basename(path) === 'SKILL.md' && path.split('/').at(-2) === name);
    const text = file === undefined ? undefined : await recordText(join(findings.folder, 'context', file));
    skills.push([name, text === undefined ? 'missing' : sha256(text)]);
  }
  const derived = hashOf({ instruction: sha256(instruction), skills });
  findings.same('CONTEXT_DIFFERS', 'context', 'hash of the context', cell.hashes.context, derived);
  if (given.length !== skills.length)
    findings.add('CONTEXT_DIFFERS', 'context', `${given.length} files for ${skills.length} skills`);
}

async function checkFolder(findings: Findings, attempt: Attempt): Promise<void> {
  for (const path of await entriesBelow(findings.folder)) {
    if (path.startsWith('context/')) continue;
    if (!KNOWN_FILES.has(path)) findings.add('FILE_UNKNOWN', path, 'no attempt writes such a file');
    else if ((await statusOf(join(findings.folder, path))) === undefined)
      findings.add('FILE_IRREGULAR', path, 'a link, a device or a pipe stands where a file belongs');
  }
  for (const { path, bytes } of attempt.files.copied) {
    const status = await statusOf(join(findings.folder, path));
    findings.same('SIZE_DIFFERS', path, 'bytes', bytes, status?.size ?? null);
  }
  const examples = await statusOf(join(findings.folder, 'evaluation.private.json'));
  if (examples !== undefined && (examples.mode & 0o077) !== 0)
    findings.add('PRIVATE_FILE_OPEN', 'evaluation.private.json', 'holds rows, and others may read it');
}

async function checkEvaluation(findings: Findings, attempt: Attempt): Promise<Evaluation | null> {
  const found = ((await recordJson(join(findings.folder, 'evaluation.json'))) ?? null) as Evaluation | null;
  const hasOutput = attempt.hashes.output !== null;
  if (hasOutput && found === null)
    findings.add('EVALUATION_MISSING', 'evaluation.json', 'there is an output and no evaluation of it');
  const evaluation = attempt.class === 'judged' ? found : null;
  const reward = attempt.class === 'judged' ? (found?.reward ?? 0) : attempt.class === 'agent' ? 0 : null;
  findings.same('REWARD_DIFFERS', 'attempt.json', 'reward', attempt.reward, reward);
  return evaluation;
}

async function checkGateway(
  findings: Findings,
  attempt: Attempt,
  cell: Cell,
  needsModel: boolean,
): Promise<GatewaySummary | undefined> {
  const text = await recordText(join(findings.folder, 'gateway.jsonl'));
  if (text === undefined) {
    if (needsModel && attempt.outcome !== null)
      findings.add('LOG_MISSING', 'gateway.jsonl', 'an agent that needs a model has no log of it');
    findings.same('COUNTS_DIFFER', 'attempt.json', 'requests without a log', attempt.gateway, null);
    return undefined;
  }
  const exchanges = exchangesOf(text);
  if (exchanges === undefined) {
    findings.add('LOG_DAMAGED', 'gateway.jsonl', 'a line is no exchange');
    return undefined;
  }
  const summary = exchanges.reduce(summaryWith, NO_EXCHANGES);
  if (attempt.outcome === null) return summary;
  const { requests, refused, failed } = summary;
  const same = (what: string, recorded: unknown, derived: unknown): void =>
    findings.same('COUNTS_DIFFER', 'attempt.json', what, recorded, derived);
  same('requests', attempt.gateway, { requests, refused, failed });
  // What went through tunnels nobody counted.
  same('tokens', attempt.tokens, attempt.login === null ? summary.tokens : null);
  same('cost', attempt.cost, attempt.login === null ? summary.cost : null);
  same('seconds of the model', attempt.seconds.model, summary.modelSeconds);
  same('hosted tools removed', attempt.hostedToolsRemoved, summary.hostedToolsRemoved);
  same('hosted tools used', attempt.integrity.hostedToolCalls, summary.hostedToolCalls);
  same('source of skills', attempt.skill.source, attempt.login === null ? 'gateway' : 'attested');
  if (attempt.login === null) {
    same('skills offered', attempt.skill.offered, summary.skillsOffered);
    same('skills opened', attempt.skill.opened, summary.skillsOpened);
  }
  const { answers = 0, byTurn = 0 } = attempt.replay ?? {};
  same('answers of a cassette', { answers, byTurn }, summary.replayed);
  for (const model of summary.models)
    if (!attempt.observed.models.includes(model)) same('models', attempt.observed.models, summary.models);
  const { backgroundModels, backgroundTurns, routing } = attempt.observed;
  const seen = observedModels(summary.routes, cell.model ?? undefined);
  same('background models and routing', { backgroundModels, backgroundTurns, routing }, seen);
  return summary;
}

/** The tunnels of a CLI that signed in by itself, once more; undefined where there are none. */
async function checkLogin(findings: Findings, attempt: Attempt): Promise<TunnelSummary | undefined> {
  const text = await recordText(join(findings.folder, 'egress.jsonl'));
  const tunnels = text === undefined ? undefined : tunnelsOf(text);
  if (text !== undefined && tunnels === undefined)
    findings.add('LOG_DAMAGED', 'egress.jsonl', 'a line is no tunnel');
  const summary = tunnels?.reduce(tunnelSummaryWith, NO_TUNNELS);
  if (attempt.outcome === null) return summary;
  const { provider, ...recorded } = attempt.login ?? { provider: null };
  const derived = summary ?? {};
  findings.same('COUNTS_DIFFER', 'attempt.json', 'tunnels', recorded, derived);
  return summary;
}

/** Whether the class of an attempt follows from how it ended; a spent budget ends it as an abort. */
async function checkVerdict(
  findings: Findings,
  attempt: Attempt,
  summary: GatewaySummary | undefined,
  tunnels: TunnelSummary | undefined,
  needsModel: boolean,
): Promise<void> {
  if (attempt.outcome === null) {
    findings.same('CLASS_DIFFERS', 'attempt.json', 'class', attempt.class, 'infrastructure');
    return;
  }
  const mismatch = attempt.replay?.mismatch ?? null;
  if (mismatch !== null) {
    findings.same('CLASS_DIFFERS', 'attempt.json', 'class', attempt.class, 'infrastructure');
    findings.same('CLASS_DIFFERS', 'attempt.json', 'reason', attempt.failureReason, mismatch);
    return;
  }
  if (attempt.outcome.endedBy === 'abort') {
    findings.same('CLASS_DIFFERS', 'attempt.json', 'class', attempt.class, 'agent');
    return;
  }
  const tracePath = join(findings.folder, 'trace.jsonl');
  const byLogin =
    tunnels === undefined
      ? { gateway: summary }
      : {
          gateway: undefined,
          login: {
            tunnels: tunnels.opened,
            errors: readingOf(await readTranscript(await traceFormatOf(tracePath), tracePath)).errors,
          },
        };
  const derived = verdictOf({
    needsModel,
    outcome: attempt.outcome as CommandOutcome,
    ...byLogin,
    hasOutput: attempt.files.copied.some(({ path }) => path === 'output.csv'),
  });
  findings.same('CLASS_DIFFERS', 'attempt.json', 'class', attempt.class, derived.class);
  findings.same('CLASS_DIFFERS', 'attempt.json', 'reason', attempt.failureReason, derived.reason);
}

async function checkGates(
  findings: Findings,
  attempt: Attempt,
  summary: GatewaySummary | undefined,
  needsModel: boolean,
): Promise<Attempt['integrity']> {
  const canaries = await canariesOf(findings);
  const lint = await lintOf(findings);
  const wasLookedAt = attempt.integrity.egress !== null;
  const log = await recordText(join(findings.folder, 'gateway.jsonl'));
  const login =
    attempt.login === null ? [] : [{ log: await recordText(join(findings.folder, 'egress.jsonl')) }];
  const egress = wasLookedAt ? egressOf(log, attempt.allowedHosts, needsModel, ...login).passed : null;
  const derived = { canaries, lint, egress, hostedToolCalls: [...(summary?.hostedToolCalls ?? [])] };
  findings.same('GATES_DIFFER', 'attempt.json', 'integrity', attempt.integrity, derived);
  return derived;
}

async function canariesOf(findings: Findings): Promise<boolean | null> {
  const json = await recordJson(join(findings.folder, 'canary.json'));
  if (json === undefined) return null;
  const report = canaryReportSchema.safeParse(json);
  if (!report.success) {
    findings.add('CANARY_INVALID', 'canary.json', 'is no report of canaries');
    return false;
  }
  const { checks, controls, passed } = report.data;
  const allHeld = [...checks, ...controls].every(({ held }) => held);
  const isWhole = checks.length >= LEAST_CANARY_CHECKS && controls.length >= LEAST_CANARY_CONTROLS;
  findings.same('CANARY_INVALID', 'canary.json', 'passed', passed, allHeld);
  if (allHeld && !isWhole) findings.add('CANARY_INVALID', 'canary.json', 'checks or controls are missing');
  return allHeld && isWhole;
}

/** The lint's own verdict, and the part of it that the trace alone gives, once more. */
async function lintOf(findings: Findings): Promise<boolean | null> {
  const json = await recordJson(join(findings.folder, 'lint.json'));
  if (json === undefined) return null;
  const report = lintReportSchema.safeParse(json);
  if (!report.success) {
    findings.add('LINT_INVALID', 'lint.json', 'is no report of a lint');
    return false;
  }
  const { findings: recorded, passed, removedRelations } = report.data;
  const derived = recorded.every(({ severity }) => severity === 'note');
  findings.same('LINT_INVALID', 'lint.json', 'passed', passed, derived);
  const tracePath = join(findings.folder, 'trace.jsonl');
  if ((await statusOf(tracePath)) === undefined) return derived;
  const transcript = await readTranscript(await traceFormatOf(tracePath), tracePath);
  const missed = transcriptFindings(transcript, removedRelations, []).filter(
    (one) =>
      one.severity === 'violation' &&
      !recorded.some(
        ({ code, where, detail }) => code === one.code && where === one.where && detail === one.detail,
      ),
  );
  for (const { code, where } of missed)
    findings.add('LINT_DIFFERS', 'lint.json', `does not tell of ${code} in ${where}`);
  return derived && missed.length === 0;
}
