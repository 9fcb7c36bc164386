import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { M4BenchError } from '../support/errors.js';
import { publishedTasks } from './published-release.js';
import { readPublishedRuns } from './read-published.js';

/** Values of one run by the columns that all tables share. */
const common = {
  task: 'mimic-sofa-24h',
  condition: 'no-skill',
  schema: 'native',
  model: 'gpt-5.5',
  trial: '1',
  run_id: 'r1',
  reward: '0.25',
  publishable: 'True',
  agent_returncode: '0',
  diagnostics_failed: 'False',
  passed: '3',
  failed: '2',
  errors: '0',
};
const full = {
  ...common,
  agent: 'codex',
  reasoning_effort: 'high',
  isolated: 'True',
  filesystem_canary: 'False',
  contamination_lint: 'True',
  elapsed_seconds: '12.5',
  key_precision: '0.5',
  key_recall: '0.75',
  key_f1: '0.6',
  extra_keys: '7',
  truth_rows: '100',
  match_rates: "\"{'sofa': 0.5, 'liver': 1}\"",
  ordered_value_columns: '2',
  ordered_value_nmae: '0.125',
};
const followUp = { ...common, isolated: 'False', filesystem_canary: 'True', contamination_lint: 'False' };
const superseded = { ...common, timestamp_key: '20260101', output_csv_bytes: '' };

const csv = (rows: readonly Readonly<Record<string, string>>[]): string =>
  [Object.keys(rows[0]!).join(','), ...rows.map((row) => Object.values(row).join(',')), ''].join('\n');

const unknownHarness = { cliVersion: null, hasOverrides: null, hasBackgroundModel: null, routing: [] };
const row = {
  runId: 'r1',
  campaign: 'published Codex',
  part: 'primary',
  task: 'mimic-sofa-24h',
  condition: 'no-skill',
  schema: 'native',
  agent: 'codex',
  model: 'gpt-5.5',
  effort: 'high',
  protocol: 'published-2026',
  benchmarkVersion: 'published',
  dataset: 'mimic-iv',
  edition: 'full',
  trial: 1,
  reward: 0.25,
  rewardRobust: null,
  failure: null,
  failureReason: null,
  matchRates: { sofa: 0.5, liver: 1 },
  passedChecks: 3,
  failedChecks: 2,
  errors: 0,
  hasFailedDiagnostics: false,
  keyPrecision: 0.5,
  keyRecall: 0.75,
  keyF1: 0.6,
  extraKeys: 7,
  truthRows: 100,
  orderedNmae: 0.125,
  orderedColumns: 2,
  integrity: { isPublishable: true, isIsolated: true, hasCleanCanaries: false, hasCleanLint: true },
  returnCode: 0,
  seconds: 12.5,
  tokens: null,
  cost: null,
  harness: unknownHarness,
  hasOpenedSkill: null,
  artifactBytes: null,
  attempts: 1,
};
/** What a table of the follow-up does not tell. */
const untold = {
  part: 'follow-up',
  effort: 'medium',
  matchRates: {},
  keyPrecision: null,
  keyRecall: null,
  keyF1: null,
  extraKeys: null,
  truthRows: null,
  orderedNmae: null,
  orderedColumns: 0,
  seconds: null,
};

