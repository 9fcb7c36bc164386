import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyze } from '../analysis/analyze.js';
import { renderAnalysis } from '../analysis/campaign-report.js';
import { formatEstimate } from '../analysis/number-format.js';
import { readCampaignRows } from '../analysis/read-campaign.js';
import { readValidityCaveats } from '../analysis/read-caveats.js';
import { cellFormatOf, formatCell, type TableRow } from '../analysis/tables.js';
import { taskFactsOf } from '../analysis/task-facts.js';
import { analysisDocument } from '../analysis/write-analysis.js';
import { type Home, homeAt } from '../support/home.js';
import { loadTasks } from '../tasks/load-tasks.js';
import { CampaignStore } from './campaign-store.js';
import type { GridCell, GridProps } from './components/grid.js';
import { type GeneratedCampaign, generateCampaign } from './generated-campaign.fixture.js';
import { writeReport } from './report.js';
import { pageFile } from './site.js';

let home: Home;
let campaign: GeneratedCampaign;
let folder: string;

/** Every file of a folder, by its path below. */
async function filesBelow(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async (entry): Promise<[string, string]> => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(root.length + 1), await readFile(path, 'utf8')];
      }),
    ),
  );
}

async function write(out: string, options: { readonly publishableOnly?: boolean } = {}): Promise<void> {
  const state = await new CampaignStore(home).open('tonight');
  await writeReport(out, state!, { tasks: await loadTasks(), assetFolder: home.root, ...options });
}

beforeAll(async () => {
  home = homeAt(await mkdtemp(join(tmpdir(), 'm4b-report-')));
  folder = join(home.root, 'report');
  await writeFile(join(home.root, 'viewer.css'), 'body{}');
  await writeFile(join(home.root, 'viewer.js'), '');
  campaign = await generateCampaign(home, {
    name: 'tonight',
    tasks: ['mimic-meld-24h', 'mimic-sofa-24h', 'eicu-oasis'],
    conditions: ['no-skill', 'with-skill'],
    models: ['model-a', 'model-b'],
    trials: 3,
    trace: '{"type":"thread.started"}\nPATIENT ROW 4711\n',
  });
  await write(folder);
});
afterAll(() => rm(home.root, { recursive: true, force: true }));

/** The grids of a page: what the browser gets to sort and filter. */
function gridsOf(html: string): readonly GridProps[] {
  return [...html.matchAll(/<script type="application\/json">(.*?)<\/script>/gs)].map(
    ([, data]) => JSON.parse(data!) as GridProps,
  );
}

const textsOf = (grid: GridProps): readonly (readonly string[])[] =>
  grid.rows.map((row) => row.map((cell: GridCell) => (typeof cell === 'string' ? cell : cell[0])));

/** Texts of the rows of the tables with this name, as they stand in the HTML. */
function htmlRows(html: string, name: string): readonly (readonly string[])[] {
  const table = new RegExp(`<table[^>]*data-table="${name}".*?</table>`, 's').exec(html)?.[0] ?? '';
  const body = /<tbody>(.*?)<\/tbody>/s.exec(table)?.[1] ?? '';
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell!.replace(/<[^>]*>/g, '')),
  );
}

async function page(path: string): Promise<string> {
  return readFile(join(folder, path), 'utf8');
}

async function analysed() {
  const set = await readCampaignRows(join(home.campaigns, 'tonight'), {
    tasks: taskFactsOf(await loadTasks()),
  });
  return analyze(set, { caveats: await readValidityCaveats() });
}

/** A column as tables print it: one number of decimals throughout. */
const printed = (rows: readonly TableRow[], name: string): readonly string[] =>
  rows.map((row) => cellFormatOf(rows.map((one) => one[name]))(row[name]));

