import { z } from 'zod';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { Cell } from '../runs/cell.js';
import {
  type Attempt,
  attemptSchema,
  attemptSummaries,
  type RunResult,
  resultSchema,
} from '../runs/result.js';

const rate = z.number().min(0).max(1);
const count = z.number().int().nonnegative();

/** `result.json` of a run of the published benchmark; what is not listed may be anything. */
export const publishedRecordSchema = z.object({
  task: z.string().regex(/^[a-z0-9-]{1,100}$/),
  condition: z.string().regex(/^[a-z-]{1,60}$/),
  schema: z.enum(['native', 'obfuscated', 'restructured']).default('native'),
  agent: z.string().regex(/^[a-z0-9-]{1,60}$/),
  model: z.string().max(200).nullable().default(null),
  trial: z.number().int().positive(),
  resolved_reasoning_effort: z.string().nullish(),
  publishable: z.boolean().default(false),
  publishable_reason: z.string().nullish(),
  run_id: z.string().max(400),
  agent_result: z
    .object({
      returncode: z.number().int().nullish(),
      elapsed_seconds: z.number().nonnegative().nullish(),
      failure_reason: z.string().nullish(),
    })
    .nullish(),
  test_results: z.object({
    passed: count.default(0),
    failed: count.default(0),
    errors: count.default(0),
    reward: rate,
    match_rates: z.record(z.string(), rate).nullish(),
    key_precision: rate.nullish(),
    extra_keys: count.nullish(),
    agent_unique_keys: count.nullish(),
  }),
  filesystem_canary: z.object({ passed: z.boolean() }).nullish(),
  contamination_lint: z.object({ passed: z.boolean() }).nullish(),
  token_usage: z
    .object({
      input_tokens: count,
      cached_input_tokens: count.default(0),
      output_tokens: count,
      model_strings: z.array(z.string()).default([]),
    })
    .nullish(),
});
export type PublishedRecord = z.infer<typeof publishedRecordSchema>;

/** Stands where the published record says nothing. */
export const notRecorded = 'not recorded';

/** Time at the end of a published run id, `YYYYMMDD_HHMMSS`; empty when it has none. */
export function timestampKey(runId: string): string {
  return /_(\d{8}_\d{6})$/.exec(runId)?.[1] ?? '';
}

function startOf(record: PublishedRecord): string {
  const parts = /^(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})$/.exec(timestampKey(record.run_id));
  if (parts === null) return '1970-01-01T00:00:00.000Z';
  const [, year, month, day, hour, minute, second] = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
}

/** Tasks whose SQL-bearing skill was replaced by one without, recorded under a condition of its own. */
const LEGACY_TASKS = [
  'mimic-urine-output-rate',
  'mimic-urine-output-rate-raw',
  'mimic-vasopressor-equivalents',
  'mimic-vasopressor-equivalents-raw',
];

/** Whether a record is one of those that were recorded as `with-skill-nosql` and count as `with-skill`. */
export function isLegacy({ condition, task }: PublishedRecord): boolean {
  return condition === 'with-skill-nosql' && LEGACY_TASKS.includes(task);
}

/** What a published run was asked; hashes that the record does not state are not made up. */
export function cellOfRecord(record: PublishedRecord): Cell {
  const hashes = { instruction: notRecorded, context: notRecorded, reference: notRecorded };
  return {
    task: record.task,
    condition: isLegacy(record) ? 'with-skill' : record.condition,
    schema: record.schema,
    protocol: 'published-2026',
    dataset: record.task.startsWith('eicu-') ? 'eicu' : 'mimic-iv',
    datasetHash: notRecorded,
    agent: record.agent,
    cliVersion: null,
    rootfsDigest: null,
    model: record.model,
    effort: record.resolved_reasoning_effort ?? 'auto',
    hashes: { ...hashes, taskDatabase: notRecorded, query: null },
  };
}

/** Exit 125 is the container runtime's own failure; the published means count it as 0 like all others. */
function failureOf(record: PublishedRecord): {
  readonly class: Attempt['class'];
  readonly reason: string | null;
} {
  const { test_results: tests, agent_result: agent } = record;
  if (tests.errors === 0) return { class: 'judged', reason: null };
  const stated = agent?.failure_reason ?? null;
  if (agent?.returncode === 125)
    return { class: 'infrastructure', reason: stated ?? 'the container did not start' };
  if (stated === null && tests.match_rates != null) return { class: 'judged', reason: null };
  return { class: 'agent', reason: stated ?? 'no comparable output' };
}

