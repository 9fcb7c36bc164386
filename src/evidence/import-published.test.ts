import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readCampaignRows } from '../analysis/read-campaign.js';
import { readResult } from '../campaigns/campaign-index.js';
import { lockCampaign } from '../campaigns/lock.js';
import { campaignFolder, readPlan } from '../campaigns/plan.js';
import { type Home, homeAt } from '../support/home.js';
import { importPublished } from './import-published.js';
import { type HostileEntry, hostileTar, type TestFolder, testFolder } from './test-package.js';

/** A record as the harness specification describes it, section 13, with the evaluator's fields. */
function record(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    task: 'mimic-meld-24h',
    condition: 'no-skill',
    schema: 'native',
    agent: 'codex',
    model: 'gpt-5.5',
    trial: 1,
    reasoning_effort: 'auto',
    resolved_reasoning_effort: 'medium',
    isolated: true,
    publishable: true,
    publishable_reason: 'agent-only Docker isolation active',
    timestamp: '20260505_101112',
    run_id: 'mimic-meld-24h_no-skill_codex_gpt-5.5_t1_20260505_101112',
    results_root: '/somewhere',
    agent_db: { path: '/somewhere/db', sha256: '<REDACTED_SOURCE_HASH>', size_bytes: 12 },
    agent_result: { returncode: 0, stdout: '', stderr: '', elapsed_seconds: 61.5, trace_file: 'trace.jsonl' },
    test_results: {
      passed: 4,
      failed: 1,
      errors: 0,
      total_tests: 5,
      reward: 0.75,
      reward_uncapped: 0.75,
      match_rates: { meld: 0.75 },
      diagnostics_failed: true,
      key_precision: 0.9,
      extra_keys: 3,
      agent_unique_keys: 30,
    },
    filesystem_canary: { passed: true, required: true },
    contamination_lint: { passed: true, violations: [], patterns: [] },
    token_usage: {
      input_tokens: 1000,
      cached_input_tokens: 400,
      output_tokens: 50,
      turns: 3,
      model_strings: ['gpt-5.5'],
    },
    ...more,
  };
}

const failed = {
  agent_result: { returncode: -1, elapsed_seconds: 1800, failure_reason: 'timeout' },
  test_results: { passed: 0, failed: 0, errors: 1, total_tests: 1, reward: 0, pytest_output: 'timeout' },
};

let scratch: TestFolder;
let home: Home;
let source: string;

beforeEach(async () => {
  scratch = await testFolder();
  home = homeAt(join(scratch.path, 'home'));
  source = join(scratch.path, 'source');
});
afterEach(() => scratch[Symbol.asyncDispose]());

async function runFolder(
  path: string,
  content: unknown,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = join(source, path);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'result.json'), JSON.stringify(content));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

const rowsOf = async (name: string) => (await readCampaignRows(campaignFolder(home, name).root)).rows;

