import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { type Home, homeAt } from '../support/home.js';
import { loadTasks } from '../tasks/load-tasks.js';
import { exportCampaign, exportColumns } from './export.js';
import { campaignFolder } from './plan.js';
import { ownRows, publishedRows, readPublishedRewards } from './published-rewards.js';
import { readTaskSets, tasksOf } from './task-sets.js';
import { recordTestRun, testPlan } from './test-campaign.js';

let root: string;
let home: Home;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-export-'));
  home = homeAt(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('the exported file', () => {
  test('has a row per planned run in the order of the plan, missing ones said so', async () => {
    const plan = testPlan(2, 2);
    const { runs } = campaignFolder(home, plan.name);
    const [first, second] = plan.runs;
    await recordTestRun(join(runs, first!.runId), plan, first!, [
      { class: 'infrastructure', reason: 'lost' },
      { reward: 0.25, tokens: 12, cost: 0.5 },
    ]);
    await recordTestRun(join(runs, second!.runId), plan, second!, [{ class: 'agent', reason: "it's over" }]);
    const file = join(root, 'out', 'runs.parquet');
    expect(await exportCampaign(home, plan, file)).toBe(8);
    expect(await readdir(join(root, 'out'))).toEqual(['runs.parquet']);
    await using session = await DuckSession.open();
    const rows = await session.rows(`from read_parquet(${literal(file)})`);
    expect(Object.keys(rows[0]!)).toEqual(Object.keys(exportColumns));
    expect(rows.map((row) => row.run_id)).toEqual(plan.runs.map(({ runId }) => runId));
    expect(rows[0]).toMatchObject({
      status: 'judged',
      reward: 0.25,
      attempts: 2,
      infrastructure_attempts: 1,
      cost_usd: 0.5,
      reasons: ['the sandbox does not isolate'],
    });
    expect(Number(rows[0]!.tokens_input)).toBe(12);
    expect(rows[1]).toMatchObject({ reward: 0, failure_class: 'agent', failure_reason: "it's over" });
    expect(rows.slice(2).every((row) => row.status === 'missing' && row.reward === null)).toBe(true);
  });
});

describe('a score beside the published rows', () => {
  test('published rows of the lite tasks are means over tasks of the published cells', async () => {
    const published = await readPublishedRewards();
    // 28 tasks x 2 conditions x 2 Codex models, 8 sentinel tasks x 2 x 3 further models; five trials each.
    expect(published.rows).toHaveLength(28 * 4 + 8 * 6);
    expect(new Set(published.rows.map(({ runs }) => runs))).toEqual(new Set([5]));
    const all = await loadTasks();
    const lite = publishedRows(published, tasksOf(['LITE'], all, await readTaskSets()));
    // Claude and the open weights ran the sentinel tasks only.
    expect(lite.map(({ agent, model, tasks }) => `${agent} ${model} ${tasks}`)).toEqual([
      'codex gpt-5.4-mini 6',
      'codex gpt-5.5 6',
    ]);
    const everything = publishedRows(published, tasksOf(['ALL'], all, {}));
    const delta = everything.reduce((sum, row) => sum + row.delta!, 0) / everything.length;
    // The published task-balanced effect over 28 tasks and both models.
    expect(delta).toBeCloseTo(0.136, 2);
  });

  test("one's own row needs a judged run of every task and condition", () => {
    const cell = { schema: 'native', planned: 1, judged: 1, unjudged: 0, model: null };
    const cells = [
      { ...cell, task: 'a', condition: 'no-skill', reward: 0.5 },
      { ...cell, task: 'a', condition: 'with-skill', reward: 1 },
      { ...cell, task: 'b', condition: 'no-skill', reward: 0 },
      { ...cell, task: 'b', condition: 'with-skill', reward: null },
    ];
    expect(ownRows('empty', ['a', 'b'], cells)).toEqual([
      { agent: 'empty', model: 'default', tasks: 2, noSkill: 0.25, withSkill: null, delta: null },
    ]);
    expect(ownRows('empty', ['a'], cells)[0]).toMatchObject({ noSkill: 0.5, withSkill: 1, delta: 0.5 });
  });
});
