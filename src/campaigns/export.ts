import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import type { RunResult } from '../runs/result.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { isDone, readResult } from './campaign-index.js';
import { type CampaignPlan, campaignFolder, type PlannedRun } from './plan.js';

/** Columns of the exported file in order, with their DuckDB types; one row per planned run. */
export const exportColumns = {
  campaign: 'VARCHAR',
  run_id: 'VARCHAR',
  tier: 'INTEGER',
  task: 'VARCHAR',
  condition: 'VARCHAR',
  schema: 'VARCHAR',
  protocol: 'VARCHAR',
  dataset: 'VARCHAR',
  agent: 'VARCHAR',
  cli_version: 'VARCHAR',
  model: 'VARCHAR',
  effort: 'VARCHAR',
  trial: 'INTEGER',
  cell_hash: 'VARCHAR',
  status: 'VARCHAR',
  reward: 'DOUBLE',
  reward_robust: 'DOUBLE',
  strict_pass: 'BOOLEAN',
  key_precision: 'DOUBLE',
  key_recall: 'DOUBLE',
  key_f1: 'DOUBLE',
  truth_rows: 'BIGINT',
  output_rows: 'BIGINT',
  match_rates: 'MAP(VARCHAR, DOUBLE)',
  failure_class: 'VARCHAR',
  failure_reason: 'VARCHAR',
  attempts: 'INTEGER',
  infrastructure_attempts: 'INTEGER',
  started_at: 'TIMESTAMP',
  seconds_total: 'DOUBLE',
  seconds_agent: 'DOUBLE',
  seconds_model: 'DOUBLE',
  tokens_input: 'BIGINT',
  tokens_cached_input: 'BIGINT',
  tokens_cache_write: 'BIGINT',
  tokens_output: 'BIGINT',
  tokens_reasoning: 'BIGINT',
  cost_usd: 'DOUBLE',
  skills_placed: 'INTEGER',
  skills_offered: 'INTEGER',
  skills_opened: 'INTEGER',
  sandbox: 'VARCHAR',
  canaries: 'BOOLEAN',
  lint: 'BOOLEAN',
  egress: 'BOOLEAN',
  publishable: 'BOOLEAN',
  reasons: 'VARCHAR[]',
} as const;

type ExportRow = Readonly<Record<keyof typeof exportColumns, unknown>>;

/**
 * Writes one Parquet file with a row per planned run (without a result: status `missing`), for one's own analysis. Holds
 * no example rows and no paths. The file appears whole. Returns the number of rows.
 */
export async function exportCampaign(home: Home, plan: CampaignPlan, file: string): Promise<number> {
  const folder = campaignFolder(home, plan.name);
  const target = resolve(file);
  await mkdir(dirname(target), { recursive: true });
  const scratch = await mkdtemp(join(dirname(target), '.export-'));
  try {
    const lines = createWriteStream(join(scratch, 'rows.jsonl'));
    for (const run of plan.runs) {
      const result = await readResult(join(folder.runs, run.runId));
      const row = rowOf(plan, run, isDone(plan, run, result) ? result : undefined);
      if (!lines.write(`${JSON.stringify(row)}\n`)) await once(lines, 'drain');
    }
    lines.end();
    await once(lines, 'finish');
    const columns = Object.entries(exportColumns).map(([name, type]) => `${name}: ${literal(type)}`);
    const written = join(scratch, 'runs.parquet');
    await using session = await DuckSession.open();
    await session.run(
      `copy (from read_json(${literal(join(scratch, 'rows.jsonl'))}, format = 'newline_delimited', columns = {${columns.join(', ')}})) to ${literal(written)} (format parquet)`,
    );
    await rename(written, target);
    return plan.runs.length;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function rowOf(plan: CampaignPlan, run: PlannedRun, result: RunResult | undefined): ExportRow {
  const cell = plan.cells[run.cell]!;
  const evaluation = result?.evaluation;
  const { seconds, tokens, skill, integrity } = result ?? {};
  return {
    campaign: plan.name,
    run_id: run.runId,
    tier: run.tier ?? null,
    task: cell.task,
    condition: cell.condition,
    schema: cell.schema,
    protocol: cell.protocol,
    dataset: cell.dataset,
    agent: cell.agent,
    cli_version: cell.cliVersion,
    model: cell.model,
    effort: cell.effort,
    trial: run.trial,
    cell_hash: hashOf(cell),
    status: result?.status ?? 'missing',
    reward: result?.reward,
    reward_robust: result?.rewardRobust,
    strict_pass: evaluation?.strictPass,
    key_precision: evaluation?.keyPrecision,
    key_recall: evaluation?.keyRecall,
    key_f1: evaluation?.keyF1,
    truth_rows: evaluation?.truthRows,
    output_rows: evaluation?.outputRows,
    match_rates: evaluation?.matchRates,
    failure_class: result?.failureClass,
    failure_reason: result?.failureReason,
    attempts: result?.attempts.length ?? 0,
    infrastructure_attempts:
      result?.attempts.filter((attempt) => attempt.class === 'infrastructure').length ?? 0,
    started_at: result?.attempts[0]?.startedAt,
    seconds_total: seconds?.total,
    seconds_agent: seconds?.agent,
    seconds_model: seconds?.model,
    tokens_input: tokens?.input,
    tokens_cached_input: tokens?.cachedInput,
    tokens_cache_write: tokens?.cacheWrite,
    tokens_output: tokens?.output,
    tokens_reasoning: tokens?.reasoning,
    cost_usd: result?.cost,
    skills_placed: skill?.placed.length,
    skills_offered: skill?.offered.length,
    skills_opened: skill?.opened.length,
    sandbox: result?.sandbox.kind ?? plan.sandbox,
    canaries: integrity?.canaries,
    lint: integrity?.lint,
    egress: integrity?.egress,
    publishable: result?.publishable,
    reasons: result?.reasons,
  };
}
