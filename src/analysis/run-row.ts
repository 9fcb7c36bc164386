import type { MismatchKinds } from '../evaluation/evaluation.js';
import type { RunResult } from '../runs/result.js';

export type SchemaName = 'native' | 'obfuscated' | 'restructured';

/**
 * One run as the analysis sees it, whether it comes from a `result.json` of this system or from a published table.
 * Every estimator works on these rows and on nothing else.
 */
export interface RunRow {
  readonly runId: string;
  /** Name of the campaign; runs of different campaigns are never averaged together. */
  readonly campaign: string;
  /** Part of the campaign that was run and counted on its own: `primary`, `follow-up`. */
  readonly part: string;
  readonly task: string;
  readonly condition: string;
  readonly schema: SchemaName;
  readonly agent: string;
  readonly model: string;
  readonly effort: string;
  /** The CLI's own login: nobody counted tokens or saw requests, and skills are attested only. Absent: keys at the gateway. */
  readonly auth?: 'login';
  readonly protocol: string;
  /** Version of the tasks, references and scoring; `published` for the release of the paper. */
  readonly benchmarkVersion: string;
  /** Name of the dataset that the task read. */
  readonly dataset: string;
  /** Edition of the data: `full`, `demo`, `synthetic`, or a user's own dataset name. */
  readonly edition: string;
  readonly trial: number;
  /** Null when the run was not judged; such runs are counted and shown, never averaged. */
  readonly reward: number | null;
  readonly rewardRobust: number | null;
  /** `agent`: timeout, crash, no file; reward 0. `infrastructure`: not judged. */
  readonly failure: 'agent' | 'infrastructure' | null;
  readonly failureReason: string | null;
  /** Match rate by scored column; empty for failures. */
  readonly matchRates: Readonly<Record<string, number>>;
  /** Wrong reference rows by kind, for each scored column; absent where nothing was diagnosed. */
  readonly mismatchKinds?: Readonly<Record<string, MismatchKinds>>;
  readonly passedChecks: number;
  readonly failedChecks: number;
  readonly errors: number;
  readonly hasFailedDiagnostics: boolean;
  readonly keyPrecision: number | null;
  readonly keyRecall: number | null;
  readonly keyF1: number | null;
  readonly extraKeys: number | null;
  readonly truthRows: number | null;
  readonly orderedNmae: number | null;
  readonly orderedColumns: number;
  readonly integrity: Integrity;
  readonly returnCode: number | null;
  readonly seconds: number | null;
  readonly tokens: TokenCounts | null;
  /** In the currency of the price list, usually US dollars. */
  readonly cost: number | null;
  readonly harness: HarnessIndicators;
  /** True when the agent read a skill that was placed for it; null when unknown or none was placed. */
  readonly hasOpenedSkill: boolean | null;
  /** Bytes by artifact; null when the artifacts were not looked at. */
  readonly artifactBytes: Readonly<Record<string, number>> | null;
  /** Reward of the first attempt when a later one stands in this row (an infrastructure failure is null); else absent. */
  readonly firstAttempt?: { readonly reward: number | null };
  /** Attempts made in all. */
  readonly attempts: number;
}

/** Integrity flags; null when the check was not made. */
export interface Integrity {
  readonly isPublishable: boolean;
  readonly isIsolated: boolean | null;
  readonly hasCleanCanaries: boolean | null;
  readonly hasCleanLint: boolean | null;
}

export interface TokenCounts {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number | null;
  readonly output: number;
}

/** What of the harness can differ between two arms without anybody asking for it. */
export interface HarnessIndicators {
  readonly cliVersion: string | null;
  readonly hasOverrides: boolean | null;
  readonly hasBackgroundModel: boolean | null;
  readonly routing: readonly string[];
}

/** A run that was judged. */
export type JudgedRow = RunRow & { readonly reward: number };

/** The rows that have a reward. */
export function judgedRows(rows: readonly RunRow[]): readonly JudgedRow[] {
  return rows.filter((row): row is JudgedRow => row.reward !== null);
}

/** Strict pass: no failed check and no error, by the thresholds of the task. */
export function isStrictPass(row: RunRow): boolean {
  return row.reward !== null && row.failedChecks === 0 && row.errors === 0;
}