/** The evaluation as far as the record has it; what it lacks is null. */
function evaluationOf(record: PublishedRecord): Evaluation | null {
  const { test_results: tests } = record;
  if (tests.match_rates == null) return null;
  const checks = [
    ...Array.from({ length: tests.passed }, () => ({ name: 'published check', passed: true, detail: '' })),
    ...Array.from({ length: tests.failed }, () => ({ name: 'published check', passed: false, detail: '' })),
  ];
  const unknown = null as unknown as number;
  const isBroken = tests.errors > 0;
  return {
    task: record.task,
    dataset: record.task.startsWith('eicu-') ? 'eicu' : 'mimic-iv',
    reward: tests.reward,
    rewardRobust: unknown,
    matchRates: tests.match_rates,
    columns: {},
    checks: isBroken ? [] : checks,
    strictPass: tests.failed === 0 && tests.errors === 0,
    keyPrecision: tests.key_precision ?? unknown,
    keyRecall: unknown,
    keyF1: unknown,
    extraKeys: tests.extra_keys ?? unknown,
    missingKeys: unknown,
    duplicateKeys: unknown,
    uniqueKeys: tests.agent_unique_keys ?? unknown,
    truthRows: unknown,
    outputRows: unknown,
    orderedNmae: null,
    nmae: { value: null, columns: 0, coverage: 0 },
    mismatchKinds: {},
    confusion: {},
    components: null,
    errorKind: isBroken ? 'evaluator-failed' : null,
    error: isBroken ? 'the published evaluator could not compare the output' : null,
  };
}

function agentTokensOf({ token_usage: usage }: PublishedRecord): Attempt['agentTokens'] {
  if (usage == null) return null;
  const { input_tokens: input, cached_input_tokens: cachedInput, output_tokens: output } = usage;
  return { input, cachedInput, cacheWrite: 0, output, reasoning: 0 };
}

export interface RecordHashes {
  readonly output: string | null;
  readonly trace: string | null;
  readonly instruction: string | null;
}

/** A published directory as an attempt. */
export function attemptOfRecord(record: PublishedRecord, n: number, hashes: RecordHashes): Attempt {
  const failure = failureOf(record);
  const elapsed = record.agent_result?.elapsed_seconds ?? 0;
  return attemptSchema.parse({
    schemaVersion: 1,
    n,
    startedAt: startOf(record),
    seconds: { total: elapsed, setup: 0, agent: elapsed, model: 0, evaluation: 0 },
    class: failure.class,
    failureReason: failure.reason,
    outcome: null,
    observed: {
      cliVersion: null,
      models: record.token_usage?.model_strings ?? [],
      overrides: [],
      backgroundModels: [],
      backgroundTurns: 0,
      routing: [],
    },
    gateway: null,
    tokens: null,
    agentTokens: agentTokensOf(record),
    skill: { placed: [], offered: [], opened: [], source: 'attested' },
    hostedToolsRemoved: [],
    cost: null,
    allowedHosts: [],
    integrity: {
      canaries: record.filesystem_canary?.passed ?? null,
      lint: record.contamination_lint?.passed ?? null,
      egress: null,
      hostedToolCalls: [],
    },
    limits: { asked: { timeoutSeconds: 1800 }, enforced: [] },
    files: { copied: [], refused: [] },
    hashes: {
      output: hashes.output,
      trace: hashes.trace,
      gateway: null,
      instruction: hashes.instruction ?? notRecorded,
      evaluation: null,
      stderr: null,
      canary: null,
      lint: null,
      transcript: null,
    },
    reward: record.test_results.reward,
  });
}

/** The result of a run from the attempts at it, the last of which counts; `records` in the same order. */
export function resultOfRecords(
  campaign: string,
  runId: string,
  records: readonly PublishedRecord[],
  attempts: readonly Attempt[],
): RunResult {
  const record = records.at(-1)!;
  const last = attempts.at(-1)!;
  const cell = cellOfRecord(record);
  return resultSchema.parse({
    schemaVersion: 1,
    benchmarkVersion: 'published-2026',
    runId,
    campaign,
    cell,
    observed: last.observed,
    trial: record.trial,
    status: 'judged',
    attempt: last.n,
    attempts: attemptSummaries(attempts),
    failureClass: last.class === 'judged' ? null : last.class,
    failureReason: last.failureReason,
    reward: last.reward,
    rewardRobust: null,
    evaluation: evaluationOf(record),
    tokens: null,
    agentTokens: last.agentTokens,
    cost: null,
    seconds: last.seconds,
    skill: last.skill,
    dataset: { name: cell.dataset, class: 'credentialed', verified: false, contentHash: notRecorded },
    sandbox: { kind: 'docker', rootfsDigest: null, limits: last.limits },
    dataUse: { provider: null, attestation: null, allowed: true },
    hashes: {
      instruction: last.hashes.instruction,
      context: notRecorded,
      taskDatabase: notRecorded,
      reference: notRecorded,
      output: last.hashes.output,
      trace: last.hashes.trace,
      gateway: null,
    },
    integrity: {
      canaries: last.integrity.canaries,
      lint: last.integrity.lint,
      egress: null,
      hostedTools: [],
      hostedToolCalls: [],
    },
    publishable: record.publishable,
    reasons: record.publishable ? [] : [record.publishable_reason ?? 'the published record gives no reason'],
  });
}
