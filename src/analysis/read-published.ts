import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { readJson } from '../support/files.js';
import { groupBy } from './moments.js';
import { publishedPlannedRuns, publishedProbeMeans, publishedTasks } from './published-release.js';
import type { HarnessIndicators, RunRow } from './run-row.js';
import type { CampaignRecord, RunSet } from './run-set.js';

/** Names that the published campaigns have in every table. */
export const publishedCampaigns = {
  codex: 'published Codex',
  claude: 'published Claude sentinel',
  openWeights: 'published open weights',
} as const;

const flag = z.enum(['True', 'False']).transform((text) => text === 'True');
const number = z
  .string()
  .refine((text) => text.trim() !== '' && Number.isFinite(Number(text)), 'is not a number')
  .transform(Number);
const optional = number.nullable();
const schemaName = z.enum(['native', 'obfuscated', 'restructured']);

/** Columns that all published run tables share. */
const commonColumns = z.object({
  task: z.string(),
  condition: z.string(),
  schema: schemaName,
  model: z.string(),
  trial: number,
  run_id: z.string(),
  reward: optional,
  publishable: flag,
  agent_returncode: optional,
  diagnostics_failed: flag,
  passed: number,
  failed: number,
  errors: number,
});

const fullColumns = commonColumns.extend({
  agent: z.string(),
  reasoning_effort: z.string(),
  isolated: flag,
  filesystem_canary: flag,
  contamination_lint: flag,
  elapsed_seconds: optional,
  key_precision: optional,
  key_recall: optional,
  key_f1: optional,
  extra_keys: optional,
  truth_rows: optional,
  match_rates: z.string().nullable().transform(parseMatchRates),
  ordered_value_columns: number,
  ordered_value_nmae: optional,
});

const followUpColumns = commonColumns.extend({
  isolated: flag,
  filesystem_canary: flag,
  contamination_lint: flag,
});

const supersededColumns = commonColumns.extend({
  timestamp_key: z.string(),
  output_csv_bytes: optional,
});

const releaseSummary = z.array(
  z.object({
    label: z.string(),
    canonical_runs: z.number(),
    provenance_only_dirs: z.number(),
    source_root_bytes: z.number(),
    artifact_bytes: z.number(),
    elapsed_seconds: z.number(),
    input_tokens: z.number(),
    cached_input_tokens: z.number(),
    output_tokens: z.number(),
    artifact_counts: z.record(z.string(), z.number()),
  }),
);

const rate = z.number().min(0).max(1);

/** `{'gcs_min': 0.88, …}` of the published tables: not JSON, but for the kind of quote. */
function parseMatchRates(
  text: string | null,
  context: z.RefinementCtx<string | null>,
): Readonly<Record<string, number>> {
  try {
    return z.record(z.string(), rate).parse(JSON.parse((text ?? '{}').replaceAll("'", '"')));
  } catch {
    context.addIssue({ code: 'custom', message: 'is not a mapping of columns to rates', input: text });
    return z.NEVER;
  }
}

const unknownHarness: HarnessIndicators = {
  cliVersion: null,
  hasOverrides: null,
  hasBackgroundModel: null,
  routing: [],
};

/**
 * Reads the published per-run tables from a folder: primary Codex with its follow-up, Claude sentinel, local open
 * weights, and what is present of superseded attempts and release metadata.
 *
 * Throws `PUBLISHED_RUNS_MISSING` when the folder lacks the Codex table, `PUBLISHED_RUNS_INVALID` naming file, line
 * and column.
 */