/** Exact pass: every scored column fully matched and exactly the reference's keys, whatever the task's thresholds. */
export function isExactPass(row: RunRow): boolean {
  const rates = Object.values(row.matchRates);
  return (
    row.reward !== null &&
    row.errors === 0 &&
    rates.length > 0 &&
    rates.every((rate) => rate === 1) &&
    row.keyPrecision === 1 &&
    row.keyRecall === 1
  );
}

/** Edition of a dataset: `mimic-iv-demo` and `eicu-demo` are both `demo`, so a campaign over both stays one. */
export function editionOf(dataset: string): string {
  for (const kind of ['mimic-iv', 'eicu']) {
    if (dataset === kind) return 'full';
    if (dataset.startsWith(`${kind}-`)) return dataset.slice(kind.length + 1);
  }
  return dataset;
}

/** The row of a `result.json`. A judged run without an evaluation is an agent failure: reward 0, no keys matched. */
export function rowOfResult(
  result: RunResult,
  artifactBytes: Readonly<Record<string, number>> | null = null,
): RunRow {
  const { cell, evaluation, observed, integrity, tokens } = result;
  const isJudged = result.reward !== null;
  const hasError = isJudged && (evaluation === null || evaluation.errorKind !== null);
  const checks = evaluation?.checks ?? [];
  const failedChecks = hasError ? 0 : checks.filter((check) => !check.passed).length;
  const placed = result.skill.placed.length > 0;
  return {
    runId: result.runId,
    campaign: result.campaign,
    part: 'primary',
    task: cell.task,
    condition: cell.condition,
    schema: cell.schema,
    agent: cell.agent,
    model: cell.model ?? 'default',
    effort: cell.effort,
    ...(cell.auth === undefined ? {} : { auth: cell.auth }),
    protocol: cell.protocol,
    benchmarkVersion: result.benchmarkVersion,
    dataset: cell.dataset,
    edition: editionOf(cell.dataset),
    trial: result.trial,
    reward: result.reward,
    rewardRobust: result.rewardRobust,
    failure: result.failureClass,
    failureReason: result.failureReason ?? evaluation?.error ?? null,
    matchRates: hasError ? {} : (evaluation?.matchRates ?? {}),
    ...(hasError || Object.keys(evaluation?.mismatchKinds ?? {}).length === 0
      ? {}
      : { mismatchKinds: evaluation!.mismatchKinds }),
    passedChecks: hasError ? 0 : checks.length - failedChecks,
    failedChecks,
    errors: hasError ? 1 : 0,
    hasFailedDiagnostics: evaluation !== null && (failedChecks > 0 || hasError),
    keyPrecision: evaluation === null ? null : evaluation.keyPrecision,
    keyRecall: isJudged ? (evaluation === null ? 0 : evaluation.keyRecall) : null,
    keyF1: isJudged ? (evaluation === null ? 0 : evaluation.keyF1) : null,
    extraKeys: evaluation?.extraKeys ?? null,
    truthRows: evaluation?.truthRows ?? null,
    orderedNmae: evaluation?.orderedNmae ?? null,
    orderedColumns: evaluation?.nmae.columns ?? 0,
    integrity: {
      isPublishable: result.publishable,
      isIsolated: result.sandbox.kind !== 'process',
      hasCleanCanaries: integrity.canaries,
      hasCleanLint: integrity.lint,
    },
    returnCode: null,
    seconds: result.seconds.agent,
    tokens:
      tokens === null
        ? null
        : {
            input: tokens.input,
            cachedInput: tokens.cachedInput,
            cacheWrite: tokens.cacheWrite,
            output: tokens.output,
          },
    cost: result.cost,
    harness: {
      cliVersion: observed.cliVersion,
      hasOverrides: observed.overrides.length > 0,
      hasBackgroundModel: observed.backgroundModels.length > 0,
      routing: observed.routing,
    },
    hasOpenedSkill: placed ? result.skill.opened.length > 0 : null,
    artifactBytes,
    attempts: result.attempts.length,
    // A reward never decides about a retry here: what comes before the judged attempt was never scored.
    ...(result.attempts.length > 1 ? { firstAttempt: { reward: null } } : {}),
  };
}
