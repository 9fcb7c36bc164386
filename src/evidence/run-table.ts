import { rewardByTaskAndCondition } from '../analysis/skill-effect.js';
import { type Table, type TableRow, toCsv } from '../analysis/tables.js';
import type { Attempt, RunResult } from '../runs/result.js';

/** A run as it stands in a package. */
export interface PackagedRun {
  readonly result: RunResult;
  readonly attempts: readonly Attempt[];
}

/**
 * Every attempt of every run, also those that do not count, with what they came to: retries can be studied. Match rates
 * are JSON. A pure function of the packaged records, so that anybody gets the same file from them.
 */
export function attemptTable(runs: readonly PackagedRun[]): Table {
  const rows = runs.flatMap(({ result, attempts }) => attempts.map((attempt) => rowOf(result, attempt)));
  return { columns: Object.keys(rows[0] ?? {}), rows };
}

function rowOf(result: RunResult, attempt: Attempt): TableRow {
  const { cell, evaluation } = result;
  const counts = attempt.n === result.attempt;
  const scored = counts ? evaluation : null;
  return {
    run_id: result.runId,
    task: cell.task,
    condition: cell.condition,
    schema: cell.schema,
    protocol: cell.protocol,
    dataset: cell.dataset,
    agent: cell.agent,
    cli_version: attempt.observed.cliVersion,
    model: cell.model,
    reasoning_effort: cell.effort,
    model_strings: attempt.observed.models.join(' '),
    trial: result.trial,
    attempt_number: attempt.n,
    attempts_total: result.attempts.length,
    status: counts ? 'counts' : result.status === 'unjudged' ? 'unjudged' : 'superseded',
    failure_class: attempt.class === 'judged' ? 'none' : attempt.class,
    failure_reason: attempt.failureReason,
    reward: attempt.reward,
    reward_robust: counts ? result.rewardRobust : null,
    match_rates: scored === null ? null : JSON.stringify(scored.matchRates),
    strict_pass: scored === null ? null : String(scored.strictPass),
    key_precision: scored?.keyPrecision ?? null,
    key_recall: scored?.keyRecall ?? null,
    key_f1: scored?.keyF1 ?? null,
    truth_rows: scored?.truthRows ?? null,
    output_rows: scored?.outputRows ?? null,
    seconds: attempt.seconds.total,
    agent_seconds: attempt.seconds.agent,
    input_tokens: attempt.tokens?.input ?? null,
    cached_input_tokens: attempt.tokens?.cachedInput ?? null,
    cache_creation_tokens: attempt.tokens?.cacheWrite ?? null,
    output_tokens: attempt.tokens?.output ?? null,
    cost_usd: attempt.cost,
    publishable: counts ? String(result.publishable) : null,
    prompt_sha256: cell.hashes.instruction,
    context_sha256: cell.hashes.context,
    reference_hash: cell.hashes.reference,
    task_database_hash: cell.hashes.taskDatabase,
    output_sha256: attempt.hashes.output,
  };
}

/** The tables of a package by file name, made of nothing but its records. */
export function packageTables(runs: readonly PackagedRun[]): Readonly<Record<string, string>> {
  return {
    'tables/attempts.csv': toCsv(attemptTable(runs)),
    'tables/rewards.csv': toCsv(rewardByTaskAndCondition(runs.map(({ result }) => result))),
  };
}
