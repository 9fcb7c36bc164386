import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, homeAt } from '../support/home.js';
import { loadTasks } from '../tasks/load-tasks.js';
import { CampaignStore } from './campaign-store.js';
import { finishRun, type GeneratedCampaign, generateCampaign } from './generated-campaign.fixture.js';

let home: Home;
let campaign: GeneratedCampaign;
const store = (): CampaignStore => new CampaignStore(home);

beforeEach(async () => {
  home = homeAt(await mkdtemp(join(tmpdir(), 'm4b-store-')));
  campaign = await generateCampaign(home, {
    name: 'half',
    tasks: ['mimic-meld-24h'],
    conditions: ['no-skill', 'with-skill'],
    models: ['model-a'],
    trials: 2,
    done: 0.5,
  });
});
afterEach(() => rm(home.root, { recursive: true, force: true }));

const resultPath = (index: number): string =>
  join(home.campaigns, 'half', 'runs', campaign.plan.runs[index]!.runId, 'result.json');

describe('campaigns of a home', () => {
  it('are listed with what was planned and what ended', async () => {
    expect(await store().list()).toEqual([
      expect.objectContaining({ name: 'half', planned: 4, finished: 2, problem: null }),
    ]);
  });

  it('give their results in the order of the plan, and what was begun without one', async () => {
    await mkdir(join(home.campaigns, 'half', 'runs', campaign.plan.runs[3]!.runId));
    const state = await store().open('half');
    expect(state?.results.map(({ runId }) => runId)).toEqual(
      campaign.plan.runs.slice(0, 2).map(({ runId }) => runId),
    );
    expect(state?.running).toEqual([campaign.plan.runs[3]!.runId]);
  });

  it('are read anew when a result comes, changes or goes', async () => {
    const following = store();
    const before = await following.open('half');
    expect((await following.open('half'))?.version).toBe(before?.version);
    const tasks = new Map((await loadTasks()).map((task) => [task.name, task]));
    await finishRun(home, campaign.plan, 2, tasks);
    const more = await following.open('half');
    expect(more?.results).toHaveLength(3);
    expect(more?.version).not.toBe(before?.version);
    const changed = JSON.parse(await readFile(resultPath(0), 'utf8'));
    await writeFile(resultPath(0), JSON.stringify({ ...changed, reward: 0.123456789 }));
    expect((await following.open('half'))?.results[0]?.reward).toBe(0.123456789);
    await rm(resultPath(0));
    expect((await following.open('half'))?.results).toHaveLength(2);
  });

  it('leave out what is no result of its run', async () => {
    const other = JSON.parse(await readFile(resultPath(0), 'utf8'));
    await writeFile(resultPath(0), '{"broken');
    await writeFile(resultPath(1), JSON.stringify({ ...other, runId: 'another' }));
    const state = await store().open('half');
    expect(state?.results).toEqual([]);
    expect(state?.running).toHaveLength(2);
  });

  it('do not exist by other names: no way up, no file', async () => {
    await writeFile(join(home.campaigns, 'file'), '');
    for (const name of ['..', '.', '', 'absent', 'file', 'half/', '../half', 'half/../half']) {
      expect(await store().open(name)).toBeUndefined();
    }
  });

  it('may have any name', async () => {
    const name = 'gpt 5/ü:1';
    await generateCampaign(home, {
      name,
      tasks: ['mimic-meld-24h'],
      conditions: ['no-skill'],
      models: ['m'],
      trials: 1,
    });
    expect((await store().list()).map((listing) => listing.name)).toContain(name);
    expect((await store().open(name))?.results).toHaveLength(1);
  });

  it('with a broken plan are listed with the reason, and opening them says it', async () => {
    const path = join(home.campaigns, 'half', 'campaign.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"model-a"', '"model-b"'));
    expect((await store().list())[0]?.problem).toContain('changed after it was frozen');
    await expect(store().open('half')).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
  });
});