export async function readPublishedRuns(folder: string): Promise<RunSet> {
  const codexFile = join(folder, 'final_codex_runs.csv');
  if (!existsSync(codexFile)) {
    throw new M4BenchError(
      'PUBLISHED_RUNS_MISSING',
      `${folder} does not hold the published runs: final_codex_runs.csv is missing.`,
      'Point to the folder with the published per-run tables (final_codex_runs.csv and its siblings).',
    );
  }
  await using session = await DuckSession.open({ threads: 1 });
  const read = async <T>(name: string, columns: z.ZodType<T>): Promise<readonly T[]> => {
    const path = join(folder, name);
    return existsSync(path) ? parseRows(path, await csvRows(session, path), columns) : [];
  };
  const full = async (name: string, campaign: string): Promise<readonly RunRow[]> =>
    (await read(name, fullColumns)).map((row) => fullRow(row, campaign));
  const codex = await full('final_codex_runs.csv', publishedCampaigns.codex);
  const superseded = (await read('followup_superseded_runs.csv', supersededColumns)).map((row) => ({
    row: followUpRow({ ...row, isolated: null, filesystem_canary: null, contamination_lint: null }),
    time: row.timestamp_key,
  }));
  const followUp = withFirstAttempts(
    (await read('followup_canonical_runs.csv', followUpColumns)).map(followUpRow),
    superseded,
  );
  return {
    rows: [
      ...codex,
      ...followUp,
      ...(await full('final_claude_runs.csv', publishedCampaigns.claude)),
      ...(await full('final_oss_runs.csv', publishedCampaigns.openWeights)),
    ],
    superseded: superseded.map(({ row }) => row),
    records: await readReleaseSummary(join(folder, 'release_metadata_summary.json')),
    tasks: publishedTasks,
    printedProbeMeans: { [publishedCampaigns.codex]: publishedProbeMeans },
  };
}

async function csvRows(session: DuckSession, path: string): Promise<readonly unknown[]> {
  try {
    return await session.rows(
      `from read_csv(${literal(path)}, header = true, all_varchar = true, delim = ',', quote = '"', escape = '"')`,
    );
  } catch (thrown) {
    throw new M4BenchError(
      'PUBLISHED_RUNS_INVALID',
      `${path} is not a CSV table: ${messageOf(thrown)}.`,
      'Fetch the published table again.',
      { cause: thrown },
    );
  }
}

function parseRows<T>(path: string, rows: readonly unknown[], columns: z.ZodType<T>): readonly T[] {
  return rows.map((row, index) => {
    const parsed = columns.safeParse(row);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new M4BenchError(
      'PUBLISHED_RUNS_INVALID',
      `${path}, data row ${index + 1}, column ${issue?.path.join('.')}: ${issue?.message}.`,
      'Fetch the published table again.',
    );
  });
}

function fullRow(row: z.infer<typeof fullColumns>, campaign: string): RunRow {
  const isFailure = row.errors > 0;
  return {
    ...commonRow(row, campaign),
    part: 'primary',
    agent: row.agent,
    effort: row.reasoning_effort,
    failureReason: isFailure ? failureReasonOf(row.agent_returncode) : null,
    matchRates: row.match_rates,
    keyPrecision: row.key_precision,
    keyRecall: row.key_recall,
    keyF1: row.key_f1,
    extraKeys: row.extra_keys,
    truthRows: row.truth_rows,
    orderedNmae: row.ordered_value_nmae,
    orderedColumns: row.ordered_value_columns,
    integrity: {
      isPublishable: row.publishable,
      isIsolated: row.isolated,
      hasCleanCanaries: row.filesystem_canary,
      hasCleanLint: row.contamination_lint,
    },
    seconds: row.elapsed_seconds,
  };
}

type FollowUp = z.infer<typeof commonColumns> & {
  readonly isolated: boolean | null;
  readonly filesystem_canary: boolean | null;
  readonly contamination_lint: boolean | null;
};

