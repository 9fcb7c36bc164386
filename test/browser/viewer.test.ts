import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Home, homeAt } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import type { Task } from '../../src/tasks/task.js';
import {
  finishRun,
  type GeneratedCampaign,
  generateCampaign,
} from '../../src/viewer/generated-campaign.fixture.js';
import { hostileTrace } from '../../src/viewer/hostile.fixture.js';
import { startViewer, type Viewer } from '../../src/viewer/server.js';
import {
  buildAssets,
  hasChromium,
  launchBrowser,
  open,
  seriousFindings,
  type WatchedPage,
  watchedPage,
} from './browser.js';

/** A trace of many turns in the format of one CLI, larger than any page. */
function longTrace(turns: number, bytesEach: number): string {
  const events: unknown[] = [{ type: 'thread.started', thread_id: 't' }];
  for (let turn = 1; turn <= turns; turn += 1) {
    events.push({
      type: 'item.completed',
      item: { id: `m${turn}`, type: 'agent_message', text: `thought ${turn}` },
    });
    events.push({
      type: 'item.completed',
      item: {
        id: `c${turn}`,
        type: 'command_execution',
        command: `bash -lc 'echo step ${turn}'`,
        aggregated_output: `${turn === 150 ? 'needle ' : ''}${'row '.repeat(bytesEach / 4)}`,
        exit_code: turn % 7 === 0 ? 1 : 0,
        status: 'completed',
      },
    });
  }
  return `${events.map((event) => JSON.stringify(event)).join('\n')}\n`;
}

