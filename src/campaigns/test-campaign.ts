import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cell, runIdOf } from '../runs/cell.js';
import {
  type Attempt,
  attemptSchema,
  attemptSummaries,
  type RunResult,
  resultSchema,
} from '../runs/result.js';
import { writeJsonAtomic } from '../support/files.js';
import { sha256 } from '../support/hashing.js';
import { type CampaignPlan, type PlannedRun, planCells } from './plan.js';

/** A cell as planned, of a task that need not exist. */
export function testCell(more: Partial<Cell> = {}): Cell {
  return {
    task: 'mimic-meld-24h',
    condition: 'no-skill',
    schema: 'native',
    protocol: 'm4bench-1',
    dataset: 'mimic-iv-synthetic',
    datasetHash: sha256('dataset'),
    agent: 'empty',
    cliVersion: null,
    rootfsDigest: null,
    model: null,
    effort: 'auto',
    hashes: {
      instruction: sha256('instruction'),
      context: sha256('context'),
      reference: sha256('reference'),
      taskDatabase: sha256('database'),
      query: null,
    },
    ...more,
  };
}

/** A plan of `tasks` x two conditions x `trials`. */
export function testPlan(tasks: number, trials: number, name = 'test'): CampaignPlan {
  const cells = Array.from({ length: tasks }, (_, task) =>
    ['no-skill', 'with-skill'].map((condition) => testCell({ task: `task-${task}`, condition })),
  ).flat();
  return planCells({
    name,
    benchmarkVersion: '0',
    cells,
    trials,
    seed: '1',
    sandbox: 'process',
    timeoutSeconds: 60,
  });
}

export interface TestOutcome {
  readonly reward?: number;
  readonly class?: Attempt['class'];
  readonly reason?: string | null;
  readonly tokens?: number;
  readonly cost?: number | null;
}

/** Writes what `executeRun` leaves of a run whose attempts ended as told: `attempt.json` each, then `result.json`. */
export async function recordTestRun(
  runFolder: string,
  plan: CampaignPlan,
  run: PlannedRun,
  outcomes: readonly TestOutcome[] = [{}],
): Promise<RunResult> {
  const attempts = outcomes.map((outcome, index) => testAttempt(outcome, index + 1));
  for (const attempt of attempts) {
    await mkdir(join(runFolder, 'attempts', String(attempt.n)), { recursive: true });
    await writeJsonAtomic(join(runFolder, 'attempts', String(attempt.n), 'attempt.json'), attempt);
  }
  const result = testResult(plan, run, attempts);
  await writeJsonAtomic(join(runFolder, 'result.json'), result);
  return result;
}

function testAttempt(outcome: TestOutcome, n: number): Attempt {
  const kind = outcome.class ?? 'judged';
  return attemptSchema.parse({
    schemaVersion: 1,
    n,
    startedAt: '2026-01-01T00:00:00.000Z',
    seconds: { total: 2, setup: 0, agent: 2, model: 0, evaluation: 0 },
    class: kind,
    failureReason: outcome.reason ?? null,
    outcome: null,
    observed: { cliVersion: null, models: [], overrides: [], backgroundModels: [], routing: [] },
    gateway: null,
    tokens:
      outcome.tokens === undefined
        ? null
        : { input: outcome.tokens, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    agentTokens: null,
    skill: { placed: [], offered: [], opened: [], source: 'gateway' },
    hostedToolsRemoved: [],
    cost: outcome.cost ?? null,
    limits: { asked: {}, enforced: [] },
    files: { copied: [], refused: [] },
    hashes: {
      output: null,
      trace: null,
      gateway: null,
      instruction: sha256('instruction'),
      evaluation: null,
    },
    reward: kind === 'infrastructure' ? null : kind === 'agent' ? 0 : (outcome.reward ?? 1),
  });
}

function testResult(plan: CampaignPlan, run: PlannedRun, attempts: readonly Attempt[]): RunResult {
  const cell = plan.cells[run.cell]!;
  const last = attempts.at(-1)!;
  const isJudged = last.class !== 'infrastructure';
  return resultSchema.parse({
    schemaVersion: 1,
    benchmarkVersion: plan.benchmarkVersion,
    runId: runIdOf(cell, run.trial),
    campaign: plan.name,
    cell,
    observed: last.observed,
    trial: run.trial,
    status: isJudged ? 'judged' : 'unjudged',
    attempt: isJudged ? last.n : null,
    attempts: attemptSummaries(attempts),
    failureClass: last.class === 'judged' ? null : last.class,
    failureReason: last.failureReason,
    reward: last.reward,
    rewardRobust: last.reward,
    evaluation: null,
    tokens: last.tokens === null ? null : { ...last.tokens, source: 'gateway' },
    agentTokens: null,
    cost: last.cost,
    seconds: last.seconds,
    skill: last.skill,
    dataset: { name: cell.dataset, class: 'synthetic', verified: true, contentHash: cell.datasetHash },
    sandbox: { kind: plan.sandbox, rootfsDigest: null, limits: last.limits },
    dataUse: { provider: null, attestation: null, allowed: true },
    hashes: {
      instruction: cell.hashes.instruction,
      context: cell.hashes.context,
      taskDatabase: cell.hashes.taskDatabase,
      reference: cell.hashes.reference,
      output: null,
      trace: null,
      gateway: null,
    },
    integrity: { canaries: null, lint: null, egress: null, hostedTools: [] },
    publishable: false,
    reasons: ['the sandbox does not isolate'],
  });
}
