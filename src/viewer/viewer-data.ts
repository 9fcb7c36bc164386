import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Analysis, analyze, figuresOf } from '../analysis/analyze.js';
import type { ValidityCaveat } from '../analysis/published-documents.js';
import { readCampaignRows } from '../analysis/read-campaign.js';
import { readValidityCaveats } from '../analysis/read-caveats.js';
import { taskFactsOf } from '../analysis/task-facts.js';
import type { EvaluationExamples } from '../evaluation/evaluation.js';
import { canaryReportSchema, lintReportSchema } from '../runs/gates.js';
import type { RunResult } from '../runs/result.js';
import type { Home } from '../support/home.js';
import type { Task } from '../tasks/task.js';
import { listFiles, readSmallFile, readSmallJson } from './attempt-files.js';
import { type CampaignState, CampaignStore } from './campaign-store.js';
import { type CampaignView, campaignView } from './campaign-view.js';
import { lineDiff } from './line-diff.js';
import type { GivenFile } from './pages/compare.js';
import { type DrawnFigure, drawFigures } from './pages/figures-part.js';
import type { LocalRun } from './pages/run.js';
import type { Site } from './site.js';
import { TranscriptStore } from './transcript-pages.js';

/** A campaign as it is now, ready for pages. */
export interface OpenCampaign {
  readonly state: CampaignState;
  readonly view: CampaignView;
}

/** All tables and drawn figures of a campaign. */
export interface FullAnalysis {
  readonly analysis: Analysis;
  readonly drawn: readonly DrawnFigure[];
}

/** What the local viewer reads of a home folder, with the last views and analyses kept. */
export class ViewerData {
  readonly store: CampaignStore;
  readonly transcripts = new TranscriptStore();
  #caveats: Promise<readonly ValidityCaveat[]> | undefined;
  readonly #views = new Map<string, OpenCampaign>();
  readonly #analyses = new Map<string, { readonly version: string; readonly full: Promise<FullAnalysis> }>();

  constructor(
    home: Home,
    private readonly tasks: readonly Task[],
  ) {
    this.store = new CampaignStore(home);
  }

