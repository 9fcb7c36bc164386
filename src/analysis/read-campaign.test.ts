import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../runs/result.js';
import { analyze } from './analyze.js';
import { readCampaignRows } from './read-campaign.js';
import { resultWith } from './result.fixture.js';
import { editionOf, rowOfResult } from './run-row.js';
import { rewardByTaskAndCondition, skillDeltas, skillEffect } from './skill-effect.js';
import { analysisDocument, writeAnalysisFiles } from './write-analysis.js';

describe('rows of results', () => {
  it('carries what the estimators need', () => {
    const row = rowOfResult(resultWith('t1', 'with-skill', 0.5));
    expect(row).toMatchObject({
      reward: 0.5,
      failedChecks: 1,
      passedChecks: 1,
      errors: 0,
      keyF1: 2 / 3,
      orderedColumns: 2,
      edition: 'demo',
      hasOpenedSkill: true,
      seconds: 2,
      attempts: 1,
    });
    expect(row.firstAttempt).toBeUndefined();
  });

  it('an agent failure without evaluation is reward 0 with no keys; an unjudged run has nothing', () => {
    const failed = rowOfResult({
      ...resultWith('t1', 'no-skill', 0),
      evaluation: null,
      failureClass: 'agent',
      failureReason: 'time limit reached',
    });
    expect(failed).toMatchObject({
      reward: 0,
      errors: 1,
      keyF1: 0,
      keyPrecision: null,
      failure: 'agent',
      matchRates: {},
    });
    const lost = rowOfResult(resultWith('t1', 'no-skill', null));
    expect(lost).toMatchObject({ reward: null, errors: 0, keyF1: null, failure: 'infrastructure' });
  });

  it('names editions so that MIMIC-IV and eICU of one kind are one', () => {
    expect(['mimic-iv', 'eicu', 'eicu-demo', 'mimic-iv-synthetic', 'our-hospital'].map(editionOf)).toEqual([
      'full',
      'full',
      'demo',
      'synthetic',
      'our-hospital',
    ]);
  });
});

describe('a first look at results', () => {
  const results = [
    resultWith('t1', 'no-skill', 0.2),
    resultWith('t1', 'with-skill', 0.8),
    resultWith('t1', 'with-skill', 0.6, 2),
    resultWith('t2', 'no-skill', null),
  ];

  it('counts unjudged runs beside the means', () => {
    expect(
      rewardByTaskAndCondition(results).rows.map((row) => [row.task, row.runs, row.unjudged, row.reward]),
    ).toEqual([
      ['t1', 1, 0, 0.2],
      ['t1', 2, 0, 0.7],
      ['t2', 1, 1, null],
    ]);
    expect(skillDeltas(results).rows.map((row) => [row.task, Number(row.delta).toFixed(6)])).toEqual([
      ['t1', '0.500000'],
    ]);
    expect(skillEffect(results, 'any seed').rows[0]).toMatchObject({
      tasks: 1,
      positiveTasks: 1,
      dataset: 'mimic-iv-demo',
    });
  });
});