describe.skipIf(!hasChromium)('the viewer in a browser', () => {
  let home: Home;
  let tasks: readonly Task[];
  let campaign: GeneratedCampaign;
  let viewer: Viewer;
  let browser: Browser;
  let watched: WatchedPage;
  let root: string;

  const runAt = (index: number): string => `${root}/runs/${campaign.plan.runs[index]!.runId}`;

  beforeAll(async () => {
    home = homeAt(await mkdtemp(join(tmpdir(), 'm4b-browser-')));
    tasks = await loadTasks();
    campaign = await generateCampaign(home, {
      name: 'tonight',
      tasks: ['mimic-meld-24h', 'mimic-sofa-24h'],
      conditions: ['no-skill', 'with-skill'],
      models: ['model-a', 'model-b'],
      trials: 2,
      trace: longTrace(300, 2_000),
    });
    await generateCampaign(home, {
      name: 'hostile',
      tasks: ['mimic-meld-24h'],
      conditions: ['no-skill'],
      models: ['<img src=x onerror=alert(1)>'],
      trials: 1,
      trace: hostileTrace(),
    });
    const assetFolder = await buildAssets(join(home.root, 'assets'));
    viewer = await startViewer({ home, tasks, assetFolder });
    root = `${new URL(viewer.address).origin}/campaigns/tonight`;
    browser = await launchBrowser();
    watched = await watchedPage(browser, new URL(viewer.address).origin);
    await open(watched.page, viewer.address);
  });
  beforeEach(() => {
    watched.complaints.length = 0;
  });
  afterAll(async () => {
    await browser?.close();
    await viewer?.[Symbol.asyncDispose]();
    await rm(home.root, { recursive: true, force: true });
  });

  it('leads from the list of campaigns over a run to its commands and rows', async () => {
    const { page, complaints } = watched;
    await open(page, new URL(viewer.address).origin);
    expect(page.url()).not.toContain('token');
    await page.getByRole('link', { name: 'tonight' }).click();
    await page.getByRole('heading', { name: 'Effect of skills' }).waitFor();
    await page.locator('figure[data-figure="figure02-skill-delta-forest"] svg').waitFor();
    await page.locator('table[data-table="lowest-runs"] tbody a').first().click();
    await page.getByRole('heading', { name: 'Where it went wrong' }).waitFor();
    expect(await page.locator('table[data-table="examples"] tbody tr').first().innerText()).toMatch(
      /4711\s+3\s+4/,
    );
    await page.getByRole('link', { name: 'Transcript', exact: true }).click();
    await page.locator('details.call').first().locator('summary').click();
    expect(await page.locator('pre.command').first().innerText()).toBe('echo step 1');
    expect(complaints).toEqual([]);
  });

  it('filters and sorts the runs, with the keyboard too', async () => {
    const { page } = watched;
    await open(page, `${root}/runs`);
    const rows = page.locator('table[data-table="runs"] tbody tr');
    expect(await rows.count()).toBe(16);
    await page.keyboard.press('/');
    await page.keyboard.type('sofa model-b');
    await expect.poll(() => rows.count()).toBe(4);
    expect(await page.locator('.count').innerText()).toBe('4 of 16 rows');
    await page.getByLabel('Filter Runs').fill('');
    await page.getByLabel('Condition', { exact: true }).selectOption('with-skill');
    await expect.poll(() => rows.count()).toBe(8);
    const reward = page.getByRole('columnheader', { name: 'Reward' });
    await reward.getByRole('button').focus();
    await page.keyboard.press('Enter');
    expect(await reward.getAttribute('aria-sort')).toBe('descending');
    const index = await reward.evaluate((cell) => [...cell.parentElement!.children].indexOf(cell));
    const shown = await rows.evaluateAll((all, at) => all.map((row) => row.children[at]!.textContent), index);
    const numbers = shown.filter((text) => text !== 'NA').map(Number);
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    expect(numbers.length).toBeGreaterThan(4);
  });

  it('lays two chosen runs side by side, and what each was given', async () => {
    const { page } = watched;
    await open(page, `${root}/runs?filter=sofa`);
    const boxOf = (condition: string) =>
      page.locator('tbody tr', { hasText: condition }).first().getByRole('checkbox');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(8);
    await boxOf('no-skill').check();
    await boxOf('with-skill').check();
    await page.getByRole('link', { name: 'Compare the two chosen' }).click();
    await page.getByRole('heading', { name: 'Two runs side by side' }).waitFor();
    expect(await page.locator('tr.differs', { hasText: 'condition' }).innerText()).toMatch(
      /no-skill\s+with-skill/,
    );
    expect(await page.locator('details.given', { hasText: 'SKILL.md' }).innerText()).toContain('second only');
    expect(await page.locator('.diff .added').first().innerText()).toContain('+ ---');
    expect(await page.locator('ol.commands').count()).toBe(2);
  });

  it('pages through a long transcript, searches it and folds it', async () => {
    const { page } = watched;
    await open(page, `${runAt(0)}/attempts/1/transcript`);
    const turns = page.locator('[data-turn]');
    const first = await turns.count();
    expect(first).toBeGreaterThan(10);
    expect(first).toBeLessThanOrEqual(100);
    await page.getByRole('link', { name: 'Next' }).first().click();
    // A click does not wait for the page that it leads to, nor for that page's script.
    await expect.poll(() => turns.first().getAttribute('data-turn')).toBe(String(first + 1));
    await page.waitForSelector('html[data-ready]');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-turn'))).toBe(
      String(first + 2),
    );
    await page.keyboard.press('e');
    expect(await page.locator('details.call:not([open])').count()).toBe(0);
    await page.getByLabel('Search the transcript').fill('NEEDLE');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.count').innerText()).toBe('1 of 300 turns');
    expect(await turns.first().getAttribute('data-turn')).toBe('150');
    expect(await page.locator('details.call[open]').innerText()).toContain('needle row row');
  });

  it('follows a campaign that runs to its end', async () => {
    const live = await generateCampaign(home, {
      name: 'live',
      tasks: ['mimic-meld-24h'],
      conditions: ['no-skill', 'with-skill'],
      models: ['model-a'],
      trials: 2,
      done: 0.5,
    });
    const { page } = watched;
    await open(page, `${new URL(viewer.address).origin}/campaigns/live`);
    const ended = page.locator('[data-number="finished"]');
    expect(await ended.innerText()).toBe('2');
    const byName = new Map(tasks.map((task) => [task.name, task]));
    await finishRun(home, live.plan, 2, byName);
    await expect.poll(() => ended.innerText(), { timeout: 20_000 }).toBe('3');
    await finishRun(home, live.plan, 3, byName);
    await expect.poll(() => ended.innerText(), { timeout: 20_000 }).toBe('4');
    await expect
      .poll(() => page.locator('[data-part][data-live="finished"]').count(), { timeout: 20_000 })
      .toBeGreaterThanOrEqual(2);
    // The tables below came along, and can still be sorted.
    await page.locator('table[data-table="reward-by-task-and-condition"] th button').first().click();
  });

  it('shows what agents wrote as text, whatever they wrote', async () => {
    const { page, complaints } = watched;
    const origin = new URL(viewer.address).origin;
    const [run] = await readRuns(page, `${origin}/campaigns/hostile/runs`);
    for (const path of ['', '/attempts/1/transcript', '/attempts/1/files/trace.jsonl']) {
      await open(page, `${origin}${run}${path}`);
      await page.locator('summary').evaluateAll((all) => {
        for (const summary of all) (summary as HTMLElement).click();
      });
      expect(await page.evaluate(() => document.documentElement.dataset.attacked ?? null)).toBeNull();
      expect(
        await page
          .locator('main script:not([type="application/json"]), main iframe, main img, main link, main meta')
          .count(),
      ).toBe(0);
    }
    await open(page, `${origin}${run}/attempts/1/transcript`);
    expect(await page.locator('main').innerText()).toContain(
      '<script>document.documentElement.dataset.attacked',
    );
    expect(await page.locator('.unseen[title*="right-to-left override"]').count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it('has a policy that stops a script all the same', async () => {
    const { page } = watched;
    await open(page, root);
    const isStopped = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'document.documentElement.dataset.attacked = "yes"';
      document.body.append(script);
      await new Promise((done) => setTimeout(done, 50));
      return document.documentElement.dataset.attacked === undefined;
    });
    expect(isStopped).toBe(true);
    watched.complaints.length = 0;
  });

  it('has no serious finding of axe', async () => {
    const { page } = watched;
    const [a, b] = [campaign.plan.runs[0]!.runId, campaign.plan.runs[1]!.runId];
    await appendFile(
      join(home.campaigns, 'tonight', 'runs', a, 'attempts', '1', 'gateway.jsonl'),
      `${JSON.stringify({ startedAt: '2026-05-01T00:00:00.000Z', status: 403, refusal: 'no such provider' })}\n`,
    );
    for (const path of [
      new URL(viewer.address).origin,
      root,
      `${root}/runs`,
      `${root}/tasks`,
      `${root}/tasks/mimic-sofa-24h`,
      `${root}/tables`,
      runAt(0),
      `${runAt(0)}/attempts/1/transcript?search=needle`,
      `${runAt(0)}/attempts/1/gateway`,
      `${runAt(0)}/attempts/1/files/instruction.md`,
      `${root}/compare?a=${a}&b=${b}`,
    ]) {
      await open(page, path);
      if (path === root) await page.locator('figure svg').first().waitFor();
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
    }
    // The check itself can fail.
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('img')));
    expect(await seriousFindings(page, ['image-alt'])).toHaveLength(1);
  }, 180_000);

  it('has enough contrast in the dark', async () => {
    const { page } = watched;
    await page.emulateMedia({ colorScheme: 'dark' });
    const transcript = `${runAt(0)}/attempts/1/transcript?search=needle`;
    const [a, b] = [campaign.plan.runs[0]!.runId, campaign.plan.runs[1]!.runId];
    for (const path of [root, runAt(0), transcript, `${root}/compare?a=${a}&b=${b}`]) {
      await open(page, path);
      expect([path, await seriousFindings(page, ['color-contrast'])]).toEqual([path, []]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });
});

/** Addresses of the runs that a list shows. */
async function readRuns(page: WatchedPage['page'], address: string): Promise<readonly string[]> {
  await open(page, address);
  return page
    .locator('table[data-table="runs"] tbody a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
}