  /** Undefined when there is no such campaign. */
  async campaign(name: string): Promise<OpenCampaign | undefined> {
    const state = await this.store.open(name);
    if (state === undefined) return undefined;
    const before = this.#views.get(name);
    const view =
      before?.state.version === state.version
        ? before.view
        : campaignView(name, state.plan, state.results, this.tasks);
    const open = { state, view };
    keepLast(this.#views, name, open, 4);
    return open;
  }

  /** Everything that `analyze` makes of the campaign, by the same functions. */
  full({ state }: OpenCampaign): Promise<FullAnalysis> {
    const before = this.#analyses.get(state.name);
    if (before?.version === state.version) return before.full;
    const full = this.#analyse(state);
    full.catch(() => this.#analyses.delete(state.name));
    keepLast(this.#analyses, state.name, { version: state.version, full }, 2);
    return full;
  }

  /** The figures of the first page: they do not wait for the tables. */
  overviewFigures({ view }: OpenCampaign): Promise<readonly DrawnFigure[]> {
    const set = {
      rows: view.rows,
      superseded: [],
      records: [],
      tasks: taskFactsOf(this.tasks),
      printedProbeMeans: {},
    };
    return drawFigures(figuresOf(set), 'overview');
  }

  async #analyse(state: CampaignState): Promise<FullAnalysis> {
    const set = await readCampaignRows(state.folder, { tasks: taskFactsOf(this.tasks) });
    const analysis = analyze(set, { caveats: await this.caveats() });
    return { analysis, drawn: await drawFigures(analysis.figures) };
  }

  caveats(): Promise<readonly ValidityCaveat[]> {
    this.#caveats ??= readValidityCaveats();
    return this.#caveats;
  }

  /** Caveat of a task's family. */
  async caveatOf(task: Task | undefined): Promise<ValidityCaveat | undefined> {
    return (await this.caveats()).find(({ family }) => family === task?.family);
  }
}

function keepLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}

/** Folder of an attempt; undefined when it is none of the run's. */
export async function attemptFolder(
  state: CampaignState,
  runId: string,
  n: string,
): Promise<string | undefined> {
  const known = state.results.some((result) => result.runId === runId) || state.running.includes(runId);
  if (!known || !/^[1-9]\d{0,5}$/.test(n)) return undefined;
  const folder = join(state.folder, 'runs', runId, 'attempts', n);
  return (await stat(folder).catch(() => undefined))?.isDirectory() ? folder : undefined;
}

/** Numbers of the attempts of a run that are on disk, ascending. */
export async function attemptsOf(state: CampaignState, runId: string): Promise<readonly number[]> {
  const names = await readdir(join(state.folder, 'runs', runId, 'attempts')).catch(() => []);
  return names
    .filter((name) => /^[1-9]\d{0,5}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** The attempt of a run that pages show: the one that counts, else the last. */
export const shownAttempt = (result: RunResult): number => result.attempt ?? result.attempts.at(-1)?.n ?? 1;

const examplesSchema = z.object({
  columns: z.record(
    z.string(),
    z.array(
      z.object({
        keys: z.array(z.string().nullable()),
        truth: z.string().nullable(),
        output: z.string().nullable(),
      }),
    ),
  ),
});

/** What only the local machine may show of a run. */
export async function localRun(
  state: CampaignState,
  result: RunResult,
  site: Site,
): Promise<LocalRun | undefined> {
  const n = shownAttempt(result);
  const folder = await attemptFolder(state, result.runId, String(n));
  if (folder === undefined) return undefined;
  const [files, examples, canaries, lint] = await Promise.all([
    listFiles(folder),
    readSmallJson(folder, 'evaluation.private.json'),
    readSmallJson(folder, 'canary.json'),
    readSmallJson(folder, 'lint.json'),
  ]);
  return {
    n,
    folder,
    files,
    examples: examplesSchema.safeParse(examples).data satisfies EvaluationExamples | undefined,
    canaries: canaryReportSchema.safeParse(canaries).data,
    lint: lintReportSchema.safeParse(lint).data,
    others: othersOf(state, result, site),
  };
}

const mostOthers = 100;

/** Runs of the same task: the other arm first, then other trials. */
function othersOf(state: CampaignState, result: RunResult, site: Site): LocalRun['others'] {
  const { cell } = result;
  return state.results
    .filter((other) => other.cell.task === cell.task && other.runId !== result.runId)
    .sort((a, b) => distance(a, result) - distance(b, result))
    .slice(0, mostOthers)
    .map((other) => ({
      text: `${other.cell.condition}, ${other.cell.model ?? 'default model'}, ${other.cell.schema}, trial ${other.trial}: ${other.reward === null ? 'unjudged' : `reward ${other.reward.toFixed(3)}`}`,
      href: compareHref(site, result.runId, other.runId),
    }));
}

/** How little two runs have in common, from 0. */
function distance(a: RunResult, b: RunResult): number {
  return (
    Number(a.cell.model !== b.cell.model) * 8 +
    Number(a.cell.schema !== b.cell.schema) * 4 +
    Number(a.trial !== b.trial) * 2 +
    Number(a.cell.condition !== b.cell.condition)
  );
}

export function compareHref(site: Site, a: string, b: string): string {
  return `${site.compare ?? ''}?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
}

/** Conditions of a task whose first runs can be laid side by side, each against the first condition. */
export function conditionPairs(
  state: CampaignState,
  task: string,
  site: Site,
): readonly { readonly text: string; readonly href: string }[] {
  const firsts = new Map<string, RunResult>();
  for (const result of state.results) {
    const { condition } = result.cell;
    if (result.cell.task === task && !firsts.has(condition)) firsts.set(condition, result);
  }
  const baseline = firsts.get('no-skill') ?? [...firsts.values()][0];
  if (baseline === undefined) return [];
  return [...firsts]
    .filter(([, result]) => result !== baseline)
    .map(([condition, result]) => ({
      text: `${baseline.cell.condition} and ${condition}`,
      href: `${compareHref(site, baseline.runId, result.runId)}#given`,
    }));
}

/** What two attempts were given: the instruction and every context file, compared. */
export async function givenFiles(
  a: string | undefined,
  b: string | undefined,
): Promise<readonly GivenFile[]> {
  const [left, right] = await Promise.all([givenTexts(a), givenTexts(b)]);
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.map((path): GivenFile => {
    const [before, after] = [left.get(path), right.get(path)];
    if (before !== undefined && after !== undefined) {
      return { path, lines: before === after ? undefined : lineDiff(before, after), only: null };
    }
    const kind = before === undefined ? 'added' : 'removed';
    const lines = (before ?? after ?? '').split('\n').map((text) => ({ kind, text }) as const);
    return { path, lines, only: before === undefined ? 'b' : 'a' };
  });
}

const mostGivenBytes = 512 * 1024;

async function givenTexts(folder: string | undefined): Promise<ReadonlyMap<string, string>> {
  if (folder === undefined) return new Map();
  const texts = new Map<string, string>();
  for (const { path } of await listFiles(folder)) {
    if (path !== 'instruction.md' && !path.startsWith('context/')) continue;
    const text = await readSmallFile(folder, path, mostGivenBytes);
    texts.set(path, text ?? '(too large to compare)');
  }
  return texts;
}