describe('the published run tables, from files written by hand', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-published-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const put = (name: string, content: string) => writeFile(join(folder, name), content);
  const refusal = (): Promise<M4BenchError> =>
    readPublishedRuns(folder).then(
      () => expect.unreachable('nothing was refused'),
      (thrown) => thrown as M4BenchError,
    );

  it('become rows, campaign by campaign, with their failures in words', async () => {
    const failed = (agent_returncode: string, trial: string) => ({
      ...full,
      trial,
      reward: '0',
      errors: '1',
      agent_returncode,
      match_rates: '',
      key_precision: '',
      diagnostics_failed: 'True',
    });
    await put(
      'final_codex_runs.csv',
      csv([full, failed('-1', '2'), failed('125', '3'), failed('3', '4'), failed('0', '5'), failed('', '6')]),
    );
    await put(
      'final_claude_runs.csv',
      csv([{ ...full, agent: 'claude', task: 'eicu-gcs', schema: 'obfuscated' }]),
    );
    await put('final_oss_runs.csv', csv([{ ...full, agent: 'pi-ollama', publishable: 'False', reward: '' }]));
    const set = await readPublishedRuns(folder);
    expect(set.rows[0]).toEqual(row);
    const broken = {
      reward: 0,
      errors: 1,
      matchRates: {},
      keyPrecision: null,
      hasFailedDiagnostics: true,
      failure: 'agent',
    };
    expect(set.rows.slice(1, 6)).toEqual(
      [
        { returnCode: -1, failureReason: 'time limit reached' },
        { returnCode: 125, failureReason: 'the container did not start', failure: 'infrastructure' },
        { returnCode: 3, failureReason: 'the agent ended with exit status 3' },
        { returnCode: 0, failureReason: 'no comparable output' },
        { returnCode: null, failureReason: 'no comparable output' },
      ].map((own, index) => ({ ...row, ...broken, ...own, trial: index + 2 })),
    );
    expect(set.rows.slice(6)).toEqual([
      {
        ...row,
        campaign: 'published Claude sentinel',
        agent: 'claude',
        task: 'eicu-gcs',
        schema: 'obfuscated',
        dataset: 'eicu',
      },
      {
        ...row,
        campaign: 'published open weights',
        agent: 'pi-ollama',
        reward: null,
        integrity: { ...row.integrity, isPublishable: false },
      },
    ]);
    expect(set).toMatchObject({
      superseded: [],
      records: [],
      printedProbeMeans: { 'published Codex': { obfuscated: 0.561, restructured: 0.557 } },
    });
    expect(set.tasks).toBe(publishedTasks);
  });

  it('of the follow-up carry the earliest attempt that was replaced', async () => {
    await put('final_codex_runs.csv', csv([full]));
    await put(
      'followup_canonical_runs.csv',
      csv([followUp, { ...followUp, trial: '2', errors: '1', agent_returncode: '-1' }]),
    );
    const earlier = (timestamp_key: string, reward: string, changes: object = {}) => ({
      ...superseded,
      timestamp_key,
      reward,
      ...changes,
    });
    await put(
      'followup_superseded_runs.csv',
      csv([
        earlier('20260102', '0.5'),
        earlier('20260101', ''),
        earlier('20260103', '0.75'),
        // Runs of other keys.
        ...(['task', 'condition', 'model'] as const).map((field) =>
          earlier('20250101', '1', { [field]: 'other' }),
        ),
        earlier('20250101', '1', { schema: 'restructured' }),
      ]),
    );
    const { rows, superseded: replaced } = await readPublishedRuns(folder);
    const integrity = { isPublishable: true, isIsolated: false, hasCleanCanaries: true, hasCleanLint: false };
    expect(rows.slice(1)).toEqual([
      { ...row, ...untold, integrity, attempts: 4, firstAttempt: { reward: null } },
      {
        ...row,
        ...untold,
        integrity,
        trial: 2,
        errors: 1,
        returnCode: -1,
        failure: 'agent',
        failureReason: 'time limit reached',
      },
    ]);
    expect(replaced).toHaveLength(7);
    expect(replaced[0]).toEqual({
      ...row,
      ...untold,
      reward: 0.5,
      integrity: { isPublishable: true, isIsolated: null, hasCleanCanaries: null, hasCleanLint: null },
    });
  });

  it('come with the records of the release', async () => {
    await put('final_codex_runs.csv', csv([full]));
    const record = {
      label: 'Codex primary',
      canonical_runs: 1,
      provenance_only_dirs: 2,
      source_root_bytes: 3,
      artifact_bytes: 4,
      elapsed_seconds: 5,
      input_tokens: 6,
      cached_input_tokens: 7,
      output_tokens: 8,
      artifact_counts: { 'result.json': 9 },
    };
    await put('release_metadata_summary.json', JSON.stringify([record, { ...record, label: 'toString' }]));
    const known = {
      campaign: 'published Codex',
      plannedRuns: 760,
      missingRuns: [],
      unexpectedRuns: [],
      canonicalRuns: 1,
      provenanceOnly: 2,
      artifactCounts: { 'result.json': 9 },
      artifactBytes: 4,
      folderBytes: 3,
      agentSeconds: 5,
      inputTokens: 6,
      cachedInputTokens: 7,
      outputTokens: 8,
      hardware: null,
    };
    expect((await readPublishedRuns(folder)).records).toEqual([
      known,
      { ...known, campaign: 'published toString', plannedRuns: null },
    ]);
    await put('release_metadata_summary.json', '[{"label": 1}]');
    expect(await refusal()).toMatchObject({
      code: 'PUBLISHED_RUNS_INVALID',
      message: `${join(folder, 'release_metadata_summary.json')} is not a release summary: 0.label.`,
      remedy: 'Fetch the published file again.',
    });
  });

  it('are refused where the table of Codex is missing', async () => {
    await put('final_claude_runs.csv', csv([full]));
    expect(await refusal()).toMatchObject({
      code: 'PUBLISHED_RUNS_MISSING',
      message: `${folder} does not hold the published runs: final_codex_runs.csv is missing.`,
      remedy:
        'Point to the folder with the published per-run tables (final_codex_runs.csv and its siblings).',
    });
  });

  it('are refused with file, row and column where a value is none', async () => {
    const refused: readonly (readonly [object, string])[] = [
      [{ reward: 'much' }, 'column reward: is not a number'],
      [{ reward: '" "' }, 'column reward: is not a number'],
      [{ trial: 'Infinity' }, 'column trial: is not a number'],
      [{ match_rates: '"{\'a\': 2}"' }, 'column match_rates: is not a mapping of columns to rates'],
      [{ match_rates: '"{\'a\': -0.1}"' }, 'column match_rates: is not a mapping of columns to rates'],
      [{ match_rates: 'text' }, 'column match_rates: is not a mapping of columns to rates'],
    ];
    for (const [changes, message] of refused) {
      await put('final_codex_runs.csv', csv([full, { ...full, ...changes }]));
      expect(await refusal()).toMatchObject({
        code: 'PUBLISHED_RUNS_INVALID',
        message: `${join(folder, 'final_codex_runs.csv')}, data row 2, ${message}.`,
        remedy: 'Fetch the published table again.',
      });
    }
    for (const column of ['schema', 'publishable'])
      await put('final_codex_runs.csv', csv([{ ...full, [column]: 'yes' }])).then(async () =>
        expect((await refusal()).message).toMatch(new RegExp(`data row 1, column ${column}: Invalid`)),
      );
  });

  it('are refused where a file is no table', async () => {
    await put('final_codex_runs.csv', 'a,b\n"never closed\n');
    const error = await refusal();
    expect(error).toMatchObject({
      code: 'PUBLISHED_RUNS_INVALID',
      remedy: 'Fetch the published table again.',
    });
    expect(error.message).toMatch(/final_codex_runs\.csv(, data row 1, column task| is not a CSV table)/);
  });
});