describe('run folders of the published benchmark', () => {
  test('become a read-only campaign that the analysis reads', async () => {
    await runFolder('root/a', record(), {
      'instruction.md': 'Write ./output.csv.\n',
      'trace.jsonl': `${JSON.stringify({ type: 'item.completed', item: { id: 'a', type: 'agent_message', text: 'Done.' } })}\n`,
    });
    await runFolder('root/b', record({ condition: 'with-skill', run_id: 'b_20260505_101113' }));
    const [imported] = await importPublished(home, source, 'published');
    expect(imported).toMatchObject({ name: 'published', runs: 2 });
    const rows = await rowsOf('published');
    const row = rows.find(({ condition }) => condition === 'no-skill')!;
    expect(row).toMatchObject({
      task: 'mimic-meld-24h',
      model: 'gpt-5.5',
      agent: 'codex',
      effort: 'medium',
      protocol: 'published-2026',
      dataset: 'mimic-iv',
      trial: 1,
      reward: 0.75,
      matchRates: { meld: 0.75 },
      passedChecks: 4,
      failedChecks: 1,
      errors: 0,
      keyPrecision: 0.9,
      extraKeys: 3,
      // What the record does not say is unknown, and not zero.
      keyRecall: null,
      keyF1: null,
      truthRows: null,
      seconds: 61.5,
      attempts: 1,
    });
    expect(row.integrity).toMatchObject({ isPublishable: true, hasCleanCanaries: true, hasCleanLint: true });
    const plan = await readPlan(home, 'published');
    expect(plan!.runs).toHaveLength(2);
    const folder = join(campaignFolder(home, 'published').runs, row.runId, 'attempts', '1');
    expect((await readdir(folder)).sort()).toEqual([
      'attempt.json',
      'instruction.md',
      'published-result.json',
      'trace.jsonl',
      'transcript.json',
    ]);
    expect(JSON.parse(await readFile(join(folder, 'transcript.json'), 'utf8'))).toMatchObject({
      finalText: 'Done.',
    });
    expect((await stat(join(folder, 'attempt.json'))).mode & 0o222).toBe(0);
  });

  test('cannot be run on', async () => {
    await runFolder('a', record());
    await importPublished(home, source, 'published');
    await expect(lockCampaign(campaignFolder(home, 'published').root, 'published')).rejects.toMatchObject({
      code: 'CAMPAIGN_IMPORTED',
    });
  });

  test('count the latest of the directories of a run, and keep the others as attempts', async () => {
    await runFolder('old/x', record({ ...failed, run_id: 'x_20260504_000000' }));
    await runFolder('new/x', record({ run_id: 'x_20260506_000000' }));
    await runFolder('new/y', record({ ...failed, trial: 2, run_id: 'y_20260506_000001' }));
    const [imported] = await importPublished(home, source, 'published');
    expect(imported!.notes.join(' ')).toContain(
      '2 runs of the published benchmark from 3 folders; 1 superseded',
    );
    const rows = await rowsOf('published');
    expect(rows.find(({ trial }) => trial === 1)).toMatchObject({
      reward: 0.75,
      attempts: 2,
      firstAttempt: { reward: 0 },
    });
    expect(rows.find(({ trial }) => trial === 2)).toMatchObject({
      reward: 0,
      failure: 'agent',
      failureReason: 'timeout',
      matchRates: {},
    });
  });

  test('recorded under the legacy condition count as with-skill and beat the SQL-bearing ones', async () => {
    const task = { task: 'mimic-urine-output-rate' };
    await runFolder(
      'a',
      record({ ...task, ...failed, condition: 'with-skill', run_id: 'a_20260509_000000' }),
    );
    await runFolder('b', record({ ...task, condition: 'with-skill-nosql', run_id: 'b_20260502_000000' }));
    await importPublished(home, source, 'published');
    expect(await rowsOf('published')).toMatchObject([{ condition: 'with-skill', reward: 0.75, attempts: 2 }]);
  });

  test('that a container failed to start are infrastructure, counted as 0 as published', async () => {
    const agent_result = { returncode: 125, elapsed_seconds: 2, failure_reason: 'agent_nonzero_exit' };
    await runFolder('a', record({ ...failed, agent_result }));
    await importPublished(home, source, 'published');
    expect(await rowsOf('published')).toMatchObject([{ reward: 0, failure: 'infrastructure' }]);
  });

  test('of several campaigns in one archive stay apart', async () => {
    const archive = join(scratch.path, 'published.tar.gz');
    const entry = (label: string, more: Readonly<Record<string, unknown>>): HostileEntry => ({
      name: `m4bench-review-artifact/runs/${label}/root/run:a/result.json`,
      content: JSON.stringify(record(more)),
    });
    await writeFile(
      archive,
      gzipSync(
        await hostileTar([
          { name: 'm4bench-review-artifact/README.md', content: 'x' },
          entry('codex_primary', {}),
          entry('claude_sentinel', { agent: 'claude', model: 'opus' }),
        ]),
      ),
    );
    const imported = await importPublished(home, archive, 'open');
    expect(imported.map(({ name }) => name).sort()).toEqual(['open-claude-sentinel', 'open-codex-primary']);
    expect(imported[0]!.notes[0]).toContain('none of the two published archives');
    expect(await rowsOf('open-claude-sentinel')).toMatchObject([{ agent: 'claude', model: 'opus' }]);
    expect(await readdir(home.campaigns)).toHaveLength(2);
  });

  test.each([
    ['a reward beyond 1', { test_results: { reward: 2 } }, 'test_results.reward'],
    ['no task', { task: 7 }, 'task'],
    ['a task that is a path', { task: '../../x' }, 'task'],
    ['an unknown schema', { schema: 'other' }, 'schema'],
  ])('with %s are refused by file and field, and nothing is left', async (_what, more, field) => {
    await runFolder('a', record(more));
    const refusal = importPublished(home, source, 'published');
    await expect(refusal).rejects.toMatchObject({ code: 'PUBLISHED_RUN_INVALID' });
    await expect(refusal).rejects.toThrow(
      `a/result.json is no record of a run of the published benchmark: ${field}`,
    );
    expect(await readdir(home.campaigns)).toEqual([]);
  });

  test('are never written over another campaign', async () => {
    await runFolder('a', record());
    await importPublished(home, source, 'published');
    await expect(importPublished(home, source, 'published')).rejects.toMatchObject({
      code: 'CAMPAIGN_EXISTS',
    });
    const [row] = await rowsOf('published');
    expect(await readResult(join(campaignFolder(home, 'published').runs, row!.runId))).toBeDefined();
  });

  test('that are none, or links to some, are said to be missing', async () => {
    await mkdir(join(source, 'empty'), { recursive: true });
    await runFolder('../elsewhere/a', record());
    await symlink(join(scratch.path, 'elsewhere', 'a'), join(source, 'link'));
    await expect(importPublished(home, source, 'x')).rejects.toMatchObject({
      code: 'PUBLISHED_RUNS_MISSING',
    });
  });
});