describe('numbers of a report', () => {
  it('in its tables are those of analyze --json, all of them', async () => {
    const document = analysisDocument(await analysed());
    const grids = new Map(gridsOf(await page('tables.html')).map((grid) => [grid.name, grid]));
    const expected = Object.keys(document.tables).filter((name) => name !== 'runs');
    expect([...grids.keys()]).toEqual(expected);
    for (const name of expected) {
      expect([name, textsOf(grids.get(name)!)]).toEqual([name, document.tables[name]!.printed.rows]);
    }
    const rendered = await page('tables.html');
    for (const name of expected) {
      expect(htmlRows(rendered, name)).toEqual(
        document.tables[name]!.printed.rows.slice(0, 60).map((row) => row.map(asHtml)),
      );
    }
    expect(JSON.parse(await page('analysis.json'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('on its first page are those that analyze prints', async () => {
    const glance = renderAnalysis(campaign.results, { title: '', seed: 20260504 });
    const html = await page('index.html');
    const [effect] = glance.tables['skill-effect']!.rows;
    const number = (name: string): number => effect![name] as number;
    expect(/<p class="big">(.*?)<\/p>/.exec(html)?.[1]).toBe(
      formatEstimate(number('delta'), number('low'), number('high')),
    );
    const byTask = gridsOf(html).find(({ name }) => name === 'reward-by-task-and-condition')!;
    const reward = byTask.columns.findIndex(({ header }) => header === 'reward');
    expect(textsOf(byTask).map((row) => row[reward])).toEqual(
      printed(glance.tables['reward-by-task-and-condition']!.rows, 'reward'),
    );
    for (const notice of glance.notices) expect(html).toContain(asHtml(notice));
    expect(html).toContain(`<b data-number="finished">${campaign.results.length}</b>`);
  });

  it('in the list of runs and on the page of a task are those of the tables of analyze', async () => {
    const { tables } = await analysed();
    const runs = gridsOf(await page('runs.html'))[0]!;
    const column = (header: string): readonly string[] => {
      const index = runs.columns.findIndex((one) => one.header === header);
      return textsOf(runs).map((row) => row[index]!);
    };
    const rows = campaign.results.map(({ runId }) => tables.runs!.rows.find((row) => row.runId === runId)!);
    expect(column('Reward')).toEqual(printed(rows, 'reward'));
    expect(column('Key F1')).toEqual(printed(rows, 'keyF1'));
    expect(column('Cost')).toEqual(printed(rows, 'cost'));
    const task = gridsOf(await page(`tasks/${pageFile('eicu-oasis')}`));
    const cells = task.find(({ name }) => name === 'cells')!;
    const mean = cells.columns.findIndex(({ header }) => header === 'mean reward');
    expect(textsOf(cells).map((row) => row[mean])).toEqual(
      printed(
        tables.cells!.rows.filter((row) => row.task === 'eicu-oasis'),
        'meanReward',
      ),
    );
    const columns = task.find(({ name }) => name === 'columns')!;
    const ofTask = tables.columns!.rows.filter((row) => row.task === 'eicu-oasis');
    const names = ['condition', 'model', 'column', 'runs', 'matchRate', 'min', 'max', 'wrongRows', 'mostly'];
    for (const [place, name] of names.entries())
      expect(textsOf(columns).map((row) => row[place])).toEqual(printed(ofTask, name));
    expect(columns.columns).toHaveLength(names.length);
  });

  it('on the page of a run are those of its result', async () => {
    for (const result of campaign.results) {
      const html = await page(`runs/${pageFile(result.runId)}`);
      const number = (name: string): string | undefined =>
        new RegExp(`<dd data-number="${name}">(.*?)</dd>`).exec(html)?.[1];
      expect(number('reward')).toBe(formatCell(result.reward));
      expect(number('rewardRobust')).toBe(formatCell(result.rewardRobust));
      expect(number('keyF1')).toBe(formatCell(result.evaluation?.keyF1 ?? null));
      for (const [column, rate] of Object.entries(result.evaluation?.matchRates ?? {})) {
        expect(html).toContain(`data-match-rate="${column}">${formatCell(rate)}</td>`);
      }
    }
  });
});

const asHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

describe('a report', () => {
  it('has a page for every task and run, and every link leads to a file of it', async () => {
    const files = await filesBelow(folder);
    for (const { runId } of campaign.results) expect(files.has(`runs/${pageFile(runId)}`)).toBe(true);
    for (const [path, html] of files) {
      if (!path.endsWith('.html')) continue;
      const links = [...html.matchAll(/(?:href|src)="([^"#?]+)[^"]*"/g)].map(([, link]) => link!);
      const inGrids = gridsOf(html).flatMap((grid) =>
        grid.rows
          .flat()
          .flatMap((cell) => (typeof cell !== 'string' && cell[2] !== undefined ? [cell[2]] : [])),
      );
      for (const link of [...links, ...inGrids]) {
        if (link === 'data:,') continue;
        const target = new URL(link, `file:///${path}`);
        expect([path, link, files.has(decodeURIComponent(target.pathname.slice(1)))]).toEqual([
          path,
          link,
          true,
        ]);
      }
    }
  });

  it('holds no row of a patient, no output and no transcript', async () => {
    for (const [path, text] of await filesBelow(folder)) {
      expect([path, text.includes('4711')]).toEqual([path, false]);
      expect([path, /Rows that differ|PATIENT ROW|examples/.test(text.replace(/tables?\/\S*/g, ''))]).toEqual(
        [path, false],
      );
    }
  });

  it('loads nothing from elsewhere and says so to the browser', async () => {
    for (const [path, html] of await filesBelow(folder)) {
      if (!path.endsWith('.html')) continue;
      expect(html).toContain(`http-equiv="Content-Security-Policy" content="default-src 'none'`);
      expect(html.match(/(?:src|href|action|data-part)="(?:https?:)?\/\/[^"]*"/g) ?? []).toEqual([]);
    }
  });

  it('replaces an earlier report and nothing else', async () => {
    const other = join(home.root, 'other');
    await mkdir(other);
    await writeFile(join(other, 'precious.txt'), 'keep me');
    await expect(write(other)).rejects.toMatchObject({ code: 'FOLDER_IN_USE' });
    expect(await readFile(join(other, 'precious.txt'), 'utf8')).toBe('keep me');
    await writeFile(join(folder, 'runs', 'stale.html'), '');
    await write(folder);
    expect(await readdir(join(folder, 'runs'))).toHaveLength(campaign.results.length);
    expect((await readdir(home.root)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('may leave out runs that may not be published', async () => {
    const out = join(home.root, 'publishable');
    await write(out, { publishableOnly: true });
    const publishable = campaign.results.filter((result) => result.publishable);
    expect(publishable.length).toBeLessThan(campaign.results.length);
    expect(await readdir(join(out, 'runs'))).toHaveLength(publishable.length);
  });

  it('gives a name that is too long for a file a shorter one of its own', () => {
    const [a, b] = [`${'x'.repeat(300)}a`, `${'x'.repeat(300)}b`];
    expect(pageFile(a).length).toBeLessThan(255);
    expect(pageFile(a)).not.toBe(pageFile(b));
    expect(pageFile('plain_t1')).toBe('plain_t1.html');
  });
});
