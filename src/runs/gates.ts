import { z } from 'zod';
import type { Transcript } from '../agents/transcript.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { InputMount, PreparedSandbox, Sandbox, WorkFile } from '../sandboxes/sandbox.js';
import type { PreparedCell } from './prepare.js';

const canaryCheckSchema = z.object({
  name: z.string(),
  /** A check: nothing got through. A control: what was exposed on purpose was seen. */
  held: z.boolean(),
  detail: z.string(),
});
export type CanaryCheck = z.infer<typeof canaryCheckSchema>;

/** `canary.json`: what was tried inside the very sandbox of the attempt, before the agent started. */
export const canaryReportSchema = z.object({
  schemaVersion: z.literal(1),
  startedAt: z.string(),
  seconds: z.number(),
  /** Every check and every control held. */
  passed: z.boolean(),
  checks: z.array(canaryCheckSchema),
  controls: z.array(canaryCheckSchema),
});
export type CanaryReport = z.infer<typeof canaryReportSchema>;

const lintFindingSchema = z.object({
  /** For example `removed-relation`, `web-tool`, `canary-marker`. */
  code: z.string(),
  /** A note is told and changes nothing: an attempt that failed, an output equal to the reference byte for byte. */
  severity: z.enum(['violation', 'note']),
  /** File of the attempt, and the number of the tool call where there is one. */
  where: z.string(),
  detail: z.string(),
});
export type LintFinding = z.infer<typeof lintFindingSchema>;

/** `lint.json`: signs that an attempt knew what it should have worked out. */
export const lintReportSchema = z.object({
  schemaVersion: z.literal(1),
  /** No violation among the findings. */
  passed: z.boolean(),
  findings: z.array(lintFindingSchema),
  /** 8-grams of the reference query that the agent wrote and was not given; null when there is no query to compare. */
  overlap: z.object({ share: z.number(), shared: z.number(), total: z.number() }).nullable(),
  /** Relations that the task took away and whose use was looked for. */
  removedRelations: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), bytes: z.number() })),
});
export type LintReport = z.infer<typeof lintReportSchema>;

export interface CanaryRequest {
  readonly attemptFolder: string;
  readonly sandbox: Sandbox;
  readonly inputs: readonly InputMount[];
  /** Keys that must not be seen inside. */
  readonly secrets: readonly string[];
}

/** Markers in place; disposing takes them away again. */
export interface ArmedCanaries extends AsyncDisposable {
  /** The control that the probe must find, for the work folder; the probe removes it. */
  readonly workFiles: readonly WorkFile[];
  /** Texts that nobody but the orchestrator knows. */
  readonly markers: readonly string[];
  /** Tries everything from inside. Never throws: a probe that does not come to its end has failed. */
  probe(prepared: PreparedSandbox): Promise<CanaryReport>;
}

export interface LintRequest {
  readonly attemptFolder: string;
  readonly prepared: PreparedCell;
  readonly transcript: Transcript;
  readonly markers: readonly string[];
  readonly secrets: readonly string[];
  readonly evaluation: Evaluation | null;
}

/** The gates of a run, handed in from above; a run without them records that they were not run. */
export interface RunGates {
  armCanaries(request: CanaryRequest): Promise<ArmedCanaries>;
  lint(request: LintRequest): Promise<LintReport>;
  /**
   * Judges the text of `gateway.jsonl`, and for a CLI that signs in by itself that of `egress.jsonl`; undefined where
   * there is none.
   */
  egress(
    log: string | undefined,
    allowedHosts: readonly string[],
    needsModel: boolean,
    login?: { readonly log: string | undefined },
  ): { readonly passed: boolean; readonly problems: readonly string[] };
}
