import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { analyze } from '../analysis/analyze.js';
import { readCampaignRows } from '../analysis/read-campaign.js';
import { readValidityCaveats } from '../analysis/read-caveats.js';
import { toCsv } from '../analysis/tables.js';
import { taskFactsOf } from '../analysis/task-facts.js';
import { analysisDocument } from '../analysis/write-analysis.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { temporaryNameFor } from '../support/files.js';
import type { Task } from '../tasks/task.js';
import { readAssets } from './assets.js';
import type { CampaignState } from './campaign-store.js';
import { type CampaignView, campaignView, taskNames } from './campaign-view.js';
import { drawFigures, Figures } from './pages/figures-part.js';
import { LivePart, type LivePartName, overviewHtml } from './pages/overview.js';
import { runHtml } from './pages/run.js';
import { runsHtml } from './pages/runs.js';
import { tablesHtml } from './pages/tables.js';
import { taskHtml, tasksHtml } from './pages/tasks.js';
import { pageFile, reportSite } from './site.js';

export interface ReportOptions {
  /** Tasks that are known here. */
  readonly tasks: readonly Task[];
  /** Leave out runs that may not be published. */
  readonly publishableOnly?: boolean;
  readonly assetFolder?: string;
}

export interface WrittenReport {
  /** The first page. */
  readonly index: string;
  readonly pages: number;
}

/** Says that a folder was made here and may be replaced. */
const marker = 'm4bench-report.json';

/**
 * Writes a campaign as static pages that need no server and nothing from elsewhere. They hold what `result.json`
 * files hold and no more: no output, no transcript, no row of a patient. The folder appears whole or not at all, in
 * place of an earlier report.
 *
 * Throws `CAMPAIGN_EMPTY`, `NOTHING_PUBLISHABLE`, and `FOLDER_IN_USE` for a folder that is not a report.
 */
export async function writeReport(
  folder: string,
  state: CampaignState,
  options: ReportOptions,
): Promise<WrittenReport> {
  await refuseOtherFolder(folder);
  const kept = options.publishableOnly
    ? state.results.filter(({ publishable }) => publishable)
    : state.results;
  if (state.results.length > 0 && kept.length === 0) {
    throw new M4BenchError(
      'NOTHING_PUBLISHABLE',
      `None of the ${state.results.length} runs of ${state.name} may be published.`,
      'Leave out --publishable-only, or look at the reasons in m4bench view.',
    );
  }
  const view = campaignView(state.name, state.plan, kept, options.tasks);
  const draft = temporaryNameFor(folder);
  let pages = 0;
  try {
    for (const below of ['assets', 'tables', 'figures', 'tasks', 'runs']) {
      await mkdir(join(draft, below), { recursive: true });
    }
    for await (const [path, content] of filesOf(view, state, options)) {
      await writeFile(join(draft, path), content);
      if (path.endsWith('.html')) pages += 1;
    }
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return { index: join(folder, 'index.html'), pages };
}

async function refuseOtherFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((thrown: unknown): readonly string[] => {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  });
  if (names.length === 0 || names.includes(marker)) return;
  throw new M4BenchError(
    'FOLDER_IN_USE',
    `${folder} holds something else than a report.`,
    'Name a new folder with --out.',
  );
}

type ReportFile = readonly [path: string, content: string | Uint8Array];

/** One file after the other: a campaign of thousands of runs is never in memory as pages. */
async function* filesOf(
  view: CampaignView,
  state: CampaignState,
  options: ReportOptions,
): AsyncGenerator<ReportFile> {
  const set = await readCampaignRows(state.folder, { tasks: taskFactsOf(options.tasks) });
  const caveats = await readValidityCaveats();
  const analysis = analyze(set, {
    caveats,
    ...(options.publishableOnly === undefined ? {} : { publishableOnly: options.publishableOnly }),
  });
  const drawn = await drawFigures(analysis.figures);
  const [site, below] = [reportSite(0), reportSite(1)];
  const live = (of: LivePartName) => <LivePart view={view} site={site} running={[]} of={of} />;
  const figures = (
    <section aria-labelledby="figures">
      <h2 id="figures">Figures</h2>
      <Figures drawn={drawn} of="overview" />
    </section>
  );
  yield ['index.html', overviewHtml({ view, site, live, figures })];
  yield ['runs.html', runsHtml(view, site)];
  yield ['tasks.html', tasksHtml(view, site)];
  yield ['tables.html', tablesHtml({ view, site, analysis, figures: <Figures drawn={drawn} of="rest" /> })];
  for (const name of taskNames(view)) {
    const caveat = caveats.find(({ family }) => family === view.tasks.get(name)?.family);
    yield [`tasks/${pageFile(name)}`, taskHtml({ view, site: below, name, caveat, pairs: [] })];
  }
  for (const result of view.results) {
    yield [`runs/${pageFile(result.runId)}`, runHtml({ view, site: below, result })];
  }
  for (const [name, content] of Object.entries(await readAssets(options.assetFolder))) {
    yield [`assets/${name}`, content];
  }
  for (const [name, table] of Object.entries(analysis.tables)) yield [`tables/${name}.csv`, toCsv(table)];
  for (const { name, svg } of drawn) yield [`figures/${name}.svg`, svg];
  yield ['analysis.json', `${JSON.stringify(analysisDocument(analysis), null, 2)}\n`];
  yield [marker, `${JSON.stringify({ campaign: view.name, dataHash: analysis.dataHash }, null, 2)}\n`];
}
