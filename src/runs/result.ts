import { z } from 'zod';
import type { Evaluation } from '../evaluation/evaluation.js';
import { localModelSchema } from '../gateway/local-models.js';
import { cellSchema } from './cell.js';

/**
 * Infrastructure failures (set-up, sandbox, gateway, provider) are tried again and never count as a score; agent
 * failures (timeout while in control, crash of its own making, no file) are reward 0.
 */
export const failureClassSchema = z.enum(['infrastructure', 'agent']);
export type FailureClass = z.infer<typeof failureClassSchema>;

const tokensSchema = z.object({
  input: z.number(),
  cachedInput: z.number(),
  cacheWrite: z.number(),
  output: z.number(),
  reasoning: z.number(),
});

const outcomeSchema = z.object({
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  endedBy: z.string().nullable(),
  seconds: z.number(),
  stdoutBytes: z.number(),
  stderrBytes: z.number(),
});

/** A run that was played from a cassette: nothing of it came from a model now. */
const replaySchema = z.object({
  /** SHA-256 of the cassette. */
  cassette: z.string(),
  isStrict: z.boolean(),
  /** Answers played, and how many of them were found only by their turn. */
  answers: z.number().int().nonnegative(),
  byTurn: z.number().int().nonnegative(),
  /** Recorded answers that nobody asked for. */
  left: z.number().int().nonnegative(),
  /** Why a request had no recorded answer; null: each had one. */
  mismatch: z.string().nullable(),
});

/** A run whose CLI signed in by itself and spoke to its provider through tunnels that nobody looks into. */
const loginSchema = z.object({
  provider: z.string(),
  /** Tunnels that reached the provider, were refused, and came to nothing. */
  opened: z.number().int().nonnegative(),
  refused: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  sentBytes: z.number(),
  receivedBytes: z.number(),
  hosts: z.array(z.string()),
});