function followUpRow(row: FollowUp): RunRow {
  return {
    ...commonRow(row, publishedCampaigns.codex),
    part: 'follow-up',
    agent: 'codex',
    // Not in the follow-up tables; the campaign asked for `auto`, which is medium for this agent.
    effort: 'medium',
    failureReason: row.errors > 0 ? failureReasonOf(row.agent_returncode) : null,
    matchRates: {},
    keyPrecision: null,
    keyRecall: null,
    keyF1: null,
    extraKeys: null,
    truthRows: null,
    orderedNmae: null,
    orderedColumns: 0,
    integrity: {
      isPublishable: row.publishable,
      isIsolated: row.isolated,
      hasCleanCanaries: row.filesystem_canary,
      hasCleanLint: row.contamination_lint,
    },
    seconds: null,
  };
}

function commonRow(row: z.infer<typeof commonColumns>, campaign: string) {
  return {
    runId: row.run_id,
    campaign,
    task: row.task,
    condition: row.condition,
    schema: row.schema,
    model: row.model,
    protocol: 'published-2026',
    benchmarkVersion: 'published',
    dataset: row.task.startsWith('eicu-') ? 'eicu' : 'mimic-iv',
    edition: 'full',
    trial: row.trial,
    reward: row.reward,
    rewardRobust: null,
    // Exit 125 is the container runtime's own failure. The published means count it as 0 like all others.
    failure:
      row.errors === 0
        ? null
        : row.agent_returncode === 125
          ? ('infrastructure' as const)
          : ('agent' as const),
    passedChecks: row.passed,
    failedChecks: row.failed,
    errors: row.errors,
    hasFailedDiagnostics: row.diagnostics_failed,
    returnCode: row.agent_returncode,
    tokens: null,
    cost: null,
    harness: unknownHarness,
    hasOpenedSkill: null,
    artifactBytes: null,
    attempts: 1,
  };
}

function failureReasonOf(returnCode: number | null): string {
  if (returnCode === -1) return 'time limit reached';
  if (returnCode === 125) return 'the container did not start';
  if (returnCode !== null && returnCode !== 0) return `the agent ended with exit status ${returnCode}`;
  return 'no comparable output';
}

const runKey = (row: RunRow): string =>
  [row.task, row.condition, row.schema, row.model, row.trial].join('\u0000');

/** Adds the earliest superseded attempt to the row that replaced it. */
function withFirstAttempts(
  rows: readonly RunRow[],
  superseded: readonly { readonly row: RunRow; readonly time: string }[],
): readonly RunRow[] {
  const earlier = groupBy(superseded, ({ row }) => runKey(row));
  return rows.map((row) => {
    const replaced = earlier.get(runKey(row));
    if (replaced === undefined) return row;
    const first = replaced.reduce((a, b) => (b.time < a.time ? b : a));
    return { ...row, attempts: replaced.length + 1, firstAttempt: { reward: first.row.reward } };
  });
}

async function readReleaseSummary(path: string): Promise<readonly CampaignRecord[]> {
  if (!existsSync(path)) return [];
  const parsed = releaseSummary.safeParse(await readJson(path));
  if (!parsed.success) {
    throw new M4BenchError(
      'PUBLISHED_RUNS_INVALID',
      `${path} is not a release summary: ${parsed.error.issues[0]?.path.join('.')}.`,
      'Fetch the published file again.',
    );
  }
  return parsed.data.map((record) => ({
    campaign: record.label === 'Codex primary' ? publishedCampaigns.codex : `published ${record.label}`,
    plannedRuns: Object.hasOwn(publishedPlannedRuns, record.label)
      ? publishedPlannedRuns[record.label]!
      : null,
    missingRuns: [],
    unexpectedRuns: [],
    canonicalRuns: record.canonical_runs,
    provenanceOnly: record.provenance_only_dirs,
    artifactCounts: record.artifact_counts,
    artifactBytes: record.artifact_bytes,
    folderBytes: record.source_root_bytes,
    agentSeconds: record.elapsed_seconds,
    inputTokens: record.input_tokens,
    cachedInputTokens: record.cached_input_tokens,
    outputTokens: record.output_tokens,
    hardware: null,
  }));
}