describe('a campaign folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-analysis-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (result: RunResult): Promise<string> => {
    const run = join(folder, 'runs', result.runId);
    await mkdir(join(run, 'attempts', '1'), { recursive: true });
    await writeFile(join(run, 'result.json'), JSON.stringify(result));
    await writeFile(join(run, 'attempts', '1', 'output.csv'), 'a,b\n');
    return run;
  };

  it('gives valid results in a fixed order, counts artifacts, and skips debris', async () => {
    await put(resultWith('t2', 'no-skill', 0.1));
    const run = await put(resultWith('t1', 'no-skill', 0.2));
    await symlink('/etc/hostname', join(run, 'attempts', '1', 'never-listed.txt'));
    await mkdir(join(folder, 'runs', 'half-written'));
    await mkdir(join(folder, 'runs', 'broken'));
    await writeFile(join(folder, 'runs', 'broken', 'result.json'), '{');
    await writeFile(
      join(folder, 'campaign.json'),
      JSON.stringify({ runs: ['t1_no-skill_t1', 't3_no-skill_t1'].map((runId) => ({ runId })) }),
    );
    const set = await readCampaignRows(folder);
    expect(set.rows.map((row) => row.task)).toEqual(['t1', 't2']);
    expect(set.records).toMatchObject([
      {
        campaign: 'mine',
        plannedRuns: 2,
        missingRuns: ['t3_no-skill_t1'],
        unexpectedRuns: ['t2_no-skill_t1'],
        canonicalRuns: 2,
        artifactCounts: { 'result.json': 2, 'output.csv': 2, 'trace.jsonl': 0 },
        inputTokens: 200,
      },
    ]);
  });

  it('takes the reward of a first attempt that was judged, and none from one that was not', async () => {
    const again = resultWith('t1', 'no-skill', 0.9);
    const attempts = [...again.attempts, { ...again.attempts[0]!, n: 2 }];
    const run = await put({ ...again, attempt: 2, attempts });
    await writeFile(join(run, 'attempts', '1', 'attempt.json'), JSON.stringify({ reward: 0.4 }));
    await put({ ...resultWith('t2', 'no-skill', 0.9), attempt: 2, attempts });
    const { rows } = await readCampaignRows(folder);
    expect(rows.map((row) => row.firstAttempt)).toEqual([{ reward: 0.4 }, { reward: null }]);
  });

  it('is an error when nothing has finished', async () => {
    const error = {
      code: 'CAMPAIGN_EMPTY',
      message: `${folder} holds no finished run.`,
      remedy: 'Run the campaign first, or name another one.',
    };
    await expect(readCampaignRows(folder)).rejects.toMatchObject(error);
    await mkdir(join(folder, 'runs', 'begun'), { recursive: true });
    await expect(readCampaignRows(folder)).rejects.toMatchObject(error);
    await rm(join(folder, 'runs'), { recursive: true });
    // Whatever else is wrong with the folder is no empty campaign.
    await writeFile(join(folder, 'runs'), '');
    await expect(readCampaignRows(folder)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('records what was planned, what it left and what it used, campaign by campaign', async () => {
    const run = await put(resultWith('t1', 'no-skill', 0.25));
    await put({ ...resultWith('t2', 'no-skill', null), tokens: null, campaign: 'imported' });
    await put(resultWith('t1', 'with-skill', 0.5));
    // A folder or a file of another attempt is no artifact.
    await mkdir(join(run, 'attempts', '1', 'trace.jsonl'));
    await mkdir(join(run, 'attempts', '2'));
    await writeFile(join(run, 'attempts', '2', 'instruction.md'), 'later');
    await writeFile(join(folder, 'runs', 'stray.txt'), '');
    const size = (result: RunResult): number => JSON.stringify(result).length;
    const bytes = [resultWith('t1', 'no-skill', 0.25), resultWith('t1', 'with-skill', 0.5)].map(size);
    const plain = {
      plannedRuns: null,
      missingRuns: [],
      unexpectedRuns: [],
      provenanceOnly: 0,
      folderBytes: null,
      hardware: null,
    };
    const counts = { 'instruction.md': 0, 'trace.jsonl': 0, 'egress.jsonl': 0 };
    const lost = { ...resultWith('t2', 'no-skill', null), tokens: null, campaign: 'imported' };
    const { rows, records, ...rest } = await readCampaignRows(folder);
    expect(rows[0]!.artifactBytes).toEqual({ 'result.json': bytes[0], 'output.csv': 4 });
    expect(records).toEqual([
      {
        ...plain,
        campaign: 'mine',
        canonicalRuns: 2,
        artifactCounts: { 'result.json': 2, 'output.csv': 2, ...counts },
        artifactBytes: bytes[0]! + bytes[1]! + 8,
        agentSeconds: 4,
        inputTokens: 200,
        cachedInputTokens: 100,
        outputTokens: 20,
      },
      {
        ...plain,
        campaign: 'imported',
        canonicalRuns: 1,
        artifactCounts: { 'result.json': 1, 'output.csv': 1, ...counts },
        artifactBytes: size(lost) + 4,
        agentSeconds: 2,
        inputTokens: 0,
        cachedInputTokens: 0,
        outputTokens: 0,
      },
    ]);
    expect(rest).toEqual({ superseded: [], tasks: [], printedProbeMeans: {} });
    const tasks = [{ name: 't1' }] as never;
    expect((await readCampaignRows(folder, { tasks })).tasks).toBe(tasks);
    // A plan that cannot be read is none.
    await writeFile(join(folder, 'campaign.json'), '{"runs": [{}]}');
    expect((await readCampaignRows(folder)).records[0]).toMatchObject(plain);
    await writeFile(
      join(folder, 'campaign.json'),
      JSON.stringify({ runs: ['z', 'y'].map((runId) => ({ runId })) }),
    );
    expect((await readCampaignRows(folder)).records[0]).toMatchObject({
      plannedRuns: 2,
      missingRuns: ['y', 'z'],
      unexpectedRuns: ['t1_no-skill_t1', 't1_with-skill_t1'],
    });
  });

  it('has no first reward where the first attempt left none that can be read', async () => {
    const again = resultWith('t1', 'no-skill', 0.9);
    const run = await put({
      ...again,
      attempt: 2,
      attempts: [...again.attempts, { ...again.attempts[0]!, n: 2 }],
    });
    for (const content of ['{', '{"reward": "much"}', '{"reward": null}']) {
      await writeFile(join(run, 'attempts', '1', 'attempt.json'), content);
      expect((await readCampaignRows(folder)).rows[0]!.firstAttempt).toEqual({ reward: null });
    }
  });

  it('is analysed and written whole: four formats, figures as specification, SVG and PNG', async () => {
    for (const task of ['t1', 't2', 't3']) {
      await put(resultWith(task, 'no-skill', 0.2));
      await put(resultWith(task, 'with-skill', 0.7));
    }
    const analysis = analyze(await readCampaignRows(folder), { resamples: 200 });
    const document = analysisDocument(analysis);
    expect(document.tables['table03-native-skill-effect']!.printed.rows[0]).toEqual([
      'Reward / m',
      '0.200',
      '0.700',
      '0.500 [0.500, 0.500]',
      '3/3',
    ]);
    expect(document.tables['skill-use']!.rows[0]).toMatchObject({ runs: 3, opened: 3 });
    const written = await writeAnalysisFiles(join(folder, 'analysis'), analysis, {
      title: 'Mine',
      pngScale: 0.5,
    });
    for (const name of ['md', 'csv', 'tex', 'json'].map(
      (format) => `tables/table03-native-skill-effect.${format}`,
    ))
      expect(written).toContain(name);
    expect(written).toContain('figures/reward-against-cost.vl.json');
    expect(written).toContain('figures/reward-against-cost.png');
    expect(written.at(-1)).toBe('analysis.json');
  });
});