describe('a hostile archive of published runs', () => {
  test.each([
    { name: '../outside.txt', content: 'x' },
    { name: '/tmp/m4bench-outside.txt', content: 'x' },
    { name: 'a/../../outside.txt', content: 'x' },
    { name: 'a\\..\\outside.txt', content: 'x' },
    { name: 'a', type: 'symlink', linkname: '/etc' },
    { name: 'a', type: 'link', linkname: '../outside.txt' },
    { name: 'a', type: 'fifo' },
    { name: 'a', type: 'character-device' },
    { name: `${'x/'.repeat(40)}y`, content: 'x' },
  ] satisfies HostileEntry[])(
    'with $name ($type) is refused, and nothing is written outside',
    async (entry) => {
      const archive = join(scratch.path, 'hostile.tar');
      await writeFile(
        archive,
        await hostileTar([{ name: 'good/result.json', content: JSON.stringify(record()) }, entry]),
      );
      await expect(importPublished(home, archive, 'x')).rejects.toMatchObject({ code: 'ARCHIVE_REFUSED' });
      expect((await readdir(scratch.path)).sort()).toEqual(['home', 'hostile.tar']);
      expect(await readdir(home.campaigns)).toEqual([]);
    },
  );

  test('that is cut off, holds a name twice, or is no archive is refused', async () => {
    const good = await hostileTar([{ name: 'good/result.json', content: JSON.stringify(record()) }]);
    const twice = await hostileTar([
      { name: 'a/result.json', content: '{}' },
      { name: 'a/result.json', content: JSON.stringify(record()) },
    ]);
    for (const bytes of [
      good.subarray(0, 700),
      twice,
      Buffer.from('PK\u0003\u0004'.padEnd(2000, 'x')),
      gzipSync(good).subarray(0, 200),
    ]) {
      const archive = join(scratch.path, 'hostile.tar');
      await writeFile(archive, bytes);
      await expect(importPublished(home, archive, 'x')).rejects.toMatchObject({ code: 'ARCHIVE_REFUSED' });
    }
  });
});