/** `attempt.json`: written last and atomically; an attempt folder without it is debris. */
export const attemptSchema = z.object({
  schemaVersion: z.literal(1),
  n: z.number().int().positive(),
  startedAt: z.string(),
  seconds: z.object({
    total: z.number(),
    setup: z.number(),
    agent: z.number(),
    model: z.number(),
    evaluation: z.number(),
  }),
  /** `judged`: the output, or its absence, counts. */
  class: z.enum(['judged', 'infrastructure', 'agent']),
  failureReason: z.string().nullable(),
  outcome: outcomeSchema.nullable(),
  observed: z.object({
    cliVersion: z.string().nullable(),
    /** `rootfs`: the CLI is part of the root file system, whose digest pins it. `host`: the machine lent it. */
    cliSource: z.enum(['rootfs', 'host']).nullable().default(null),
    models: z.array(z.string()),
    /** Model slots that the adapter set, as `slot=model`. */
    overrides: z.array(z.string()),
    /** Models that the CLI asked for beside its main one, and their answers. */
    backgroundModels: z.array(z.string()),
    backgroundTurns: z.number().int().nonnegative().default(0),
    /** What the server of a local model says about it; null where none is local, or none told. */
    localModel: localModelSchema.nullable().default(null),
    /** Where another model answered than was asked, as `asked -> answered`. */
    routing: z.array(z.string()),
  }),
  gateway: z.object({ requests: z.number(), refused: z.number(), failed: z.number() }).nullable(),
  tokens: tokensSchema.nullable(),
  agentTokens: tokensSchema.nullable(),
  skill: z.object({
    placed: z.array(z.string()),
    offered: z.array(z.string()),
    opened: z.array(z.string()),
    source: z.enum(['gateway', 'attested']),
  }),
  hostedToolsRemoved: z.array(z.string()),
  /** US dollars by the price table, or null where a model has no price. */
  cost: z.number().nullable().default(null),
  /** Null: its answers came from a model. */
  replay: replaySchema.nullable().default(null),
  /** Null: the gateway saw every request. */
  login: loginSchema.nullable().default(null),
  /** Hosts of the providers that the gateway was given. */
  allowedHosts: z.array(z.string()).default([]),
  /** Null: not run. */
  integrity: z
    .object({
      canaries: z.boolean().nullable(),
      lint: z.boolean().nullable(),
      egress: z.boolean().nullable(),
      /** Provider-hosted tools that answers show as used. */
      hostedToolCalls: z.array(z.string()),
    })
    .default({ canaries: null, lint: null, egress: null, hostedToolCalls: [] }),
  limits: z.object({ asked: z.record(z.string(), z.number()), enforced: z.array(z.string()) }),
  files: z.object({
    copied: z.array(z.object({ path: z.string(), bytes: z.number() })),
    refused: z.array(z.object({ path: z.string(), reason: z.string() })),
  }),
  hashes: z.object({
    output: z.string().nullable(),
    trace: z.string().nullable(),
    gateway: z.string().nullable(),
    instruction: z.string(),
    evaluation: z.string().nullable(),
    stderr: z.string().nullable().default(null),
    canary: z.string().nullable().default(null),
    lint: z.string().nullable().default(null),
    transcript: z.string().nullable().default(null),
    egress: z.string().nullable().default(null),
  }),
  reward: z.number().nullable(),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** `result.json` of a run; see ARCHITECTURE.md, "JSON that others may rely on". */
export const resultSchema = z.object({
  schemaVersion: z.literal(1),
  benchmarkVersion: z.string(),
  runId: z.string(),
  campaign: z.string(),
  cell: cellSchema,
  observed: attemptSchema.shape.observed,
  trial: z.number().int().positive(),
  status: z.enum(['judged', 'unjudged']),
  attempt: z.number().int().positive().nullable(),
  attempts: z.array(
    z.object({
      n: z.number(),
      class: attemptSchema.shape.class,
      reason: z.string().nullable(),
      startedAt: z.string(),
      seconds: z.number(),
    }),
  ),
  failureClass: failureClassSchema.nullable(),
  failureReason: z.string().nullable(),
  /** Null only when unjudged. */
  reward: z.number().nullable(),
  rewardRobust: z.number().nullable(),
  evaluation: z.custom<Evaluation>((value) => value === null || typeof value === 'object').nullable(),
  tokens: tokensSchema.extend({ source: z.literal('gateway') }).nullable(),
  agentTokens: tokensSchema.nullable(),
  cost: z.number().nullable(),
  seconds: attemptSchema.shape.seconds,
  skill: attemptSchema.shape.skill,
  dataset: z.object({
    name: z.string(),
    class: z.enum(['open', 'synthetic', 'credentialed']),
    verified: z.boolean(),
    contentHash: z.string(),
  }),
  /** Whether the stored proof covers exactly what a transformed schema presented; absent in the native one. */
  presentation: z.object({ isVerified: z.boolean(), reasons: z.array(z.string()) }).optional(),
  sandbox: z.object({
    kind: z.string(),
    rootfsDigest: z.string().nullable(),
    limits: attemptSchema.shape.limits,
  }),
  replay: attemptSchema.shape.replay,
  login: attemptSchema.shape.login,
  dataUse: z.object({
    provider: z.string().nullable(),
    attestation: z.string().nullable(),
    allowed: z.boolean(),
  }),
  hashes: z.object({
    instruction: z.string(),
    context: z.string(),
    taskDatabase: z.string(),
    reference: z.string(),
    output: z.string().nullable(),
    trace: z.string().nullable(),
    gateway: z.string().nullable(),
    /** Of the whole record of each attempt (`attempt.json`), in their order. */
    attempts: z.array(z.string()).optional(),
  }),
  integrity: z.object({
    /** Null: not run. */
    canaries: z.boolean().nullable(),
    lint: z.boolean().nullable(),
    egress: z.boolean().nullable(),
    /** Provider-hosted tools that were taken out of requests. */
    hostedTools: z.array(z.string()),
    /** Provider-hosted tools that answers show as used all the same. */
    hostedToolCalls: z.array(z.string()).optional(),
  }),
  publishable: z.boolean(),
  reasons: z.array(z.string()),
});
export type RunResult = z.infer<typeof resultSchema>;

/** What a result repeats of each attempt. */
export function attemptSummaries(attempts: readonly Attempt[]): RunResult['attempts'] {
  return attempts.map((attempt) => ({
    n: attempt.n,
    class: attempt.class,
    reason: attempt.failureReason,
    startedAt: attempt.startedAt,
    seconds: attempt.seconds.total,
  }));
}
