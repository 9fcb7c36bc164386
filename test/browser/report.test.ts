import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import { CampaignStore } from '../../src/viewer/campaign-store.js';
import { type GeneratedCampaign, generateCampaign } from '../../src/viewer/generated-campaign.fixture.js';
import { writeReport } from '../../src/viewer/report.js';
import {
  buildAssets,
  hasChromium,
  launchBrowser,
  open,
  seriousFindings,
  type WatchedPage,
  watchedPage,
} from './browser.js';

describe.skipIf(!hasChromium)('a report opened from the file system', () => {
  let root: string;
  let campaign: GeneratedCampaign;
  let browser: Browser;
  let watched: WatchedPage;
  let address: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'm4b-browser-report-'));
    const home = homeAt(root);
    const tasks = await loadTasks();
    campaign = await generateCampaign(home, {
      name: 'a report: 100 % #1',
      tasks: ['mimic-meld-24h', 'mimic-sofa-24h', 'mimic-sirs-24h-raw'],
      conditions: ['no-skill', 'with-skill'],
      models: ['vendor/model:1', 'model-b'],
      trials: 10,
    });
    const folder = join(root, 'my report #1');
    const state = await new CampaignStore(home).open('a report: 100 % #1');
    await writeReport(folder, state!, { tasks, assetFolder: await buildAssets(join(root, 'built')) });
    address = pathToFileURL(folder).href;
    browser = await launchBrowser();
    watched = await watchedPage(browser, address);
  });
  beforeEach(() => {
    watched.complaints.length = 0;
  });
  afterAll(async () => {
    await browser?.close();
    await rm(root, { recursive: true, force: true });
  });

  it('leads from the summary over tasks to runs, without a server and without asking anybody', async () => {
    const { page, complaints } = watched;
    await open(page, `${address}/index.html`);
    expect(await page.locator('figure[data-figure="figure02-skill-delta-forest"] svg').count()).toBe(1);
    expect(await page.locator('figure[data-figure^="reward-heatmap"] svg').count()).toBe(1);
    await page
      .locator('table[data-table="reward-by-task-and-condition"] a', { hasText: 'mimic-sofa-24h' })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Instruction' }).waitFor();
    expect(await page.locator('svg.strips circle').count()).toBeGreaterThan(30);
    await page.locator('table[data-table="task-runs"] tbody a').first().click();
    await page.getByRole('heading', { name: 'May it be published?' }).waitFor();
    expect(await page.getByText('Rows that differ').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Transcript' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('filters, sorts and pages its tables', async () => {
    const { page, complaints } = watched;
    await open(page, `${address}/runs.html`);
    const rows = page.locator('tbody tr');
    expect(await rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => rows.count()).toBe(20);
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await expect.poll(() => rows.count()).toBe(120);
    await page.getByLabel('Filter Runs').fill('vendor/model:1 sirs with-skill');
    await expect.poll(() => rows.count()).toBe(10);
    expect(complaints).toEqual([]);
  });

  it('can be read without its script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${address}/runs.html`);
    expect(await page.locator('tbody tr').count()).toBe(100);
    await page.goto(`${address}/index.html`);
    expect(await page.locator('.big').innerText()).toMatch(/^0\.\d{3} \[/);
    await context.close();
  });

  it('prints whole tables in black on white, without what only a screen needs', async () => {
    const { page } = watched;
    await open(page, `${address}/runs.html`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await expect.poll(() => page.locator('tbody tr').count()).toBe(120);
    expect(
      await page
        .locator('.controls, .top, .pager')
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).display)),
    ).toEqual(expect.not.arrayContaining(['flex', 'block']));
    const colours = await page.evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.documentElement);
      return [color, backgroundColor];
    });
    expect(colours).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

  it('has no serious finding of axe', async () => {
    const { page } = watched;
    const run = encodeURIComponent(campaign.results[0]!.runId);
    for (const path of ['index.html', `runs/${run}.html`]) {
      await open(page, `${address}/${path}`);
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
    }
  });
});
